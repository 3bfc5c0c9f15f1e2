//! From how well the emulations explain a retransmission to how often such rows are right.
//!
//! The emulations multiply likelihoods of packets as if packets were independent, and know of no event that the monitor
//! missed: far from the sender their shares are too sure. A logistic map corrects them (Platt scaling), with a slope and a
//! constant for where the monitor stood and constants for the mechanism and for what says whether it was needed. Its
//! weights are fitted on corpora of known retransmissions by `scripts/fit-confidence` and checked on others.

mod fitted;

use rexmit_tcp::{Mechanism, Need};

use crate::rows::{Position, Retransmission};

/// What is known of a row beside its share: near the sender and elsewhere, constants by word.
type Words = &'static [(&'static str, [f64; 2])];

/// A logistic map of a row to a probability.
#[derive(Debug)]
struct Map {
    /// Constants by the monitor's place, in the order of `place_of`.
    base: [f64; 4],
    /// What the share's logarithm of odds counts there.
    slope: [f64; 4],
    /// What it counts that bytes of the row came by before, near the sender and elsewhere.
    shown: [f64; 2],
    /// What it counts that its sender's packets came by in another order than they left in, and what the share's logarithm of
    /// odds counts more then.
    disordered: [f64; 2],
    mechanisms: Words,
    evidence: Words,
}

/// Logarithms of odds beyond these say nothing more: nothing is known so well.
const ODDS: (f64, f64) = (-3.0, 8.0);

impl Map {
    fn confidence(&self, share: f64, row: &Retransmission) -> f64 {
        let odds = (share / (1.0 - share)).ln().clamp(ODDS.0, ODDS.1);
        let place = place_of(row.position);
        let far = usize::from(row.position != Position::Sender);
        let disorder = self.disordered[0] + self.disordered[1] * odds;
        let sum = self.base[place]
            + self.slope[place] * odds
            + if row.shown { self.shown[far] } else { 0.0 }
            + if row.disordered { disorder } else { 0.0 }
            + of_word(self.mechanisms, row.mechanism.as_str(), far)
            + of_word(self.evidence, row.evidence.as_str(), far);
        1.0 / (1.0 + (-sum).exp())
    }
}

fn of_word(words: Words, word: &str, far: usize) -> f64 {
    let found = words.iter().find(|(known, _)| *known == word);
    found.map_or(0.0, |(_, weights)| weights[far])
}

const fn place_of(position: Position) -> usize {
    match position {
        Position::Sender => 0,
        Position::Midway => 1,
        Position::Receiver => 2,
        Position::Unknown => 3,
    }
}

/// No more is said of a packet that may be a double of the one before.
const ALIKE: f64 = 0.9;

/// Turns the emulations' shares of a row into probabilities. What several subflows prove is left as it is.
pub(crate) fn calibrate(row: &mut Retransmission) {
    if row.mechanism == Mechanism::MptcpReinject {
        return;
    }
    let second = row.runner_up.map_or(0.0, |(_, share)| share);
    // One answer where the wire cannot tell the two.
    let told = row.confidence + if row.either { second } else { 0.0 };
    let share = told.clamp(0.0, 1.0);
    row.certainty = fitted::RETRANSMISSION.confidence(share, row);
    if row.witness.alike {
        row.certainty = row.certainty.min(ALIKE);
    }
    need(row, share);
    if row.mechanism == Mechanism::Unknown {
        // No mechanism is named that could be right.
        row.confidence = 0.0;
        if let Some((_, share)) = &mut row.runner_up {
            *share = share.min(row.certainty);
        }
        return;
    }
    let right = fitted::MECHANISM.confidence(share, row).min(row.certainty);
    let rest = if share < 1.0 {
        (row.certainty - right) / (1.0 - share)
    } else {
        0.0
    };
    let told_by = if told > 0.0 { right / told } else { 0.0 };
    let either = row.either;
    row.confidence *= told_by;
    if let Some((_, share)) = &mut row.runner_up {
        *share *= if either { told_by } else { rest };
        *share = share.clamp(0.0, (1.0 - row.confidence).max(0.0));
    }
}

/// How sure it is that what a row of this share says of need is right.
pub(crate) fn need(row: &mut Retransmission, share: f64) {
    row.need_confidence = if row.need == Need::Unknown {
        0.0
    } else {
        fitted::NEED.confidence(share, row).min(row.certainty)
    };
}

#[cfg(test)]
mod tests;
