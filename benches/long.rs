//! One long connection of which many packets are lost, as a capture at its sender.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};

use rexmit_time::Streams;

/// Data bytes of a full segment: 1,500 bytes less the headers of IPv4 and TCP with timestamps.
const SEGMENT: u32 = 1_448;
/// Segments that the sender has outstanding at most, counted from the oldest that is not acknowledged.
const WINDOW: u64 = 1_024;
/// From one packet of the sender to the next at least, microseconds.
const SLOT_US: u64 = 20;
/// To the receiver, and back, microseconds.
const ONE_WAY_US: u64 = 10_000;
/// A segment is lost when one that was sent so many packets later has arrived (RFC 5681, RFC 8985).
const THRESHOLD: u64 = 3;
/// Without an answer for so long the sender takes all for lost, microseconds (RFC 6298).
const TIMEOUT_US: u64 = 250_000;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const FIN: u8 = 0x01;
const CLIENT_ISN: u32 = 0x1000_0000;
const SERVER_ISN: u32 = 0x2000_0000;
/// Bytes of the client's request, and the sequence number after it.
const REQUEST: u32 = 200;
const REQUESTED: u32 = CLIENT_ISN + 1 + REQUEST;

/// A segment that is outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// The number of the packet that carried it last, and when that left.
    carried_by: u64,
    sent_us: u64,
    sacked: bool,
}

/// Writes a pcap file of so many segments, each of which, and each of whose retransmissions, is lost with
/// this probability behind the monitor; gives the packets written.
///
/// The sender has SACK, a window that never closes and no congestion control, so that a window is full of holes.
///
/// # Errors
/// When writing fails.
pub fn write_long(out: impl Write, segments: u64, loss: f64) -> io::Result<u64> {
    let mut capture = Capture {
        out,
        packets: 0,
        heard_us: 0,
    };
    capture.begin()?;
    let mut dice = Streams::new(1).stream("long", 0);
    let mut sender = Sender::default();
    let mut receiver = Receiver::default();
    // What is on its way, and when it arrives.
    let mut data: VecDeque<(u64, Carried)> = VecDeque::new();
    let mut acks: VecDeque<(u64, Acknowledgement)> = VecDeque::new();
    let mut now = 2 * ONE_WAY_US;
    while sender.una < segments {
        now += SLOT_US;
        while data.front().is_some_and(|&(at, _)| at <= now) {
            let (at, carried) = data.pop_front().expect("just seen");
            acks.push_back((at + ONE_WAY_US, receiver.arrived(&carried)));
        }
        while acks.front().is_some_and(|&(at, _)| at <= now) {
            let (at, ack) = acks.pop_front().expect("just seen");
            capture.acknowledgement(at, &ack)?;
            sender.acknowledged(&ack);
        }
        if let Some(segment) = sender.next(now, segments) {
            capture.segment(now, segment)?;
            let carried = Carried {
                segment,
                number: sender.packets,
                sent_us: now,
            };
            if dice.uniform() >= loss {
                data.push_back((now + ONE_WAY_US, carried));
            }
        }
    }
    capture.end(now + SLOT_US, segments)?;
    Ok(capture.packets)
}

/// A packet of the sender.
#[derive(Clone, Copy, Debug)]
struct Carried {
    segment: u64,
    number: u64,
    sent_us: u64,
}

#[derive(Debug, Default)]
struct Sender {
    /// The oldest segment that is not acknowledged; those from there on that were sent.
    una: u64,
    outstanding: VecDeque<Segment>,
    /// Outstanding segments by the packets that carried them last.
    order: BTreeSet<(u64, u64)>,
    /// Packets sent so far, and the newest that is known to have arrived.
    packets: u64,
    arrived: u64,
}

impl Sender {
    /// The segment to be sent now, if any.
    fn next(&mut self, now: u64, segments: u64) -> Option<u64> {
        let oldest = self.order.first().copied();
        let lost = oldest.filter(|&(carried_by, segment)| {
            let sent = self.outstanding[(segment - self.una) as usize].sent_us;
            carried_by + THRESHOLD <= self.arrived || sent + TIMEOUT_US <= now
        });
        let new = self.una + self.outstanding.len() as u64;
        let segment = match lost {
            Some(entry) => {
                self.order.remove(&entry);
                entry.1
            }
            None if new < segments && new < self.una + WINDOW => {
                self.outstanding.push_back(Segment::default());
                new
            }
            None => return None,
        };
        self.packets += 1;
        let place = (segment - self.una) as usize;
        self.outstanding[place].carried_by = self.packets;
        self.outstanding[place].sent_us = now;
        self.order.insert((self.packets, segment));
        Some(segment)
    }

