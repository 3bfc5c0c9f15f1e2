//! The mechanism of a row: decided here, and written nowhere else.
//!
//! Evidence, in the order in which it counts:
//!
//! 1. **Multipath TCP**: the same data had gone on another subflow. Nothing but a re-injection sends them so.
//! 2. **The host**: each emulated sender has an opinion of each retransmission (`sender::explain`), by its timers, by the
//!    acknowledgements before it and by what followed (`sender::doubt`). Opinions of one way of finding losses are weighed
//!    among each other by how well their senders explain the connection; the ways by what all connections of the host show
//!    (`run::hosts`). A host has one stack, so this counts more than what one connection shows.
//! 3. **The connection**: the same opinions, the ways weighed by the connection alone. It decides while the capture runs,
//!    and where the opinions of all ways agree.
//! 4. **Nothing**: no emulated sender remembers the retransmission. Its mechanism is unknown.
//!
//! What was sent again for another reason than a loss, as the packets show, has no mechanism ([`Witness::prompted`]). Else, no mechanism is named without what it cannot do without in the packets ([`crate::necessary`]), none that is
//! less likely than another, and none that is less likely than not: two that are so together are a pair ([`settle`]).

use rexmit_tcp::Mechanism;
use rexmit_time::Duration;
use serde::{Deserialize, Serialize};

use super::detection_mode::{DetectionMode, MODES};
use crate::calibrate::calibrate;
use crate::necessary::{look, Missing, Witness};
use crate::rows::Retransmission;

/// An explanation whose share is less is no rival.
const RIVAL: f64 = 0.05;
/// What is less likely than this is not said.
const LIKELY: f64 = 0.5;
/// What is left of the certainty that a packet was sent again of which no copy was seen, where no stack would have done so, by a
/// sender of a system that is known.
const STRANGE: f64 = 0.5;

const MECHANISMS: usize = Mechanism::ALL.len();

/// What says which mechanism it was, the strongest first.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// The same data had gone on another subflow.
    OtherSubflow,
    /// What the emulations say, and how likely each way is by all connections of the host.
    Host(&'a Opinions, &'a [f64; MODES]),
    /// What they say, by the connection alone.
    Connection(&'a Opinions),
    /// Nothing is remembered of it.
    Nothing,
}

/// The most likely mechanism of those that `witness` allows.
#[must_use]
pub fn decide(evidence: Evidence<'_>, witness: &Witness) -> LikelyMechanism {
    match evidence {
        _ if witness.prompted.is_some() => LikelyMechanism {
            missing: None,
            ..LikelyMechanism::UNKNOWN
        },
        Evidence::OtherSubflow => LikelyMechanism {
            mechanism: Mechanism::MptcpReinject,
            confidence: 1.0,
            missing: None,
            ..LikelyMechanism::UNKNOWN
        },
        Evidence::Host(opinions, modes) => opinions.judge_with(modes, witness),
        Evidence::Connection(opinions) => opinions.judge_with(&opinions.weights, witness),
        Evidence::Nothing => LikelyMechanism::UNKNOWN,
    }
}

/// The mechanism that is most likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikelyMechanism {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// The next best explanation and how sure it is.
    pub runner_up: Option<(Mechanism, f64)>,
    /// The wire cannot tell the two: a timeout and a probe of one packet fall together.
    pub either: bool,
    /// The timer that ran out.
    pub timer: Option<Duration>,
    /// What is missing for what seemed most likely.
    pub missing: Option<Missing>,
}

impl LikelyMechanism {
    const UNKNOWN: LikelyMechanism = LikelyMechanism {
        mechanism: Mechanism::Unknown,
        confidence: 0.0,
        runner_up: None,
        either: false,
        timer: None,
        missing: Some(Missing::Stack),
    };

    /// Writes it into a row that was judged by weaker evidence.
    pub(crate) fn rename(&self, row: &mut Retransmission) {
        row.mechanism = self.mechanism;
        row.confidence = self.confidence;
        row.runner_up = self.runner_up;
        row.either = self.either;
        row.timer = self.timer.filter(|timer| row.witness.fits(*timer));
        row.missing = self.missing;
    }
}

