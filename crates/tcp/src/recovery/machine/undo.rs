//! Taking a reduction back that proved wrong, as [`undo`](crate::recovery::undo) decides.

use rexmit_wire::SeqNum;

use super::alert::keep_open;
use super::reordering::{note_overtaken, note_segments_overtaken};
use super::{detect, AckView, Actor, Board as _, Window as _};
use crate::recovery::undo::{self, Answer, Begin, FirstRetransmission};
use crate::recovery::CaState;
use crate::settings::{AckOrder, PartialUndo};

/// The first byte not acknowledged; none where the stack undoes nothing.
pub(super) fn marker<A: Actor>(actor: &A) -> Option<SeqNum> {
    actor
        .settings()
        .congestion
        .undo
        .then_some(actor.board().line().una)
}

/// A reduction begins that may be undone.
pub(super) fn begin<A: Actor>(actor: &mut A) {
    let probe = actor.episode().probe;
    let view = Begin {
        una: marker(actor),
        retransmissions_out: actor.board().counts().retransmissions,
        probe_out: probe.high.is_some() && probe.retransmission,
    };
    let start = actor.settings().congestion.undo_start;
    actor.episode_mut().undo.begin(start, &view);
}

fn answer<A: Actor>(actor: &A) -> Answer {
    Answer {
        echo: actor.echo(),
        sack: actor.board().line().sack,
        before_point: actor.board().line().una.is_before(actor.episode().point),
    }
}

/// Whether what arrived was only late.
pub fn was_only_late<A: Actor>(actor: &A) -> bool {
    let cleanup = actor.settings().congestion.retrans_stamp_cleanup;
    actor.known_undo().was_only_late(cleanup, &answer(actor))
}

/// Whether the reduction proved wrong.
fn may_undo<A: Actor>(actor: &A) -> bool {
    let cleanup = actor.settings().congestion.retrans_stamp_cleanup;
    actor.known_undo().may_undo(cleanup, &answer(actor))
}

/// The window comes back, and the threshold, or the window alone (`tcp_undo_cwr`).
fn undo_window<A: Actor>(actor: &mut A, threshold_too: bool) {
    actor.window_mut().undo_window(threshold_too);
    if actor.settings().congestion.undo_moderates {
        actor.window_mut().moderate_window();
    }
}

/// Takes the reduction back (`tcp_undo_cwnd_reduction`).
fn undo_reduction<A: Actor>(actor: &mut A, unmark: bool) {
    if unmark {
        actor.board_mut().unmark_lost();
    }
    undo_window(actor, true);
    actor.episode_mut().undo.marker = None;
    // What is left is looked at again.
    actor.detection_mut().rack.advanced = true;
}

/// An acknowledgement in recovery that stops before its end; timestamps may say that what arrived was only late. Whether
/// nothing more is to be done; else `count_losses` says whether more is to be marked lost (`tcp_try_undo_partial`).
pub(super) fn undo_partly<A: Actor>(
    actor: &mut A,
    view: &AckView,
    count_losses: &mut bool,
) -> bool {
    let rule = actor.settings().congestion.partial_undo;
    let late = match rule {
        PartialUndo::Window => may_undo(actor),
        PartialUndo::Recovery => actor.episode().undo.marker.is_some() && was_only_late(actor),
    };
    if !late {
        let first = actor.settings().loss.ack_order == AckOrder::RecoveryFirst;
        *count_losses = detect::sack_is_far(actor) || (first && !actor.board().line().sack);
        return false;
    }
    match rule {
        PartialUndo::Window => {
            forget_stamp(actor);
            note_segments_overtaken(actor, detect::fack_reach(actor) + view.acked);
            undo_window(actor, false);
            *count_losses = false;
        }
        PartialUndo::Recovery => {
            note_overtaken(actor, view.prior_una);
            if actor.board().counts().retransmissions > 0 {
                return true;
            }
            forget_stamp(actor);
            undo_reduction(actor, true);
            actor.window_mut().end_recovery();
            keep_open(actor);
        }
    }
    false
}

/// The recovery point is acknowledged: the recovery ends, undone where it was spurious. Whether the state is kept
/// (`tcp_try_undo_recovery`).
pub(super) fn end_recovery<A: Actor>(actor: &mut A) -> bool {
    if may_undo(actor) {
        undo_reduction(actor, false);
    } else {
        actor.detection_mut().rack.recovered();
    }
    if must_wait_beyond_point(actor) {
        return true;
    }
    actor.episode_mut().state = CaState::Open;
    false
}

/// Every retransmission was spurious (`tcp_try_undo_dsack`).
pub(super) fn try_undo_by_dsack<A: Actor>(actor: &mut A) -> bool {
    if !actor.episode().undo.proved_by_dsack() {
        return false;
    }
    actor.detection_mut().rack.undone();
    undo_reduction(actor, false);
    true
}

/// A timeout proved wrong, or F-RTO says so (`tcp_try_undo_loss`).
pub(super) fn try_undo_loss<A: Actor>(actor: &mut A, by_frto: bool) -> bool {
    if !by_frto && !may_undo(actor) {
        return false;
    }
    undo_reduction(actor, true);
    actor.window_mut().undo_loss(by_frto);
    actor.episode_mut().timeouts = 0;
    if actor.settings().congestion.retrans_stamp_cleanup && must_wait_beyond_point(actor) {
        return true;
    }
    if by_frto || actor.board().line().sack {
        actor.episode_mut().state = CaState::Open;
    }
    true
}

/// Without SACK the state is kept until something beyond the recovery point is acknowledged (RFC 6582 §3.2 step 1;
/// `tcp_is_non_sack_preventing_reopen`).
fn must_wait_beyond_point<A: Actor>(actor: &mut A) -> bool {
    let point = actor.episode().point;
    if !undo::waits_beyond_point(actor.board().line().sack, actor.board().line().una, point) {
        return false;
    }
    if actor.settings().congestion.retrans_stamp_cleanup {
        forget_stamp(actor);
    } else {
        actor.window_mut().moderate_window();
    }
    true
}

/// Whether a retransmission may still be on its way (`tcp_any_retrans_done`).
pub(super) fn any_retransmission_out<A: Actor>(actor: &A) -> bool {
    actor.board().counts().retransmissions > 0 || actor.board().head_was_sent_again()
}

/// The next retransmission starts the clock anew if none is on its way.
pub(super) fn forget_stamp<A: Actor>(actor: &mut A) {
    if !any_retransmission_out(actor) {
        actor.episode_mut().undo.first = FirstRetransmission::None;
    }
}
