//! Was a resend needed?
//!
//! Of every piece of a resend the question is the same: which of its copies arrived first? That copy, and those before
//! it, were needed; those after it were not.

use rexmit_tcp::Need;
use rexmit_time::Duration;

use super::pieces::{Copy, Piece, ORIGINAL};
use crate::rows::Evidence;

/// What is known of the path and the receiver when the question is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scene {
    /// Least time from the monitor to the receiver and back.
    pub beyond: Duration,
    /// The monitor stands next to the receiver: what comes by arrives.
    pub at_receiver: bool,
    /// The receiver reports duplicates (RFC 2883).
    pub reports: bool,
}

/// Which copy arrived first, counted in the order sent, and what says so; none if none arrived.
fn first_arrival(piece: &Piece, scene: &Scene) -> (Option<usize>, Evidence) {
    let seen = |i: usize| piece.copies().enumerate().filter(|(_, c)| c.seen).nth(i);
    let all = piece.copies().filter(|c| c.seen).count();
    let Some((first, _)) = seen(0) else {
        return (None, Evidence::OriginalUnseen);
    };
    if scene.at_receiver {
        return (Some(first), Evidence::OriginalSeen);
    }
    let Some(covered) = piece.covered else {
        return (None, Evidence::None);
    };
    // Copies that the acknowledgement can have been for: it takes the way to the receiver and back. The least time seen
    // may have been spent in a queue in part, so that half of it is sure.
    let in_time = |c: &Copy| c.at + scene.beyond / 2 <= covered.at;
    let early = piece.copies().filter(|c| c.seen && in_time(c)).count();
    // Each duplicate reported leaves one copy fewer that can have been the first.
    let reported = usize::from(piece.dsacks.saturating_sub(piece.doubled));
    let by_report = all.saturating_sub(reported).max(1);
    let mut most = early.min(by_report).max(1);
    let index = |i: usize| seen(i).map(|(i, _)| i);
    if most == 1 && all > 1 {
        return (index(0), Evidence::AckTooEarly);
    }
    // At the left edge the receiver echoes the stamp of the copy that filled it (RFC 3522 §3.2).
    if let Some(echo) = covered.echo.filter(|_| covered.edge && !covered.sacked) {
        let not_after =
            |c: &&Copy| c.seen && c.stamp.is_some_and(|s| echo.wrapping_sub(s) as i32 >= 0);
        let stamped = piece.copies().all(|c| c.stamp.is_some());
        let older = piece.copies().filter(not_after).count().max(1);
        if stamped {
            let same = |a: usize, b: usize| {
                let stamp = |i: usize| seen(i).and_then(|(_, c)| c.stamp);
                stamp(a) == stamp(b)
            };
            most = most.min(older);
            if most < 2 || !same(most - 1, most - 2) {
                return (index(most - 1), Evidence::Timestamp);
            }
        }
    }
    // A receiver that reports duplicates has not, so that but one copy arrived. Of one that does not, an acknowledgement
    // sooner than any before is for an earlier copy.
    let at_once = |c: &Copy| c.at + scene.beyond <= covered.at;
    let late = piece.copies().filter(|c| c.seen && at_once(c)).count();
    if !scene.reports && late < most {
        return (index(late.max(1) - 1), Evidence::AckTooEarly);
    }
    if !scene.reports && piece.jumped {
        return (index(0), Evidence::Frto);
    }
    (index(most - 1), Evidence::HoleFilled)
}

/// Whether resend `number` was needed for this piece, and what says so.
fn of_piece(piece: &Piece, number: u32, scene: &Scene) -> (Need, Evidence) {
    let Some((this, copy)) = piece
        .copies()
        .enumerate()
        .find(|(_, c)| c.number == number && c.number != ORIGINAL)
    else {
        return (Need::Unknown, Evidence::None);
    };
    if piece.covered.is_some_and(|c| c.at < copy.at) {
        return (Need::Spurious, Evidence::AlreadyAcked);
    }
    let unseen_before = piece.copies().take(this).all(|c| !c.seen);
    if unseen_before {
        return (Need::Needed, Evidence::OriginalUnseen);
    }
    match first_arrival(piece, scene) {
        (Some(first), evidence) if first < this => {
            let too_early = piece.covered.is_some_and(|c| copy.at + scene.beyond > c.at);
            let evidence = match evidence {
                Evidence::OriginalSeen => evidence,
                _ if piece.dsacks > piece.doubled => Evidence::Dsack,
                _ if too_early => Evidence::AckTooEarly,
                _ => evidence,
            };
            (Need::Spurious, evidence)
        }
        (_, Evidence::Timestamp) => (Need::Needed, Evidence::Timestamp),
        (Some(_), _) => (Need::Needed, Evidence::HoleFilled),
        (None, evidence) => (Need::Needed, evidence),
    }
}

/// Whether resend `number` was needed, and what says so: it was if any of its pieces needed it.
pub(super) fn of_resend<'a>(
    pieces: impl Iterator<Item = &'a Piece>,
    number: u32,
    scene: &Scene,
) -> (Need, Evidence) {
    let mut verdict = (Need::Unknown, Evidence::None);
    for piece in pieces {
        match of_piece(piece, number, scene) {
            needed @ (Need::Needed, _) => return needed,
            spurious @ (Need::Spurious, _) => verdict = spurious,
            (Need::Unknown, _) => {}
        }
    }
    verdict
}
