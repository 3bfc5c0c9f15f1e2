//! A smallest timeout that is not the page's: a route may have one of its own (`ip route … rto_min`). Nothing says which,
//! so the first retransmission that only such a timer explains tells what it is.

use rexmit_time::Duration;

use super::causes::MUCH;
use super::explain::{Candidates, Cause, Moment};
use super::EmulatedSender;
use crate::emulate::board::Board;
use crate::emulate::likelihood;
use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::{Estimator, Tlp};
use rexmit_tcp::Mechanism;

/// How many hosts have one is a guess.
const SOME: f64 = 0.02;

/// What is taken for one, and the logarithm of how many times longer the longest is.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(3);
pub(super) const SPREAD: f64 = 8.0;

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Minimum {
    /// It cannot be another.
    Fixed,
    /// No timer has shown it.
    Open,
    /// A timer showed that it is the page's.
    Proved,
    /// It is another, and what.
    Other(Duration),
}

impl Minimum {
    pub(super) fn of(estimator: Estimator, may_differ: bool) -> Self {
        let linux = matches!(estimator, Estimator::LinuxMicros | Estimator::LinuxTicks);
        if may_differ && linux {
            Minimum::Open
        } else {
            Minimum::Fixed
        }
    }
}

impl EmulatedSender {
    /// The smallest timeout, or with Linux the smallest term that is added to the round-trip time.
    pub fn least(&self) -> Duration {
        match self.trips.minimum {
            Minimum::Other(least) => least,
            _ => self.settings.timers.min_rto,
        }
    }

    /// No timeout of it is shorter.
    pub fn least_timeout(&self) -> Duration {
        self.least() + self.settings.timers.rto_slop
    }

    /// The minimum with which the timer that runs would fire at `moment`; none if no minimum makes it do so.
    fn implied_minimum(&self, moment: &Moment) -> Option<Duration> {
        let srtt = self.trips.rtt.srtt()?;
        if self.trips.minimum != Minimum::Open || self.episode.timeouts > 0 {
            return None;
        }
        let rto = self.timers.rto + (moment.at - self.timers.timer.due());
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
    pub(super) fn shows_minimum(&self) -> bool {
        self.timeout_without_minimum() + self.clock.tick().span() < self.trips.rtt.rto()
    }

    /// A timeout, or a probe that falls on it, of a host with another minimum.
    pub(super) fn add_other_minimum(
        &self,
        list: &mut Candidates,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) {
        let tail = pieces.len() == 1 && pieces.end == board.len() && !self.has_bare_tail(board);
        let (probe, structure) = match self.timers.timer.job() {
            Some(Job::Timeout) => (false, if pieces.start == 0 { 0.0 } else { MUCH }),
            Some(Job::Probe)
                if self.episode.probe.high.is_none()
                    && tail
                    && self.settings.loss.tlp != Tlp::Off =>
            {
                (true, 0.0)
            }
            _ => return,
        };
        let Some(least) = self.implied_minimum(moment) else {
            return;
        };
        if probe && board.out > 1 && moment.at > self.timers.timer.due() {
            // It waits for the acknowledgement of what was sent last, whatever the minimum.
            return;
        }
        let likely = likelihood::of_any(least, SOME, SPREAD);
        let (cause, mechanism) = if probe {
            (Cause::OtherProbe, Mechanism::Tlp)
        } else {
            (Cause::OtherTimeout, Mechanism::Rto)
        };
        let rto = self.timers.rto + (moment.at - self.timers.timer.due());
        list.add(cause, mechanism, likely, structure, Some(rto));
    }

    /// The timer fired at `moment`: that tells the minimum.
    pub(super) fn learn_minimum(&mut self, moment: &Moment) {
        let Some(least) = self.implied_minimum(moment) else {
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

    /// The timer was due and nothing was sent: the minimum is longer, if it may be. Whether it may.
    pub(super) fn raise_minimum(&mut self, at: rexmit_time::Time) -> bool {
        let moment = Moment {
            at,
            ..Moment::default()
        };
        match self.implied_minimum(&moment) {
            Some(least) if self.timers.timer.job() == Some(Job::Timeout) => {
                self.trips.rtt.set_minimum(least);
                self.set_rto();
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::SeqNum;

    use super::*;
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    /// Whether a timer shows the minimum after samples of so many milliseconds.
    fn shown_after(samples: &[i64]) -> bool {
        let mut sender = EmulatedSender::new(&profile::all()[0], 0, Recycled::default());
        for sample in samples {
            let (una, nxt) = (SeqNum::new(0), SeqNum::new(1));
            let rtt = Duration::from_millis(*sample);
            sender.trips.rtt.sample(rtt, una, nxt);
        }
        sender.shows_minimum()
    }

    #[test]
    fn a_timeout_that_varying_round_trips_make_shows_no_minimum() {
        // Four times the deviation is more than 200 ms, and less after steady ones.
        assert!(!shown_after(&[300, 20, 300]));
        assert!(shown_after(&[20; 20]));
    }
}
