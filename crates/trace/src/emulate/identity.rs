//! Which stack a sender was: the one whose emulation explains every retransmission, and how sure that is.

use super::profile;
use super::sender::EmulatedSender;
use super::{parameters, Identity};
use crate::fingerprint::Hint;

/// Of so many retransmissions the right stack leaves one unexplained: a busy host, an acknowledgement that the capture
/// missed.
const ONE_OF: u32 = 16;

/// The same of a stack that the SYN names, too: then it takes more to say that it is none.
const ONE_OF_NAMED: u32 = 4;

/// A stack is named from this share on.
const NAMED: f64 = 0.95;

/// A stack with a smaller share is none of several.
const SEVERAL: f64 = 0.003;

struct Family<'a> {
    stack: &'static str,
    best: &'a EmulatedSender,
    score: f64,
    /// Retransmissions, and those that it does not explain.
    explained: (u32, u32),
}

/// The stacks that explain what was seen.
pub(super) fn recognise(
    senders: &[EmulatedSender],
    system: &Hint,
    retransmissions: bool,
) -> Identity {
    if !retransmissions {
        return Identity::default();
    }
    let mut families: Vec<Family<'_>> = Vec::new();
    for sender in senders {
        let stack = sender.profile.stack;
        // Each stack counts alike, and within a stack its default more than what departs from it.
        let score = sender.evidence.score - profile::prior_of(stack);
        match families.iter_mut().find(|family| family.stack == stack) {
            Some(family) => {
                if score > family.score {
                    family.score = score;
                    family.best = sender;
                    family.explained = sender.evidence.explained;
                }
            }
            None => families.push(Family {
                stack,
                best: sender,
                score,
                explained: sender.evidence.explained,
            }),
        }
    }
    let best = families.iter().map(|family| family.score);
    let best = best.fold(f64::NEG_INFINITY, f64::max);
    let all: f64 = families
        .iter()
        .map(|family| (family.score - best).exp())
        .sum();
    let mut likely: Vec<(&Family<'_>, f64)> = families
        .iter()
        .map(|family| (family, (family.score - best).exp() / all))
        .filter(|(_, share)| *share >= SEVERAL)
        .collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(family, share)) = likely.first() else {
        // None of the emulations that were chosen can be this sender.
        return Identity {
            stack: Some("none"),
            confidence: 1.0,
            ..Identity::default()
        };
    };
    let stacks = likely.iter().map(|(family, _)| family.stack).collect();
    let parameters = parameters::infer(likely.iter().map(|(family, _)| family.best));
    // What its SYN refutes is not named however well it explains the rest.
    let refuted = system.refutes(family.stack);
    let one_of = if system.names(family.stack) {
        ONE_OF_NAMED
    } else {
        ONE_OF
    };
    let (retransmissions, unexplained) = family.explained;
    let explains = unexplained * one_of < retransmissions.max(1);
    if (refuted || !explains) && share >= NAMED {
        return Identity {
            stack: Some("none"),
            confidence: 0.5,
            ..Identity::default()
        };
    }
    if share < NAMED {
        return Identity {
            stack: Some("several"),
            confidence: likely.iter().map(|(_, share)| share).sum::<f64>().min(1.0),
            stacks,
            parameters,
        };
    }
    Identity {
        stack: Some(family.stack),
        confidence: share,
        stacks,
        parameters,
    }
}
