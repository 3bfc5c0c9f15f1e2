//! Which segment goes next, and on which subflow: the schedulers of multipath-tcp.org's kernels (`mptcp_sched_ops`).

use rexmit_time::Time;

use super::blest::{Blest, Room};
use super::pieces::DataPiece;
use super::subflow::Subflow;
use super::{lowest_rtt, round_robin, Meta};
use crate::settings::MptcpScheduler;

/// Where a segment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The queue of those to be sent again.
    Again,
    /// It was never sent.
    New,
    /// So many places behind the head of what is out, 0 for the head: another subflow carried it.
    Out(usize),
}

/// What a scheduler says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This one, which has not carried the segment.
    New(usize),
    /// This one, which has carried it, as all did.
    Used(usize),
    /// None now: those that have not carried it have no room, or had better not carry it.
    Wait,
    /// None.
    None,
}

/// A scheduler and what it remembers.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    kind: MptcpScheduler,
    /// Segments that the redundant scheduler sent so far, by which the next subflow is chosen.
    pub turns: usize,
    pub blest: Blest,
}

impl Scheduler {
    pub fn new(kind: MptcpScheduler) -> Self {
        Scheduler {
            kind,
            turns: 0,
            blest: Blest::default(),
        }
    }

    /// The subflow for a segment that was never sent.
    fn choose(&mut self, subflows: &mut [Subflow], room: Room, piece: &DataPiece) -> Choice {
        match self.kind {
            MptcpScheduler::RoundRobin => round_robin::choose_in_turn(subflows, piece.len()),
            MptcpScheduler::Blest => self.blest.choose(subflows, room, piece),
            _ => lowest_rtt::choose(subflows, piece.len(), piece.carried_by),
        }
    }

    /// The subflow for a segment that is sent again, by a timer, a probe or the like (`get_subflow`).
    pub fn choose_again(
        &mut self,
        subflows: &mut [Subflow],
        room: Room,
        piece: &DataPiece,
    ) -> Choice {
        match self.kind {
            MptcpScheduler::RoundRobin => {
                round_robin::choose_any(subflows, piece.len(), piece.carried_by)
            }
            MptcpScheduler::Blest => self.blest.choose(subflows, room, piece),
            _ => lowest_rtt::choose(subflows, piece.len(), piece.carried_by),
        }
    }
}

impl Meta {
    /// The next segment and the subflow for it (`next_segment`).
    pub(super) fn next_piece(&mut self, now: Time) -> Option<(DataPiece, From, usize)> {
        self.pieces.forget_again(self.data.una);
        if let Some(again) = self.pieces.again_mut() {
            let piece = *again;
            let room = self.data.room(&self.clock, now);
            let index = match self.scheduler.choose_again(&mut self.subflows, room, again) {
                Choice::New(index) => index,
                Choice::Used(index) => {
                    // All have carried it: it begins anew.
                    again.carried_by = 0;
                    index
                }
                Choice::Wait | Choice::None => return None,
            };
            return Some((piece, From::Again, index));
        }
        if self.scheduler.kind == MptcpScheduler::Redundant {
            let (subflows, window_end) = (&self.subflows, self.data.window_end);
            return self.scheduler.next_copy(subflows, &self.pieces, window_end);
        }
        let Some(piece) = self.pieces.unsent().copied() else {
            return self.optimise_idle(now);
        };
        let room = self.data.room(&self.clock, now);
        let index = match self.scheduler.choose(&mut self.subflows, room, &piece) {
            Choice::New(index) | Choice::Used(index) => index,
            Choice::Wait | Choice::None => return None,
        };
        if piece.end > self.data.window_end {
            let head = self.optimise(now, index, true)?;
            return Some((head, From::Out(0), index));
        }
        self.subflows[index].served = true;
        Some((piece, From::New, index))
    }
}
