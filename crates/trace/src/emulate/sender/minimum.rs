//! A smallest timeout that is not the page's: a route may have one of its own (`ip route … rto_min`). Nothing says which,
//! so the first retransmission that only such a timer explains tells what it is.

use rexmit_time::Duration;

use super::causes::{Weighing, MUCH};
use super::explain::Cause;
use crate::emulate::likelihood;
use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::{Estimator, Tlp};
use rexmit_tcp::Mechanism;

/// How many hosts have one is a guess.
const SOME: f64 = 0.02;

/// What is taken for one, and the logarithm of how many times longer the longest is.
pub(super) const SHORTEST: Duration = Duration::from_millis(1);
pub(super) const LONGEST: Duration = Duration::from_secs(3);
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

impl Weighing<'_> {
    /// A timeout, or a probe that falls on it, of a host with another minimum.
    pub fn add_other_minimum(&mut self) {
        let tail =
            self.pieces.len() == 1 && self.pieces.end == self.board.len() && !self.has_bare_tail();
        let (probe, structure) = match self.sender.timing.timers.timer.job() {
            Some(Job::Timeout) => (false, if self.pieces.start == 0 { 0.0 } else { MUCH }),
            Some(Job::Probe)
                if self.sender.episode.probe.high.is_none()
                    && tail
                    && self.sender.settings.loss.tlp != Tlp::Off =>
            {
                (true, 0.0)
            }
            _ => return,
        };
        let Some(least) = self
            .sender
            .timing
            .implied_minimum(self.moment.at, self.sender.episode.timeouts > 0)
        else {
            return;
        };
        if probe && self.board.out > 1 && self.moment.at > self.sender.timing.timers.timer.due() {
            // It waits for the acknowledgement of what was sent last, whatever the minimum.
            return;
        }
        let likely = likelihood::of_any(least, SOME, SPREAD);
        let (cause, mechanism) = if probe {
            (Cause::OtherProbe, Mechanism::Tlp)
        } else {
            (Cause::OtherTimeout, Mechanism::Rto)
        };
        let rto = self.sender.timing.timers.rto
            + (self.moment.at - self.sender.timing.timers.timer.due());
        self.list
            .add(cause, mechanism, likely, structure, Some(rto));
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::SeqNum;

    use super::*;
    use crate::emulate::profile;
    use crate::emulate::sender::{EmulatedSender, Recycled};

    /// Whether a timer shows the minimum after samples of so many milliseconds.
    fn shown_after(samples: &[i64]) -> bool {
        let mut sender = EmulatedSender::new(&profile::all()[0], 0, Recycled::default());
        for sample in samples {
            let (una, nxt) = (SeqNum::new(0), SeqNum::new(1));
            let rtt = Duration::from_millis(*sample);
            sender.timing.trips.rtt.sample(rtt, una, nxt);
        }
        sender.timing.shows_minimum()
    }

    #[test]
    fn a_timeout_that_varying_round_trips_make_shows_no_minimum() {
        // Four times the deviation is more than 200 ms, and less after steady ones.
        assert!(!shown_after(&[300, 20, 300]));
        assert!(shown_after(&[20; 20]));
    }
}
