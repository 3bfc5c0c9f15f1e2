//! Packets that hosts send besides, made after one that they sent: the same way takes it the same time.

use rexmit_time::Time;

use super::follow::SentPacket;
use super::packet::{ip_at, sort, CapturedPacket};
use super::Captures;
use crate::bytes::{fill_in_checksums, fill_in_ip_checksum};

/// A packet to make others after.
pub(super) struct Model {
    time: Time,
    /// At each capture that has it, the first time.
    seen: Vec<(usize, CapturedPacket)>,
}

impl Model {
    /// After `sent`.
    pub fn of(captures: &Captures, sent: &SentPacket) -> Self {
        let mut seen: Vec<(usize, CapturedPacket)> = Vec::new();
        for &(capture, place) in &sent.sights {
            if seen.iter().all(|(known, _)| *known != capture) {
                let packet = &captures[capture].packets[place];
                let copy = CapturedPacket::new(packet.time, packet.bytes.clone(), packet.original);
                seen.push((capture, copy));
            }
        }
        Model {
            time: sent.time,
            seen,
        }
    }

    /// Ticks of a clock of so many a second from when it was sent to `at`.
    pub fn ticks(&self, at: Time, rate: f64) -> u32 {
        (at.since(self.time).as_nanos() as f64 / 1e9 * rate) as i64 as u32
    }

    /// Whether every capture has it: it was not lost.
    pub fn came(&self, captures: &Captures) -> bool {
        self.seen.len() == captures.len()
    }

    /// Adds a packet that left at `at`, as `edit` changes its bytes from the IP header on; when the last point saw it.
    /// Captures are to be sorted when all is added.
    pub fn add(&self, captures: &mut Captures, at: Time, edit: impl Fn(&mut Vec<u8>)) -> Time {
        let mut last = at;
        for (capture, packet) in &self.seen {
            let seen = &mut captures[*capture];
            let (link, bytes) = packet.bytes.split_at(ip_at(seen.link));
            let mut bytes = bytes.to_vec();
            edit(&mut bytes);
            let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
            if bytes.len() == total {
                fill_in_checksums(&mut bytes);
            } else {
                fill_in_ip_checksum(&mut bytes[..20]);
            }
            let original = (link.len() + total) as u32;
            let time = at + packet.time.since(self.time);
            let whole = [link, &bytes].concat();
            seen.packets
                .push(CapturedPacket::new(time, whole, original));
            last = last.max(time);
        }
        last
    }
}

/// Where the TCP header of a packet that starts at its IP header begins.
pub(super) fn tcp_at(bytes: &[u8]) -> usize {
    usize::from(bytes[0] & 15) * 4
}

/// Where the time stamp option's value is in a packet, its echo being behind it.
pub(super) fn stamp_at(bytes: &[u8]) -> Option<usize> {
    let tcp = tcp_at(bytes);
    let end = bytes
        .len()
        .min(tcp + usize::from(*bytes.get(tcp + 12)? >> 4) * 4);
    let mut at = tcp + 20;
    while at + 10 <= end {
        match bytes[at] {
            0 => return None,
            1 => at += 1,
            8 => return Some(at + 2),
            _ => at += usize::from(bytes[at + 1]).max(2),
        }
    }
    None
}

/// The four bytes there.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Sets four bytes.
pub(super) fn set_word(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

/// Puts all that was added where its time says.
pub(super) fn settle(captures: &mut Captures) {
    for seen in captures {
        sort(&mut seen.packets);
    }
}
