//! The order in which an acknowledgement is worked through once what it delivered is noted (`tcp_ack`), as `ack_order` says:
//! that of 3.10, where the window grows first, and that of 6.x, where it follows when all is done.

use super::detect::adapt_rack;
use super::{alert, judge_probe, rearm, schedule_probe};
use super::{AckOutcome, AckView, Actor, Clock as _, Resume, Window as _};
use crate::recovery::{CaState, Job};
use crate::settings::AckOrder;

/// Before it is worked through: with [`AckOrder::RecoveryFirst`] a timer that was set for something in between goes on as the
/// timeout, with [`AckOrder::LossesFirst`] an advance ends the count of timeouts.
pub fn begin_ack<A: Actor>(actor: &mut A, outcome: AckOutcome) {
    match actor.settings().loss.ack_order {
        AckOrder::RecoveryFirst => {
            if matches!(
                actor.clock().times().job,
                Some(Job::EarlyRetransmit | Job::Probe)
            ) {
                rearm(actor);
            }
        }
        AckOrder::LossesFirst => {
            if outcome.any(AckOutcome::ADVANCED) {
                actor.episode_mut().timeouts = 0;
            }
        }
    }
}

/// Nothing was out when it came: a D-SACK may tell something, and the probe is judged.
pub fn on_ack_of_nothing<A: Actor>(actor: &mut A, view: &AckView, outcome: &mut AckOutcome) {
    if outcome.any(AckOutcome::DSACK) {
        let resume = alert(actor, view, outcome);
        if actor.settings().loss.ack_order == AckOrder::RecoveryFirst {
            actor.resume(resume);
        }
    }
    judge_probe(actor, *outcome);
}

/// With [`AckOrder::RecoveryFirst`].
pub fn on_ack_recovery_first<A: Actor>(actor: &mut A, view: &AckView, outcome: &mut AckOutcome) {
    let alerts = AckOutcome::SACKED | AckOutcome::MARKED;
    let doubtful = is_doubtful(actor, *outcome, alerts);
    actor.window_mut().grow_window(view, *outcome, doubtful);
    if doubtful {
        let resume = alert_of(actor, view, outcome, AckOutcome::NONE);
        actor.resume(resume);
    }
    judge_probe(actor, *outcome);
    if actor.clock().times().job == Some(Job::Timeout) {
        schedule_probe(actor, true);
    }
}

/// With [`AckOrder::LossesFirst`]; returns what may be sent again once the window is set. `prior_delivered` segments had been
/// delivered when the latest was sent of those that it says were delivered, 0 if there is none, and `delivered` have been by
/// now.
pub fn on_ack_losses_first<A: Actor>(
    actor: &mut A,
    view: &AckView,
    outcome: &mut AckOutcome,
    prior_delivered: u32,
    delivered: u32,
) -> Resume {
    adapt_rack(actor, prior_delivered, delivered);
    judge_probe(actor, *outcome);
    let mut resume = Resume::Nothing;
    if is_doubtful(actor, *outcome, AckOutcome::ALERT) {
        resume = alert_of(actor, view, outcome, AckOutcome::DSACK);
    }
    // tcp_set_xmit_timer
    if outcome.any(AckOutcome::SET_TIMER) && !schedule_probe(actor, true) {
        rearm(actor);
    }
    resume
}

/// Whether it asks for a closer look: by one of `alerts`, as it brings nothing, or as something is in doubt already
/// (`tcp_ack_is_dubious`).
fn is_doubtful<A: Actor>(actor: &A, outcome: AckOutcome, alerts: AckOutcome) -> bool {
    !outcome.any(AckOutcome::NOT_DUPLICATE)
        || outcome.any(alerts)
        || actor.episode().state != CaState::Open
}

/// Takes a doubtful acknowledgement: a duplicate if it moves nothing, brings nothing and has none of `not`.
fn alert_of<A: Actor>(
    actor: &mut A,
    view: &AckView,
    outcome: &mut AckOutcome,
    not: AckOutcome,
) -> Resume {
    let duplicate = !outcome.any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE | not);
    let view = AckView {
        duplicates: u32::from(duplicate),
        ..*view
    };
    alert(actor, &view, outcome)
}
