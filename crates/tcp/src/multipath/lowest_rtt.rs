//! The scheduler of the out-of-tree kernels: the shortest round-trip time among subflows with room, first among those that
//! have not carried the segment (`get_available_subflow`).

use super::Meta;

/// What the scheduler says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This one, which has not carried the segment.
    New(usize),
    /// This one, which has carried it, as all did.
    Used(usize),
    /// None now: those that have not carried it have no room.
    Wait,
    /// None.
    None,
}

impl Meta {
    /// The subflow for a segment of `len` bytes that those of `carried_by` have carried.
    pub(super) fn choose_lowest_rtt(&self, len: u32, carried_by: u32) -> Choice {
        let mut new: Option<(u64, usize)> = None;
        let mut used: Option<(u64, usize)> = None;
        let mut unused_waits = false;
        for (index, subflow) in self.subflows.iter().enumerate() {
            if !subflow.is_usable() || subflow.failed {
                continue;
            }
            let Some(sender) = subflow.sender() else {
                continue;
            };
            let carried = carried_by & (1 << index) != 0;
            if !sender.takes_more(len) {
                unused_waits |= !carried;
                continue;
            }
            let srtt = sender.srtt().map_or(0, |s| s.as_nanos().unsigned_abs());
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
}