    fn acknowledged(&mut self, ack: &Acknowledgement) {
        self.arrived = self.arrived.max(ack.answers);
        while self.una < ack.next {
            if let Some(done) = self.outstanding.pop_front() {
                self.order.remove(&(done.carried_by, self.una));
            }
            self.una += 1;
        }
        for &(from, to) in ack.blocks.iter().flatten() {
            for segment in from.max(self.una)..to {
                let known = &mut self.outstanding[(segment - self.una) as usize];
                if !std::mem::replace(&mut known.sacked, true) {
                    self.order.remove(&(known.carried_by, segment));
                }
            }
        }
    }
}

/// What an acknowledgement says, in segments.
#[derive(Clone, Copy, Debug)]
struct Acknowledgement {
    /// All before this one are there.
    next: u64,
    /// SACK blocks, the one that changed last first (RFC 2018 §4).
    blocks: [Option<(u64, u64)>; 3],
    /// The packet that it answers.
    answers: u64,
    /// When the packet left whose stamp it echoes, microseconds (RFC 7323 §4.3).
    echo_us: u64,
}

#[derive(Debug, Default)]
struct Receiver {
    next: u64,
    /// What came out of order, the block that changed last first.
    blocks: Vec<(u64, u64)>,
    echo_us: u64,
}

impl Receiver {
    fn arrived(&mut self, carried: &Carried) -> Acknowledgement {
        let segment = carried.segment;
        if segment == self.next {
            self.echo_us = carried.sent_us;
        }
        let known = |&(from, to): &(u64, u64)| from <= segment && segment < to;
        if segment >= self.next && !self.blocks.iter().any(known) {
            let mut block = (segment, segment + 1);
            self.blocks.retain(|&(from, to)| {
                let beside = from == block.1 || to == block.0;
                if beside {
                    block = (from.min(block.0), to.max(block.1));
                }
                !beside
            });
            if block.0 == self.next {
                self.next = block.1;
            } else {
                self.blocks.insert(0, block);
            }
        }
        Acknowledgement {
            next: self.next,
            blocks: [0, 1, 2].map(|n| self.blocks.get(n).copied()),
            answers: carried.number,
            echo_us: self.echo_us,
        }
    }
}

/// A capture of the connection.
struct Capture<W> {
    out: W,
    packets: u64,
    /// When the client sent what the server heard last, microseconds.
    heard_us: u64,
}

