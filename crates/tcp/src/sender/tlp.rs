//! The tail loss probe (RFC 8985 §7).

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::nagle::Hold;
use super::news::News;
use super::timer::Job;
use super::write::Extent;
use super::{Sender, State};
use crate::settings::{SenderForm, Tlp};
use crate::words::Mechanism;

/// The probe on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Episode {
    /// What had been sent when the probe was; none without a probe (`tlp_high_seq`).
    pub high: Option<SeqNum>,
    /// The probe sent old data again (`tlp_retrans`).
    pub resent: bool,
}

/// When to probe after the last transmission or acknowledgement, in microseconds: two round trips, and time for a delayed
/// acknowledgement if there is one segment only (RFC 8985 §7.2, with `tcp_rto_min` for max_ack_delay).
fn probe_timeout(srtt8: u64, out: u32, min_rto: i64) -> i64 {
    let reply = if out == 1 {
        min_rto
    } else {
        super::detect::rack::TIMER_SLACK_MICROS
    };
    (srtt8 >> 2) as i64 + reply
}

impl Sender {
    /// Sets the timer to a probe if one may be sent later: `advancing` after an acknowledgement that moved the timeout on.
    /// Whether it is set (`tcp_schedule_loss_probe`).
    pub(super) fn schedule_probe(&mut self, advancing: bool) -> bool {
        if self.settings.sender == SenderForm::Linux3 {
            self.schedule_probe_linux3();
            return false;
        }
        if self.settings.tlp != Tlp::Rfc8985
            || self.queue.out == 0
            || !self.sack
            || !matches!(self.state, State::Open | State::Cwr)
        {
            return false;
        }
        let mut ticks = match self.rtt.srtt_us8() {
            0 => self.clock.ticks_in(self.settings.initial_rto),
            srtt8 => {
                let min_rto = self.settings.min_rto.as_nanos() / 1_000;
                let wait = probe_timeout(srtt8, self.queue.out, min_rto);
                self.clock.ticks_in(Duration::from_micros(wait))
            }
        };
        // Not later than the timeout would be.
        let left = if advancing {
            self.rto * self.tick_micros()
        } else {
            self.timeout_left()
        };
        if left > 0 {
            ticks = ticks.min(self.clock.ticks_in(Duration::from_micros(left)));
        }
        self.set_timer(Job::Probe, ticks);
        true
    }

    /// Sends a new segment if there is one and the peer takes it, else the last one again (RFC 8985 §7.3;
    /// `tcp_send_loss_probe`).
    pub(super) fn send_probe(&mut self) {
        if self.probe.high.is_none() && self.transmit_probe() {
            self.probe.high = Some(self.nxt);
            self.counters.probes += 1;
            // A full timeout follows.
            self.timer.clear();
        }
        self.rearm_timeout();
    }

    /// Whether a probe went out.
    fn transmit_probe(&mut self) -> bool {
        self.probe.resent = false;
        if let Some(head) = self.backlog.head() {
            if self.fits_peer_window(&head) {
                let out = self.queue.out;
                self.send_new_data(Hold::OFF, Extent::Probe);
                return self.queue.out > out;
            }
        }
        let Some(mut last) = self.queue.len().checked_sub(1) else {
            return false;
        };
        if self.is_in_host(last) {
            return false;
        }
        let segment = self.queue.at(last);
        let before = (segment.count() - 1) * self.mss;
        if before > 0 && segment.len() > before {
            self.queue.split(last, before, self.mss, self.sack);
            last += 1;
        }
        if !self.transmit_again(last, 1, Mechanism::Tlp, true) {
            return false;
        }
        self.probe.resent = true;
        true
    }

    /// What an acknowledgement says of the probe: a loss if it goes beyond it without a D-SACK (RFC 8985 §7.4.2;
    /// `tcp_process_tlp_ack`).
    pub(super) fn judge_probe(&mut self, ack: SeqNum, news: News) {
        let Some(high) = self.probe.high else {
            return;
        };
        if ack.is_before(high) {
            return;
        }
        let duplicate = !news.any(News::ADVANCED | News::NOT_DUPLICATE | News::SACKED);
        if !self.probe.resent || news.any(News::DSACK_PROBE) {
            self.probe.high = None;
        } else if ack.is_after(high) {
            self.begin_reduction();
            self.set_state(State::Cwr);
            self.end_reduction();
            self.keep_open();
        } else if duplicate {
            // The original arrived as well as the probe.
            self.probe.high = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_segment_waits_for_a_delayed_acknowledgement() {
        assert_eq!(probe_timeout(50_000 << 3, 3, 200_000), 102_000);
        assert_eq!(probe_timeout(50_000 << 3, 1, 200_000), 300_000);
    }
}
