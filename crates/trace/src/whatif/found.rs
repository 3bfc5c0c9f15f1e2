//! When acknowledgements say that the head of a queue is lost, under the sender's own rules and under others.

use rexmit_tcp::recovery::early_retransmit::few_out;
use rexmit_tcp::settings::EarlyRetransmit;
use rexmit_time::Time;

use super::outcome::Outcome;
use super::plan::Detector;
use super::scene::Scene;

/// When acknowledgements find the head lost with a detector.
pub(super) fn found_at(scene: &Scene<'_>, own: &Detector, detector: &Detector) -> Option<Time> {
    let stand = scene.stand;
    let happened = match scene.own {
        Outcome::Acknowledgements(at) => Some(at),
        _ => None,
    };
    if stand.wait.recovery || matches!(scene.own, Outcome::Probe { .. }) {
        return happened;
    }
    let outstanding = stand.wait.outstanding;
    let own_threshold = own.threshold.at(outstanding);
    let threshold = detector.threshold.at(outstanding);
    // What came later than a smallest round trip after the retransmission is its own doing.
    let retransmitted = stand.legs.first().map(|leg| leg.at);
    let genuine =
        |at: &Time| retransmitted.is_none_or(|retransmitted| *at < retransmitted + stand.min_rtt);
    // What SACKs would have shown of a flight without them is not known: RACK finds nothing sooner there.
    let rack = detector.rack && own.sack;
    let without_sack = own.sack && !detector.sack;
    // FACK counts what lies between the head and the highest SACK, lost or not.
    let counts = match without_sack {
        true => &stand.duplicate_acks,
        false if own.fack => &stand.forward,
        false => &stand.duplicates,
    };
    let counted = counts.get(threshold as usize - 1).copied().filter(genuine);
    let early = happened.filter(|_| own.early != EarlyRetransmit::Off && few_out(outstanding));
    let by_rack = stand.rack_at.filter(|_| rack).filter(genuine);
    if threshold == own_threshold && rack == own.rack && !without_sack {
        // The sender's own rule did what it did; what it would have done had the timer not run out comes after that.
        return happened.or_else(|| match scene.own {
            Outcome::Timeout(at) => counted.filter(|counted| *counted > at),
            _ => None,
        });
    }
    let found = [counted, by_rack, early].into_iter().flatten().min();
    let eager = threshold < own_threshold || (rack && !own.rack);
    match (happened, scene.own) {
        (Some(_), _) if eager && without_sack => found,
        (Some(at), _) if eager => Some(found.map_or(at, |found| found.min(at))),
        (Some(at), _) if rack && own.rack => Some(found.map_or(at, |found| found.max(at))),
        (Some(at), _) => found.map(|found| found.max(at)),
        (None, Outcome::Timeout(at)) if !eager => found.filter(|found| *found > at),
        (None, _) if !eager => None,
        (None, _) => found,
    }
}
