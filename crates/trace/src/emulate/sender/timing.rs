//! The time of an emulated sender: the ticks of its stack, its round trips and its timers, and what the timers prove of them.

use std::collections::VecDeque;

use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::{RttSamples, Settings, TimeoutLeft};
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqRange;

use super::causes::is_early;
use super::explain::Moment;
use super::minimum::{Minimum, LONGEST, SHORTEST};
use super::round_trips::{RoundTrip, RoundTrips};
use super::timers::{Timer, Timers};
use super::StackClock;
use crate::emulate::board::{AckReport, Board};
use crate::emulate::parameters;
use crate::event::Sent;

/// A monitor whose times are surer stands beside the sender and sees all that it sends.
pub const SEES_ALL: Duration = Duration::from_micros(50);

/// What it costs, as a natural logarithm, that a packet was lost before it came to the monitor.
pub(super) const LOST_BEFORE: f64 = 1.5;

/// Its time. Where a method asks whether it is `backed_off`: the timeout is not what the round trips say.
#[derive(Debug)]
pub(in crate::emulate) struct Timing {
    settings: &'static Settings,
    pub(super) clock: StackClock,
    pub(super) trips: RoundTrips,
    pub(super) timers: Timers,
}

impl Timing {
    /// Nothing was measured yet; the smallest timeout may be another than the page's. `unsure` is an empty collection.
    pub(super) fn new(
        settings: &'static Settings,
        other_minimum: bool,
        unsure: VecDeque<RoundTrip>,
    ) -> Self {
        let clock = StackClock::new(settings);
        let trips = RoundTrips::new(settings, other_minimum, unsure);
        Timing {
            settings,
            timers: Timers::new(clock.tick().up(trips.rtt.rto())),
            clock,
            trips,
        }
    }

    /// The timeout without back-off.
    pub fn set_rto(&mut self) {
        let rto = self.trips.rtt.rto() + self.trips.bias;
        self.timers.rto = self.clock.tick().up(rto);
    }

    /// Sets the timer, at most to the longest timeout.
    pub fn set(&mut self, now: Time, job: Job, wait: Duration) {
        let tick = self.clock.tick();
        let span = match (job, self.settings.timers.timeout_left) {
            (Job::Timeout, _) if wait == self.timers.rto => wait,
            // Where the ticks begin that the first segment's age is counted in is not seen.
            (Job::Timeout, TimeoutLeft::Ticks) => tick.near(wait),
            _ => tick.up(wait),
        };
        let span = span.min(self.settings.timers.max_rto);
        self.timers.timer.set(now, job, span);
    }

    /// Between when and when the timer fires.
    pub fn window(&self) -> (Time, Time) {
        self.timers.timer.window(&self.clock)
    }

    /// Takes a round-trip time for the timeout, from when a segment left to when it was acknowledged. A sample ends the
    /// back-off.
    pub fn take_sample(&mut self, sent: Time, acked: Time, out: SeqRange) {
        let seen = (sent, acked, out.start, out.end);
        self.trips.take(&self.clock, seen);
        self.set_rto();
    }

