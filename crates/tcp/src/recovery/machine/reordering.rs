//! Segments that overtake each other or come twice: the threshold of duplicates follows them.

use rexmit_wire::SeqNum;

use super::{AckOutcome, Actor, Board as _};
use crate::recovery::dsack::{self, Report};
use crate::recovery::reordering;
use crate::settings::ReorderingUnit;

/// Segments overtook each other by this distance: more than was reckoned with turns FACK off, any at all the early
/// retransmit (`tcp_update_reordering`, 3.10).
pub fn note_segments_overtaken<A: Actor>(actor: &mut A, distance: u32) {
    let most = actor.settings().loss.max_reordering;
    if actor
        .detection_mut()
        .note_segments_overtaken(distance, most)
    {
        actor.board_mut().count_anew();
    }
}

/// A segment never sent again was delivered at `low` although a higher one was before (`tcp_check_sack_reordering`, 6.x).
pub fn note_overtaken<A: Actor>(actor: &mut A, low: SeqNum) {
    let (high, mss) = (actor.board().line().highest_sack, actor.board().line().mss);
    let most = actor.settings().loss.max_reordering;
    actor.detection_mut().note_overtaken(low, high, mss, most);
}

/// Without SACK, each duplicate acknowledgement stands for a segment delivered out of order; more of them than segments are
/// out mean reordering (`tcp_add_reno_sack`).
pub(super) fn add_duplicates<A: Actor>(actor: &mut A, count: u32) {
    if count == 0 {
        return;
    }
    let before = actor.board().counts().sacked;
    actor.board_mut().set_duplicates(before + count);
    check_duplicates(actor, 0);
    let more = actor.board().counts().sacked.saturating_sub(before);
    actor.board_mut().count_delivered(more);
}

/// Of `acked` segments one filled the hole, the others had been counted as duplicates (`tcp_remove_reno_sacks`).
pub fn remove_duplicates<A: Actor>(actor: &mut A, acked: u32) {
    if acked > 0 {
        let duplicates = actor.board().counts().sacked;
        actor
            .board_mut()
            .count_delivered(acked.saturating_sub(duplicates).max(1));
        actor
            .board_mut()
            .set_duplicates(duplicates.saturating_sub(acked - 1));
    }
    check_duplicates(actor, acked);
}

/// `tcp_check_reno_reordering`
fn check_duplicates<A: Actor>(actor: &mut A, acked: u32) {
    if !limit_duplicates(actor) {
        return;
    }
    let distance = actor.board().counts().out + acked;
    if actor.settings().loss.reordering_unit == ReorderingUnit::Segments {
        note_segments_overtaken(actor, distance);
    } else {
        let most = actor.settings().loss.max_reordering;
        let detection = actor.detection_mut();
        detection.threshold = distance.min(most);
        detection.reordering_seen += 1;
    }
}

/// Duplicates and losses are never more than what is out; whether they would have been (`tcp_limit_reno_sacked`).
fn limit_duplicates<A: Actor>(actor: &mut A) -> bool {
    let counts = actor.board().counts();
    let fewer = reordering::limit_duplicates(counts.sacked, counts.lost, counts.out);
    if let Some(duplicates) = fewer {
        actor.board_mut().set_duplicates(duplicates);
    }
    fewer.is_some()
}

/// What a D-SACK tells, none if it cannot be right; `prior_una` was acknowledged before (`tcp_check_dsack`).
pub fn take_duplicate<A: Actor>(
    actor: &mut A,
    report: &Report,
    prior_una: SeqNum,
    outcome: &mut AckOutcome,
) -> Option<dsack::Outcome> {
    let told = dsack::decide(actor.settings().loss.dsack_check, report)?;
    if told.of_probe {
        outcome.set(AckOutcome::DSACK_PROBE);
    }
    if told.doubted {
        return Some(told);
    }
    outcome.set(AckOutcome::DSACK);
    let detection = actor.detection_mut();
    if detection.reordering_seen > 0 && !told.of_probe {
        detection.rack.dsack_seen = true;
    }
    let end = report.range.end;
    if !end.is_after(prior_una) {
        actor.episode_mut().undo.note_spurious(end, told.segments);
    }
    Some(told)
}
