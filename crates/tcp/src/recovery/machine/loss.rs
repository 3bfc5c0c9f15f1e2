//! The state Loss: how a timeout enters it, and what acknowledgements say of the timeout ([`frto`](crate::recovery::frto)).

use super::undo::{end_recovery, marker, try_undo_loss};
use super::{
    detect, reordering, undo, AckOutcome, Actor, Board as _, NewData, Resume, Window as _,
};
use crate::recovery::frto::{self, Answer, Begin, FrtoVerdict};
use crate::recovery::{rto, CaState};
use crate::settings::{AckOrder, Reneging, UndoStart};

/// The timeout ran out: a receiver that had SACKed the first segment dropped it (`tcp_timeout_mark_lost`, 6.x), or the stack
/// forgets SACKs at every timeout.
pub fn enter_loss_by_timeout<A: Actor>(actor: &mut A) {
    let reneged =
        actor.board().head_is_sacked() && actor.settings().loss.reneging == Reneging::Wait;
    let forgets = actor.settings().loss.timeout_forgets_sacks;
    enter_loss(actor, reneged || forgets);
    actor.episode_mut().probe.high = None;
}

/// What is in flight is lost, wholly or as far as RACK says; if the receiver `reneged`, what was SACKed as well
/// (`tcp_enter_loss`).
pub fn enter_loss<A: Actor>(actor: &mut A, reneged: bool) {
    let before = *actor.episode();
    let start = actor.settings().congestion.undo_start;
    let sent_again = start == UndoStart::Clean && actor.board().any_was_sent_again();
    if !actor.board().line().sack {
        actor.board_mut().set_duplicates(0);
    }
    detect::mark_by_timeout(actor, reneged);
    let loss = rto::LossView {
        state: before.state,
        point_acknowledged: !before.point.is_after(actor.board().line().una),
        timeouts: before.timeouts,
    };
    let reduced = loss.reduces();
    match start {
        UndoStart::Clean => {
            let una = marker(actor);
            let undo = &mut actor.episode_mut().undo;
            undo.begin_by_timeout(una, sent_again);
        }
        UndoStart::InFlight if reduced => undo::begin(actor),
        UndoStart::InFlight => {}
    }
    actor.window_mut().begin_loss(reduced);
    let threshold = rto::reordering_after(
        actor.settings().loss.timeout_forgets_reordering,
        before.state,
        actor.board().counts().sacked,
        actor.detection().threshold,
        actor.detection().own_threshold,
    );
    actor.detection_mut().threshold = threshold;
    let begin = Begin {
        state: before.state,
        reduced,
        timeouts: before.timeouts,
    };
    let frto = actor.has_frto() && frto::begins(actor.settings().loss.frto_test, &begin);
    let nxt = actor.board().line().nxt;
    let episode = actor.episode_mut();
    episode.state = CaState::Loss;
    episode.point = nxt;
    episode.frto = frto;
}

/// What an acknowledgement says of the timeout, if F-RTO's test runs.
fn frto_verdict<A: Actor>(actor: &A, outcome: AckOutcome, duplicate: bool) -> FrtoVerdict {
    let episode = actor.episode();
    if !episode.frto {
        return FrtoVerdict::Open;
    }
    let answer = Answer {
        original: outcome.any(AckOutcome::ORIGINAL),
        advanced: outcome.any(AckOutcome::ADVANCED),
        sacked_or_duplicate: outcome.any(AckOutcome::SACKED) || duplicate,
        new_data_sent: actor.board().line().nxt.is_after(episode.point),
        point_acknowledged: !actor.board().line().una.is_before(episode.point),
    };
    frto::on_ack(actor.settings().loss.frto_test, &answer)
}

/// What an acknowledgement says in the state Loss; returns what may be sent after it (`tcp_process_loss`). Where losses come
/// first, undo by timestamps and D-SACK is asked for first, else last.
pub(super) fn process_loss<A: Actor>(
    actor: &mut A,
    outcome: AckOutcome,
    duplicates: u32,
) -> Resume {
    let losses_first = actor.settings().loss.ack_order == AckOrder::LossesFirst;
    let recovered = !actor.board().line().una.is_before(actor.episode().point);
    let advanced = outcome.any(AckOutcome::ADVANCED);
    if losses_first && advanced && try_undo_loss(actor, false) {
        return Resume::Nothing;
    }
    match frto_verdict(actor, outcome, duplicates > 0) {
        FrtoVerdict::Open => {}
        FrtoVerdict::Spurious => {
            try_undo_loss(actor, true);
            return Resume::Nothing;
        }
        FrtoVerdict::Real => actor.episode_mut().frto = false,
        FrtoVerdict::SendNew => {
            actor.episode_mut().point = actor.board().line().nxt;
            match actor.send_new() {
                NewData::Left => return Resume::Nothing,
                NewData::Wait => return Resume::New,
                NewData::None => actor.episode_mut().frto = false,
                // A retransmission says that there were none.
                NewData::Unknown => {}
            }
        }
    }
    if !losses_first && (recovered || outcome.any(AckOutcome::ACKED)) {
        actor.episode_mut().timeouts = 0;
    }
    if recovered {
        end_recovery(actor);
        return Resume::Nothing;
    }
    if !actor.board().line().sack {
        if actor.board().line().nxt.is_after(actor.episode().point) && duplicates > 0 {
            reordering::add_duplicates(actor, duplicates);
        } else if advanced {
            actor.board_mut().set_duplicates(0);
        }
    }
    if !losses_first && try_undo_loss(actor, false) {
        return Resume::Nothing;
    }
    Resume::Lost
}
