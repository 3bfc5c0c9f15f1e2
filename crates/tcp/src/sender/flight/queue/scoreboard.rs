//! The queue as loss detection sees it: in the order of sending, without what was SACKed.

use super::{time_of, Queue};
use crate::recovery::scoreboard::{Scoreboard, Segment};

impl Scoreboard for Queue {
    fn first_sent(&self) -> Option<usize> {
        self.oldest()
    }

    fn next_sent(&self, place: usize) -> Option<usize> {
        Queue::next_sent(self, place)
    }

    fn rest_was_sent_later(&self, _place: usize) -> bool {
        true
    }

    fn segment(&self, place: usize) -> Segment {
        let sent = self.at(place);
        Segment {
            end: sent.end,
            sent: time_of(sent.at),
            sacked: sent.is_sacked(),
            lost: sent.is_lost(),
            retransmission_out: sent.has_retransmission_out(),
        }
    }

    fn mark_lost(&mut self, place: usize) {
        Queue::mark_lost(self, place);
        self.unlist(place);
    }
}
