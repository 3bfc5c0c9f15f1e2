//! What a connection keeps of its packets until somebody wants to know more.

use rexmit_time::Time;
use rexmit_wire::{Flags, Headers, SeqNum, SeqRange};

use crate::event::{Direction, Event};

/// Capacities that the log grows to, one after the other: most connections end within the first two.
const STEPS: [usize; 5] = [8, 16, 40, 96, 256];

/// An [`Event`] in half a cache line. A million connections with seven packets each are 224 MB.
#[derive(Clone, Copy, Debug)]
struct Packed {
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

/// The packets of one connection in the order in which they came, and their SACK blocks.
#[derive(Debug, Default)]
pub(crate) struct Log {
    packets: Vec<Packed>,
    sacks: Vec<SeqRange>,
}

impl Log {
    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether a packet at `at` can be kept: not too far from the connection's start, 39 hours.
    #[inline]
    pub fn can_hold(start: Time, at: Time) -> bool {
        i16::try_from(at.since(start).as_nanos() >> 32).is_ok()
    }

    /// Adds a packet that [can be held](Log::can_hold).
    #[inline]
    pub fn push(&mut self, start: Time, at: Time, direction: Direction, headers: &Headers) {
        let at = at.since(start).as_nanos();
        let mut notes = headers.sack.blocks().len() as u8;
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
        if self.packets.len() == self.packets.capacity() {
            self.grow();
        }
        self.packets.push(Packed {
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
        if !headers.sack.is_empty() {
            self.sacks.extend_from_slice(headers.sack.blocks());
        }
    }

    #[cold]
    fn grow(&mut self) {
        let now = self.packets.len();
        let next = STEPS.into_iter().find(|step| *step > now);
        self.packets.reserve_exact(next.unwrap_or(now * 2) - now);
    }

    /// Every packet with its SACK blocks, oldest first.
    pub fn iter(&self, start: Time) -> impl Iterator<Item = (Event, &[SeqRange])> {
        let mut sacks = 0;
        self.packets.iter().map(move |packed| {
            let (from, count) = (sacks, packed.notes & SACKS);
            sacks += usize::from(count);
            let event = packed.event(start, (from as u32, count));
            (event, self.sacks.get(from..sacks).unwrap_or(&[]))
        })
    }
}

impl Packed {
    fn event(&self, start: Time, sacks: (u32, u8)) -> Event {
        let at = i64::from(self.at_high) << 32 | i64::from(self.at_low);
        let is = |note| self.notes & note != 0;
        Event {
            at: start + rexmit_time::Duration::from_nanos(at),
            direction: if is(BACKWARD) {
                Direction::Backward
            } else {
                Direction::Forward
            },
            seq: self.seq,
            ack: self.ack,
            payload_len: self.payload_len,
            flags: self.flags,
            window: self.window,
            ip_id: is(NUMBERED).then_some(self.ip_id),
            timestamps: is(STAMPED).then_some((self.stamp, self.echo)),
            sacks,
        }
    }
}

/// A packet as an [`Event`], its SACK blocks at `sacks` of some list.
pub(crate) fn event(at: Time, direction: Direction, headers: &Headers) -> Event {
    Event {
        at,
        direction,
        seq: headers.seq,
        ack: headers.ack,
        payload_len: headers.payload_len,
        flags: headers.flags,
        window: headers.window,
        ip_id: headers.ip_id,
        timestamps: headers.timestamps.map(|stamps| (stamps.value, stamps.echo)),
        sacks: (0, headers.sack.blocks().len() as u8),
    }
}
