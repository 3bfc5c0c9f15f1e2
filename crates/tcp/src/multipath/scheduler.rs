//! Which segment goes next, and on which subflow: the schedulers of multipath-tcp.org's kernels (`mptcp_sched_ops`).

use rexmit_time::Time;

use super::blest::Blest;
use super::pieces::Piece;
use super::Meta;
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

/// What schedulers remember.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// Segments that the redundant scheduler sent so far, by which the next subflow is chosen.
    pub turns: usize,
    pub blest: Blest,
}

impl Meta {
    /// The next segment and the subflow for it (`next_segment`).
    pub(super) fn next_piece(&mut self, now: Time) -> Option<(Piece, From, usize)> {
        self.pieces.forget_again(self.una);
        if let Some(again) = self.pieces.again_mut().copied() {
            let index = self.place_again(now, &again)?;
            return Some((again, From::Again, index));
        }
        if self.settings.multipath.mptcp_scheduler == MptcpScheduler::Redundant {
            return self.next_copy();
        }
        let Some(piece) = self.pieces.unsent_mut().copied() else {
            return self.optimise_idle(now);
        };
        let index = match self.choose_for_new(now, &piece) {
            Choice::New(index) | Choice::Used(index) => index,
            Choice::Wait | Choice::None => return None,
        };
        if piece.end > self.window_end {
            let head = self.optimise(now, index, true)?;
            return Some((head, From::Out(0), index));
        }
        self.subflows[index].served = true;
        Some((piece, From::New, index))
    }

    /// The subflow for what is to be sent again; where all have carried it, it begins anew.
    fn place_again(&mut self, now: Time, again: &Piece) -> Option<usize> {
        match self.choose_again_for(now, again) {
            Choice::New(index) => Some(index),
            Choice::Used(index) => {
                self.pieces.again_mut()?.carried_by = 0;
                Some(index)
            }
            Choice::Wait | Choice::None => None,
        }
    }

    /// The subflow for a segment that was never sent.
    fn choose_for_new(&mut self, now: Time, piece: &Piece) -> Choice {
        match self.settings.multipath.mptcp_scheduler {
            MptcpScheduler::RoundRobin => self.choose_in_turn(piece.len()),
            MptcpScheduler::Blest => self.choose_without_blocking(now, piece),
            _ => self.choose_lowest_rtt(piece.len(), piece.carried_by),
        }
    }

    /// The subflow for a segment that is sent again, by a timer, a probe or the like (`get_subflow`).
    pub(super) fn choose_again_for(&mut self, now: Time, piece: &Piece) -> Choice {
        match self.settings.multipath.mptcp_scheduler {
            MptcpScheduler::RoundRobin => self.choose_any(piece.len(), piece.carried_by),
            MptcpScheduler::Blest => self.choose_without_blocking(now, piece),
            _ => self.choose_lowest_rtt(piece.len(), piece.carried_by),
        }
    }

    /// Data of `len` bytes may be handed to the subflow now (`mptcp_is_available`).
    pub(super) fn is_available(&self, index: usize, len: u32) -> bool {
        let subflow = &self.subflows[index];
        let sender = subflow.sender().filter(|_| subflow.is_usable());
        !subflow.failed && sender.is_some_and(|sender| sender.takes_more(len))
    }
}
