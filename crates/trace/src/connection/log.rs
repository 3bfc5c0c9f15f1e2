//! What a connection keeps of its packets until somebody wants to know more.

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Record;
use rexmit_wire::table::prefetch;
use rexmit_wire::{Flags, Headers, SeqNum, SeqRange};

use super::bytes::{Reader, Writer};
use super::doubled::Mark;
use crate::event::{Direction, Event};

/// Packets that a new log has room for: a handshake, a request, a response, and their acknowledgements.
const SMALL: usize = 8;
/// What it grows to first; most connections end within.
const MIDDLE: usize = 48;
/// What it grows to after that, before it doubles.
const LARGE: usize = 128;

/// Logs of ended connections that are kept for new ones, of each size.
const MOST_SPARE: usize = 4_096;

/// An [`Event`] in half a cache line. A million connections with seven packets each are 256 MB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packed {
    seq: SeqNum,
    ack: SeqNum,
    payload_len: u32,
    stamp: u32,
    echo: u32,
    /// Nanoseconds since the connection's start, the lower and the upper bits.
    at_low: u32,
    at_high: i16,
    window: u16,
    ip_id: u16,
    flags: Flags,
    notes: u8,
}

const _: () = assert!(size_of::<Packed>() == 32);

const BACKWARD: u8 = 0x08;
const STAMPED: u8 = 0x10;
const NUMBERED: u8 = 0x20;
const SACKS: u8 = 0x07;
const RECORD_SHIFT: u32 = 6;

/// The packets of one connection in the order in which they came. Their SACK blocks are kept by the connection.
#[derive(Debug)]
pub(crate) enum Log {
    /// As packets are added.
    Packets(Vec<Packed>),
    /// With all else that is kept of a connection that is quiet ([`super::frozen`]).
    Frozen(Box<[u8]>),
}

impl Default for Log {
    fn default() -> Self {
        Log::Packets(Vec::new())
    }
}

/// Memory of logs that are not used any more: most connections come and go without an allocation.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    small: Vec<Log>,
    middle: Vec<Log>,
}

impl Spare {
    /// Takes back what a log has taken up.
    pub fn give(&mut self, mut log: Log) {
        let Log::Packets(packets) = &mut log else {
            return;
        };
        let pile = match packets.capacity() {
            SMALL => &mut self.small,
            MIDDLE => &mut self.middle,
            _ => return,
        };
        if pile.len() < MOST_SPARE {
            packets.clear();
            pile.push(log);
        }
    }

    fn small(&mut self) -> Log {
        let new = || Log::Packets(Vec::with_capacity(SMALL));
        self.small.pop().unwrap_or_else(new)
    }

    fn middle(&mut self) -> Log {
        let new = || Log::Packets(Vec::with_capacity(MIDDLE));
        self.middle.pop().unwrap_or_else(new)
    }
}

