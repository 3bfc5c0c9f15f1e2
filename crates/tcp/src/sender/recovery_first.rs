//! What taking segments off gives in the order of 3.10 ([`AckOrder::RecoveryFirst`](crate::settings::AckOrder),
//! `tcp_clean_rtx_queue`).

use rexmit_time::Duration;

use super::ack::Before;
use super::clean::{Cleaned, Delivery};
use super::queue::Sent;
use super::sack::Tagged;
use super::Sender;
use crate::recovery::machine::{self, AckOutcome};
use crate::settings::{CongestionControl, RttSamples};

impl Sender {
    /// Takes off what is acknowledged: a round-trip time, a fresh timeout, signs of reordering. Returns the segments.
    pub(super) fn clean_recovery_first(
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
        let by_time_of_sending = !self.settings.timers.estimator.counts_ticks();
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
        let sacked = tagged.first_sent.map(|sent| self.moment.since(sent));
        let mut micros = first.map(|sent| self.moment.since(sent)).or(sacked);
        if let (None, Some(echo), true) = (micros, self.peer.echo, acked) {
            let age = self.timestamp(self.moment.now).wrapping_sub(echo) as i32;
            micros = (age >= 0).then(|| i64::from(age.max(1)) * self.moment.stamp_micros());
        }
        let Some(micros) = micros else {
            return;
        };
        self.take_sample(Duration::from_micros(micros.max(1)), None, false);
        let head = self.queue.head().map(|head| self.moment.since(head.at));
        if let (Some(sacked), Some(age), false) = (sacked, head, acked) {
            if sacked > age {
                machine::rearm(self);
            }
        }
    }

    /// The timestamp first, whatever was sent again; without one, Karn's rule (RFC 6298 §3).
    fn sample_rtt_ticks(&mut self, cleaned: &Cleaned) {
        let ticks = match self.peer.echo {
            Some(echo) => Some(i64::from(
                self.timestamp(self.moment.now).wrapping_sub(echo) as i32,
            )),
            None if self.settings.timers.rtt_samples == RttSamples::OncePerRoundTrip => {
                self.timing.timed.take(self.una, self.moment.tick())
            }
            None => cleaned
                .first_sent
                .filter(|_| !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED))
                .map(|sent| self.moment.tick() - self.moment.tick_of(sent)),
        };
        let Some(ticks) = ticks else {
            return;
        };
        let micros = match self.peer.echo {
            Some(_) => ticks * self.moment.stamp_micros(),
            None => ticks * self.moment.tick_micros(),
        };
        self.take_sample(Duration::from_micros(micros), None, false);
    }

    /// The round-trip time that the congestion control is told: exact where ticks are coarse (`TCP_CONG_RTT_STAMP`).
    fn control_rtt(&self, sent: u64) -> i64 {
        let exact = self.moment.clock.ticks.hz < 1_000
            && self.settings.congestion.congestion_control == CongestionControl::Cubic;
        if exact {
            self.moment.since(sent)
        } else {
            (self.moment.tick() - self.moment.tick_of(sent)) * self.moment.tick_micros()
        }
    }
}
