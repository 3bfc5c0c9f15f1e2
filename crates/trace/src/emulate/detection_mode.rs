//! Ways of finding losses that leave the same packets in many connections: by time (RACK), by counting, and those of other
//! stacks. Which one it was is the host's setting, so that what one of its connections shows says it of the others.

use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

use super::profile::{self, Profile};

/// An explanation whose share is less is no rival.
const RIVAL: f64 = 0.05;

/// The stack whose ways a host may choose between.
const CHOOSES: &str = "linux-6";

const MECHANISMS: usize = Mechanism::ALL.len();

/// How many ways there are.
pub const MODES: usize = DetectionMode::ALL.len();

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectionMode {
    /// Linux 6.x by time.
    Rack,
    /// Linux 6.x with RACK switched off.
    Counting,
    /// Another stack's own.
    Other,
}

impl DetectionMode {
    const ALL: [DetectionMode; 3] = [
        DetectionMode::Rack,
        DetectionMode::Counting,
        DetectionMode::Other,
    ];

    pub(super) fn of(profile: &Profile) -> Self {
        match (profile.stack == CHOOSES, profile.settings.rack) {
            (true, true) => DetectionMode::Rack,
            (true, false) => DetectionMode::Counting,
            (false, _) => DetectionMode::Other,
        }
    }
}

/// What one connection says of its sender's way, as natural logarithms of likelihoods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModePosterior {
    /// How likely all that was seen is with each way, what is usual among hosts counted in.
    scores: [f64; MODES],
}

impl Default for ModePosterior {
    fn default() -> Self {
        ModePosterior {
            scores: [f64::NEG_INFINITY; MODES],
        }
    }
}

impl ModePosterior {
    /// Adds an emulation that explains the connection so well.
    pub(crate) fn add(&mut self, mode: DetectionMode, score: f64) {
        let place = &mut self.scores[mode as usize];
        let high = place.max(score);
        if high > f64::NEG_INFINITY {
            *place = high + ((*place - high).exp() + (score - high).exp()).ln();
        }
    }

    /// What it says of each way, usual or not: how much less likely all that was seen is with it than with the best, and no
    /// more than `most`.
    #[must_use]
    pub fn evidence(&self, most: f64) -> [f64; MODES] {
        if *self == ModePosterior::default() {
            // Nearly every connection: nothing was sent again.
            return [0.0; MODES];
        }
        let prior = prior();
        let said: [f64; MODES] = core::array::from_fn(|mode| self.scores[mode] - prior[mode]);
        let best = said.into_iter().fold(f64::NEG_INFINITY, f64::max);
        if !best.is_finite() {
            return [0.0; MODES];
        }
        said.map(|said| (said - best).max(-most))
    }

    /// How likely each way is by this connection alone.
    #[must_use]
    pub fn shares(&self) -> [f64; MODES] {
        Self::shares_of(self.scores)
    }

    fn shares_of(scores: [f64; MODES]) -> [f64; MODES] {
        let high = scores.into_iter().fold(f64::NEG_INFINITY, f64::max);
        if !high.is_finite() {
            return [0.0; MODES];
        }
        let above = scores.map(|score| (score - high).exp());
        let all: f64 = above.iter().sum();
        above.map(|share| share / all)
    }
}

/// How likely each way is when all connections of the host say this of each, summed up.
#[must_use]
pub fn shares_by(evidence: &[f64; MODES]) -> [f64; MODES] {
    let prior = prior();
    ModePosterior::shares_of(core::array::from_fn(|mode| evidence[mode] + prior[mode]))
}

/// How likely each way is before anything is seen, as natural logarithms.
fn prior() -> [f64; MODES] {
    DetectionMode::ALL.map(|mode| {
        let of_way = profile::all()
            .iter()
            .filter(|profile| DetectionMode::of(profile) == mode);
        of_way.map(|profile| profile.prior.exp()).sum::<f64>().ln()
    })
}

/// What the emulations say of one retransmission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opinions {
    /// How likely each way is by itself.
    weights: [f64; MODES],
    /// With each way, the share of each mechanism and the timer that it says ran out.
    shares: [[f64; MECHANISMS]; MODES],
    timers: [[Option<Duration>; MECHANISMS]; MODES],
    heaviest: [[f64; MECHANISMS]; MODES],
}

/// The mechanism that is most likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
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

    /// The most likely mechanism by the connection alone.
    #[must_use]
    pub fn judge(&self) -> Judged {
        self.judge_with(&self.weights)
    }

    /// The most likely mechanism when the ways are so likely.
    #[must_use]
    pub fn judge_with(&self, weights: &[f64; MODES]) -> Judged {
        let mut shares = [0.0; MECHANISMS];
        for (of_way, weight) in self.shares.iter().zip(weights) {
            for (share, own) in shares.iter_mut().zip(of_way) {
                *share += weight * own;
            }
        }
        let mut order: [usize; MECHANISMS] = core::array::from_fn(|place| place);
        order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        let (best, second) = (order[0], order[1]);
        let pair = [best, second].map(|place| Mechanism::ALL[place]);
        let by = DetectionMode::ALL.into_iter().max_by(|a, b| {
            let says =
                |mode: DetectionMode| weights[mode as usize] * self.heaviest[mode as usize][best];
            says(*a).total_cmp(&says(*b))
        });
        Judged {
            mechanism: pair[0],
            confidence: shares[best].min(1.0),
            runner_up: (shares[second] >= 0.001).then_some((pair[1], shares[second])),
            either: pair.contains(&Mechanism::Tlp)
                && pair.contains(&Mechanism::Rto)
                && shares[second] >= RIVAL,
            timer: by.and_then(|mode| self.timers[mode as usize][best]),
        }
    }
}

fn best(shares: &[f64; MECHANISMS]) -> Option<usize> {
    (0..MECHANISMS).max_by(|a, b| shares[*a].total_cmp(&shares[*b]))
}
