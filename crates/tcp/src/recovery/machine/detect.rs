//! What is lost: by time ([`rack`]), by counting ([`dupack`], [`fack`], [`early_retransmit`]); and when a recovery begins.

use rexmit_time::Duration;

use super::alert::enter_recovery;
use super::timers::rearm;
use super::{AckOutcome, Actor, Board as _, Clock as _, Window as _};
use crate::recovery::dupack::{self, Count, Reason};
use crate::recovery::early_retransmit::{self, Pause, View};
use crate::recovery::rack::{self, Delivered};
use crate::recovery::{fack, rto, CaState, Job};
use crate::settings::{AckOrder, Estimator, ReorderingUnit};
use crate::words::Mechanism;

/// A transmission was delivered.
pub fn note_delivered<A: Actor>(actor: &mut A, delivered: &Delivered) {
    let times = actor.clock().times();
    let rack = &mut actor.detection_mut().rack;
    rack.advance(delivered, times.now, times.min_rtt);
}

/// Adapts RACK's reordering window: `prior_delivered` segments had been delivered when the latest delivered transmission was
/// sent, 0 if there is none, and `delivered` have been by now.
pub(super) fn adapt_rack<A: Actor>(actor: &mut A, prior_delivered: u32, delivered: u32) {
    if prior_delivered > 0 && !actor.settings().loss.rack_static_reo_wnd {
        let rack = &mut actor.detection_mut().rack;
        rack.adapt(prior_delivered, delivered);
    }
}

/// How long RACK waits for reordered segments.
fn reordering_window<A: Actor>(actor: &A) -> Duration {
    let (state, sacked) = (actor.episode().state, actor.board().counts().sacked);
    let (least, rtt) = (actor.clock().times().min_rtt, actor.clock().rtt());
    let detection = actor.detection();
    detection.reordering_window(actor.settings(), state, sacked, least, rtt)
}

/// Marks lost what RACK finds; returns how long to wait for the rest.
fn mark_by_rack<A: Actor>(actor: &mut A) -> Duration {
    let (rack, window) = (actor.detection().rack, reordering_window(actor));
    let now = actor.clock().times().now;
    actor.board_mut().mark_by_rack(&rack, window, now)
}

/// Marks lost what a timeout does, by the setting `timeout_marks`: with RACK not what it would still wait for.
pub(super) fn mark_by_timeout<A: Actor>(actor: &mut A, reneged: bool) {
    let rule = actor.settings().loss.timeout_marks;
    let rack = actor.settings().loss.rack.then_some(actor.detection().rack);
    let now = actor.clock().times().now;
    let lost = |head, sent| {
        let wait = rack.map(|rack| rack.wait(sent, Duration::ZERO, now));
        rto::marks_lost(rule, head, wait)
    };
    actor.board_mut().mark_by_timeout(reneged, lost);
}

/// What is marked lost before it is asked whether a recovery is to begin, where losses come first
/// (`tcp_identify_packet_loss`).
pub(super) fn find_losses<A: Actor>(actor: &mut A, outcome: &mut AckOutcome) {
    let counts = actor.board().counts();
    if actor.settings().loss.ack_order == AckOrder::RecoveryFirst || counts.out == 0 {
        return;
    }
    if actor.board().line().sack {
        if actor.settings().loss.rack {
            ask_rack(actor, outcome);
        }
        return;
    }
    let (state, threshold) = (actor.episode().state, actor.detection().threshold);
    let advanced = outcome.any(AckOutcome::ADVANCED);
    if dupack::head_is_lost(state, counts.sacked, threshold, advanced) {
        actor.board_mut().mark_head();
    }
}

/// After an acknowledgement (`tcp_rack_mark_lost`).
fn ask_rack<A: Actor>(actor: &mut A, outcome: &mut AckOutcome) {
    let retransmissions = actor.board().counts().retransmissions;
    if core::mem::take(&mut actor.detection_mut().rack.advanced) {
        let wait = mark_by_rack(actor);
        if wait > Duration::ZERO {
            let wait = rack::timer(wait, actor.clock().times().rto);
            actor.clock_mut().set_timer(Job::Reordering, wait);
            outcome.clear(AckOutcome::SET_TIMER);
        }
    }
    if retransmissions > actor.board().counts().retransmissions {
        outcome.set(AckOutcome::LOST_RETRANSMISSION);
    }
}

/// The wait for reordered segments is over (`tcp_rack_reo_timeout`).
pub fn on_reordering_timer<A: Actor>(actor: &mut A) {
    let before = actor.board().counts();
    mark_by_rack(actor);
    let after = actor.board().counts();
    if before != after {
        if actor.episode().state != CaState::Recovery {
            enter_recovery(actor);
            actor
                .window_mut()
                .reduce_by_timer(before.in_flight().saturating_sub(after.in_flight()));
        }
        actor.send_lost();
    }
    if actor.clock().times().job != Some(Job::Timeout) {
        rearm(actor);
    }
}

/// Segments up to the highest SACK if FACK counts them. It needs SACK.
fn fack_count<A: Actor>(actor: &A) -> Option<u32> {
    let on = actor.detection().fack && actor.board().line().sack;
    on.then(|| actor.board().line().reach)
}

/// Segments up to the highest SACK; without SACK, the duplicates and the hole (`tcp_fackets_out`).
pub(super) fn fack_reach<A: Actor>(actor: &A) -> u32 {
    fack::reach(
        actor.board().line().sack,
        actor.board().line().reach,
        actor.board().counts().sacked,
    )
}

