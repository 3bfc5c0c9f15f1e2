//! What a timeout does to the scoreboard and the window, as in 3.10.

use super::super::queue::{Marks, Sent};
use super::super::{Sender, State};
use crate::recovery::{fack, Job};
use crate::words::Mechanism;

impl Sender {
    /// All that is not SACKed is lost; if the receiver `reneged`, all (`tcp_enter_loss`).
    pub(in super::super) fn enter_loss_linux3(&mut self, reneged: bool) {
        let state = self.episode.state;
        let reduced = self.loss_view().reduces();
        if reduced {
            self.reduce_by_timeout();
        }
        self.congestion.window.cwnd = 1;
        self.congestion.window.cwnd_cnt = 0;
        self.congestion.usage.stamp = self.tick();
        if reneged || !self.sack {
            self.queue.sacked = 0;
        }
        if reneged {
            self.detection.fack.reach = 0;
        }
        self.queue.clear_hints();
        self.detection.fack.timeout_hint = None;
        let retransmitted_before = self.mark_all_lost(reneged);
        let una = self.settings.undo.then_some(self.una);
        self.episode
            .undo
            .begin_by_timeout(una, retransmitted_before);
        self.detection.threshold = self.reordering_after_timeout();
        self.set_state(State::Loss);
        self.episode.point = self.nxt;
        self.begin_frto(state, reduced);
    }

    /// Marks everything lost that is not SACKed, or everything. Whether something had been sent again before.
    fn mark_all_lost(&mut self, reneged: bool) -> bool {
        let mut retransmitted_before = false;
        self.queue.retransmissions_out = 0;
        self.queue.lost = 0;
        for index in 0..self.queue.len() {
            let segment = self.queue.at_mut(index);
            retransmitted_before |= segment.marks.any(Marks::ANY_RETRANSMISSION);
            segment.marks.clear(Marks::RETRANSMISSION_OUT | Marks::LOST);
            if reneged {
                segment.marks.clear(Marks::SACKED);
            }
            if !segment.is_sacked() {
                segment.marks.set(Marks::LOST);
                let (count, end) = (segment.count(), segment.end);
                self.queue.lost += count;
                self.detection.fack.lost_end = end;
            }
        }
        retransmitted_before
    }

    /// The acknowledgement ended at a segment that was SACKed: the receiver dropped it, and all SACKs are void (RFC 2018 §8;
    /// `tcp_check_sack_reneging`).
    pub(in super::super) fn forget_sacks(&mut self) {
        self.enter_loss_linux3(true);
        self.timing.timeouts += 1;
        self.retransmit(0, 1, Mechanism::Rto);
        self.set_timer(Job::Timeout, self.timing.rto);
    }

    /// Whether the head has been out for more than a timeout (`tcp_head_timedout`).
    pub(in super::super) fn head_timed_out(&self) -> bool {
        let head = self.queue.head();
        self.settings.head_timeout && head.is_some_and(|head| self.is_overdue(head))
    }

    /// `tcp_skb_timedout`
    pub(in super::super) fn is_overdue(&self, segment: &Sent) -> bool {
        let age = self.ticks_span(self.tick() - self.tick_of(segment.at));
        fack::timed_out(age, self.timing.rto)
    }
}