    /// The sample of stacks that time ticks: the stamp first, else one segment a round trip, else what was sent once.
    pub fn sample_ticks(&mut self, board: &Board, report: &AckReport) {
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
            self.take_sample(sent, report.at, board.range());
        }
    }

    /// The stack was built with so many ticks a second.
    pub fn learn_ticks(&mut self, hz: u32, backed_off: bool) {
        if !self.clock.learn_rate(self.settings, hz) {
            return;
        }
        if hz != self.settings.timers.hz {
            let mut settings = self.settings.clone();
            settings.timers.hz = hz;
            self.trips.measure_again(&settings, &self.clock);
            if !backed_off {
                self.set_rto();
            }
        }
        if !self.clock.is_unsure() {
            self.trips.forget_unsure();
        }
    }

    /// A timer fired at `at`: where ticks begin may be known.
    fn learn_phase(&mut self, at: Time, slack: Duration, backed_off: bool) {
        let span = self.span_if_fired(at, slack, backed_off);
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
    pub fn span_if_fired(&self, at: Time, slack: Duration, backed_off: bool) -> Option<Duration> {
        let timer = self.timers.timer;
        let full = timer.job() == Some(Job::Timeout) && timer.span == self.timers.rto;
        if !full || backed_off || !self.clock.may_learn_phase(slack) {
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
    pub fn learn_from_timeout(&mut self, at: Time, slack: Duration, backed_off: bool) {
        self.learn_phase(at, slack, backed_off);
        let (soon, late) = self.window();
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
        if !backed_off {
            let most = (self.settings.timers.min_rto + self.settings.timers.rto_slop) / 16;
            self.trips.bias = (self.trips.bias + off).min(most).max(-most);
        }
        // What is doubled is what ran out.
        let most = self.timers.rto / 16 + self.clock.tick().span();
        let rto = self.timers.rto + off.min(most).max(-most);
        self.timers.rto = self.clock.tick().up(rto);
    }

    /// The smallest timeout, or with Linux the smallest term that is added to the round-trip time.
    pub fn least(&self) -> Duration {
        match self.trips.minimum {
            Minimum::Other(least) => least,
            _ => self.settings.timers.min_rto,
        }
    }

    /// The minimum with which the timer that runs would fire at `moment`; none if no minimum makes it do so.
    pub fn implied_minimum(&self, at: Time, backed_off: bool) -> Option<Duration> {
        let srtt = self.trips.rtt.srtt()?;
        if self.trips.minimum != Minimum::Open || backed_off {
            return None;
        }
        let rto = self.timers.rto + (at - self.timers.timer.due());
        let least = rto - srtt;
        let free = self.timeout_without_minimum();
        ((SHORTEST..=LONGEST).contains(&least) && rto + self.clock.tick().span() >= free)
            .then_some(least)
    }

    /// The timeout if there were no minimum.
    fn timeout_without_minimum(&self) -> Duration {
        let mut free = self.trips.rtt.clone();
        free.set_minimum(Duration::ZERO);
        free.rto()
    }

    /// Whether a timer that ran out as it should has shown the minimum: where round-trip times vary more, it has no part in the
    /// timeout.
    pub fn shows_minimum(&self) -> bool {
        self.timeout_without_minimum() + self.clock.tick().span() < self.trips.rtt.rto()
    }

    /// The timer fired at `at`: that tells the minimum.
    pub fn learn_minimum(&mut self, at: Time, backed_off: bool) {
        let Some(least) = self.implied_minimum(at, backed_off) else {
            return;
        };
        // It fires in the middle of when a timer of that span may.
        let (soon, late) = self.clock.fires_within(self.clock.tick().up(least));
        let middle = (soon + late) / 2 - self.clock.tick().up(least);
        let least = self.clock.tick().up((least - middle).max(SHORTEST));
        self.trips.minimum = Minimum::Other(least);
        self.trips.rtt.set_minimum(least);
        self.set_rto();
    }

    /// The timer was due at `at` and nothing was sent: the minimum is longer, if it may be.
    pub fn raise_minimum(&mut self, at: Time, backed_off: bool) {
        let least = self.implied_minimum(at, backed_off);
        let least = least.filter(|_| self.timers.timer.job() == Some(Job::Timeout));
        if let Some(least) = least {
            self.trips.rtt.set_minimum(least);
            self.set_rto();
        }
    }

    /// Whether the timer that runs in this emulation was due: 3.10 may probe before a round trip is over.
    pub fn is_due(&self, moment: &Moment) -> bool {
        let (soon, _) = self.window();
        self.timers.timer.job().is_some()
            && moment.at + moment.slack + self.clock.tick().span() / 2 >= soon
    }

    /// New data that no acknowledgement let go, at the time at which a probe is due.
    pub fn is_probe_of_new_data(&self, moment: &Moment) -> bool {
        if moment.gap <= Duration::from_millis(2) + moment.slack {
            return false;
        }
        let (soon, late) = self.window();
        let margin = moment.slack + self.clock.tick().span() / 2 + self.timers.timer.span / 50;
        moment.at + margin >= soon && moment.at <= late + margin
    }

    /// Whether the timer of the SYN cannot have run out when it was sent again.
    pub fn is_before_syn_timer(&self, sent: &Sent) -> bool {
        let (soon, _) = self.clock.fires_within(self.timers.timer.span);
        is_early(sent.at, self.timers.timer.armed, soon, sent.slack)
    }

    /// No timeout of it is shorter.
    pub fn least_timeout(&self) -> Duration {
        self.least() + self.settings.timers.rto_slop
    }

    /// How much longer its timeouts proved to be than the page says.
    pub fn bias(&self) -> Duration {
        self.trips.bias
    }

    /// Between what its timeouts proved to be longer than the page says: a tick once a timeout has `shown` it.
    pub fn bias_between(&self, shown: bool) -> (Duration, Duration) {
        let off = if shown {
            self.clock.tick().span()
        } else {
            parameters::unproved(self.settings.timers.min_rto + self.settings.timers.rto_slop)
        };
        (self.trips.bias - off, self.trips.bias + off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::board::tests::board_of;
    use crate::emulate::profile;
    use crate::emulate::sender::{EmulatedSender, Recycled};

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
        sender.timing.timers.set_to_timeout(at(1_070));
        assert_eq!(sender.timing.timers.rto, MILLI(300), "one, as it seems");
        let fired = |sender: &EmulatedSender, ms| {
            sender.timing.span_if_fired(at(ms), Duration::ZERO, false)
        };
        assert_eq!(fired(&sender, 1_300), None, "as that has it");
        // With a tick at 90 ms none began meanwhile, and the timeout is the smallest there is.
        assert_eq!(fired(&sender, 1_190), Some(MILLI(200)));
        assert_eq!(fired(&sender, 1_120), None, "with no tick");
        sender
            .timing
            .learn_from_timeout(at(1_190), Duration::ZERO, false);
        assert_eq!(sender.timing.timers.rto, MILLI(200));
        assert_eq!(sender.timing.bias(), Duration::ZERO);
        assert_eq!(fired(&sender, 1_190), None, "it is known");
    }
}
