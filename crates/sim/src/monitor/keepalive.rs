//! Keep-alives in connections that are silent (RFC 9293 §3.8.4): a segment before the next number, without data or with a
//! byte that was sent before, and its answer. They are no retransmissions, and the truth has no rows of them.

use std::collections::BTreeMap;

use rexmit_time::{Duration, Streams, Time};

use super::follow::{self, SentPacket};
use super::inject::{set_word, settle, tcp_at, Model};
use super::packet::{chance, log_between, seconds, Ends};
use super::Captures;

const FIN_SYN_RST: u8 = 0x07;
const ACK: u8 = 0x10;

/// Adds keep-alives of one end of some connections to their silences.
pub(super) fn add(captures: &mut Captures, streams: &Streams) {
    let mut connections: BTreeMap<Ends, Vec<SentPacket>> = BTreeMap::new();
    for sent in follow::sent(captures) {
        if let Some(tcp) = sent.head.tcp {
            let (src, sport, dst, dport) = tcp.ends;
            let one = tcp.ends.min((dst, dport, src, sport));
            connections.entry(one).or_default().push(sent);
        }
    }
    for (number, (ends, sent)) in connections.into_iter().enumerate() {
        let mut stream = streams.stream("keep-alives", number as u64);
        if chance(&mut stream, 0.3) {
            continue;
        }
        let keeper = usize::from(chance(&mut stream, 0.5));
        let every = seconds(log_between(&mut stream, 0.2, 5.0));
        let with_byte = chance(&mut stream, 0.3);
        for silence in silences(captures, ends, &sent, every) {
            silence.fill(captures, keeper, every, with_byte);
        }
    }
    settle(captures);
}

/// What an end has sent and acknowledged.
#[derive(Clone, Copy, Default)]
struct End {
    next: Option<u32>,
    acked: Option<u32>,
    /// Its last packet that came, and its last time stamp: place among those sent, and value.
    last: Option<usize>,
}

/// An end in a silence.
struct Silent {
    /// A packet of it to make others after.
    model: Model,
    next: u32,
    /// Its time stamp before and after.
    stamps: Option<(u32, u32)>,
}

/// A time in which nothing is under way and nobody sends.
struct Silence {
    from: Time,
    until: Time,
    ends: [Silent; 2],
}

/// The silences of a connection in which one keep-alive fits at least.
fn silences(captures: &Captures, ends: Ends, sent: &[SentPacket], every: Duration) -> Vec<Silence> {
    let mut found = Vec::new();
    let mut sides = [End::default(); 2];
    for (place, one) in sent.iter().enumerate() {
        let Some(tcp) = one.head.tcp else { continue };
        if place > 0 && one.time.since(sent[place - 1].time) > every {
            found.extend(silence(captures, sent, place, ends, &sides));
        }
        if tcp.flags & FIN_SYN_RST != 0 && tcp.flags & 2 == 0 {
            break;
        }
        let side = usize::from(tcp.ends != ends);
        let end = tcp
            .seq
            .wrapping_add(tcp.payload + u32::from(tcp.flags >> 1 & 1));
        let mine = &mut sides[side];
        if mine
            .next
            .is_none_or(|next| end.wrapping_sub(next) as i32 > 0)
        {
            mine.next = Some(end);
        }
        let came = Model::of(captures, one).came(captures);
        if came && tcp.flags & ACK != 0 {
            let ack = word(captures, one, 8);
            mine.last = Some(place);
            let other = &mut sides[1 - side];
            if other
                .acked
                .is_none_or(|acked| ack.wrapping_sub(acked) as i32 > 0)
            {
                other.acked = Some(ack);
            }
        }
    }
    found
}

