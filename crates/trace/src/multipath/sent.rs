//! Which data were sent, and on which subflows.

use rexmit_time::{Duration, Time};

use crate::pieces::Piece;
use crate::sequence::Sequence;

/// Pieces of one direction that are kept; of more, the oldest are forgotten.
const MOST_PIECES: usize = 1 << 14;

/// Places of a piece on subflows that are kept.
const MOST_COPIES: usize = 8;

/// Parts of a packet that are told apart.
const MOST_PARTS: usize = 32;

/// Data that were acknowledged are kept for so long: a copy of them may be under way.
const KEPT: Duration = Duration::from_secs(2);

/// Data at one place of one subflow. A subflow's own retransmissions of them are at the same place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Copy {
    /// When the first packet with them came by the monitor.
    pub at: Time,
    /// When its sender sent that, by what is known of the way to the monitor.
    pub sent: Time,
    /// When the last packet with them came by.
    pub last: Time,
    /// Which subflow.
    pub subflow: u32,
    /// The subflow's sequence number less the data's place.
    pub shift: u32,
    /// How many packets carried them.
    pub times: u32,
}

impl Copy {
    /// Whether the first packets with both were one.
    pub(super) fn same_packet(&self, other: &Copy) -> bool {
        self.same_place(other) && self.at == other.at
    }

    /// Whether both are data at the same place of a subflow.
    const fn same_place(&self, other: &Copy) -> bool {
        self.subflow == other.subflow && self.shift == other.shift
    }
}

/// Data that were sent together, every time.
#[derive(Clone, Debug)]
struct Together {
    acked: Option<Time>,
    copies: Vec<Copy>,
}

/// What is known of a packet's data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Added {
    /// Bytes never sent before, as far as was seen.
    pub new: u64,
    /// What was at other places of subflows before, and not at this, in order.
    pub again: Vec<Resent>,
}

/// Data that went again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resent {
    pub start: i64,
    pub end: i64,
    /// Where they were before.
    pub before: Vec<Copy>,
}

/// All data of one direction that matter yet, in order.
#[derive(Debug, Default)]
pub(super) struct SentData {
    pieces: Sequence<Piece<i64, Together>>,
    /// Of what is below, nothing is known any more.
    forgotten: Option<i64>,
    una: i64,
}

impl SentData {
    /// How many pieces are kept.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// How many of them, and how many bytes up to `high`, are not acknowledged.
    pub(super) fn outstanding(&self, high: i64) -> (u32, u32) {
        let from = self.pieces.find(self.una);
        let bytes = u32::try_from(high.saturating_sub(self.una)).unwrap_or(0);
        ((self.pieces.len() - from) as u32, bytes)
    }

    /// A packet carried `start..end`.
    pub(super) fn add(&mut self, start: i64, end: i64, copy: &Copy) -> Added {
        let mut added = Added::default();
        let mut at = start.max(self.forgotten.unwrap_or(i64::MIN));
        if at >= end {
            return added;
        }
        let mut index = self.pieces.cut(at).0;
        self.pieces.cut(end);
        while at < end {
            let next = self.pieces.get(index).map_or(end, |piece| piece.start);
            if next > at {
                let upto = next.min(end);
                added.new += (upto - at) as u64;
                let piece = Piece {
                    start: at,
                    end: upto,
                    what: Together {
                        acked: (upto <= self.una).then_some(copy.at),
                        copies: vec![*copy],
                    },
                };
                self.pieces.insert(index, piece);
                at = upto;
                index += 1;
                continue;
            }
            let Some(piece) = self.pieces.get_mut(index) else {
                break;
            };
            if let Some(known) = piece.copies.iter_mut().find(|known| known.same_place(copy)) {
                known.last = known.last.max(copy.last);
                known.times = known.times.saturating_add(1);
            } else {
                if added.again.len() < MOST_PARTS {
                    added.again.push(Resent {
                        start: piece.start,
                        end: piece.end,
                        before: piece.copies.clone(),
                    });
                }
                if piece.copies.len() < MOST_COPIES {
                    piece.copies.push(*copy);
                }
            }
            at = piece.end;
            index += 1;
        }
        added
    }

