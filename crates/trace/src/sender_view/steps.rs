//! What the length of an acknowledgement's step tells: what had been filled before, and what packets of the receiver that
//! the monitor missed had been for.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::acknowledged::NewlyAcked;
use super::clock::SYN_TIMEOUT;
use super::pieces::{Piece, ORIGINAL};
use super::SenderView;
use crate::event::Event;

/// Segments in order that are acknowledged together at most (RFC 1122 §4.2.3.2).
const TOGETHER: u32 = 2;

impl SenderView {
    /// One acknowledgement moved the edge over `una..place`: learns how many segments in order the receiver acknowledges
    /// together.
    pub(super) fn learn_step(&mut self, una: i64, place: i64) {
        self.repeats.longest_step = self.repeats.longest_step.max(self.segments(una, place));
    }

    /// Without SACK, one acknowledgement at `at` moved the edge over `una..place`, and what is at `una` had been sent
    /// again. If more segments than the receiver acknowledges together, there was a hole, and what filled it was
    /// acknowledged at once (RFC 5681 §4.2): what lies behind it was there before.
    pub(super) fn was_filled(&mut self, una: i64, place: i64, at: Time) {
        let counted = self.numbers.peer.count_own();
        let hole = self.segments(una, place) > self.repeats.longest_step.max(TOGETHER);
        let edge = self.board.pieces.across(una, una + 1).next();
        let Some((edge, end)) = edge.map(|p| (p.last().number, p.end)) else {
            return;
        };
        if !counted || !hole || edge == ORIGINAL || end >= place {
            return;
        }
        // What was sent again with it may have overtaken it, and was answered then.
        let lately = at - self.times.beyond() / 4;
        let others = self.repeats.after(lately);
        if others >= self.segments(end, place) {
            return;
        }
        for piece in self.board.pieces.within(end, place) {
            let now = piece.covered.is_some_and(|c| c.at == at && c.hidden == 0);
            piece.jumped |= now && !piece.again.is_empty() && piece.last().number != edge;
        }
    }

    /// Each retransmission that came, and each segment out of order, was acknowledged at once (RFC 5681 §4.2): packets that
    /// the monitor missed right before the acknowledgement at `at` were for those, as many as it covers, before they were
    /// for copies that came earlier.
    pub(super) fn explain_hidden(&mut self, at: Time, newly: &NewlyAcked) {
        let Some((start, end)) = newly.retransmitted else {
            return;
        };
        let mss = self.mss;
        let others = |piece: &Piece| newly.answered.saturating_sub(packets(piece, mss));
        for piece in self.board.pieces.within(start, end) {
            let others = others(piece);
            if let Some(covered) = piece.covered.as_mut().filter(|c| c.at == at) {
                covered.hidden = covered.hidden.saturating_sub(others);
            }
        }
    }

    pub(super) fn segments(&self, start: i64, end: i64) -> u32 {
        ((end - start) as u32).div_ceil(self.mss)
    }
}

/// Segments of a piece.
pub(super) fn packets(piece: &Piece, mss: u32) -> u32 {
    ((piece.end - piece.start) as u32).div_ceil(mss)
}

/// Of `missed` packets between a SYN and what acknowledges its answer first, those that are not the SYN sent again. What
/// does not follow the SYN, and bears nothing, answers a SYN-ACK that came when the peer had sent data already.
pub(super) fn after_syn(missed: u32, next: SeqNum, at: Time, event: &Event) -> u32 {
    let timeouts = (event.at - at).as_nanos() / SYN_TIMEOUT.as_nanos() + 1;
    let missed = missed.saturating_sub(timeouts.max(1).ilog2());
    let answered_before = event.payload_len == 0 && event.seq.is_after(next);
    missed.max(u32::from(answered_before))
}
