//! An acknowledgement worked through in the order of 3.10 ([`AckOrder::RecoveryFirst`](crate::settings::AckOrder), `tcp_ack`),
//! and what taking segments off gives (`tcp_clean_rtx_queue`).

use rexmit_time::Duration;

use super::ack::Before;
use super::clean::{Cleaned, Delivery};
use super::queue::Sent;
use super::sack::Tagged;
use super::{Ack, Sender, State};
use crate::recovery::machine::{self, AckOutcome, AckView};
use crate::recovery::Job;
use crate::settings::{CongestionControl, RttSamples};

impl Sender {
    /// Whether the segment is acceptable.
    pub(super) fn take_ack_recovery_first(&mut self, ack: &Ack<'_>) -> bool {
        let number = ack.segment.ack;
        let before = self.before_ack();
        if number.is_before(before.view.prior_una) {
            if number.is_before(before.view.prior_una - self.peer.largest_window) {
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
            machine::rearm(self);
        }
        let mut outcome = AckOutcome::NONE;
        if number.is_after(before.view.prior_una) {
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
            self.tag(
                sack,
                number,
                before.view.prior_una,
                &mut tagged,
                &mut delivery,
            );
            outcome.set(tagged.outcome);
        }
        self.timing.window_probes = 0;
        self.peer.last_ack = self.tick();
        if before.view.prior_out == 0 {
            if outcome.any(AckOutcome::DSACK) {
                let resume = machine::alert(self, &before.view, &mut outcome);
                self.resume(resume);
            }
            self.acknowledge_persist();
            machine::judge_probe(self, outcome);
            return true;
        }
        let acked = self.clean_recovery_first(&before, &tagged, &mut outcome);
        let doubtful = !outcome.any(AckOutcome::NOT_DUPLICATE)
            || outcome.any(AckOutcome::SACKED)
            || self.episode.state != State::Open;
        // The window grows first, where no reduction is under way.
        if outcome.any(AckOutcome::ACKED) && (!doubtful || !self.episode.in_reduction()) {
            self.grow_window(before.in_flight, acked);
        }
        if doubtful {
            let duplicate = !outcome.any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE);
            let view = AckView {
                acked,
                duplicates: u32::from(duplicate),
                ..before.view
            };
            let resume = machine::alert(self, &view, &mut outcome);
            self.resume(resume);
        }
        machine::judge_probe(self, outcome);
        if self.timing.timer.job() == Some(Job::Timeout) {
            machine::schedule_probe(self, true);
        }
        if self.settings.pacing_rate {
            self.set_pacing_rate();
        }
        true
    }

    /// Takes off what is acknowledged: a round-trip time, a fresh timeout, signs of reordering. Returns the segments.
    fn clean_recovery_first(
        &mut self,
        before: &Before,
        tagged: &Tagged,
        outcome: &mut AckOutcome,
    ) -> u32 {
        let cleaned = self.take_off_acknowledged(&mut Delivery::default());
        outcome.set(cleaned.outcome);
        if self.queue.head().is_some_and(Sent::is_sacked) {
            outcome.set(AckOutcome::RENEGING);
        }
        let by_time_of_sending = !self.settings.estimator.counts_ticks();
        if by_time_of_sending {
            self.sample_rtt_micros(&cleaned, tagged, outcome.any(AckOutcome::ACKED));
        }
        if !outcome.any(AckOutcome::ACKED) {
            return 0;
        }
        if !by_time_of_sending {
            self.sample_rtt_ticks(&cleaned);
        }
        machine::rearm(self);
        self.note_acknowledged(before, &cleaned, before.view.prior_sacked, outcome);
        let rtt = cleaned
            .last_sent
            .filter(|_| !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED))
            .map(|sent| self.control_rtt(sent));
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
                machine::rearm(self);
            }
        }
    }

    /// The timestamp first, whatever was sent again; without one, Karn's rule (RFC 6298 §3).
    fn sample_rtt_ticks(&mut self, cleaned: &Cleaned) {
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
    fn control_rtt(&self, sent: u64) -> i64 {
        let exact =
            self.clock.hz < 1_000 && self.settings.congestion_control == CongestionControl::Cubic;
        if exact {
            self.since(sent)
        } else {
            (self.tick() - self.tick_of(sent)) * self.tick_micros()
        }
    }
}
