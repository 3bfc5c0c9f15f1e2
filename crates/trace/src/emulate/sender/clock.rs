//! What an emulated sender learns of time: its round-trip times, and by its timers its ticks and constants.

use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::RttSamples;
use rexmit_time::{Duration, Time};

use super::timers::Timer;
use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};
use crate::emulate::parameters;

/// A monitor whose times are surer stands beside the sender and sees all that it sends.
pub const SEES_ALL: Duration = Duration::from_micros(50);

/// What it costs, as a natural logarithm, that a packet was lost before it came to the monitor.
pub(super) const LOST_BEFORE: f64 = 1.5;

impl EmulatedSender {
    /// Takes a round-trip time for the timeout, from when a segment left to when it was acknowledged. A sample ends the
    /// back-off.
    pub(super) fn take_sample(&mut self, sent: Time, acked: Time, board: &Board) {
        let seen = (sent, acked, board.una, board.nxt);
        self.trips.take(&self.clock, seen);
        self.set_rto();
    }

    /// The sample of stacks that time ticks: the stamp first, else one segment a round trip, else what was sent once.
    pub(super) fn sample_ticks(&mut self, board: &Board, report: &AckReport) {
        let covered = |timed: &mut (rexmit_wire::SeqNum, Time)| board.una.is_after(timed.0);
        let timed = self.trips.timed.take_if(covered);
        let once = self.settings.timers.rtt_samples == RttSamples::OncePerRoundTrip;
        let retransmitted = report.acked.iter().any(|piece| piece.retransmissions > 0);
        let sent = match (report.echo, report.echo_sent) {
            (Some(_), Some(sent)) => Some(sent),
            (Some(_), None) => None,
            _ if once => timed.map(|(_, sent)| sent),
            _ if retransmitted => None,
            _ => report.acked.first().map(|piece| piece.sent),
        };
        if let Some(sent) = sent {
            self.take_sample(sent, report.at, board);
        }
    }

    /// The stack was built with so many ticks a second.
    pub fn learn_ticks(&mut self, hz: u32) {
        if !self.clock.learn_rate(self.settings, hz) {
            return;
        }
        if hz != self.settings.timers.hz {
            let mut settings = self.settings.clone();
            settings.timers.hz = hz;
            self.trips.measure_again(&settings, &self.clock);
            if self.episode.timeouts == 0 {
                self.set_rto();
            }
        }
        if !self.clock.is_unsure() {
            self.trips.forget_unsure();
        }
    }

    /// A timer fired at `at`: where ticks begin may be known.
    fn learn_phase(&mut self, at: Time, slack: Duration) {
        let span = self.span_if_fired(at, slack);
        if !self.clock.learn_phase(at, slack) {
            return;
        }
        self.trips.measure_again(self.settings, &self.clock);
        if let Some(span) = span {
            self.timers.rto = span;
            self.timers.timer.span = span;
        }
        if !self.clock.is_unsure() {
            self.trips.forget_unsure();
        }
    }

    /// What the timer that runs was set for, if it does not fire at `at` by round-trip times counted on average over where
    /// ticks begin, and does where one begins at `at`, as it must have done.
    pub(super) fn span_if_fired(&self, at: Time, slack: Duration) -> Option<Duration> {
        let timer = self.timers.timer;
        let full = timer.job() == Some(Job::Timeout) && timer.span == self.timers.rto;
        if !full || self.episode.timeouts > 0 || !self.clock.may_learn_phase(slack) {
            return None;
        }
        let fires = |timer: &Timer| {
            let (soon, late) = timer.window(&self.clock);
            soon <= at + slack && at <= late + slack
        };
        if fires(&timer) {
            return None;
        }
        let mut clock = self.clock;
        clock.learn_phase(at, slack);
        let rtt = self.trips.measured_by(self.settings, &clock);
        let span = self.clock.tick().up(rtt.rto() + self.trips.bias);
        let mut other = timer;
        other.span = span;
        fires(&other).then_some(span)
    }

    /// The timeout ran out at `at`: what it proves of the constants, within a sixteenth of the minimum.
    pub(super) fn learn_from_timeout(&mut self, at: Time, slack: Duration) {
        self.learn_phase(at, slack);
        let (soon, late) = self.timer_window();
        let due = self.timers.timer.due();
        let mut off = Duration::ZERO;
        if at > late {
            off = at - late;
        } else if at < soon {
            off = at - soon;
        } else if self.clock.phased && at > due {
            off = at - due;
        }
        if off == Duration::ZERO {
            return;
        }
        if self.episode.timeouts == 0 {
            let most = (self.settings.timers.min_rto + self.settings.timers.rto_slop) / 16;
            self.trips.bias = (self.trips.bias + off).min(most).max(-most);
        }
        // What is doubled is what ran out.
        let most = self.timers.rto / 16 + self.clock.tick().span();
        let rto = self.timers.rto + off.min(most).max(-most);
        self.timers.rto = self.clock.tick().up(rto);
    }

    /// How much longer its timeouts proved to be than the page says.
    pub fn bias(&self) -> Duration {
        self.trips.bias
    }

    /// Between what that may lie: a tick once a timeout has shown it.
    pub fn bias_between(&self) -> (Duration, Duration) {
        let off = if self.course.loss_at.is_some() {
            self.clock.tick().span()
        } else {
            parameters::unproved(self.settings.timers.min_rto + self.settings.timers.rto_slop)
        };
        (self.bias() - off, self.bias() + off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::board::tests::board_of;
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;

    fn at(ms: u64) -> Time {
        Time::from_nanos(1_000_000 * ms)
    }

    /// A round trip of 70 ms is no tick of 100 ms, or one.
    #[test]
    fn a_timer_that_fires_early_tells_how_many_ticks_a_round_trip_was() {
        let mut pages = profile::all().iter();
        let windows = pages
            .find(|profile| profile.page == "windows-xp-unc2007")
            .unwrap();
        let board = board_of(2);
        let mut sender = EmulatedSender::new(windows, 0, Recycled::default());
        sender.established(at(1_070), Some(MILLI(70)), &board);
        sender.timers.set_to_timeout(at(1_070));
        assert_eq!(sender.timers.rto, MILLI(300), "one, as it seems");
        let fired = |sender: &EmulatedSender, ms| sender.span_if_fired(at(ms), Duration::ZERO);
        assert_eq!(fired(&sender, 1_300), None, "as that has it");
        // With a tick at 90 ms none began meanwhile, and the timeout is the smallest there is.
        assert_eq!(fired(&sender, 1_190), Some(MILLI(200)));
        assert_eq!(fired(&sender, 1_120), None, "with no tick");
        sender.learn_from_timeout(at(1_190), Duration::ZERO);
        assert_eq!(sender.timers.rto, MILLI(200));
        assert_eq!(sender.bias(), Duration::ZERO);
        assert_eq!(fired(&sender, 1_190), None, "it is known");
    }
}
