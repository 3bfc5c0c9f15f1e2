//! Packets that a path does not take, of a sender that finds it out and sends smaller ones (RFC 2923 §2.1, *black hole
//! detection*).

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::{SeqNum, SeqRange};

/// Copies in vain that tell that a packet is too large; of as many others one arrives.
const LEAST_COPIES: u32 = 2;
/// Packets that are remembered until they are acknowledged.
const MOST: usize = 64;

/// The sizes in which a sender's data arrive.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// The largest that arrived, and the ends of larger ones on their way.
    arrived: u32,
    open: VecDeque<(SeqNum, u32)>,
    stuck: Option<Stuck>,
    cut: Option<(Time, Time)>,
}

/// What is sent again and again.
#[derive(Clone, Copy, Debug)]
struct Stuck {
    since: Time,
    first: SeqNum,
    size: u32,
    copies: u32,
    /// It was sent in smaller packets at last.
    cut: bool,
}

impl Sizes {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        self.open.clear();
        (self.arrived, self.stuck, self.cut) = (0, None, None);
    }

    /// New data are sent, a packet or several of `mss`.
    pub fn sends(&mut self, end: SeqNum, len: u32, mss: u32) {
        let size = len.min(mss);
        if size > self.arrived && self.open.len() < MOST {
            self.open.push_back((end, size));
        }
    }

    /// They are sent again; nothing was sent `since`.
    pub fn again(&mut self, range: SeqRange, mss: u32, since: Time) {
        // In which size they arrive is not known now.
        self.open.retain(|(end, _)| !end.is_after(range.start));
        let size = range.len().min(mss);
        match &mut self.stuck {
            Some(stuck) if stuck.first == range.start && size < stuck.size => {
                stuck.cut = stuck.copies >= LEAST_COPIES;
            }
            Some(stuck) if stuck.first == range.start => stuck.copies += 1,
            Some(_) => {}
            None => {
                self.stuck = Some(Stuck {
                    since,
                    first: range.start,
                    size,
                    copies: 1,
                    cut: false,
                });
            }
        }
    }

    /// All before `ack` has arrived.
    pub fn acked(&mut self, at: Time, ack: SeqNum) {
        while let Some((_, size)) = self.open.front().filter(|open| !open.0.is_after(ack)) {
            self.arrived = self.arrived.max(*size);
            self.open.pop_front();
        }
        if let Some(stuck) = self.stuck.filter(|stuck| stuck.first.is_before(ack)) {
            self.stuck = None;
            if stuck.cut && self.arrived < stuck.size {
                self.cut.get_or_insert((stuck.since, at));
            }
        }
    }

    /// From when to when nothing arrived, until packets were smaller.
    pub fn cut(&self) -> Option<(Time, Time)> {
        self.cut
    }
}
