//! What is out as [`recovery::machine`](crate::recovery::machine) works on it.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::queue::{time_of, Marks, SentSegment};
use super::Flight;
use crate::recovery::dupack;
use crate::recovery::machine::{Board, Counts, StreamState};
use crate::recovery::rack::Rack;
use crate::settings::TimeoutMarks;

impl Board for Flight {
    #[inline]
    fn line(&self) -> StreamState {
        let queue = &self.queue;
        StreamState {
            una: self.una,
            nxt: self.nxt,
            mss: self.sizes.mss,
            sack: self.sack,
            highest_sack: queue.highest_sack(self.una),
            reach: if queue.counts.sacked == 0 {
                0
            } else {
                self.fack.reach
            },
        }
    }

    #[inline]
    fn counts(&self) -> Counts {
        self.queue.counts
    }

    fn head_sent(&self) -> Option<Time> {
        self.queue.head().map(|head| time_of(head.at))
    }

    fn tail_sent(&self) -> Option<Time> {
        self.queue.tail().map(|tail| time_of(tail.at))
    }

    fn fin_is_out(&self) -> bool {
        let tail = self.queue.tail();
        tail.is_some_and(|tail| tail.marks.any(Marks::FIN))
    }

    fn head_was_sent_again(&self) -> bool {
        let head = self.queue.head();
        head.is_some_and(|head| head.marks.any(Marks::EVER_RETRANSMITTED))
    }

    fn any_was_sent_again(&self) -> bool {
        let again = |index| self.queue.at(index).marks.any(Marks::ANY_RETRANSMISSION);
        (0..self.queue.len()).any(again)
    }

    fn head_is_sacked(&self) -> bool {
        self.queue.head().is_some_and(SentSegment::is_sacked)
    }

    fn set_duplicates(&mut self, duplicates: u32) {
        self.queue.counts.sacked = duplicates;
    }

    fn count_delivered(&mut self, segments: u32) {
        self.delivered += segments;
    }

    fn mark_head(&mut self) {
        let Some(head) = self.queue.head().filter(|head| !head.is_lost()) else {
            return;
        };
        if head.packets > 1 && head.len() > self.sizes.mss {
            self.split(0, self.sizes.mss);
        }
        self.queue.mark_lost(0);
    }

    fn mark_counted(&mut self, marks: dupack::Marks, by_sack: bool, limit: SeqNum) {
        let (most, head_only) = match marks {
            dupack::Marks::Nothing => return,
            dupack::Marks::Head => (1, true),
            dupack::Marks::First(most) | dupack::Marks::BelowSacked(most) => (most, false),
        };
        self.mark_from_head(most, head_only, by_sack, limit);
    }

    fn mark_overdue(&mut self, before: Time) {
        self.fack
            .mark_overdue(&mut self.queue, |one| time_of(one.at) < before);
    }

    fn mark_by_timeout(&mut self, reneged: bool, lost: impl Fn(bool, Time) -> bool) {
        if reneged {
            self.queue.counts.sacked = 0;
            for index in 0..self.queue.len() {
                self.queue.at_mut(index).marks.clear(Marks::SACKED);
            }
        }
        match self.settings.loss.timeout_marks {
            TimeoutMarks::All => self.fack.mark_all_lost(&mut self.queue),
            TimeoutMarks::Rack => {
                for index in 0..self.queue.len() {
                    if reneged || lost(index == 0, time_of(self.queue.at(index).at)) {
                        self.queue.mark_lost(index);
                    }
                }
            }
        }
        self.queue.clear_hints();
        self.fack.timeout_hint = None;
    }

    fn mark_by_rack(&mut self, rack: &Rack, window: Duration, now: Time) -> Duration {
        rack.detect(&mut self.queue, window, now)
    }

    fn unmark_lost(&mut self) {
        self.queue.unmark_lost();
    }

    fn count_anew(&mut self) {
        self.queue.count_hint = None;
    }
}