fn silence(
    captures: &Captures,
    sent: &[SentPacket],
    place: usize,
    ends: Ends,
    sides: &[End; 2],
) -> Option<Silence> {
    let end = |side: usize| {
        let of = &sides[side];
        let (next, last) = (of.next?, of.last?);
        if of.acked? != next {
            return None;
        }
        let mine = |one: &&SentPacket| {
            one.head
                .tcp
                .is_some_and(|tcp| (tcp.ends != ends) == (side == 1))
        };
        let after = sent[place..].iter().find(mine);
        let before = stamp(captures, &sent[last]);
        let stamps = before.zip(after.and_then(|after| stamp(captures, after)));
        Some(Silent {
            model: Model::of(captures, &sent[last]),
            next,
            stamps,
        })
    };
    Some(Silence {
        from: sent[place - 1].time,
        until: sent[place].time,
        ends: [end(0)?, end(1)?],
    })
}

impl Silence {
    fn fill(&self, captures: &mut Captures, keeper: usize, every: Duration, with_byte: bool) {
        let (probe, answer) = (&self.ends[keeper], &self.ends[1 - keeper]);
        let mut at = self.from + every;
        while at + every < self.until {
            let stamps = [self.stamp(keeper, at), self.stamp(1 - keeper, at)];
            let came = probe.model.add(captures, at, |bytes| {
                bare(bytes, u16::from(with_byte));
                number(bytes, probe.next.wrapping_sub(1), answer.next);
                set_stamps(bytes, stamps);
            });
            answer.model.add(captures, came, |bytes| {
                bare(bytes, 0);
                number(bytes, answer.next, probe.next);
                set_stamps(bytes, [stamps[1], stamps[0]]);
            });
            at += every;
        }
    }

    /// The clock of a side's time stamps at `at`, of which both ends of the silence are known.
    fn stamp(&self, side: usize, at: Time) -> Option<u32> {
        let (before, after) = self.ends[side].stamps?;
        let whole = self.until.since(self.from).as_nanos() as f64;
        let share = at.since(self.from).as_nanos() as f64 / whole;
        let ticks = f64::from(after.wrapping_sub(before)) * share;
        Some(before.wrapping_add(ticks as u32))
    }
}

/// Four bytes of a packet's TCP header.
fn word(captures: &Captures, sent: &SentPacket, at: usize) -> u32 {
    let (capture, place) = sent.sights[0];
    let seen = &captures[capture];
    let bytes = &seen.packets[place].bytes[super::packet::ip_at(seen.link)..];
    let at = tcp_at(bytes) + at;
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// The value of a packet's time stamp, where it is the first option behind two NOPs.
fn stamp(captures: &Captures, sent: &SentPacket) -> Option<u32> {
    (word(captures, sent, 20) == STAMP).then(|| word(captures, sent, 24))
}

/// Two NOPs, and the head of a time stamp.
const STAMP: u32 = 0x0101_080a;

/// Takes payload, SACK blocks and PSH out of a packet, and leaves so many bytes of payload, which are not captured.
fn bare(bytes: &mut Vec<u8>, payload: u16) {
    let tcp = tcp_at(bytes);
    let stamped = bytes.get(tcp + 20..tcp + 24) == Some(&STAMP.to_be_bytes());
    let header = if stamped { 32 } else { 20 };
    bytes.truncate(tcp + header);
    bytes[tcp + 12] = (header as u8 / 4) << 4;
    bytes[tcp + 13] = ACK;
    let total = (tcp + header) as u16 + payload;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
}

fn number(bytes: &mut [u8], seq: u32, ack: u32) {
    let tcp = tcp_at(bytes);
    set_word(bytes, tcp + 4, seq);
    set_word(bytes, tcp + 8, ack);
}

/// Sets the time stamp and its echo, where the packet has them.
fn set_stamps(bytes: &mut [u8], stamps: [Option<u32>; 2]) {
    let tcp = tcp_at(bytes);
    if bytes.len() < tcp + 32 {
        return;
    }
    for (at, stamp) in [24, 28].into_iter().zip(stamps) {
        if let Some(stamp) = stamp {
            set_word(bytes, tcp + at, stamp);
        }
    }
}
