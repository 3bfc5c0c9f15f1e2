//! Network cards that cut segments behind the capture at the host that sends (TSO) and merge them before the capture at
//! the one that receives (GRO): both captures show super-segments, the wire does not.

use std::collections::BTreeMap;

use rexmit_time::{Duration, Stream, Streams, Time};

use super::follow;
use super::ids::BURST;
use super::packet::{chance, ip_at, log_between, seconds, CapturedPacket, Ends, IpHead, Tcp};
use super::{Captures, PointCapture};
use crate::synth::Point;

/// Bytes of an IP packet with its headers, at most.
const MOST: u32 = 65_535;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Merges segments at the two ends.
pub(super) fn merge(captures: &mut Captures, streams: &Streams) {
    let leaving = leaving(captures);
    for (seen, leaving) in captures.iter_mut().zip(leaving) {
        if seen.point == Point::Switch {
            continue;
        }
        let mut stream = streams.stream("offload", seen.point as u64);
        let (sends, receives) = match stream.below(4) {
            0 => (true, false),
            1 => (false, true),
            _ => (true, true),
        };
        let poll = poll(&mut stream);
        merge_in(seen, &leaving, |is_leaving| {
            if is_leaving {
                sends.then_some(BURST)
            } else {
                receives.then_some(poll)
            }
        });
    }
}

/// How long a host waits for more that it could merge: a round of its polling, or a timer that was set for it
/// (gro_flush_timeout).
fn poll(stream: &mut Stream) -> Duration {
    if chance(stream, 0.3) {
        seconds(log_between(stream, 50e-6, 2e-3))
    } else {
        seconds(log_between(stream, 10e-6, 100e-6))
    }
}

/// For each packet of each capture, whether it leaves the host that the point stands beside.
fn leaving(captures: &Captures) -> Vec<Vec<bool>> {
    let none = |seen: &PointCapture| vec![false; seen.packets.len()];
    let mut leaving: Vec<Vec<bool>> = captures.iter().map(none).collect();
    for sent in follow::sent(captures) {
        let (home, place) = sent.sights[0];
        leaving[home][place] = true;
    }
    leaving
}

/// A super-segment that may grow.
struct SuperSegment {
    /// Its place among those kept.
    place: usize,
    is_leaving: bool,
    next: u32,
    begin: Time,
    last_len: u32,
    id: u16,
}

fn merge_in(seen: &mut PointCapture, leaving: &[bool], wait: impl Fn(bool) -> Option<Duration>) {
    let ip = ip_at(seen.link);
    let mut kept: Vec<CapturedPacket> = Vec::with_capacity(seen.packets.len());
    let mut open: BTreeMap<Ends, SuperSegment> = BTreeMap::new();
    for (packet, &is_leaving) in std::mem::take(&mut seen.packets).into_iter().zip(leaving) {
        let head = IpHead::read(&packet.bytes, ip);
        let Some((head, tcp)) = head.and_then(|head| Some((head, head.tcp?))) else {
            kept.push(packet);
            continue;
        };
        let (src, sport, dst, dport) = tcp.ends;
        // Its answer has left, so what came before was handed up before.
        open.remove(&(dst, dport, src, sport));
        let mut grown = None;
        if let Some(before) = open.remove(&tcp.ends) {
            let whole = &kept[before.place];
            let near = wait(is_leaving).is_some_and(|wait| packet.time.since(before.begin) <= wait);
            let fits = before.is_leaving == is_leaving
                && before.next == tcp.seq
                && before.id.wrapping_add(1) == head.id
                && tcp.payload > 0
                && tcp.payload <= before.last_len
                && whole.rows.is_empty() == packet.rows.is_empty()
                && whole.original + tcp.payload <= MOST
                && alike(&whole.bytes, &packet.bytes, ip, &tcp);
            if near && fits {
                grown = Some(before);
            }
        }
        let (place, begin) = if let Some(before) = grown {
            let whole = &mut kept[before.place];
            whole.lengthen(ip, tcp.payload);
            // The last segment tells of PSH and FIN.
            let flags = tcp.payload_flags_at(ip, &whole.bytes);
            whole.bytes[flags] |= tcp.flags;
            whole.rows.extend(&packet.rows);
            if !is_leaving {
                // It is handed up when the last has come.
                whole.time = packet.time;
            }
            (before.place, before.begin)
        } else {
            let begin = packet.time;
            kept.push(packet);
            (kept.len() - 1, begin)
        };
        if tcp.payload > 0 && tcp.flags & !PSH == ACK {
            let next = tcp.seq.wrapping_add(tcp.payload);
            // A short segment or PSH ends it.
            let len = if tcp.flags & PSH == 0 { tcp.payload } else { 0 };
            let id = head.id;
            let last_len = len;
            open.insert(
                tcp.ends,
                SuperSegment {
                    place,
                    is_leaving,
                    next,
                    begin,
                    last_len,
                    id,
                },
            );
        }
    }
    kept.sort_by_key(|packet| packet.time);
    seen.packets = kept;
}

impl Tcp {
    /// Where the flags are in a packet with the same headers.
    fn payload_flags_at(&self, ip: usize, bytes: &[u8]) -> usize {
        ip + usize::from(bytes[ip] & 15) * 4 + 13
    }
}

/// Whether two segments have the same headers but for lengths, identification, sequence number, PSH, FIN and checksums.
fn alike(one: &[u8], other: &[u8], ip: usize, tcp: &Tcp) -> bool {
    let headers = |bytes: &[u8]| {
        let mut headers = bytes.get(ip..tcp.payload_at)?.to_vec();
        let at = usize::from(headers[0] & 15) * 4;
        for field in [2..6, 10..12, at + 4..at + 8, at + 16..at + 18] {
            headers[field].fill(0);
        }
        headers[at + 13] &= !(PSH | FIN);
        Some(headers)
    };
    headers(one).is_some_and(|one| headers(other) == Some(one))
}
