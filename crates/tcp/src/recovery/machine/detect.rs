//! What is lost: by time ([`rack`]), by counting ([`dupack`], [`fack`], [`early_retransmit`]); and when a recovery begins.

use rexmit_time::{Duration, Time};

use super::alert::enter_recovery;
use super::timers::rearm;
use super::{AckOutcome, Actor};
use crate::recovery::dupack::{self, Count, Reason};
use crate::recovery::early_retransmit::{self, Pause, View};
use crate::recovery::rack::{self, Delivered};
use crate::recovery::{fack, Job, State};
use crate::settings::{AckOrder, Estimator, ReorderingUnit};
use crate::words::Mechanism;

/// A transmission was delivered.
pub fn note_delivered<A: Actor>(actor: &mut A, delivered: &Delivered) {
    let times = actor.times();
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
    let (state, sacked) = (actor.episode().state, actor.counts().sacked);
    let (least, rtt) = (actor.times().min_rtt, actor.rtt());
    let detection = actor.detection();
    detection.reordering_window(actor.settings(), state, sacked, least, rtt)
}

/// How long until RACK, if it is on, takes for lost what was sent then, without a reordering window.
pub fn rack_wait<A: Actor>(actor: &A, sent: Time) -> Option<Duration> {
    let rack = &actor.detection().rack;
    let wait = || rack.wait(sent, Duration::ZERO, actor.times().now);
    actor.settings().loss.rack.then(wait)
}

/// What is marked lost before it is asked whether a recovery is to begin, where losses come first
/// (`tcp_identify_packet_loss`).
pub(super) fn find_losses<A: Actor>(actor: &mut A, outcome: &mut AckOutcome) {
    let counts = actor.counts();
    if actor.settings().loss.ack_order == AckOrder::RecoveryFirst || counts.out == 0 {
        return;
    }
    if actor.line().sack {
        if actor.settings().loss.rack {
            mark_by_rack(actor, outcome);
        }
        return;
    }
    let (state, threshold) = (actor.episode().state, actor.detection().threshold);
    let advanced = outcome.any(AckOutcome::ADVANCED);
    if dupack::head_is_lost(state, counts.sacked, threshold, advanced) {
        actor.mark_head();
    }
}

/// After an acknowledgement (`tcp_rack_mark_lost`).
fn mark_by_rack<A: Actor>(actor: &mut A, outcome: &mut AckOutcome) {
    let retransmissions = actor.counts().retransmissions;
    if core::mem::take(&mut actor.detection_mut().rack.advanced) {
        let wait = actor.mark_by_rack(reordering_window(actor));
        if wait > Duration::ZERO {
            actor.set_timer(Job::Reordering, rack::timer(wait, actor.times().rto));
            outcome.clear(AckOutcome::SET_TIMER);
        }
    }
    if retransmissions > actor.counts().retransmissions {
        outcome.set(AckOutcome::LOST_RETRANSMISSION);
    }
}

/// The wait for reordered segments is over (`tcp_rack_reo_timeout`).
pub fn on_reordering_timer<A: Actor>(actor: &mut A) {
    let before = actor.counts();
    actor.mark_by_rack(reordering_window(actor));
    let after = actor.counts();
    if before != after {
        if actor.episode().state != State::Recovery {
            enter_recovery(actor);
            actor.reduce_by_timer(before.in_flight().saturating_sub(after.in_flight()));
        }
        actor.send_lost();
    }
    if actor.times().job != Some(Job::Timeout) {
        rearm(actor);
    }
}

/// Segments up to the highest SACK if FACK counts them. It needs SACK.
fn fack_count<A: Actor>(actor: &A) -> Option<u32> {
    let on = actor.detection().fack && actor.line().sack;
    on.then(|| actor.line().reach)
}

/// Segments up to the highest SACK; without SACK, the duplicates and the hole (`tcp_fackets_out`).
pub(super) fn fack_reach<A: Actor>(actor: &A) -> u32 {
    fack::reach(actor.line().sack, actor.line().reach, actor.counts().sacked)
}

/// The highest SACK is further above than reordering explains (`tcp_force_fast_retransmit`, 6.x; 3.10 counts segments).
pub(super) fn sack_is_far<A: Actor>(actor: &A) -> bool {
    let threshold = actor.detection().threshold;
    if actor.settings().loss.reordering_unit == ReorderingUnit::Segments {
        return dupack::reach_is_far(fack_reach(actor), threshold);
    }
    dupack::sack_is_far(
        actor.line().una,
        actor.line().highest_sack,
        threshold,
        actor.line().mss,
    )
}

/// Marks lost what duplicates, SACKs or the clock say, when a recovery `begins` or goes on (`tcp_update_scoreboard`). Where
/// losses come first, SACKed segments are counted alone, and not with RACK.
pub fn mark_by_count<A: Actor>(actor: &mut A, begins: bool) {
    let losses_first = actor.settings().loss.ack_order == AckOrder::LossesFirst;
    let sack = actor.line().sack;
    if losses_first && (actor.settings().loss.rack || !sack) {
        return;
    }
    let fack = fack_count(actor);
    let (sacked, threshold) = (actor.counts().sacked, actor.detection().threshold);
    actor.mark_counted(dupack::marks(sack, fack, sacked, threshold, begins));
    if is_overdue(actor) {
        actor.mark_overdue();
    }
}

/// Whether FACK takes the first segment for lost, as it has been out for more than a timeout.
pub(super) fn is_overdue<A: Actor>(actor: &A) -> bool {
    fack_count(actor).is_some() && actor.head_timed_out()
}

/// Why a recovery should begin, if it should (`tcp_time_to_recover`).
pub(super) fn reason_to_recover<A: Actor>(actor: &mut A) -> Option<Mechanism> {
    let counts = actor.counts();
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
        head_timed_out: actor.head_timed_out(),
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
    let (settings, counts) = (actor.settings(), actor.counts());
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
        srtt: actor.rtt().srtt(),
        in_micros: settings.timers.estimator == Estimator::LinuxMicros,
        timer_left: actor.timer_left(),
    };
    match early_retransmit::pause(rule, &pause, actor.tick_length()) {
        None => true,
        Some(delay) => {
            actor.set_timer(Job::EarlyRetransmit, delay);
            false
        }
    }
}

/// The delay of an early retransmit is over (`tcp_resume_early_retransmit`). The window is not reduced here, only the
/// threshold.
pub fn on_early_retransmit_timer<A: Actor>(actor: &mut A) {
    rearm(actor);
    if !actor.detection().early_retransmit || actor.counts().out == 0 {
        return;
    }
    enter_recovery(actor);
    actor.episode_mut().causes.began_by = Mechanism::EarlyRetransmit;
    mark_by_count(actor, true);
    actor.send_lost();
}
