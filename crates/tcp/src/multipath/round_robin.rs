//! The round-robin scheduler: a segment each, to those that have room, in turn (`mptcp_rr.c`, v0.90, with its defaults
//! `num_segments` = 1 and `cwnd_limited` = 1).

use super::scheduler::Choice;
use super::subflow::Subflow;

/// The first subflow with room that has not had its segment of this turn; when all that have room had theirs, the next
/// turn begins (`mptcp_rr_next_segment`).
pub(super) fn choose_in_turn(subflows: &mut [Subflow], len: u32) -> Choice {
    let waits = |subflow: &Subflow| subflow.takes(len) && !subflow.served;
    if !subflows.iter().any(waits) {
        for subflow in subflows.iter_mut().filter(|subflow| subflow.takes(len)) {
            subflow.served = false;
        }
    }
    subflows
        .iter()
        .position(waits)
        .map_or(Choice::None, Choice::New)
}

/// The first subflow with room that has not carried the segment, else the first of those that have
/// (`rr_get_available_subflow`).
pub(super) fn choose_any(subflows: &[Subflow], len: u32, carried_by: u32) -> Choice {
    let with_room = || (0..subflows.len()).filter(|index| subflows[*index].takes(len));
    let carried = |index: &usize| carried_by & (1 << index) != 0;
    let new = with_room().find(|index| !carried(index));
    let used = with_room().find(carried);
    match (new, used) {
        (Some(index), _) => Choice::New(index),
        (None, Some(index)) => Choice::Used(index),
        (None, None) => Choice::None,
    }
}
