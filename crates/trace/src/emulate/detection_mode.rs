//! Ways of finding losses that leave the same packets in many connections: by time (RACK), by counting, and those of other
//! stacks. Which one it was is the host's setting, so that what one of its connections shows says it of the others.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::profile::{self, Profile};

/// The stack whose ways a host may choose between.
const CHOOSES: &str = "linux-6";

/// An emulation errs: a way that explains a connection only so much better, as a natural logarithm, explains it no better.
const LEAST_SAID: f64 = 2.5;

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
    pub(super) const ALL: [DetectionMode; 3] = [
        DetectionMode::Rack,
        DetectionMode::Counting,
        DetectionMode::Other,
    ];

    pub(super) fn of(profile: &Profile) -> Self {
        match (profile.stack == CHOOSES, profile.settings.loss.rack) {
            (true, true) => DetectionMode::Rack,
            (true, false) => DetectionMode::Counting,
            (false, _) => DetectionMode::Other,
        }
    }
}

/// What one connection says of its sender's way, as natural logarithms of likelihoods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
            // Of the two the higher one's share of itself is 1.
            *place = high + (1.0 + (place.min(score) - high).exp()).ln();
        }
    }

    /// What it says of each way, usual or not: how much less likely all that was seen is with it than with the best. Nothing
    /// where that is too little to say anything, and no more than `most`.
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
        said.map(|said| {
            let less = (said - best).max(-most);
            if less > -LEAST_SAID {
                0.0
            } else {
                less
            }
        })
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

/// How likely each way is when all connections of the host say this of each, summed up. Where some speak for RACK and some for
/// counting, of one system that can do both, neither is surer than the part that speaks for it.
#[must_use]
pub fn shares_by(evidence: &[f64; MODES]) -> [f64; MODES] {
    const OF_ONE: [usize; 2] = [
        DetectionMode::Rack as usize,
        DetectionMode::Counting as usize,
    ];
    let prior = prior();
    let mut shares =
        ModePosterior::shares_of(core::array::from_fn(|mode| evidence[mode] + prior[mode]));
    let [against, others] = OF_ONE.map(|mode| -evidence[mode]);
    if against.min(others) > 0.0 {
        let [less, more] = if shares[OF_ONE[0]] < shares[OF_ONE[1]] {
            OF_ONE
        } else {
            [OF_ONE[1], OF_ONE[0]]
        };
        let both = shares[less] + shares[more];
        shares[less] = shares[less].max(both * against.min(others) / (against + others));
        shares[more] = both - shares[less];
    }
    shares
}

/// How likely each way is before anything is seen, as natural logarithms.
fn prior() -> [f64; MODES] {
    static PRIOR: OnceLock<[f64; MODES]> = OnceLock::new();
    *PRIOR.get_or_init(|| {
        DetectionMode::ALL.map(|mode| {
            let of_way = profile::all()
                .iter()
                .filter(|profile| DetectionMode::of(profile) == mode);
            of_way.map(|profile| profile.prior.exp()).sum::<f64>().ln()
        })
    })
}
