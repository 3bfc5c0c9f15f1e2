//! The retransmission timeout (RFC 6298 §5.4 to 5.6; `tcp_retransmit_timer`).

use rexmit_time::Duration;

use super::{Sender, State};
use crate::recovery::constants::{ORPHAN_RETRIES, RTO_MIN};
use crate::recovery::Job;
use crate::settings::{Estimator, TimeoutMarks};
use crate::words::Mechanism;

impl Sender {
    pub(super) fn on_timeout(&mut self) {
        if self.queue.out == 0 {
            return;
        }
        if self.peer_window == 0 && !self.orphan {
            self.probe_shut_window();
            return;
        }
        self.counters.timeouts += 1;
        if self.is_to_be_given_up() {
            self.timed_out = true;
            return;
        }
        self.enter_loss();
        self.timeouts += 1;
        self.resend(0, 1, Mechanism::Rto);
        self.backoff = self.backoff.saturating_add(1);
        self.back_off();
    }

    /// RFC 6298 §5.5; what is added to every timeout is added once (`tcp_timer_rexmt`, FreeBSD).
    pub(super) fn back_off(&mut self) {
        let tick = self.clock.tick();
        let slop = tick.up(self.settings.rto_slop);
        self.rto = ((self.rto - slop) * 2 + slop).min(tick.up(self.settings.max_rto));
        self.set_timer(Job::Timeout, self.rto);
    }

    /// The peer took its window back: the head probes it, and the connection lives as long as the peer answers.
    fn probe_shut_window(&mut self) {
        let longest = 2 * self.clock.ticks_in(self.settings.max_rto);
        let first = self
            .undo
            .stamp
            .or_else(|| self.queue.head().map(|head| self.stamp(head.at)));
        let age = first.map_or(0, |first| self.timestamp(self.now).wrapping_sub(first));
        let age = self.clock.ticks_in(self.stamp_span(age));
        if self.timer.due() - self.last_ack > longest && age > longest {
            self.timed_out = true;
            return;
        }
        self.enter_loss();
        self.resend(0, 1, Mechanism::Rto);
        self.back_off();
    }

    /// Timeouts went unanswered too often (RFC 1122 §4.2.3.5); on Linux for too long: as long as `retries` of them take when
    /// they start from 200 ms (`retransmits_timed_out`).
    pub(super) fn is_to_be_given_up(&self) -> bool {
        if self.timeouts == 0 {
            return false;
        }
        let linux = [Estimator::LinuxTicks, Estimator::LinuxMicros];
        if !linux.contains(&self.settings.estimator) {
            return self.timeouts >= self.settings.retries;
        }
        let Some(first) = self.undo.stamp else {
            return false;
        };
        let longest = self.settings.max_rto;
        let retries = if !self.orphan {
            self.settings.retries
        } else if self.rto < self.clock.tick().up(longest) {
            ORPHAN_RETRIES
        } else {
            0
        };
        let age = self.timestamp(self.now).wrapping_sub(first);
        self.stamp_span(age) >= model_timeout(retries, longest)
    }

    /// The span of a difference of timestamps.
    fn stamp_span(&self, difference: u32) -> Duration {
        Duration::from_micros(i64::from(difference) * self.stamp_micros())
    }

    /// What is in flight is lost, wholly or as far as RACK says (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self) {
        let first = self.state < State::Recovery;
        self.mark_lost_by_timeout();
        if self.state <= State::Disorder
            || !self.recovery_point.is_after(self.una)
            || (self.state == State::Loss && self.timeouts == 0)
        {
            self.prior_ssthresh = self.current_ssthresh();
            self.window.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.control.ssthresh(&self.window);
            self.begin_undo();
        }
        self.window.cwnd = self.queue.in_flight() + 1;
        self.window.cwnd_cnt = 0;
        self.usage.stamp = self.tick();
        // Many duplicates and still a timeout: reordering was overrated.
        let threshold = self.settings.dupack_threshold;
        if self.state <= State::Disorder && self.queue.sacked >= threshold {
            self.reordering = self.reordering.min(threshold);
        }
        self.set_state(State::Loss);
        self.recovery_point = self.nxt;
        self.probe.high = None;
        // RFC 5682 §3.1 step 1, §3.2
        self.frto = self.settings.frto && (first || self.timeouts > 0);
    }

    /// `tcp_timeout_mark_lost`
    fn mark_lost_by_timeout(&mut self) {
        let reneged = self.queue.head().is_some_and(super::queue::Sent::is_sacked);
        if reneged || !self.sack {
            self.queue.sacked = 0;
        }
        for index in 0..self.queue.len() {
            let segment = *self.queue.at(index);
            if reneged {
                let marks = &mut self.queue.at_mut(index).marks;
                marks.clear(super::queue::Marks::SACKED);
            } else if self.settings.timeout_marks == TimeoutMarks::Rack
                && self.settings.rack
                && index > 0
                && self.rack_wait(&segment, 0) > 0
            {
                continue;
            }
            self.queue.mark_lost(index);
        }
        self.queue.clear_hints();
    }
}

/// How long so many timeouts take that start from 200 ms (`tcp_model_timeout`).
fn model_timeout(retries: u32, longest: Duration) -> Duration {
    let ratio = (longest.as_nanos() / RTO_MIN.as_nanos()).max(1);
    let doublings = ratio.ilog2();
    let doubled = |times: u32| RTO_MIN * ((2_i64 << times) - 1);
    if retries <= doublings {
        doubled(retries)
    } else {
        doubled(doublings) + longest * i64::from(retries - doublings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_take_924_600_milliseconds() {
        let longest = Duration::from_secs(120);
        assert_eq!(model_timeout(15, longest), Duration::from_millis(924_600));
        assert_eq!(model_timeout(3, longest), Duration::from_millis(3_000));
    }
}
