//! The order in which an acknowledgement is worked through (`tcp_ack`, 3.10), and what taking segments off gives
//! (`tcp_clean_rtx_queue`).

use rexmit_time::Duration;

use super::super::ack_outcome::AckOutcome;
use super::super::alert::Doubtful;
use super::super::clean::{Cleaned, Delivery};
use super::super::queue::Sent;
use super::super::sack::Tagged;
use super::super::{Ack, Sender, State};
use crate::recovery::Job;
use crate::settings::{CongestionControl, Estimator, RttSamples};

impl Sender {
    /// Whether the segment is acceptable.
    pub(in super::super) fn take_ack_linux3(&mut self, ack: &Ack<'_>) -> bool {
        let number = ack.segment.ack;
        let before = self.before_ack();
        let (in_flight, reach) = (self.queue.in_flight(), self.detection.fack.reach);
        if number.is_before(before.prior_una) {
            if number.is_before(before.prior_una - self.peer.largest_window) {
                return false;
            }
            self.take_old_ack(ack);
            return true;
        }
        if number.is_after(self.nxt) {
            return false;
        }
        if matches!(
            self.timing.timer.job(),
            Some(Job::EarlyRetransmit | Job::Probe)
        ) {
            self.rearm_timeout();
        }
        let mut outcome = AckOutcome::NONE;
        if number.is_after(before.prior_una) {
            outcome.set(AckOutcome::ADVANCED);
        }
        if ack.segment.space() > 0 {
            outcome.set(AckOutcome::DATA);
        }
        self.take_window(ack, &mut outcome);
        self.una = number;
        let mut tagged = Tagged::new(self.nxt);
        if self.sack && !ack.segment.sack.is_empty() {
            let sack = &ack.segment.sack;
            let mut delivery = Delivery::default();
            self.tag(sack, number, before.prior_una, &mut tagged, &mut delivery);
            outcome.set(tagged.outcome);
        }
        self.timing.window_probes = 0;
        self.peer.last_ack = self.tick();
        if before.prior_out == 0 {
            if outcome.any(AckOutcome::DSACK) {
                let resume = self.alert(&before, &mut outcome);
                self.resume(resume);
            }
            self.acknowledge_persist();
            self.judge_probe(number, outcome);
            return true;
        }
        let acked = self.clean_linux3(&before, reach, &tagged, &mut outcome);
        let doubtful = !outcome.any(AckOutcome::NOT_DUPLICATE)
            || outcome.any(AckOutcome::SACKED)
            || self.episode.state != State::Open;
        // The window grows first, where no reduction is under way.
        if outcome.any(AckOutcome::ACKED) && (!doubtful || !self.in_reduction()) {
            self.grow_window_linux3(in_flight, acked);
        }
        if doubtful {
            let duplicate = !outcome.any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE);
            let view = Doubtful {
                acked,
                duplicates: u32::from(duplicate),
                ..before
            };
            let resume = self.alert(&view, &mut outcome);
            self.resume(resume);
        }
        self.judge_probe(number, outcome);
        if self.timing.timer.job() == Some(Job::Timeout) {
            self.schedule_probe(true);
        }
        if self.settings.pacing_rate {
            self.set_pacing_rate();
        }
        true
    }

    /// Takes off what is acknowledged: a round-trip time, a fresh timeout, signs of reordering. Returns the segments.
    fn clean_linux3(
        &mut self,
        before: &Doubtful,
        reach_before: u32,
        tagged: &Tagged,
        outcome: &mut AckOutcome,
    ) -> u32 {
        let cleaned = self.take_off_acknowledged(&mut Delivery::default());
        outcome.set(cleaned.outcome);
        if self.queue.head().is_some_and(Sent::is_sacked) {
            outcome.set(AckOutcome::RENEGING);
        }
        let by_time_of_sending = self.settings.estimator == Estimator::LinuxMicros;
        if by_time_of_sending {
            self.sample_rtt_micros(&cleaned, tagged, outcome.any(AckOutcome::ACKED));
        }
        if !outcome.any(AckOutcome::ACKED) {
            return 0;
        }
        if !by_time_of_sending {
            self.sample_rtt_linux3(&cleaned);
        }
        self.rearm_timeout();
        if self.sack {
            if let Some(late) = cleaned.before_late.filter(|late| *late < reach_before) {
                let reach = self.detection.fack.reach;
                self.note_reordering_of(reach.saturating_sub(late));
            }
            let counted = if self.detection.fack.on {
                cleaned.acked
            } else {
                before.prior_sacked.saturating_sub(self.queue.sacked)
            };
            self.uncount_hint(counted);
        } else {
            self.remove_duplicates(cleaned.acked);
        }
        self.detection.fack.reach = self.detection.fack.reach.saturating_sub(cleaned.acked);
        let rtt = cleaned
            .last_sent
            .filter(|_| !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED))
            .map(|sent| self.control_rtt_linux3(sent));
        self.tell_control(cleaned.acked, rtt);
        cleaned.acked
    }

    /// Since 3.12 the time of sending first, of what was acknowledged or else SACKed, and the timestamp where both were sent
    /// again (`tcp_ack_update_rtt`). A SACK of what was sent before the head's last transmission restarts the timeout.
    fn sample_rtt_micros(&mut self, cleaned: &Cleaned, tagged: &Tagged, acked: bool) {
        let first = cleaned
            .first_sent
            .filter(|_| !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED));
        let sacked = tagged.first_sent.map(|sent| self.since(sent));
        let mut micros = first.map(|sent| self.since(sent)).or(sacked);
        if let (None, Some(echo), true) = (micros, self.peer.echo, acked) {
            let age = self.timestamp(self.now).wrapping_sub(echo) as i32;
            micros = (age >= 0).then(|| i64::from(age.max(1)) * self.stamp_micros());
        }
        let Some(micros) = micros else {
            return;
        };
        self.take_sample(Duration::from_micros(micros.max(1)), None, false);
        let head = self.queue.head().map(|head| self.since(head.at));
        if let (Some(sacked), Some(age), false) = (sacked, head, acked) {
            if sacked > age {
                self.rearm_timeout();
            }
        }
    }

    /// The timestamp first, whatever was sent again; without one, Karn's rule (RFC 6298 §3).
    fn sample_rtt_linux3(&mut self, cleaned: &Cleaned) {
        let ticks = match self.peer.echo {
            Some(echo) => Some(i64::from(self.timestamp(self.now).wrapping_sub(echo) as i32)),
            None if self.settings.rtt_samples == RttSamples::OncePerRoundTrip => self.take_timed(),
            None => cleaned
                .first_sent
                .filter(|_| !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED))
                .map(|sent| self.tick() - self.tick_of(sent)),
        };
        let Some(ticks) = ticks else {
            return;
        };
        let micros = match self.peer.echo {
            Some(_) => ticks * self.stamp_micros(),
            None => ticks * self.tick_micros(),
        };
        self.take_sample(Duration::from_micros(micros), None, false);
    }

    /// The round-trip time that the congestion control is told: exact where ticks are coarse (`TCP_CONG_RTT_STAMP`).
    fn control_rtt_linux3(&self, sent: u64) -> i64 {
        let exact =
            self.clock.hz < 1_000 && self.settings.congestion_control == CongestionControl::Cubic;
        if exact {
            self.since(sent)
        } else {
            (self.tick() - self.tick_of(sent)) * self.tick_micros()
        }
    }

    /// Whether the window was what held the sender back, with a little room for bursts (`tcp_is_cwnd_limited`, 3.10).
    fn grow_window_linux3(&mut self, in_flight: u32, acked: u32) {
        let cwnd = self.congestion.window.cwnd;
        let left = cwnd.saturating_sub(in_flight);
        let segments = self.settings.gso_segments;
        let bursts = segments > 1
            && left * 3 < cwnd
            && left * self.mss < segments * self.mss
            && left < segments;
        if in_flight >= cwnd || bursts || left <= 3 {
            let clock = self.clock;
            let context = self.context(&clock);
            self.congestion
                .control
                .cong_avoid(&mut self.congestion.window, &context, acked);
        }
        self.congestion.usage.stamp = self.tick();
    }
}
