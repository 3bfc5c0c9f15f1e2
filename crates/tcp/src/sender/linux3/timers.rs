//! What a timeout does to the scoreboard and the window, as in 3.10.

use super::super::queue::{Marks, Sent};
use super::super::recovery::prr::Step;
use super::super::{Sender, State};
use crate::settings::Recovery;

impl Sender {
    /// All that is not SACKed is lost; if the receiver `reneged`, all (`tcp_enter_loss`).
    pub(in super::super) fn enter_loss_linux3(&mut self, reneged: bool) {
        let state = self.state;
        let reduced = self.loss_view().reduces();
        if reduced {
            self.reduce_by_timeout();
        }
        self.window.cwnd = 1;
        self.window.cwnd_cnt = 0;
        self.usage.stamp = self.tick();
        self.undo.retransmissions = 0;
        self.undo.marker = self.settings.undo.then_some(self.una);
        if reneged || !self.sack {
            self.queue.sacked = 0;
        }
        if reneged {
            self.fack.reach = 0;
        }
        self.queue.clear_hints();
        self.fack.timeout_hint = None;
        if self.mark_all_lost(reneged) {
            self.undo.marker = None;
        }
        self.reordering = self.reordering_after_timeout();
        self.set_state(State::Loss);
        self.recovery_point = self.nxt;
        self.begin_frto(state, reduced);
    }

    /// Marks everything lost that is not SACKed, or everything. Whether something had been sent again before.
    fn mark_all_lost(&mut self, reneged: bool) -> bool {
        let mut resent_before = false;
        self.queue.resent = 0;
        self.queue.lost = 0;
        for index in 0..self.queue.len() {
            let segment = self.queue.at_mut(index);
            resent_before |= segment.marks.any(Marks::ANY_RESENT);
            segment.marks.clear(Marks::RESENT | Marks::LOST);
            if reneged {
                segment.marks.clear(Marks::SACKED);
            }
            if !segment.is_sacked() {
                segment.marks.set(Marks::LOST);
                let (count, end) = (segment.count(), segment.end);
                self.queue.lost += count;
                self.fack.lost_end = end;
            }
        }
        resent_before
    }

    /// How much may be in flight while a reduction is under way. `begins`: the first call of a recovery, by which a segment
    /// may go in any case.
    pub(super) fn reduce_window_linux3(&mut self, delivered: u32, begins: bool) {
        let in_flight = self.queue.in_flight();
        let step = Step {
            delivered,
            lost: 0,
            advanced: false,
            in_flight,
            ssthresh: self.window.ssthresh,
            prior_cwnd: self.window.prior_cwnd,
            begins,
        };
        let least = in_flight + u32::from(begins);
        self.window.cwnd = match self.settings.recovery {
            form @ (Recovery::Prr | Recovery::PrrConservative) => self.prr.step(form, step),
            Recovery::RateHalving => self.halve_rate(in_flight),
            // RFC 6582 §3.2, RFC 6675 §5: duplicates and SACKs let the count in flight fall instead.
            Recovery::NewReno | Recovery::Pipe => self.window.ssthresh.max(least),
        };
    }

    /// Whether the head has been out for more than a timeout (`tcp_head_timedout`).
    pub(in super::super) fn head_timed_out(&self) -> bool {
        let head = self.queue.head();
        self.settings.head_timeout && head.is_some_and(|head| self.is_overdue(head))
    }

    /// `tcp_skb_timedout`
    pub(in super::super) fn is_overdue(&self, segment: &Sent) -> bool {
        self.ticks_span(self.tick() - self.tick_of(segment.at)) > self.rto
    }
}
