//! What becomes of one head of the queue: found lost by whom and when, under its own stack and under a setting.

use rexmit_time::{Duration, Time};

use crate::cost::{fast_retransmit_avoided, fast_retransmit_for_timeout, timeout_avoided};
use crate::rows::Changes;

/// How the wait of a head ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// It is acknowledged before anything is sent again.
    Acknowledged,
    /// A timeout sends it again.
    Timeout(Time),
    /// Acknowledgements say that it is lost.
    Acknowledgements(Time),
    /// A probe goes out, and the loss is repaired by it or by what it brings.
    Probe {
        /// When the probe goes.
        at: Time,
        /// When the head is sent again: with the probe, or a round trip later.
        repaired: Time,
    },
}

impl Outcome {
    /// When the head is sent again.
    fn repaired(self) -> Option<Time> {
        match self {
            Outcome::Acknowledged => None,
            Outcome::Timeout(at) | Outcome::Acknowledgements(at) => Some(at),
            Outcome::Probe { repaired, .. } => Some(repaired),
        }
    }

    const fn by_timeout(self) -> bool {
        matches!(self, Outcome::Timeout(_))
    }

    const fn by_acknowledgements(self) -> bool {
        matches!(self, Outcome::Acknowledgements(_) | Outcome::Probe { .. })
    }

    /// Round trips that a spurious retransmission of this kind costs, with a flight of `2 * x` segments: equations (1) and
    /// (2).
    pub fn cost(self, x: f64) -> f64 {
        match self {
            Outcome::Acknowledged | Outcome::Probe { .. } => 0.0,
            Outcome::Timeout(_) => timeout_avoided(x),
            Outcome::Acknowledgements(_) => fast_retransmit_avoided(x),
        }
    }
}

/// What may happen to a head, and when, as far as it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chances {
    /// The timer runs out.
    pub timeout: Option<Time>,
    /// Acknowledgements find it lost.
    pub acknowledgements: Option<Time>,
    /// A probe is due.
    pub probe: Option<Time>,
    /// From a probe to the head's retransmission.
    pub probe_to_repair: Duration,
    /// A probe leads to that.
    pub probe_repairs: bool,
    /// How long the timer runs anew after a probe.
    pub rto: Duration,
    /// It is acknowledged without being sent again.
    pub acknowledged: Option<Time>,
}

impl Chances {
    /// What happens first. A probe is never later than the timer (RFC 8985 §7.2), and takes its place.
    pub fn first(&self) -> Outcome {
        let before = |at: &Time| self.acknowledged.is_none_or(|end| *at < end);
        let probe = match (self.probe, self.timeout) {
            (Some(probe), Some(timeout)) => Some(probe.min(timeout)),
            (probe, _) => probe,
        };
        let acknowledgements = self.acknowledgements.filter(before);
        if let Some(at) = probe.filter(before) {
            if acknowledgements.is_none_or(|other| at < other) {
                let timeout = at + self.rto;
                if !self.probe_repairs {
                    return match before(&timeout) {
                        true => Outcome::Timeout(timeout),
                        false => Outcome::Acknowledged,
                    };
                }
                let repaired = at + self.probe_to_repair;
                return Outcome::Probe { at, repaired };
            }
        }
        let timeout = self.timeout.filter(before);
        match (acknowledgements, timeout) {
            (Some(at), None) => Outcome::Acknowledgements(at),
            (Some(at), Some(timeout)) if at <= timeout => Outcome::Acknowledgements(at),
            (_, Some(timeout)) => Outcome::Timeout(timeout),
            (None, None) => Outcome::Acknowledged,
        }
    }
}

/// What a setting does otherwise, summed up over a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub changes: Changes,
    /// Change in round-trip times, and on top of it that of the time waited; negative is shorter.
    pub round_trips: f64,
    pub waited: Duration,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: &Tally) {
        self.changes += other.changes;
        self.round_trips += other.round_trips;
        self.waited += other.waited;
    }

    /// The head was lost: `own` found it, and the setting finds it otherwise. Section IV-D, the last two kinds.
    ///
    /// `waited` is the time in which the sender stood still before `own`: an earlier repair saves no more, since what was
    /// sent meanwhile would be sent all the same. A timeout costs what equation (3) says, or `rounds` round trips more than
    /// acknowledgements where those are more.
    pub fn needed(&mut self, own: Outcome, other: Outcome, x: f64, rounds: f64, waited: Duration) {
        let (Some(before), Some(after)) = (own.repaired(), other.repaired()) else {
            return;
        };
        self.waited += (after - before).max(-waited);
        let slower = fast_retransmit_for_timeout(x).max(rounds);
        match (own.by_timeout(), other.by_timeout()) {
            (true, false) => {
                self.changes.rto_to_fr += 1;
                self.round_trips -= slower;
            }
            (false, true) => {
                self.changes.fr_to_rto += 1;
                self.round_trips += slower;
            }
            _ => {}
        }
    }

    /// The head was not lost: what `own` did was spurious, and so is what the setting does. Section IV-D, the first two
    /// kinds. `retransmissions` are those that go if nothing is sent again; of them `timeouts` were timeouts.
    pub fn spurious(
        &mut self,
        own: Outcome,
        other: Outcome,
        x: f64,
        retransmissions: u32,
        timeouts: u32,
    ) {
        self.round_trips += other.cost(x) - own.cost(x);
        if own != Outcome::Acknowledged && other == Outcome::Acknowledged {
            self.changes.avoided += u64::from(retransmissions);
        }
        if own.by_timeout() && !other.by_timeout() {
            self.changes.spurious_rto_avoided += u64::from(timeouts);
        }
        if own.by_acknowledgements() && !other.by_acknowledgements() {
            self.changes.spurious_fr_avoided += 1;
        }
        if other.by_timeout() && !own.by_timeout() {
            self.changes.spurious_rto_caused += 1;
        }
        if other.by_acknowledgements() && !own.by_acknowledgements() {
            self.changes.spurious_fr_caused += 1;
        }
    }
}
