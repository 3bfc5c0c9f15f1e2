//! How well an emulated sender explains what was seen.

use std::collections::VecDeque;

use rexmit_tcp::Mechanism;

use super::Opinion;

/// A retransmission that fits worse than this is not explained.
const EXPLAINED: f64 = -6.5;

/// The largest capacity for opinions that is kept.
const MOST_OPINIONS: usize = 256;

/// What speaks for a sender and against it.
#[derive(Debug)]
pub struct Evidence {
    /// How likely all that was seen is by this sender, as a natural logarithm.
    pub score: f64,
    /// The worst of the retransmissions' likelihoods.
    pub worst: f64,
    /// Retransmissions, and those of them that fit worse than [`EXPLAINED`].
    pub explained: (u32, u32),
    /// What it says of each retransmission that was not forgotten.
    pub opinions: VecDeque<Opinion>,
}

impl Evidence {
    /// `prior` is how likely the sender is before anything is seen, `opinions` an empty collection.
    pub fn new(prior: f64, opinions: VecDeque<Opinion>) -> Self {
        Evidence {
            score: prior,
            worst: 0.0,
            explained: (0, 0),
            opinions,
        }
    }

    /// Its collection, empty.
    pub fn leave(mut self) -> VecDeque<Opinion> {
        self.opinions.clear();
        self.opinions.shrink_to(MOST_OPINIONS);
        self.opinions
    }

    /// Notes how well a retransmission fits.
    pub fn fits(&mut self, fit: f64) {
        self.worst = self.worst.min(fit);
        self.explained.0 += 1;
        self.explained.1 += u32::from(fit < EXPLAINED);
    }

    /// So many retransmissions before this one were taken for those of a recovery that there was none.
    pub fn rename_since(&mut self, retransmissions: usize) {
        let opinions = &mut self.opinions;
        let share = opinions.back().map_or(0.0, |opinion| opinion.share);
        for opinion in opinions.iter_mut().rev().skip(1).take(retransmissions) {
            if matches!(opinion.mechanism, Mechanism::Rto | Mechanism::Tlp) {
                continue;
            }
            opinion.next = Some((opinion.mechanism, 1.0 - share));
            opinion.mechanism = Mechanism::RtoRecovery;
            opinion.share = share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_fit_is_kept_and_what_is_not_explained_counted() {
        let mut evidence = Evidence::new(-1.0, VecDeque::new());
        for fit in [-1.0, -7.0, -2.0] {
            evidence.fits(fit);
        }
        assert_eq!((evidence.worst, evidence.explained), (-7.0, (3, 1)));
        assert_eq!(evidence.score, -1.0);
    }
}