/// What the emulations say of one retransmission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opinions {
    /// How likely each way is by itself.
    weights: [f64; MODES],
    /// With each way, the share of each mechanism and the timer that it says ran out.
    shares: [[f64; MECHANISMS]; MODES],
    timers: [[Option<Duration>; MECHANISMS]; MODES],
    heaviest: [[f64; MECHANISMS]; MODES],
}

impl Opinions {
    /// None yet, of ways that are so likely.
    pub(crate) fn new(weights: [f64; MODES]) -> Self {
        Opinions {
            weights,
            ..Opinions::default()
        }
    }

    /// Adds an emulation's opinion, which weighs so much among those of its way.
    pub(crate) fn add(
        &mut self,
        mode: DetectionMode,
        weight: f64,
        (mechanism, share): (Mechanism, f64),
        next: Option<(Mechanism, f64)>,
        timer: Option<Duration>,
    ) {
        let (mode, place) = (mode as usize, mechanism as usize);
        self.shares[mode][place] += weight * share;
        if weight > self.heaviest[mode][place] {
            self.heaviest[mode][place] = weight;
            self.timers[mode][place] = timer;
        }
        if let Some((next, share)) = next {
            self.shares[mode][next as usize] += weight * share;
        }
    }

    /// Whether it matters which way its host was set to, or has.
    #[must_use]
    pub fn differ(&self) -> bool {
        let known = |shares: &&[f64; MECHANISMS]| shares.iter().any(|share| *share > 0.0);
        let mut said = self.shares.iter().filter(known).map(best);
        said.next()
            .is_some_and(|first| said.any(|other| other != first))
    }

    /// The most likely mechanism when the ways are so likely.
    fn judge_with(&self, weights: &[f64; MODES], witness: &Witness) -> LikelyMechanism {
        let mut shares = [0.0; MECHANISMS];
        for (of_way, weight) in self.shares.iter().zip(weights) {
            for (share, own) in shares.iter_mut().zip(of_way) {
                *share += weight * own;
            }
        }
        let mut order: [usize; MECHANISMS] = core::array::from_fn(|place| place);
        order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        let allows = |place: usize| match Mechanism::ALL[place] {
            Mechanism::Unknown => Err(Missing::Stack),
            mechanism => look(mechanism, witness).map(|_| ()),
        };
        let missing = allows(order[0]).err();
        let mut allowed = order.iter().filter(|place| allows(**place).is_ok());
        let (Some(&best), Some(&second)) = (allowed.next(), allowed.next().or(order.last())) else {
            return LikelyMechanism {
                missing,
                ..LikelyMechanism::UNKNOWN
            };
        };
        if shares[best] < RIVAL || (missing == Some(Missing::Stack) && shares[best] < LIKELY) {
            return LikelyMechanism {
                missing: missing.or(Some(Missing::Stack)),
                ..LikelyMechanism::UNKNOWN
            };
        }
        let pair = [best, second].map(|place| Mechanism::ALL[place]);
        let by = DetectionMode::ALL.into_iter().max_by(|a, b| {
            let says =
                |mode: DetectionMode| weights[mode as usize] * self.heaviest[mode as usize][best];
            says(*a).total_cmp(&says(*b))
        });
        LikelyMechanism {
            mechanism: pair[0],
            confidence: shares[best].min(1.0),
            runner_up: (shares[second] >= 0.001).then_some((pair[1], shares[second])),
            either: pair.contains(&Mechanism::Tlp)
                && pair.contains(&Mechanism::Rto)
                && shares[second] >= RIVAL,
            timer: by.and_then(|mode| self.timers[mode as usize][best]),
            missing,
        }
    }
}

/// Makes a row's verdict final: how sure it is, and whether that is enough to say it.
pub(crate) fn settle(row: &mut Retransmission, uncalibrated: bool) {
    if uncalibrated {
        return;
    }
    calibrate(row);
    match row.mechanism {
        Mechanism::MptcpReinject => return,
        Mechanism::Unknown => {}
        _ => weigh(row),
    }
    let unexplained = row.mechanism == Mechanism::Unknown && row.missing == Some(Missing::Stack);
    if unexplained && !row.shown && row.witness.of_today {
        // What such a sender does is known: more likely a gap that was taken for a loss.
        row.certainty *= STRANGE;
        row.need_confidence = row.need_confidence.min(row.certainty);
    }
}

