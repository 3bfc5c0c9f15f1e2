//! Which spurious retransmissions a sender finds out about and takes back: Eifel (RFC 3522, RFC 4015) and F-RTO (RFC 5682),
//! which UNC 2007 left for later.

use super::outcome::{Outcome, Tally};
use super::plan::Detector;
use super::scene::Scene;

/// Adds what a setting spares by undoing, or costs by not undoing, if it differs in that from the sender's own stack. The
/// equations of UNC 2007 know no undo, and count in full under all settings that do not change it. `timestamps` were negotiated.
pub(super) fn add(
    scene: &Scene<'_>,
    other: Outcome,
    own: &Detector,
    new: &Detector,
    timestamps: bool,
    tally: &mut Tally,
) {
    if (own.undo, own.frto) == (new.undo, new.frto) {
        return;
    }
    let before = is_undone(scene, scene.own, own, timestamps);
    let after = is_undone(scene, other, new, timestamps);
    let (further, _) = scene.spurious;
    if after && !before {
        tally.round_trips -= other.cost(scene.x);
        if matches!(other, Outcome::Timeout(_)) {
            // The first goes out all the same.
            tally.changes.avoided += u64::from(further.saturating_sub(1));
        }
    }
    if before && !after {
        tally.round_trips += scene.own.cost(scene.x);
    }
}

/// Whether the acknowledgement that ended the wait was the original's: it came sooner than one of the retransmission can.
fn original_answers(scene: &Scene<'_>) -> bool {
    let stand = scene.stand;
    match (stand.end, stand.legs.first()) {
        (Some(end), Some(leg)) => end < leg.at + stand.min_rtt,
        _ => false,
    }
}

/// Whether a sender with this detector takes back what it did. Timestamps tell the acknowledgement of the original from the
/// retransmission's. F-RTO tells a spurious timeout without them; with SACK also by what else is acknowledged at once, though
/// the retransmission brought that about.
fn is_undone(scene: &Scene<'_>, outcome: Outcome, detector: &Detector, timestamps: bool) -> bool {
    let answered = original_answers(scene);
    let stamps = detector.undo && timestamps && answered;
    let more = detector.sack && scene.stand.wait.outstanding > 1;
    match outcome {
        Outcome::Timeout(_) => stamps || (detector.frto && (answered || more)),
        Outcome::Acknowledgements(_) => stamps,
        Outcome::Acknowledged | Outcome::Probe { .. } => false,
    }
}
