//! The default scheduler of multipath-tcp.org's kernels: the shortest round-trip time among subflows with room, first among
//! those that have not carried the segment, and of equals the one that was opened last (`get_available_subflow`).

use super::scheduler::Choice;
use super::subflow::Subflow;

/// The subflow for a segment of `len` bytes that those of `carried_by` have carried.
pub(super) fn choose(subflows: &[Subflow], len: u32, carried_by: u32) -> Choice {
    let mut new: Option<(u64, usize)> = None;
    let mut used: Option<(u64, usize)> = None;
    let mut unused_waits = false;
    // A subflow is put at the head of their list (`mptcp_add_sock`).
    for (index, subflow) in subflows.iter().enumerate().rev() {
        if !subflow.is_usable() || subflow.failed {
            continue;
        }
        let carried = carried_by & (1 << index) != 0;
        if !subflow.takes(len) {
            unused_waits |= !carried;
            continue;
        }
        let srtt = subflow.srtt_ns();
        let best = if carried { &mut used } else { &mut new };
        if best.is_none_or(|(least, _)| srtt < least) {
            *best = Some((srtt, index));
        }
    }
    match (new, used) {
        (Some((_, index)), _) => Choice::New(index),
        (None, _) if unused_waits => Choice::Wait,
        (None, Some((_, index))) => Choice::Used(index),
        (None, None) => Choice::None,
    }
}
