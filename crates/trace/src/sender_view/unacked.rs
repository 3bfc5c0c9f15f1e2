//! What nothing had acknowledged when the connection ended, and how large packets had been that something acknowledged.

use rexmit_time::Duration;

use super::pieces::{Copy, Piece};
use super::SenderView;
use crate::measures::Unacked;

/// Payload of a packet.
fn payload(copy: &Copy) -> u32 {
    copy.span - u32::from(copy.mark && copy.span > 0)
}

/// Payload of the smallest packet that carried the piece.
fn smallest(piece: &Piece) -> Option<u32> {
    let seen = piece.copies().filter(|copy| copy.seen);
    seen.map(payload).min()
}

/// How large a packet came through when the piece was acknowledged: the smallest that carried it. Where a network card cut that up,
/// it is one of those that make up the piece, as a receiver acknowledges whole packets.
pub(super) fn came_through(piece: &Piece, mss: u32) -> u32 {
    let len = (piece.end - piece.start) as u32;
    match smallest(piece) {
        Some(size) if size > mss => mss.min(len),
        size => size.unwrap_or(0),
    }
}

impl SenderView {
    /// The first byte that nothing acknowledged, if it was sent more than once. None where its peer closed its window, or
    /// was never heard.
    pub(super) fn unacked(&mut self) -> Option<Unacked> {
        let heard = self.receiver.last_heard?.event.at;
        let resets = self.receiver.resets;
        let una = self.board.pieces.una();
        let (mss, round_trip) = (self.mss, self.times.beyond());
        let shut = self.receiver.is_shut();
        let nxt = self.board.pieces.nxt();
        let in_vain = self.board.pieces.across(una, nxt);
        let least = in_vain
            .filter(|piece| piece.covered.is_none())
            .filter_map(smallest)
            .filter(|size| *size > 0)
            .min();
        let piece = self.board.pieces.at(una)?;
        let again = piece.times_again() > 0 && piece.first.seen;
        if !again || piece.covered.is_some() || piece.is_syn() || shut {
            return None;
        }
        let last = piece.last().at;
        // A reset that ends it answers no copy. Where more copies follow on one, others answer these.
        let heard = match resets.times() {
            Some((first, newest)) if first < last => heard.max(newest),
            _ => heard,
        };
        let size = smallest(piece);
        let late = |copy: &&Copy| copy.at + round_trip > heard;
        Some(Unacked {
            sends: piece.times_again() as u32 + 1,
            unanswered: piece.copies().filter(late).count() as u32,
            silence: (last - heard).max(Duration::ZERO),
            size: size.filter(|size| *size <= mss).unwrap_or(0),
            acked_size: self.measured.acked_size,
            last,
            tried: (last - piece.first.at).max(Duration::ZERO),
            all_full: least.is_some_and(|least| least >= mss - mss / 8 && Some(least) >= size),
        })
    }
}