impl Log {
    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.packets().len()
    }

    #[inline]
    fn packets(&self) -> &[Packed] {
        match self {
            Log::Packets(packets) => packets,
            Log::Frozen(_) => &[],
        }
    }

    /// Has the place of the next packet on its way from memory.
    #[inline]
    pub fn prefetch(&self) {
        let packets = self.packets();
        prefetch(packets.as_ptr().wrapping_add(packets.len()));
    }

    /// Whether a packet at `at` can be kept: not too far from the connection's start, 39 hours.
    #[inline]
    pub fn can_hold(start: Time, at: Time) -> bool {
        i16::try_from(at.since(start).as_nanos() >> 32).is_ok()
    }

    /// Adds a packet that [can be held](Log::can_hold).
    #[inline]
    pub fn push(
        &mut self,
        start: Time,
        at: Time,
        direction: Direction,
        headers: &Headers,
        spare: &mut Spare,
    ) {
        let at = at.since(start).as_nanos();
        let mut notes = headers.sack.blocks().len() as u8;
        notes |= headers.record.of_session().bits() << RECORD_SHIFT;
        notes |= if direction == Direction::Backward {
            BACKWARD
        } else {
            0
        };
        let (stamp, echo) = headers.timestamps.map_or((0, 0), |stamps| {
            notes |= STAMPED;
            (stamps.value, stamps.echo)
        });
        let ip_id = headers.ip_id.map_or(0, |id| {
            notes |= NUMBERED;
            id
        });
        let full = |packets: &Vec<Packed>| packets.len() == packets.capacity();
        if matches!(self, Log::Packets(packets) if full(packets)) {
            self.grow(spare);
        }
        let Log::Packets(packets) = self else { return };
        packets.push(Packed {
            seq: headers.seq,
            ack: headers.ack,
            payload_len: headers.payload_len,
            stamp,
            echo,
            at_low: at as u32,
            at_high: (at >> 32) as i16,
            window: headers.window,
            ip_id,
            flags: headers.flags,
            notes,
        });
    }

    #[cold]
    fn grow(&mut self, spare: &mut Spare) {
        let Log::Packets(packets) = self else { return };
        let mut log = match packets.len() {
            0 => spare.small(),
            SMALL => spare.middle(),
            MIDDLE => Log::Packets(Vec::with_capacity(LARGE)),
            many => {
                packets.reserve_exact(many);
                return;
            }
        };
        if let Log::Packets(room) = &mut log {
            room.extend_from_slice(packets);
        }
        spare.give(core::mem::replace(self, log));
    }

    /// Writes all packets, each as the difference to what is likely after those before.
    pub(super) fn write(&self, out: &mut Writer) {
        let mut likely = Likely::default();
        for packed in self.packets() {
            let near = likely.after(packed.flags, packed.notes);
            out.value(&(packed.flags.0, packed.notes));
            out.value(&(packed.at() - near.at()));
            out.difference(packed.seq.get(), near.seq.get());
            out.difference(packed.ack.get(), near.ack.get());
            out.value(&packed.payload_len);
            out.difference(packed.window.into(), near.window.into());
            out.difference(packed.ip_id.into(), near.ip_id.into());
            out.difference(packed.stamp, near.stamp);
            out.difference(packed.echo, near.echo);
            likely.note(packed);
        }
    }

    /// Reads as many packets as were [written](Log::write).
    pub(super) fn read(bytes: &mut Reader<'_>, count: usize, spare: &mut Spare) -> Log {
        let mut log = if count > SMALL {
            Log::Packets(Vec::with_capacity(count.max(MIDDLE)))
        } else {
            spare.small()
        };
        let Log::Packets(packets) = &mut log else {
            return log;
        };
        let mut likely = Likely::default();
        for _ in 0..count {
            let (flags, notes) = bytes.value();
            let flags = Flags(flags);
            let near = likely.after(flags, notes);
            let at = near.at() + bytes.value::<i64>();
            let packed = Packed {
                at_low: at as u32,
                at_high: (at >> 32) as i16,
                seq: SeqNum::new(bytes.difference(near.seq.get())),
                ack: SeqNum::new(bytes.difference(near.ack.get())),
                payload_len: bytes.value(),
                window: bytes.difference(near.window.into()) as u16,
                ip_id: bytes.difference(near.ip_id.into()) as u16,
                stamp: bytes.difference(near.stamp),
                echo: bytes.difference(near.echo),
                flags,
                notes,
            };
            likely.note(&packed);
            packets.push(packed);
        }
        log
    }

    /// What tells each packet from the others, and when it came, oldest first.
    pub(super) fn marks(&self, start: Time) -> impl DoubleEndedIterator<Item = (Mark, Time)> + '_ {
        self.packets().iter().map(move |packed| {
            let mark = Mark {
                direction: packed.direction(),
                seq: packed.seq,
                ack: packed.ack,
                payload_len: packed.payload_len,
                flags: packed.flags,
                window: packed.window,
                stamps: (packed.notes & STAMPED != 0).then_some((packed.stamp, packed.echo)),
                blocks: packed.notes & SACKS,
                ip_id: packed.ip_id,
            };
            (mark, start + Duration::from_nanos(packed.at()))
        })
    }

    /// Every packet with its SACK blocks, which are those in `sacks`, oldest first.
    pub fn iter<'l>(
        &'l self,
        start: Time,
        sacks: &'l [SeqRange],
    ) -> impl Iterator<Item = (Event, &'l [SeqRange])> + Clone {
        let mut next = 0;
        self.packets().iter().map(move |packed| {
            let (from, count) = (next, packed.notes & SACKS);
            next += usize::from(count);
            let event = packed.event(start, (from as u32, count));
            (event, sacks.get(from..next).unwrap_or(&[]))
        })
    }
}

/// What the next packet of either side is likely to be: the next numbers, and what the other side sent last acknowledged.
#[derive(Debug, Default)]
struct Likely([Packed; 2]);

impl Likely {
    fn after(&self, flags: Flags, notes: u8) -> Packed {
        let like = Packed {
            flags,
            notes,
            ..Packed::default()
        };
        let me = like.direction();
        let (mine, theirs) = (&self.0[me as usize], &self.0[me.reversed() as usize]);
        let (at_low, at_high) = if mine.at() > theirs.at() {
            (mine.at_low, mine.at_high)
        } else {
            (theirs.at_low, theirs.at_high)
        };
        Packed {
            at_low,
            at_high,
            ack: theirs.seq,
            echo: theirs.stamp,
            ..Packed {
                flags,
                notes,
                ..*mine
            }
        }
    }

    fn note(&mut self, packed: &Packed) {
        let takes_up = packed
            .payload_len
            .wrapping_add(u32::from(packed.flags.syn() || packed.flags.fin()));
        self.0[packed.direction() as usize] = Packed {
            seq: packed.seq + takes_up,
            ..*packed
        };
    }
}

