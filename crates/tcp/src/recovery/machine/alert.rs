//! The states and what moves between them (`tcp_fastretrans_alert`).
//!
//! | state | left for | when |
//! |---|---|---|
//! | Open, Disorder | Recovery | something is marked lost |
//! | Open | Disorder | something is SACKed, doubled or retransmitted, nothing lost |
//! | Disorder | Open | nothing is any more |
//! | Open, Disorder | Cwr | a congestion mark is told of, nothing lost |
//! | Cwr | Open | something beyond the recovery point is acknowledged |
//! | Recovery | Open | the recovery point is acknowledged; without SACK, something beyond it |
//! | Recovery | Open, Disorder | D-SACKs or timestamps prove the recovery spurious |
//! | Loss | Open | the recovery point is acknowledged, or the timeout proves spurious |
//! | Loss | Recovery | a retransmission is found lost, in 6.x |
//! | any | Loss | the timeout fires |
//!
//! The setting `ack_order` says what comes first. With [`AckOrder::LossesFirst`] losses are looked for at each step, a
//! recovery begins once something is marked lost, and the window follows when all is done. With
//! [`AckOrder::RecoveryFirst`] a recovery begins by counting, losses are marked then and while it runs, and the window follows
//! here.

use super::detect::{self, find_losses, reason_to_recover};
use super::loss::process_loss;
use super::reordering::add_duplicates;
use super::undo::{self, forget_stamp, try_undo_by_dsack};
use super::{AckOutcome, AckView, Actor, Board as _, Clock as _, Resume, Window as _};
use crate::recovery::undo::FirstRetransmission;
use crate::recovery::{reneging, CaState, Job};
use crate::settings::{AckOrder, Reneging};

/// Takes a doubtful acknowledgement; returns what may be sent again after it.
pub fn alert<A: Actor>(actor: &mut A, view: &AckView, outcome: &mut AckOutcome) -> Resume {
    let sacked = outcome.any(AckOutcome::SACKED);
    let mut count_losses = view.duplicates > 0 || (sacked && detect::sack_is_far(actor));
    if actor.board().counts().out == 0 {
        actor.board_mut().set_duplicates(0);
    }
    forget_window_if_marked(actor, *outcome);
    if meets_reneging(actor, outcome) {
        return Resume::Nothing;
    }
    if actor.episode().state == CaState::Open {
        actor.episode_mut().undo.first = FirstRetransmission::None;
    } else if !actor.board().line().una.is_before(actor.episode().point) && leave_at_point(actor) {
        return Resume::Nothing;
    }
    let mut begins = false;
    match actor.episode().state {
        CaState::Recovery => {
            if !outcome.any(AckOutcome::ADVANCED) {
                if !actor.board().line().sack {
                    add_duplicates(actor, view.duplicates);
                }
            } else if undo::undo_partly(actor, view, &mut count_losses) {
                return Resume::Nothing;
            }
            if !goes_on_recovering(actor, view, outcome) {
                return Resume::Nothing;
            }
        }
        CaState::Loss => {
            let resume = process_loss(actor, *outcome, view.duplicates);
            find_losses(actor, outcome);
            let open = actor.episode().state == CaState::Open;
            if !open && !outcome.any(AckOutcome::LOST_RETRANSMISSION) {
                return resume;
            }
            begins = consider_recovery(actor, view, outcome);
            if !begins {
                return resume;
            }
        }
        CaState::Open | CaState::Disorder | CaState::Cwr => {
            begins = consider_recovery(actor, view, outcome);
            if !begins {
                return Resume::Nothing;
            }
        }
    }
    if count_losses || detect::is_overdue(actor) {
        detect::mark_by_count(actor, begins);
    }
    let delivered = newly_delivered(actor, view);
    actor.window_mut().step_window(delivered, begins);
    Resume::Lost
}

/// Segments newly acknowledged or SACKed.
fn newly_delivered<A: Actor>(actor: &A, view: &AckView) -> u32 {
    let counts = actor.board().counts();
    let before = view.prior_out + counts.sacked;
    before.saturating_sub(counts.out + view.prior_sacked)
}

/// In recovery it is asked, where losses come first, whether D-SACKs end it, and losses are looked for. Whether a recovery
/// goes on, or begins anew.
fn goes_on_recovering<A: Actor>(actor: &mut A, view: &AckView, outcome: &mut AckOutcome) -> bool {
    if actor.settings().loss.ack_order == AckOrder::RecoveryFirst {
        return true;
    }
    if try_undo_by_dsack(actor) {
        actor.window_mut().end_recovery();
        try_to_open(actor, view, *outcome);
    }
    find_losses(actor, outcome);
    if actor.episode().state == CaState::Recovery {
        return true;
    }
    let begins = reason_to_recover(actor).is_some();
    if begins {
        enter_recovery(actor);
        forget_window_if_marked(actor, *outcome);
    }
    begins
}

