//! Packets that a path does not take, of a sender that finds it out and sends smaller ones (RFC 2923 §2.1, *black hole
//! detection*).

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::{SeqNum, SeqRange};

/// Copies in vain that tell that a packet is too large; of as many others one arrives.
const LEAST_COPIES: u32 = 2;
/// Packets that are remembered until they are acknowledged.
const MOST: usize = 64;
/// A full packet may have so many bytes less than the largest segment: options (RFC 9293 §3.1).
pub(super) const OPTIONS: u32 = 40;

/// The sizes in which a sender's data arrive.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// The largest that arrived, and the ends of larger ones on their way.
    arrived: u32,
    open: VecDeque<(SeqNum, u32)>,
    stuck: Option<Stuck>,
    cut: Option<(Time, Time)>,
    /// From where on how much did not come by of what was sent: what is to be acknowledged first.
    hole: Option<SeqRange>,
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
        (self.arrived, self.stuck, self.cut, self.hole) = (0, None, None, None);
    }

    /// New data are sent, a packet or several of `mss`; so much before them did not come by.
    pub fn sends(&mut self, end: SeqNum, len: u32, mss: u32, missing: u32) {
        if missing > 0 {
            let hole = SeqRange::new(end - len - missing, missing);
            self.hole.get_or_insert(hole);
        }
        let size = len.min(mss);
        if size > self.arrived && self.open.len() < MOST {
            self.open.push_back((end, size));
        }
    }

    /// Something does not come by.
    pub fn lacks(&self) -> bool {
        self.hole.is_some()
    }

    /// Of what does not come by it is known that it is a full packet, and none of these has come by.
    pub fn lacks_full(&self, mss: u32, largest: u32) -> bool {
        let full = mss.saturating_sub(OPTIONS);
        largest < full && self.hole.is_some_and(|hole| hole.len() >= full)
    }

    /// They are sent again, with `more` behind them; nothing was sent `since`.
    pub fn again(&mut self, range: SeqRange, mss: u32, since: Time, more: bool) {
        let hole = self.hole.filter(|hole| hole.start == range.start);
        let full = hole.map_or(0, |hole| hole.len().min(mss.saturating_sub(OPTIONS)));
        if more && range.len() < full && self.arrived < full {
            // As it was at first, it did not come this far.
            self.stuck = Some(Stuck {
                since,
                first: range.start,
                size: full,
                copies: LEAST_COPIES,
                cut: true,
            });
            return;
        }
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
        self.hole = self.hole.filter(|hole| !hole.start.is_before(ack));
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

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_460;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn range(start: u32, len: u32) -> SeqRange {
        SeqRange::new(SeqNum::new(start), len)
    }

    /// Behind a full packet that does not come by there are 500 bytes.
    fn behind() -> Sizes {
        let mut sizes = Sizes::default();
        sizes.sends(SeqNum::new(1_960), 500, MSS, MSS);
        assert!(sizes.lacks_full(MSS, 500) && !sizes.lacks_full(MSS, MSS));
        sizes
    }

    #[test]
    fn what_comes_by_only_in_smaller_packets_was_too_large() {
        let mut sizes = behind();
        sizes.again(range(0, 536), MSS, at(10), true);
        sizes.acked(at(2_000), SeqNum::new(536));
        assert_eq!(sizes.cut(), Some((at(10), at(2_000))));
        assert!(!sizes.lacks());
    }

    #[test]
    fn what_a_program_wrote_in_small_pieces_was_not() {
        for (len, more) in [(536, false), (MSS, true)] {
            let mut sizes = behind();
            sizes.again(range(0, len), MSS, at(10), more);
            sizes.acked(at(2_000), SeqNum::new(1_960));
            assert_eq!(sizes.cut(), None);
        }
    }
}