impl Packed {
    fn direction(&self) -> Direction {
        if self.notes & BACKWARD != 0 {
            Direction::Backward
        } else {
            Direction::Forward
        }
    }

    /// Nanoseconds since the connection's start.
    fn at(&self) -> i64 {
        i64::from(self.at_high) << 32 | i64::from(self.at_low)
    }

    fn event(&self, start: Time, sacks: (u32, u8)) -> Event {
        let is = |note| self.notes & note != 0;
        Event {
            at: start + Duration::from_nanos(self.at()),
            direction: self.direction(),
            seq: self.seq,
            ack: self.ack,
            payload_len: self.payload_len,
            flags: self.flags,
            window: self.window,
            record: Record::of_bits(self.notes >> RECORD_SHIFT),
            ip_id: is(NUMBERED).then_some(self.ip_id),
            timestamps: is(STAMPED).then_some((self.stamp, self.echo)),
            sacks,
        }
    }
}

/// A packet as an [`Event`].
pub(crate) fn event(at: Time, direction: Direction, headers: &Headers) -> Event {
    Event {
        at,
        direction,
        seq: headers.seq,
        ack: headers.ack,
        payload_len: headers.payload_len,
        flags: headers.flags,
        window: headers.window,
        record: headers.record.of_session(),
        ip_id: headers.ip_id,
        timestamps: headers.timestamps.map(|stamps| (stamps.value, stamps.echo)),
        sacks: (0, headers.sack.blocks().len() as u8),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rexmit_wire::headers::{Notes, Sack, Timestamps};
    use rexmit_wire::FlowKey;

    use super::*;

    prop_compose! {
        fn headers()(
            numbers in any::<(u32, u32, u32, u16, u8)>(),
            stamps in proptest::option::of(any::<(u32, u32)>()),
            ip_id in proptest::option::of(any::<u16>()),
            blocks in proptest::collection::vec(any::<(u32, u32)>(), 0..=4),
            record in 0u8..4,
        ) -> Headers {
            let (seq, ack, payload_len, window, flags) = numbers;
            let address = core::net::IpAddr::V4(core::net::Ipv4Addr::LOCALHOST);
            Headers {
                flow: FlowKey { src: address, dst: address, src_port: 1, dst_port: 2 },
                seq: SeqNum::new(seq),
                ack: SeqNum::new(ack),
                payload_len,
                window,
                flags: Flags(flags),
                ttl: 64,
                ip_id,
                dont_fragment: true,
                ecn: 0,
                record: Record::of_bits(record),
                notes: Notes::default(),
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack: blocks
                    .into_iter()
                    .map(|(start, end)| SeqRange { start: SeqNum::new(start), end: SeqNum::new(end) })
                    .collect::<Sack>(),
                syn: None,
            }
        }
    }

    proptest! {
        #[test]
        fn gives_back_what_was_put_in(
            packets in proptest::collection::vec((headers(), -140_000_000_000_000_i64..140_000_000_000_000, any::<bool>()), 0..200),
        ) {
            let start = Time::from_nanos(1_700_000_000_000_000_000);
            let mut spare = Spare::default();
            let mut log = Log::default();
            let mut sacks = Vec::new();
            let mut expected = Vec::new();
            for (headers, at, backward) in &packets {
                let at = start + Duration::from_nanos(*at);
                let direction = if *backward { Direction::Backward } else { Direction::Forward };
                prop_assert!(Log::can_hold(start, at));
                log.push(start, at, direction, headers, &mut spare);
                let mut event = event(at, direction, headers);
                event.sacks.0 = sacks.len() as u32;
                sacks.extend_from_slice(headers.sack.blocks());
                expected.push((event, headers.sack.blocks().to_vec()));
            }
            let got: Vec<_> = log.iter(start, &sacks).map(|(event, blocks)| (event, blocks.to_vec())).collect();
            prop_assert_eq!(&got, &expected);
            let mut written = Writer::default();
            log.write(&mut written);
            let bytes = written.into_bytes();
            let again = Log::read(&mut Reader::new(&bytes), log.len(), &mut spare);
            let got: Vec<_> = again.iter(start, &sacks).map(|(event, blocks)| (event, blocks.to_vec())).collect();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn far_times_are_refused() {
        let start = Time::from_nanos(1 << 62);
        let hours = |hours: i64| start + Duration::from_secs(hours * 3_600);
        assert!(Log::can_hold(start, hours(39)) && Log::can_hold(start, hours(-39)));
        assert!(!Log::can_hold(start, hours(40)) && !Log::can_hold(start, hours(-40)));
    }

    #[test]
    fn room_is_used_again() {
        let mut spare = Spare::default();
        let log = spare.small();
        let place = log.packets().as_ptr();
        spare.give(log);
        assert_eq!(spare.small().packets().as_ptr(), place);
    }
}