impl<W: Write> Capture<W> {
    fn begin(&mut self) -> io::Result<()> {
        // pcap in microseconds, Ethernet.
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 96, 1] {
            self.out.write_all(&u32::to_le_bytes(word))?;
        }
        // Largest segment, window scale, SACK permitted.
        let offer = [2, 4, 5, 180, 1, 3, 3, 10, 1, 1, 4, 2];
        let (syn, answer) = ((CLIENT_ISN, 0), (SERVER_ISN, CLIENT_ISN + 1));
        self.client(0, SYN, syn, 0, None, &offer)?;
        self.server(100, SYN | ACK, answer, 0, &offer)?;
        let (at, ack) = (2 * ONE_WAY_US, (CLIENT_ISN + 1, SERVER_ISN + 1));
        self.client(at, ACK, ack, 0, Some(100), &[])?;
        self.client(at, ACK, ack, REQUEST, Some(100), &[])
    }

    fn segment(&mut self, at_us: u64, segment: u64) -> io::Result<()> {
        self.server(at_us, ACK, (place(segment), REQUESTED), SEGMENT, &[])
    }

    fn acknowledgement(&mut self, at_us: u64, ack: &Acknowledgement) -> io::Result<()> {
        let blocks: Vec<_> = ack.blocks.iter().flatten().collect();
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        }
        for &(from, to) in blocks {
            options.extend(place(from).to_be_bytes());
            options.extend(place(to).to_be_bytes());
        }
        let numbers = (REQUESTED, place(ack.next));
        self.client(at_us, ACK, numbers, 0, Some(ack.echo_us), &options)
    }

    fn end(&mut self, at_us: u64, segments: u64) -> io::Result<()> {
        let end = place(segments);
        self.server(at_us, ACK | FIN, (end, REQUESTED), 0, &[])?;
        let after = at_us + 2 * ONE_WAY_US;
        let (fin, last) = ((REQUESTED, end + 1), (end + 1, REQUESTED + 1));
        self.client(after, ACK | FIN, fin, 0, Some(at_us), &[])?;
        self.server(after, ACK, last, 0, &[])
    }

    fn client(
        &mut self,
        at_us: u64,
        flags: u8,
        numbers: (u32, u32),
        payload: u32,
        echo_us: Option<u64>,
        options: &[u8],
    ) -> io::Result<()> {
        let left = at_us.saturating_sub(ONE_WAY_US);
        let stamps = (stamp(left), echo_us.map_or(0, stamp));
        self.heard_us = left;
        self.packet(at_us, false, flags, numbers, payload, stamps, options)
    }

    fn server(
        &mut self,
        at_us: u64,
        flags: u8,
        numbers: (u32, u32),
        payload: u32,
        options: &[u8],
    ) -> io::Result<()> {
        let stamps = (stamp(at_us), stamp(self.heard_us));
        self.packet(at_us, true, flags, numbers, payload, stamps, options)
    }

    /// A packet of the server or the client with its sequence and acknowledgement numbers.
    #[allow(clippy::too_many_arguments, reason = "the fields of a packet")]
    fn packet(
        &mut self,
        at_us: u64,
        from_server: bool,
        flags: u8,
        (seq, ack): (u32, u32),
        payload: u32,
        (value, echo): (u32, u32),
        options: &[u8],
    ) -> io::Result<()> {
        self.packets += 1;
        let tcp = 32 + options.len() as u32;
        let headers = 14 + 20 + tcp;
        let (client, server) = (([10, 0, 0, 1], 40_000_u16), ([198, 18, 0, 1], 443));
        let (from, to) = if from_server {
            (server, client)
        } else {
            (client, server)
        };
        let mut frame = Vec::with_capacity(headers as usize + 16);
        for word in [
            at_us / 1_000_000,
            at_us % 1_000_000,
            headers.into(),
            (headers + payload).into(),
        ] {
            frame.extend((word as u32).to_le_bytes());
        }
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0]);
        frame.extend(((20 + tcp + payload) as u16).to_be_bytes());
        frame.extend((self.packets as u16).to_be_bytes());
        frame.extend([0x40, 0, 64, 6, 0, 0]);
        frame.extend(from.0);
        frame.extend(to.0);
        frame.extend(from.1.to_be_bytes());
        frame.extend(to.1.to_be_bytes());
        frame.extend(seq.to_be_bytes());
        frame.extend(ack.to_be_bytes());
        frame.extend([(tcp as u8 / 4) << 4, flags, 0x7f, 0xff, 0, 0, 0, 0]);
        frame.extend([1, 1, 8, 10]);
        frame.extend(value.to_be_bytes());
        frame.extend(echo.to_be_bytes());
        frame.extend(options);
        frame.resize(headers as usize + 16, 0);
        self.out.write_all(&frame)
    }
}

/// The sequence number of a segment's first byte.
fn place(segment: u64) -> u32 {
    SERVER_ISN
        .wrapping_add(1)
        .wrapping_add((segment as u32).wrapping_mul(SEGMENT))
}

/// A stamp of clocks in milliseconds.
fn stamp(at_us: u64) -> u32 {
    (at_us / 1_000) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_packets_is_sent_again() {
        let (mut none, mut fifth) = (Vec::new(), Vec::new());
        let packets = write_long(&mut none, 10_000, 0.0).expect("memory");
        assert_eq!(packets, 4 + 2 * 10_000 + 3);
        let packets = write_long(&mut fifth, 10_000, 0.2).expect("memory");
        // Each segment is sent 1.25 times in the mean, and acknowledged once.
        let again = packets - 20_007;
        assert!((2_200..2_800).contains(&again), "{again}");
    }
}
