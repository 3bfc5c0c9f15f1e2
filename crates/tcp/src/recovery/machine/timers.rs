//! What the timer is set for: the timeout, or a tail loss probe before it; and what an acknowledgement says of the probe.

use rexmit_time::Duration;

use super::alert::keep_open;
use super::{AckOutcome, Actor, Board as _, Clock as _, Window as _};
use crate::recovery::rto::{self, Rearm};
use crate::recovery::tlp::{self, Answer, ProbeVerdict, Schedule, Wait};
use crate::recovery::{CaState, Job};
use crate::settings::Tlp;

/// Sets the timer to the timeout, a full one from now on (RFC 6298 §5.3), or what is left of that of the first segment if the
/// timer was set for something else in between (`tcp_rearm_rto`).
pub fn rearm<A: Actor>(actor: &mut A) {
    let view = Rearm {
        packets_out: actor.board().counts().out,
        timer: actor.clock().times().job,
        rto: actor.clock().times().rto,
        head_age: head_age(actor),
    };
    match rto::rearm(actor.settings().timers.timeout_left, &view) {
        Some(wait) => actor.clock_mut().set_timer(Job::Timeout, wait),
        None => actor.clock_mut().clear_timer(),
    }
}

/// How long ago the first segment was last sent; none is out: no time at all.
fn head_age<A: Actor>(actor: &A) -> Duration {
    let sent = actor.board().head_sent();
    sent.map_or(Duration::ZERO, |sent| actor.clock().age(sent))
}

/// How long ago the last segment was last sent.
fn tail_age<A: Actor>(actor: &A) -> Duration {
    let sent = actor.board().tail_sent();
    sent.map_or(Duration::ZERO, |sent| actor.clock().age(sent))
}

/// Sets the timer to a probe if one may be sent later: `advancing` after an acknowledgement that moved the timeout on.
/// Whether it is set (`tcp_schedule_loss_probe`).
pub fn schedule_probe<A: Actor>(actor: &mut A, advancing: bool) -> bool {
    let loss = &actor.settings().loss;
    let rule = loss.tlp;
    let age = || match advancing {
        true => Duration::ZERO,
        false => head_age(actor),
    };
    let (srtt, timeout_left, new_data_can_go) = match rule {
        Tlp::Off => return false,
        Tlp::Draft => {
            let can_go = actor.window_takes_new_data();
            (
                actor.clock().rtt().srtt(),
                actor.clock().timer_left(),
                can_go,
            )
        }
        Tlp::Rfc8985 => (
            actor.clock().rtt().srtt_fraction(),
            actor.clock().times().rto - age(),
            None,
        ),
    };
    let view = Schedule {
        state: actor.episode().state,
        sack: actor.board().line().sack,
        timer: actor.clock().times().job,
        new_data_can_go: new_data_can_go == Some(true),
        held_by_fin: !loss.tlp_with_fin && actor.board().fin_is_out(),
        wait: Wait {
            form: loss.tlp_wait,
            counted_from: loss.tlp_from_sending.then(|| tail_age(actor)),
            srtt,
            packets_out: actor.board().counts().out,
            min_rto: actor.clock().times().min_rto,
            initial_rto: actor.settings().timers.initial_rto,
            delayed_ack_max: actor.settings().receiver.delayed_ack_max,
            timeout_left: Some(timeout_left),
        },
    };
    let wait = tlp::schedule(rule, &view, actor.clock().tick_length());
    if let Some(wait) = wait {
        actor.clock_mut().set_timer(Job::Probe, wait);
    }
    wait.is_some()
}

/// An acknowledgement came while a probe may be out (`tcp_process_tlp_ack`).
pub fn judge_probe<A: Actor>(actor: &mut A, outcome: AckOutcome) {
    let rule = actor.settings().loss.tlp;
    let answer = Answer {
        ack: actor.board().line().una,
        duplicate: !outcome
            .any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE | AckOutcome::SACKED),
        dsack: outcome.any(AckOutcome::DSACK),
        dsack_of_probe: outcome.any(AckOutcome::DSACK_PROBE),
    };
    if actor.episode_mut().probe.on_ack(rule, &answer) != ProbeVerdict::Loss {
        return;
    }
    actor.window_mut().reduce_for_probe();
    let nxt = actor.board().line().nxt;
    let episode = actor.episode_mut();
    episode.point = nxt;
    episode.state = CaState::Open;
    if rule == Tlp::Rfc8985 {
        keep_open(actor);
    }
}
