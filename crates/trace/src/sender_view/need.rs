//! Was a retransmission needed?
//!
//! Of every piece of a retransmission the question is the same: which of its copies arrived first? That copy, and those
//! before it, were needed; those after it were not.

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};

use super::pieces::{Copy, Piece, Pieces, MOST_PARTS, ORIGINAL};
use crate::rows::Evidence;

/// An acknowledgement that is held back is so for longer: stacks use 40 ms and more.
const AT_ONCE: Duration = Duration::from_millis(5);
/// Longest that any stack may (RFC 1122 §4.2.3.2).
const LONGEST_HELD: Duration = Duration::from_millis(500);

/// What is known of the path and the receiver when the question is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scene {
    /// Least time from the monitor to the receiver and back.
    pub beyond: Duration,
    /// The monitor stands next to the receiver: what comes by arrives.
    pub at_receiver: bool,
    /// The monitor stands next to a sender that answered the SYN: what comes by on the way to it arrives.
    pub at_server: bool,
    /// The receiver reports duplicates (RFC 2883).
    pub reports: bool,
    /// The receiver is of a time when acknowledgements were held back by coarse timers.
    pub delays: bool,
    /// The network doubles packets, as reports of duplicates of what was sent once show.
    pub network_doubles: bool,
}

/// Which copy arrived first, counted in the order sent, and what says so; none if none arrived.
fn first_arrival(
    piece: &Piece,
    before_then: Option<Time>,
    scene: &Scene,
) -> (Option<usize>, Evidence) {
    let may_arrive = |(_, copy): &(usize, &Copy)| copy.seen && !copy.returned;
    let seen: Vec<(usize, &Copy)> = piece.copies().enumerate().filter(may_arrive).collect();
    let Some(&(first, _)) = seen.first() else {
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
    let within = |way: Duration| {
        seen.iter()
            .filter(|(_, c)| c.at + way <= covered.at)
            .count()
    };
    let mut most = within(scene.beyond / 2).max(1);
    if most == 1 && seen.len() > 1 {
        // The least time seen may have been spent in a queue all of it: the stamp knows better.
        return match by_echo(piece, &seen, &seen) {
            Some(answer) if answer > first => (Some(answer), Evidence::Timestamp),
            _ => (Some(first), Evidence::AckTooEarly),
        };
    }
    // Nothing that comes from the receiver can have told the sender of a loss so soon after the copy before; a router that returns
    // a packet which is too large can, by a message that the capture does not have: then parts of it are sent (RFC 1191 §6.4).
    let all = &seen[..most];
    while most > 1 && seen[most - 1].1.at - seen[most - 2].1.at < scene.beyond / 2 {
        if is_part_at_once(seen[most - 1].1, seen[most - 2].1) {
            return (None, Evidence::None);
        }
        most -= 1;
    }
    if covered.over {
        return (Some(first), Evidence::DuplicateAnswered);
    }
    // The first copy that can have arrived; and, if each missed packet of the receiver was for one copy, the one that did.
    let least = usize::from(piece.overtaken).min(most - 1);
    let mut missed = covered.hidden as usize;
    // Whether a copy arrived of which the acknowledgement was missed: then a report of a duplicate may have been missed as
    // well, unless the acknowledgement seen is the one for the last copy. Data are not: they came after one that was
    // missed.
    let prompt = covered.at - (seen[most - 1].1.at + scene.beyond) < scene.beyond / 2 + AT_ONCE;
    if prompt && covered.carried {
        missed = missed.saturating_sub(1);
    }
    if piece.is_syn() && covered.carried && !prompt {
        // Data may have been sent again, too.
        missed = 0;
    }
    // A SYN is no duplicate that is reported.
    let reports = scene.reports && !piece.is_syn();
    let lost_ack = missed > 0 && !(reports && prompt && !covered.carried);
    let missed = missed.max(1);
    let before = (most - 1).saturating_sub(missed).max(least);
    if covered.reported {
        let mut before = before.min(most.saturating_sub(2));
        // What is below the edge does not change the echo: it cannot be newer than the copy that filled the hole.
        if let Some(echoed) = by_echo(piece, &seen[..most], all) {
            before = seen
                .iter()
                .take(before)
                .filter(|(i, _)| *i < echoed)
                .count();
        }
        return (Some(seen[before].0), Evidence::Dsack);
    }
    if !scene.reports
        && most > 1
        && !piece.overtaken
        && answered_at_once(piece, seen[most - 1].1, scene)
    {
        return (Some(first), Evidence::DuplicateAnswered);
    }
    let reported = usize::from(piece.dsacks.saturating_sub(piece.doubled));
    let on_time = within(scene.beyond).max(1);
    if reported > 0 && !(scene.network_doubles && on_time >= most) {
        most = most.min(seen.len().saturating_sub(reported).max(1));
        if most == 1 {
            return (Some(first), Evidence::Dsack);
        }
    }
    if let Some(answer) = by_echo(piece, &seen[..most], all) {
        // A receiver that does not report duplicates echoes the stamp of a duplicate all the same.
        if lost_ack && !scene.reports && !piece.is_syn() && answer > seen[before].0 {
            return (Some(seen[before].0), Evidence::AckLost);
        }
        return (Some(answer), Evidence::Timestamp);
    }
    if !scene.reports {
        let answered = usize::from(piece.answered);
        if answered > 0 {
            let left = seen.len().saturating_sub(answered).max(1);
            return (
                Some(seen[most.min(left) - 1].0),
                Evidence::DuplicateAnswered,
            );
        }
        let almost = within(scene.beyond / 4 * 3).max(1);
        if almost < most && !piece.overtaken && !seen[most - 1].1.mark {
            return (Some(seen[almost - 1].0), Evidence::AckTooEarly);
        }
        if piece.jumped {
            return (Some(first), Evidence::Frto);
        }
    }
    if let Some(then) = before_then {
        let in_order = seen.iter().filter(|(_, c)| c.at <= then + scene.beyond / 2);
        let in_order = in_order.count().max(1);
        if in_order < most {
            return (Some(seen[in_order - 1].0), Evidence::Frto);
        }
    }
    if lost_ack {
        return (Some(seen[before].0), Evidence::AckLost);
    }
    (Some(seen[most - 1].0), Evidence::HoleFilled)
}

/// Whether the acknowledgement came at once after `copy` while one for the first copy was still held back: a segment that
/// is new is acknowledged late, one that is not at once (RFC 5681 §4.2).
fn answered_at_once(piece: &Piece, copy: &Copy, scene: &Scene) -> bool {
    let Some(covered) = piece.covered.filter(|c| c.bare && !c.sacked) else {
        return false;
    };
    let waited = covered.at - (copy.at + scene.beyond);
    let held = copy.at - piece.first.at <= LONGEST_HELD + scene.beyond;
    !copy.mark && scene.delays && held && waited < scene.beyond / 4 + AT_ONCE
}

/// The copy that arrived first by the stamp that was echoed: at the left edge it is that of the copy that filled it
/// (RFC 3522 §3.2). None if there is none, or if another of `all` that can have been acknowledged has the same.
fn by_echo(piece: &Piece, seen: &[(usize, &Copy)], all: &[(usize, &Copy)]) -> Option<usize> {
    let covered = piece.covered.filter(|c| c.edge && !c.sacked)?;
    let echo = covered.echo?;
    let mut found = 0;
    for (i, (_, copy)) in seen.iter().enumerate() {
        if echo.wrapping_sub(copy.stamp?) as i32 >= 0 {
            found = i;
        }
    }
    let stamp = seen[found].1.stamp;
    let alone = all.iter().filter(|(_, c)| c.stamp == stamp).count() == 1;
    alone.then_some(seen[found].0)
}

/// Whether `copy` is a part of the packet before it and left at once after it.
fn is_part_at_once(copy: &Copy, before: &Copy) -> bool {
    !copy.mark && copy.span < before.span && copy.at - before.at < AT_ONCE
}

/// Whether retransmission `number` was needed for this piece, and what says so.
fn of_piece(pieces: &Pieces, piece: &Piece, number: u32, scene: &Scene) -> (Need, Evidence) {
    let Some((this, copy)) = piece
        .copies()
        .enumerate()
        .find(|(_, c)| c.number == number && c.number != ORIGINAL)
    else {
        return (Need::Unknown, Evidence::None);
    };
    if piece.covered.is_some_and(|c| c.at < copy.at) {
        let evidence = if piece.is_syn() && scene.at_server {
            Evidence::NotAccepted
        } else {
            Evidence::AlreadyAcked
        };
        return (Need::Spurious, evidence);
    }
    // A receiver that has closed does not answer every packet: what it did not answer may have come.
    if piece.copies().take(this).any(|c| c.reset) {
        return (Need::Spurious, Evidence::DuplicateAnswered);
    }
    let unseen_before = piece.copies().take(this).all(|c| !c.seen);
    if unseen_before {
        return (Need::Needed, Evidence::OriginalUnseen);
    }
    match first_arrival(piece, before_neighbours(pieces, piece, scene), scene) {
        (Some(first), evidence) if first < this => {
            let too_early = piece.covered.is_some_and(|c| copy.at + scene.beyond > c.at);
            let evidence = match evidence {
                Evidence::OriginalSeen | Evidence::Timestamp => evidence,
                _ if piece.dsacks > piece.doubled => Evidence::Dsack,
                _ if too_early => Evidence::AckTooEarly,
                _ => evidence,
            };
            (Need::Spurious, evidence)
        }
        (_, Evidence::Timestamp) => (Need::Needed, Evidence::Timestamp),
        (Some(_), _) => (Need::Needed, Evidence::HoleFilled),
        (None, Evidence::None) => (Need::Unknown, Evidence::None),
        (None, evidence) => (Need::Needed, evidence),
    }
}

/// What lies next to a piece and was acknowledged later came later. Where the network keeps order, what arrived first of
/// the piece had been sent before any copy of it that can have been the one: the latest such time (what F-RTO goes by, RFC
/// 5682).
fn before_neighbours(pieces: &Pieces, piece: &Piece, scene: &Scene) -> Option<Time> {
    let covered = piece.covered?;
    let beside = [piece.start - 1, piece.end];
    let beside = beside
        .into_iter()
        .filter_map(|place| pieces.across(place, place + 1).next())
        .filter(|p| p.first.seen && (p.end == piece.start || p.start == piece.end));
    let came = beside.filter_map(|next| {
        let later = next.covered.filter(|c| c.at > covered.at)?;
        let in_time = |c: &&Copy| c.at + scene.beyond / 4 <= later.at;
        Some(next.copies().rfind(in_time)?.at)
    });
    came.min()
}

/// Whether retransmission `number` of these places was needed, and what says so: it was if any of its pieces needed it, and that
/// is not known if nothing tells of one of them.
pub(super) fn of_retransmission(
    pieces: &Pieces,
    (start, end): (i64, i64),
    number: u32,
    scene: &Scene,
) -> (Need, Evidence) {
    let mut spurious = None;
    let mut unknown = false;
    for piece in pieces.across(start, end).take(MOST_PARTS) {
        match of_piece(pieces, piece, number, scene) {
            needed @ (Need::Needed, _) => return needed,
            verdict @ (Need::Spurious, _) => spurious = Some(verdict),
            (Need::Unknown, _) => unknown = true,
        }
    }
    let none = (Need::Unknown, Evidence::None);
    spurious.filter(|_| !unknown).unwrap_or(none)
}