/// Where nothing is being repaired: a recovery begins if it should, which is returned; else the state becomes Open or
/// Disorder.
fn consider_recovery<A: Actor>(actor: &mut A, view: &AckView, outcome: &mut AckOutcome) -> bool {
    if !actor.board().line().sack {
        if outcome.any(AckOutcome::ADVANCED) {
            actor.board_mut().set_duplicates(0);
        }
        add_duplicates(actor, view.duplicates);
    }
    if actor.episode().state <= CaState::Disorder {
        try_undo_by_dsack(actor);
    }
    find_losses(actor, outcome);
    let Some(by) = reason_to_recover(actor) else {
        try_to_open(actor, view, *outcome);
        return false;
    };
    enter_recovery(actor);
    forget_window_if_marked(actor, *outcome);
    actor.episode_mut().causes.began_by = by;
    true
}

/// The acknowledgement ended at a segment that was SACKed: the receiver may have dropped it (RFC 2018 §8;
/// `tcp_check_sack_reneging`). Whether nothing more is to be done.
fn meets_reneging<A: Actor>(actor: &mut A, outcome: &mut AckOutcome) -> bool {
    if !outcome.any(AckOutcome::RENEGING) {
        return false;
    }
    match actor.settings().loss.reneging {
        Reneging::Timeout => actor.forget_sacks(),
        Reneging::Wait if outcome.any(AckOutcome::ADVANCED) => {
            let wait = reneging::wait(actor.clock().rtt().srtt_fraction());
            actor.clock_mut().set_timer(Job::Timeout, wait);
            outcome.clear(AckOutcome::SET_TIMER);
        }
        Reneging::Wait => return false,
    }
    true
}

/// The recovery point is acknowledged. Whether nothing more is to be done.
fn leave_at_point<A: Actor>(actor: &mut A) -> bool {
    match actor.episode().state {
        CaState::Cwr => {
            if actor.board().line().una != actor.episode().point {
                actor.window_mut().end_reduction();
                actor.episode_mut().state = CaState::Open;
            }
        }
        CaState::Recovery => {
            if !actor.board().line().sack {
                actor.board_mut().set_duplicates(0);
            }
            actor.window_mut().end_recovery();
            if undo::end_recovery(actor) {
                return true;
            }
            actor.window_mut().end_reduction();
        }
        CaState::Open | CaState::Disorder | CaState::Loss => {}
    }
    false
}

/// `tcp_enter_recovery`
pub fn enter_recovery<A: Actor>(actor: &mut A) {
    if actor.settings().congestion.retrans_stamp_cleanup {
        forget_stamp(actor);
    }
    undo::begin(actor);
    let reduces = !actor.episode().in_reduction();
    actor.window_mut().begin_recovery(reduces);
    let nxt = actor.board().line().nxt;
    let episode = actor.episode_mut();
    episode.causes.recovery_began = true;
    if reduces {
        episode.point = nxt;
        episode.probe.high = None;
    }
    episode.state = CaState::Recovery;
}

/// Disorder while something is SACKed, lost or retransmitted, else Open (`tcp_try_keep_open`).
pub(super) fn keep_open<A: Actor>(actor: &mut A) {
    let any = undo::any_retransmission_out(actor);
    let state = CaState::at_peace(actor.board().counts().left_out(), any);
    if actor.episode().state != state {
        let nxt = actor.board().line().nxt;
        let episode = actor.episode_mut();
        episode.state = state;
        episode.point = nxt;
    }
}

/// The window from before a reduction must not come back where a mark was told of.
fn forget_window_if_marked<A: Actor>(actor: &mut A, outcome: AckOutcome) {
    if outcome.any(AckOutcome::MARKED) {
        actor.window_mut().meet_mark(false);
    }
}

/// The window is reduced as if something had been lost (RFC 3168 §6.1.2; `tcp_enter_cwr`).
fn enter_cwr<A: Actor>(actor: &mut A) {
    let begins = actor.episode().state < CaState::Cwr;
    actor.window_mut().meet_mark(begins);
    if begins {
        let nxt = actor.board().line().nxt;
        let episode = actor.episode_mut();
        episode.undo.marker = None;
        episode.probe.high = None;
        episode.state = CaState::Cwr;
        episode.point = nxt;
    }
}

/// `tcp_try_to_open`
fn try_to_open<A: Actor>(actor: &mut A, view: &AckView, outcome: AckOutcome) {
    forget_stamp(actor);
    if outcome.any(AckOutcome::MARKED) {
        enter_cwr(actor);
    }
    if actor.episode().state == CaState::Cwr {
        let delivered = newly_delivered(actor, view);
        actor.window_mut().step_window(delivered, false);
        return;
    }
    keep_open(actor);
    let window_follows = actor.settings().loss.ack_order == AckOrder::RecoveryFirst;
    if window_follows && actor.episode().state != CaState::Open {
        actor.window_mut().moderate_window();
    }
}
