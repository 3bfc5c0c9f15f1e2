//! What the emulated senders say together of a retransmission, and of the sender's way of finding losses.

use super::detection_mode::{DetectionMode, ModePosterior, MODES};
use super::mechanism::{decide, Evidence, LikelyMechanism, Opinions};
use super::profile::MOST_PROFILES;
use super::Judges;
use crate::necessary::{Missing, Witness};

/// What made a retransmission.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The mechanism, by what the connection shows.
    pub judged: LikelyMechanism,
    /// Its episode, from 0.
    pub episode: u32,
    /// What the emulations say, where it depends on what the host's other connections show.
    pub opinions: Option<Box<Opinions>>,
}

impl Judges {
    /// What all that was seen says of the sender's way of finding losses.
    #[must_use]
    pub fn posterior(&self) -> ModePosterior {
        let mut posterior = ModePosterior::default();
        for sender in &self.senders {
            posterior.add(DetectionMode::of(sender.profile), sender.evidence.score);
        }
        posterior
    }

    /// How likely all that was seen is by the best emulation of each mode, as a natural logarithm.
    pub(super) fn best_by_mode(&self) -> [f64; MODES] {
        let mut best = [f64::NEG_INFINITY; MODES];
        for sender in &self.senders {
            let best = &mut best[DetectionMode::of(sender.profile) as usize];
            *best = best.max(sender.evidence.score);
        }
        best
    }

    /// What the emulations say of a retransmission.
    fn opinions(&self, index: usize) -> Opinions {
        let best = self.best_by_mode();
        let mut above = [0.0; MOST_PROFILES];
        let mut all = [0.0; MODES];
        for (sender, above) in self.senders.iter().zip(&mut above) {
            let mode = DetectionMode::of(sender.profile) as usize;
            *above = (sender.evidence.score - best[mode]).exp();
            all[mode] += *above;
        }
        let mut opinions = Opinions::new(self.posterior().shares());
        for (sender, above) in self.senders.iter().zip(above) {
            let Some(opinion) = sender.evidence.opinions.get(index) else {
                continue;
            };
            let mode = DetectionMode::of(sender.profile);
            let weight = above / all[mode as usize];
            let first = (opinion.mechanism, opinion.share);
            opinions.add(mode, weight, first, opinion.next, opinion.timer);
        }
        opinions
    }

    fn index(&self, number: u32) -> Option<usize> {
        let index = number.checked_sub(self.first)? as usize;
        (index < self.places.len()).then_some(index)
    }

    /// What is known of retransmission `number` now, of which `witness` tells: the opinion of the stack that explains most so far.
    /// None once forgotten.
    #[must_use]
    pub fn verdict(&self, number: u32, witness: &Witness) -> Option<Explanation> {
        let index = self.index(number)?;
        let opinions = self.opinions(index);
        let evidence = match self.senders.is_empty() {
            // None of the emulations that were chosen can be this sender.
            true => Evidence::Nothing,
            false => Evidence::Connection(&opinions),
        };
        let judged = decide(evidence, witness);
        // Other connections of the host may show such a timer, too.
        let waits = opinions.differ() || judged.missing == Some(Missing::ShortTimerTwice);
        Some(Explanation {
            judged,
            episode: self.places[index],
            opinions: waits.then(|| Box::new(opinions)),
        })
    }

    /// Forgets retransmissions below `number`, which have been given out.
    pub fn forget_before(&mut self, number: u32) {
        while self.first < number {
            if self.places.pop_front().is_none() {
                self.first = number;
                return;
            }
            for sender in &mut self.senders {
                sender.evidence.opinions.pop_front();
            }
            self.first += 1;
        }
    }
}