/// Says the mechanism of a row, or two, or none.
fn weigh(row: &mut Retransmission) {
    // That the first is less sure than it seemed speaks for all others together, not for the next.
    let next = row
        .runner_up
        .map(|(next, sure)| (next, sure.min(row.confidence)));
    row.runner_up = next;
    let rival = row
        .runner_up
        .filter(|(next, sure)| *next != Mechanism::Unknown && *sure >= RIVAL);
    let together = row.confidence + rival.map_or(0.0, |(_, sure)| sure);
    if row.confidence >= LIKELY {
        row.missing = None;
    } else if together >= LIKELY {
        row.either = true;
        row.missing = None;
    } else {
        row.runner_up = Some((row.mechanism, row.confidence));
        row.mechanism = Mechanism::Unknown;
        row.confidence = 0.0;
        row.either = false;
        row.timer = None;
        row.missing = row.missing.or(Some(Missing::Likelihood));
    }
}

fn best(shares: &[f64; MECHANISMS]) -> Option<usize> {
    (0..MECHANISMS).max_by(|a, b| shares[*a].total_cmp(&shares[*b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opinions(weights: [f64; MODES]) -> Opinions {
        let mut opinions = Opinions::new(weights);
        let timer = Some(Duration::from_millis(9));
        opinions.add(DetectionMode::Rack, 1.0, (Mechanism::Rack, 0.9), None, None);
        let tlp = Some((Mechanism::Tlp, 0.3));
        let rto = (Mechanism::Rto, 0.7);
        opinions.add(DetectionMode::Other, 1.0, rto, tlp, timer);
        opinions
    }

    #[test]
    fn what_the_host_shows_counts_more_than_the_connection() {
        let (opinions, all) = (opinions([0.8, 0.0, 0.2]), Witness::of_all());
        let alone = decide(Evidence::Connection(&opinions), &all);
        assert_eq!(alone.mechanism, Mechanism::Rack);
        assert!((alone.confidence - 0.72).abs() < 1e-9);
        let host = decide(Evidence::Host(&opinions, &[0.0, 0.0, 1.0]), &all);
        assert_eq!(host.mechanism, Mechanism::Rto);
        assert_eq!(host.timer, Some(Duration::from_millis(9)));
        assert!(host.either && !alone.either);
    }

    #[test]
    fn what_no_stack_does_is_doubted_of_a_known_system() {
        let row = |of_today, shown| {
            let mut row = Retransmission {
                mechanism: Mechanism::Unknown,
                missing: Some(Missing::Stack),
                shown,
                witness: Witness {
                    of_today,
                    ..Witness::default()
                },
                ..crate::testing::retransmission()
            };
            settle(&mut row, false);
            row
        };
        assert_eq!(row(true, true).certainty, row(false, true).certainty);
        let [unknown, known] = [row(false, false), row(true, false)];
        assert!((known.certainty - unknown.certainty * STRANGE).abs() < 1e-9);
        assert!(known.need_confidence <= known.certainty);
    }

    #[test]
    fn what_was_prompted_has_no_mechanism_and_lacks_none() {
        let prompted = Witness {
            prompted: Some((crate::necessary::Basis::PathMtu, None)),
            ..Witness::of_all()
        };
        let judged = decide(Evidence::Connection(&opinions([0.8, 0.0, 0.2])), &prompted);
        assert_eq!(
            (judged.mechanism, judged.missing),
            (Mechanism::Unknown, None)
        );
        assert_eq!(
            look(Mechanism::Unknown, &prompted),
            Ok((crate::necessary::Basis::PathMtu, None))
        );
    }

    #[test]
    fn another_subflow_decides_and_nothing_leaves_it_unknown() {
        let all = Witness::of_all();
        let other = decide(Evidence::OtherSubflow, &all);
        assert_eq!(
            (other.mechanism, other.confidence),
            (Mechanism::MptcpReinject, 1.0)
        );
        let unknown = decide(Evidence::Nothing, &all);
        assert_eq!(
            (unknown.mechanism, unknown.confidence),
            (Mechanism::Unknown, 0.0)
        );
    }
}
