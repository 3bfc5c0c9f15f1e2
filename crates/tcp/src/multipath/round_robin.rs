//! The round-robin scheduler: a segment each, to those that have room, in turn (`mptcp_rr.c`, v0.90, with its defaults
//! `num_segments` = 1 and `cwnd_limited` = 1).

use super::scheduler::Choice;
use super::Meta;

impl Meta {
    /// The first subflow with room that has not had its segment of this turn; when all that have room had theirs, the next
    /// turn begins (`mptcp_rr_next_segment`).
    pub(super) fn choose_in_turn(&mut self, len: u32) -> Choice {
        let with_room: Vec<usize> = (0..self.subflows.len())
            .filter(|index| self.is_available(*index, len))
            .collect();
        if with_room.iter().all(|index| self.subflows[*index].served) {
            for index in &with_room {
                self.subflows[*index].served = false;
            }
        }
        let mut unserved = with_room
            .iter()
            .filter(|index| !self.subflows[**index].served);
        unserved
            .next()
            .map_or(Choice::None, |index| Choice::New(*index))
    }

    /// The first subflow with room that has not carried the segment, else the first of those that have
    /// (`rr_get_available_subflow`).
    pub(super) fn choose_any(&self, len: u32, carried_by: u32) -> Choice {
        let with_room = || (0..self.subflows.len()).filter(|index| self.is_available(*index, len));
        let carried = |index: &usize| carried_by & (1 << index) != 0;
        let new = with_room().find(|index| !carried(index));
        let used = with_room().find(carried);
        match (new, used) {
            (Some(index), _) => Choice::New(index),
            (None, Some(index)) => Choice::Used(index),
            (None, None) => Choice::None,
        }
    }
}
