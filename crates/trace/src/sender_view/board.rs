//! What of the sender's data was sent, SACKed and acknowledged, by places on one line.

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::{Intervals, SeqNum};

use super::line::SeqSpace;
use super::pieces::Pieces;

/// Packets sent lately that are remembered.
pub(super) const LATELY: usize = 256;

/// What was sent.
#[derive(Debug)]
pub(super) struct Board {
    pub line: Option<SeqSpace>,
    pub pieces: Pieces,
    pub sacked: Intervals<i64>,
    /// Segments that gaps were laid out in.
    pub laid_out: i64,
    /// What was sent last: when it came by, its first place, and whether it was sent before.
    pub lately: VecDeque<(Time, i64, bool)>,
}

impl Board {
    /// The line, laid from `seq` if there is none yet.
    pub fn line_from(&mut self, seq: SeqNum) -> SeqSpace {
        *self.line.get_or_insert(SeqSpace::new(seq))
    }

    /// Remembers what came by at `at` and begins at `place`.
    pub fn note_lately(&mut self, at: Time, place: i64, again: bool) {
        if self.lately.len() == LATELY {
            self.lately.pop_front();
        }
        self.lately.push_back((at, place, again));
    }

    /// The packet that came by last up to `since`: its first place, and whether it was sent before.
    pub fn last_before(&self, since: Time) -> Option<(i64, bool)> {
        let after = self.lately.partition_point(|&(at, ..)| at <= since);
        let (_, place, again) = self.lately.get(after.checked_sub(1)?)?;
        Some((*place, *again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_packet_before_a_time_is_found_among_those_of_late() {
        let mut board = Board {
            line: None,
            pieces: Pieces::new(1_000, VecDeque::new()),
            sacked: Intervals::default(),
            laid_out: 0,
            lately: VecDeque::new(),
        };
        let at = Time::from_nanos;
        assert_eq!(board.last_before(at(9)), None);
        for nanos in 0..300 {
            board.note_lately(at(nanos), nanos as i64 * 10, nanos == 299);
        }
        assert_eq!(board.last_before(at(299)), Some((2_990, true)));
        assert_eq!(board.last_before(at(100)), Some((1_000, false)));
        assert_eq!(board.last_before(at(43)), None, "forgotten");
    }
}
