//! What sets the timer and what it does, as in 3.10.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::super::nagle::Hold;
use super::super::news::News;
use super::super::queue::{Marks, Sent};
use super::super::recovery::prr::Step;
use super::super::timer::Job;
use super::super::write::Extent;
use super::super::{Sender, State};
use crate::settings::{Recovery, Tlp};
use crate::words::Mechanism;

/// The longest delay of an acknowledgement that a probe of one segment allows for (`TCP_DELACK_MAX`).
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// The shortest wait before a probe.
const SHORTEST_PROBE: Duration = Duration::from_millis(10);

/// When to probe, in ticks: two round trips, and time for a delayed acknowledgement if there is one segment only
/// (draft-dukkipati-tcpm-tcp-loss-probe-01 §2.1).
fn probe_timeout(rtt: i64, out: u32, delayed_ack: i64, shortest: i64) -> i64 {
    let wait = if out == 1 {
        (2 * rtt).max(rtt + rtt / 2 + delayed_ack)
    } else {
        2 * rtt
    };
    wait.max(shortest)
}

impl Sender {
    /// `tcp_rearm_rto`
    pub(in super::super) fn timeout_left_linux3(&self) -> Option<i64> {
        let head = self.queue.head()?;
        let left = self.tick_of(head.at) + self.rto - self.tick();
        (left > 0).then_some(left)
    }

    /// Turns the timeout into a probe if one may be sent earlier or instead (`tcp_schedule_loss_probe`).
    pub(in super::super) fn schedule_probe_linux3(&mut self) {
        // Whole ticks, or microseconds rounded up to them (usecs_to_jiffies, since 3.15).
        let rtt = self.rtt.srtt().map_or(0, |srtt| self.clock.ticks_in(srtt));
        if self.timer.job() != Some(Job::Timeout)
            || self.settings.tlp != Tlp::Draft
            || rtt == 0
            || self.queue.out == 0
            || !self.sack
            || self.state != State::Open
        {
            return;
        }
        if self.window.cwnd > self.queue.in_flight() && !self.backlog.is_empty() {
            return;
        }
        let delayed_ack = self.clock.ticks_in(DELAYED_ACK);
        let shortest = self.clock.ticks_in(SHORTEST_PROBE);
        let mut ticks = probe_timeout(rtt, self.queue.out, delayed_ack, shortest);
        let left = self.timer.due() - self.tick();
        if left > 0 {
            ticks = ticks.min(left);
        }
        self.set_timer(Job::Probe, ticks);
    }

    /// Sends new data if there are any, else the last segment again, once; then a full timeout (`tcp_send_loss_probe`).
    pub(in super::super) fn send_probe_linux3(&mut self) {
        if self.backlog.is_empty() {
            if self.probe.high.is_none() && self.resend_last() {
                self.probe.high = Some(self.nxt);
                self.counters.probes += 1;
            }
        } else {
            let out = self.queue.out;
            self.send_new_data(Hold::OFF, Extent::Probe);
            self.counters.probes += u32::from(self.queue.out > out);
        }
        self.set_timer(Job::Timeout, self.rto);
    }

    /// Whether the last segment went out again.
    fn resend_last(&mut self) -> bool {
        let Some(mut last) = self.queue.len().checked_sub(1) else {
            return false;
        };
        let segment = *self.queue.at(last);
        let before = (segment.count() - 1) * self.mss;
        if before > 0 && segment.len() > before {
            self.queue.split(last, before, self.mss, self.sack);
            last += 1;
        }
        if self.queue.at(last).len() == 0 && !self.settings.tlp_probes_bare_fin {
            return false;
        }
        self.transmit_again(last, 1, Mechanism::Tlp, true)
    }

    /// What an acknowledgement says of the probe (`tcp_process_tlp_ack`).
    pub(super) fn judge_probe_linux3(&mut self, ack: SeqNum, news: News) {
        let Some(high) = self.probe.high else {
            return;
        };
        let duplicate = !news.any(News::ADVANCED | News::NOT_DUPLICATE | News::SACKED);
        if ack == high && duplicate {
            self.probe.high = None;
        } else if ack.is_after(high) {
            self.probe.high = None;
            if !news.any(News::DSACK) {
                self.begin_reduction();
                self.set_state(State::Cwr);
                self.end_reduction();
                self.set_state(State::Open);
            }
        }
    }

    /// The timeout (`tcp_retransmit_timer`).
    pub(in super::super) fn on_timeout_linux3(&mut self) {
        if self.queue.out == 0 {
            return;
        }
        self.probe.high = None;
        if self.peer_window == 0 && !self.orphan {
            let longest = self.clock.ticks_in(self.settings.max_rto);
            if self.tick() - self.last_ack > longest {
                self.timed_out = true;
                return;
            }
            self.enter_loss_linux3(false);
            self.resend(0, 1, Mechanism::Rto);
            self.back_off();
            return;
        }
        self.counters.timeouts += 1;
        if self.is_to_be_given_up() {
            self.timed_out = true;
            return;
        }
        self.enter_loss_linux3(false);
        self.resend(0, 1, Mechanism::Rto);
        self.backoff = self.backoff.saturating_add(1);
        self.timeouts += 1;
        self.back_off();
    }

    /// All that is not SACKed is lost; if the receiver `reneged`, all (`tcp_enter_loss`).
    pub(super) fn enter_loss_linux3(&mut self, reneged: bool) {
        let mut reduced = false;
        if self.state <= State::Disorder
            || !self.recovery_point.is_after(self.una)
            || (self.state == State::Loss && self.timeouts == 0)
        {
            reduced = true;
            self.prior_ssthresh = self.current_ssthresh();
            self.window.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.control.ssthresh(&self.window);
        }
        self.window.cwnd = 1;
        self.window.cwnd_cnt = 0;
        self.usage.stamp = self.tick();
        self.undo.resends = 0;
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
        self.reordering = self.reordering.min(self.settings.dupack_threshold);
        self.set_state(State::Loss);
        self.recovery_point = self.nxt;
        self.frto = self.settings.frto && (reduced || self.timeouts > 0);
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
        self.tick() - self.tick_of(segment.at) > self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_waits_as_the_draft_says() {
        // HZ = 1000
        assert_eq!(probe_timeout(50, 3, 200, 10), 100);
        assert_eq!(probe_timeout(20, 1, 200, 10), 230);
        assert_eq!(probe_timeout(1000, 1, 200, 10), 2000);
        assert_eq!(probe_timeout(1, 2, 200, 10), 10);
    }
}