/// The highest SACK is further above than reordering explains (`tcp_force_fast_retransmit`, 6.x; 3.10 counts segments).
pub(super) fn sack_is_far<A: Actor>(actor: &A) -> bool {
    let threshold = actor.detection().threshold;
    if actor.settings().loss.reordering_unit == ReorderingUnit::Segments {
        return dupack::reach_is_far(fack_reach(actor), threshold);
    }
    dupack::sack_is_far(
        actor.board().line().una,
        actor.board().line().highest_sack,
        threshold,
        actor.board().line().mss,
    )
}

/// Marks lost what duplicates, SACKs or the clock say, when a recovery `begins` or goes on (`tcp_update_scoreboard`). Where
/// losses come first, SACKed segments are counted alone, and not with RACK.
pub fn mark_by_count<A: Actor>(actor: &mut A, begins: bool) {
    let losses_first = actor.settings().loss.ack_order == AckOrder::LossesFirst;
    let sack = actor.board().line().sack;
    if losses_first && (actor.settings().loss.rack || !sack) {
        return;
    }
    let fack = fack_count(actor);
    let (sacked, threshold) = (actor.board().counts().sacked, actor.detection().threshold);
    let limit = match sack {
        true => actor.board().line().nxt,
        false => actor.episode().point,
    };
    let marks = dupack::marks(sack, fack, sacked, threshold, begins);
    let by_sack = sack && fack.is_none();
    actor.board_mut().mark_counted(marks, by_sack, limit);
    if is_overdue(actor) {
        let before = actor.clock().overdue();
        actor.board_mut().mark_overdue(before);
    }
}

/// Whether FACK takes the first segment for lost, as it has been out for more than a timeout.
pub(super) fn is_overdue<A: Actor>(actor: &A) -> bool {
    fack_count(actor).is_some() && head_timed_out(actor)
}

/// Whether the stack asks for it, and the first segment has been out for more than a timeout (`tcp_head_timedout`).
fn head_timed_out<A: Actor>(actor: &A) -> bool {
    let overdue = |sent| actor.clock().is_overdue(sent);
    actor.settings().loss.head_timeout && actor.board().head_sent().is_some_and(overdue)
}

/// Why a recovery should begin, if it should (`tcp_time_to_recover`).
pub(super) fn reason_to_recover<A: Actor>(actor: &mut A) -> Option<Mechanism> {
    let counts = actor.board().counts();
    if actor.settings().loss.ack_order == AckOrder::LossesFirst {
        let counting = !actor.settings().loss.rack;
        let enough = counting && dupack::says_lost(counts.sacked, actor.detection().threshold);
        return (counts.lost > 0 || enough).then_some(Mechanism::FastRetransmit);
    }
    let detection = actor.detection();
    let new_data_can_go = actor.may_send_now();
    let view = Count {
        packets_out: counts.out,
        sacked_out: counts.sacked,
        lost_out: counts.lost,
        threshold: detection.threshold,
        least_threshold: actor.settings().loss.dupack_threshold,
        fack: fack_count(actor),
        head_timed_out: head_timed_out(actor),
        new_data_can_go: new_data_can_go == Some(true),
    };
    let (by, unless_more) = match dupack::reason(&view) {
        Some(Reason::Fack) => (Mechanism::Fack, false),
        Some(Reason::Lost | Reason::Duplicates) => (Mechanism::FastRetransmit, false),
        Some(Reason::FewOut) => (Mechanism::FastRetransmit, true),
        None if retransmits_early(actor, view.new_data_can_go) => {
            (Mechanism::EarlyRetransmit, true)
        }
        None => return None,
    };
    if unless_more && new_data_can_go.is_none() {
        actor.suppose_no_new_data();
    }
    Some(by)
}

/// Whether a recovery begins now by fewer duplicates than make a loss; else it may begin later by the timer.
fn retransmits_early<A: Actor>(actor: &mut A, new_data_can_go: bool) -> bool {
    let (settings, counts) = (actor.settings(), actor.board().counts());
    let rule = settings.loss.early_retransmit;
    let view = View {
        rule,
        in_order: actor.detection().early_retransmit,
        packets_out: counts.out,
        sacked_out: counts.sacked,
        retransmissions_out: counts.retransmissions,
        new_data_can_go,
    };
    if !early_retransmit::is_due(&view) {
        return false;
    }
    let pause = Pause {
        srtt: actor.clock().rtt().srtt(),
        in_micros: settings.timers.estimator == Estimator::LinuxMicros,
        timer_left: actor.clock().timer_left(),
    };
    match early_retransmit::pause(rule, &pause, actor.clock().tick_length()) {
        None => true,
        Some(delay) => {
            actor.clock_mut().set_timer(Job::EarlyRetransmit, delay);
            false
        }
    }
}

/// The delay of an early retransmit is over (`tcp_resume_early_retransmit`). The window is not reduced here, only the
/// threshold.
pub fn on_early_retransmit_timer<A: Actor>(actor: &mut A) {
    rearm(actor);
    if !actor.detection().early_retransmit || actor.board().counts().out == 0 {
        return;
    }
    enter_recovery(actor);
    actor.episode_mut().causes.began_by = Mechanism::EarlyRetransmit;
    mark_by_count(actor, true);
    actor.send_lost();
}