    /// All data below `una` were acknowledged. Acknowledged data are forgotten at once, unless `shared` by subflows.
    pub(super) fn advance(&mut self, una: i64, now: Time, shared: bool) {
        if una > self.una {
            // Pieces in front were acknowledged before.
            let from = self.pieces.find(self.una);
            let to = self.pieces.find(una);
            for piece in self.pieces.range_mut(from..to) {
                piece.acked = Some(now);
            }
            self.una = una;
        }
        let over = |at: Time| !shared || now.since(at) > KEPT;
        while self
            .pieces
            .front()
            .is_some_and(|piece| piece.acked.is_some_and(over))
        {
            self.forget_first();
        }
    }

    /// Forgets the oldest until no more than `most` pieces are left.
    pub(super) fn limit(&mut self, most: usize) {
        while self.pieces.len() > most.min(MOST_PIECES) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(piece) = self.pieces.pop_front() {
            self.forgotten = Some(piece.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn copy(ms: i64, subflow: u32, shift: u32) -> Copy {
        let at = Time::ZERO + Duration::from_millis(ms);
        Copy {
            at,
            sent: at,
            last: at,
            subflow,
            shift,
            times: 1,
        }
    }

    #[test]
    fn the_same_place_is_a_subflows_own_retransmission() {
        let mut sent = SentData::default();
        assert_eq!(sent.add(0, 1_000, &copy(0, 0, 7)).new, 1_000);
        assert_eq!(sent.add(1_000, 2_000, &copy(1, 1, 9)).new, 1_000);
        assert_eq!(sent.add(0, 1_000, &copy(50, 0, 7)), Added::default());
        let added = sent.add(500, 2_500, &copy(90, 1, 100));
        let [first, second] = &added.again[..] else {
            panic!("{added:?}")
        };
        assert_eq!((added.new, first.start, first.end), (500, 500, 1_000));
        assert_eq!((second.start, second.end), (1_000, 2_000));
        let [before] = first.before[..] else {
            panic!("{added:?}")
        };
        assert_eq!((before.subflow, before.times), (0, 2));
        assert_eq!(before.last, copy(50, 0, 7).at);
    }

    #[test]
    fn acknowledged_data_are_kept_while_subflows_share_them() {
        let mut sent = SentData::default();
        sent.add(0, 1_000, &copy(0, 0, 0));
        sent.advance(1_000, copy(10, 0, 0).at, true);
        assert_eq!(sent.add(0, 1_000, &copy(20, 1, 0)).again.len(), 1);
        sent.advance(1_000, copy(3_000, 0, 0).at, true);
        assert_eq!(sent.len(), 0);
        // What was forgotten is not taken for new.
        assert_eq!(sent.add(0, 1_000, &copy(3_001, 1, 0)), Added::default());
        sent.add(1_000, 2_000, &copy(3_002, 0, 0));
        sent.advance(2_000, copy(3_003, 0, 0).at, false);
        assert_eq!(sent.len(), 0);
    }

    proptest! {
        /// Against a list of every byte.
        #[test]
        fn tells_new_from_sent_as_a_plain_list_does(
            packets in proptest::collection::vec((0i64..60, 1i64..12, 0u32..3), 1..60),
        ) {
            let mut sent = SentData::default();
            let mut plain: Vec<Vec<u32>> = vec![Vec::new(); 80];
            for (now, (start, len, subflow)) in packets.into_iter().enumerate() {
                let added = sent.add(start, start + len, &copy(now as i64, subflow, 0));
                let bytes = &mut plain[start as usize..(start + len) as usize];
                let new = bytes.iter().filter(|on| on.is_empty()).count();
                let again = |on: &Vec<u32>| !on.is_empty() && !on.contains(&subflow);
                let first = bytes.iter().position(again).map(|at| start + at as i64);
                let last = bytes.iter().rposition(again).map(|at| start + at as i64 + 1);
                prop_assert_eq!(added.new, new as u64);
                let parts = (added.again.first(), added.again.last());
                prop_assert_eq!(parts.0.map(|part| part.start), first);
                prop_assert_eq!(parts.1.map(|part| part.end), last);
                for on in bytes {
                    if !on.contains(&subflow) {
                        on.push(subflow);
                    }
                }
                let places = sent.pieces.iter().map(|piece| (piece.start, piece.end));
                let mut end = i64::MIN;
                for (from, to) in places {
                    prop_assert!(end <= from && from < to);
                    end = to;
                }
            }
        }
    }
}
