//! What an acknowledgement tells.

use rexmit_tcp::SackList;
use rexmit_time::Time;
use rexmit_wire::SeqRange;

use super::board::LATELY;
use super::line::SeqSpace;
use super::merge::Ack;
use super::pieces::{Copy, Covered, Piece, MOST_PARTS, ORIGINAL};
use super::steps::packets;
use super::unacked::came_through;
use super::SenderView;
use crate::event::{Acked, Event, SenderEvent};
use crate::window::is_place_near;

/// How far beyond what was seen an acknowledgement may lie to count as one for packets that the capture missed: the
/// largest window without scaling, or what the receiver offers.
const LEAST_WINDOW: u32 = 65_535;

/// Retransmissions, the oldest first, among which that is looked for which the receiver answered.
const MOST_ANSWERED: usize = 128;

/// What one acknowledgement covers for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewlyAcked {
    /// The newest packet sent once.
    newest: Option<Copy>,
    /// How many pieces were sent once.
    once: u32,
    /// Something covered was never seen.
    unseen: bool,
    /// The places of what was sent more than once, from the first to the last.
    pub(super) retransmitted: Option<(i64, i64)>,
    /// Segments that were acknowledged at once when they came: out of order, or sent again.
    pub(super) answered: u32,
    /// What of it was sent last: when, and where it ends.
    pub(super) latest: Option<(Time, i64)>,
    /// Some of it by SACK blocks.
    pub(super) sacked: bool,
    /// Payload of the largest packet that came through.
    largest: u32,
}

impl NewlyAcked {
    fn take(&mut self, piece: &Piece, mss: u32) {
        self.latest = self.latest.max(Some((piece.last().sent, piece.end)));
        self.largest = self.largest.max(came_through(piece, mss));
        if !piece.again.is_empty() {
            let (start, end) = self.retransmitted.unwrap_or((piece.start, piece.end));
            self.retransmitted = Some((start.min(piece.start), end.max(piece.end)));
        } else if !piece.first.seen {
            self.unseen = true;
        } else {
            self.once += 1;
            if self.newest.is_none_or(|n| n.sent < piece.first.sent) {
                self.newest = Some(piece.first);
            }
        }
    }
}

/// The blocks of a SACK option by their places.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    sacks: [(i64, i64); 4],
    count: usize,
    /// A duplicate reported (RFC 2883 §4).
    dsack: Option<(i64, i64)>,
}

impl Blocks {
    /// Those within what was sent and is not acknowledged.
    fn sacks(&self) -> &[(i64, i64)] {
        &self.sacks[..self.count]
    }

    fn push(&mut self, start: i64, end: i64) {
        if let Some(slot) = self.sacks.get_mut(self.count) {
            *slot = (start, end);
            self.count += 1;
        }
    }
}

impl SenderView {
    /// The sender heard this at `at`; or the receiver sent it, and it was lost behind the monitor.
    pub(super) fn heard(&mut self, ack: &Ack, at: Time, came: bool) {
        let event = &ack.event;
        if event.flags.rst() {
            self.reset(event);
            return;
        }
        let line = self.board.line_from(event.ack);
        let place = line.place(event.ack, self.board.pieces.nxt());
        let beyond = place - self.board.pieces.nxt();
        let near = is_place_near(place, self.board.pieces.nxt());
        if !near || beyond > i64::from(self.receiver.window.unwrap_or(0).max(LEAST_WINDOW)) {
            return;
        }
        let at = self.times.not_before(at);
        if beyond > 0 {
            self.missed(place, event.at, at);
        }
        let una = self.board.pieces.una();
        if place < una && ack.blocks.is_empty() {
            return;
        }
        let blocks = self.blocks(line, ack, place.max(una));
        let covered = Covered {
            at: event.at,
            echo: event.timestamps.map(|t| t.1),
            edge: false,
            sacked: true,
            reported: false,
            hidden: self.numbers.hidden(event, self.mss),
            over: self.numbers.is_over(event),
            bare: false,
            carried: event.payload_len > 0,
        };
        let mut newly = NewlyAcked::default();
        let mss = self.mss;
        for &(start, end) in blocks.sacks() {
            let (pieces, sacked) = (&mut self.board.pieces, &mut self.board.sacked);
            sacked.insert(start, end, |from, to| {
                for piece in pieces.within(from, to) {
                    if piece.covered.is_none() {
                        piece.covered = Some(covered);
                        newly.take(piece, mss);
                        newly.sacked = true;
                        newly.answered += packets(piece, mss);
                    }
                }
            });
        }
        if place > una {
            let covered = Covered {
                sacked: false,
                bare: event.range().is_empty() && blocks.count == 0 && self.repeats.credit == 0,
                ..covered
            };
            self.board.pieces.advance(place, covered, |piece| {
                newly.take(piece, mss);
                if !piece.again.is_empty() {
                    newly.answered += packets(piece, mss);
                }
            });
            self.board.sacked.forget_below(place);
            self.verdicts.waiting.advanced(place, event.at);
        } else if place == una && event.payload_len == 0 && !event.flags.fin() {
            self.repeated(ack, &blocks, &newly);
        }
        self.measured.acked_size = self.measured.acked_size.max(newly.largest);
        if let Some((start, end)) = blocks.dsack {
            self.reported(start, end, event.at);
        }
        let credit = self.repeats.credit;
        if place > una {
            self.repeats.credit = if place == self.board.pieces.nxt() {
                0
            } else {
                credit.saturating_sub(newly.once)
            };
        }
        match (newly.newest, newly.retransmitted) {
            (Some(newest), None) if !newly.unseen => {
                if came {
                    self.measured.rtts.sample(at - newest.sent);
                }
                self.times.beyond_now = event.at - newest.at;
                self.times.clock.acknowledged(self.times.beyond_now);
            }
            _ => {}
        }
        if place > una
            && covered.hidden == 0
            && credit == 0
            && newly.retransmitted.is_none()
            && !newly.unseen
        {
            self.learn_step(una, place);
        }
        if newly.retransmitted.is_some() && place > una {
            if !self.facts.sack {
                self.jumped(una, place, event.at);
                self.was_filled(una, place, event.at);
            }
            if let Some(newest) = newly.newest.filter(|_| credit == 0) {
                self.unannounced(una, newest);
            }
        }
        self.explain_hidden(event.at, &newly);
        if place > una {
            self.repeats.forget();
            self.reports.probed = 0;
            self.receiver.last_heard_in_order = Some(*ack);
        }
        let shut = self.receiver.is_shut();
        if came {
            // RFC 5681 §2, but for the window: some stacks do not ask for it.
            let repeats = place == una
                && una < self.board.pieces.nxt()
                && event.range().is_empty()
                && (newly.sacked || (blocks.count == 0 && blocks.dsack.is_none()));
            let moved = (place > una).then_some(place);
            self.heard.heard(event.at, at, repeats, moved, &newly);
            self.note_asked(event, at, moved.is_some());
        }
        if place >= una {
            let shift = if event.flags.syn() {
                0
            } else {
                self.facts.window_shift.min(14)
            };
            self.receiver.window = Some(u32::from(event.window) << shift);
        }
        if shut || self.receiver.is_shut() || self.board.pieces.una() == self.board.pieces.nxt() {
            self.measured.silence.ends(event.at);
        }
        let mut list = SackList::default();
        for &(start, end) in blocks.sacks() {
            list.push(line.range(start, end));
        }
        let told = SenderEvent::Acked(Acked {
            at,
            ack: event.ack,
            window: self.receiver.window.unwrap_or(0),
            sacks: list,
            dsack: blocks.dsack.map(|(start, end)| line.range(start, end)),
            stamp: event.timestamps.map(|t| t.0),
            echo: event.timestamps.map(|t| t.1),
            carried: event.range(),
            slack: self.times.slack(),
        });
        if came {
            self.verdicts.tell(&told);
        }
    }

    /// The capture missed what lies below `place`.
    fn missed(&mut self, place: i64, seen: Time, at: Time) {
        if self.board.pieces.nxt() == 0 {
            // The capture begins here.
            self.board.pieces.push(place, Copy::unseen(seen, at));
            return;
        }
        let segments = (place - self.board.pieces.nxt()) as u32;
        let missed = &mut self.measured.row.capture_losses;
        *missed = missed.saturating_add(segments.div_ceil(self.mss));
        self.unseen(place, Copy::unseen(seen, at), seen);
    }

    /// The blocks by their places, `edge` the cumulative acknowledgement.
    fn blocks(&self, line: SeqSpace, ack: &Ack, edge: i64) -> Blocks {
        let nxt = self.board.pieces.nxt();
        let places = |block: &SeqRange| {
            let start = line.place(block.start, nxt);
            (start, start + i64::from(block.len() as i32))
        };
        let mut found = Blocks::default();
        let blocks = ack.blocks.as_slice();
        for (i, block) in blocks.iter().enumerate() {
            let (start, end) = places(block);
            if start >= end || end > nxt || !is_place_near(start, nxt) {
                continue;
            }
            let within_next = || {
                blocks
                    .get(1)
                    .map(places)
                    .is_some_and(|(s, e)| s <= start && end <= e)
            };
            if i == 0 && (start < line.place(ack.event.ack, nxt) || within_next()) {
                found.dsack = Some((start, end));
            } else if end > edge {
                found.push(start.max(edge), end);
            }
        }
        found
    }

    /// The receiver got `start..end` once more.
    fn reported(&mut self, start: i64, end: i64, at: Time) {
        self.reports.reported += 1;
        let start = start.max(self.board.pieces.bottom());
        let mut retransmitted = false;
        let pieces = self.board.pieces.within(start, end.max(start));
        for piece in pieces.take(MOST_PARTS) {
            piece.dsacks = piece.dsacks.saturating_add(1);
            retransmitted |= !piece.again.is_empty();
            if let Some(covered) = piece.covered.as_mut().filter(|c| c.at == at) {
                covered.reported = true;
            }
        }
        self.reports.network_doubles |= !retransmitted;
    }

    /// The receiver repeated itself: of something that came out of order, or that it had already.
    fn repeated(&mut self, ack: &Ack, blocks: &Blocks, newly: &NewlyAcked) {
        let last = self.receiver.last_heard_in_order.replace(*ack);
        let same = last.is_some_and(|l| {
            l.event.ack == ack.event.ack
                && l.event.window == ack.event.window
                && l.blocks == ack.blocks
        });
        let sacks = self.facts.sack;
        let over = self.board.pieces.una() == self.board.pieces.nxt();
        if !sacks {
            self.repeats.note(ack.event.at);
        }
        if same && self.reports.probed > 0 {
            self.reports.probed -= 1;
            return;
        }
        if !same
            || blocks.dsack.is_some()
            || newly.newest.is_some()
            || newly.retransmitted.is_some()
        {
            return;
        }
        let since = ack.event.at - self.times.beyond_now;
        // The packet that it answers, if none waited on the way.
        match self.board.last_before(since) {
            // Without SACK it may also be of something that came out of order.
            _ if !sacks && !over && !self.in_order(ack.event.at) => {}
            Some((place, true)) if place < self.board.pieces.una() => {
                self.answered(since, Some(place));
            }
            _ if sacks || over => self.answered(since, None),
            _ => {}
        }
    }

    /// Without SACK, one acknowledgement at `at` moved the edge over `una..place`. If it reached beyond what had been sent
    /// again in time, something was there out of order, and each filled hole was acknowledged at once (RFC 5681 §4.2):
    /// all but the first hole had been filled before.
    fn jumped(&mut self, una: i64, place: i64, at: Time) {
        let way = self.times.beyond() / 4 * 3;
        let edge = self.board.pieces.across(una, una + 1).next();
        let edge = edge.map_or(ORIGINAL, |p| p.last().number);
        let mut beyond = 0;
        for piece in self.board.pieces.across(una, place) {
            let here = piece.last().number != edge && piece.first.seen;
            if here && (piece.again.is_empty() || piece.last().at + way > at) {
                beyond = piece.start;
            }
        }
        for piece in self.board.pieces.within(una, beyond.max(una)) {
            let now = piece.covered.is_some_and(|c| c.at == at && c.hidden == 0);
            piece.jumped |= now && !piece.again.is_empty() && piece.last().number != edge;
        }
    }

    /// What was sent once was acknowledged together with the hole at `una`, and had not been reported as out of order when
    /// it came: there was no hole then. Holds where no report was missed.
    fn unannounced(&mut self, una: i64, newest: Copy) {
        let counted = self.numbers.peer.count_own();
        if let Some(piece) = self.board.pieces.at(una).filter(|p| !p.again.is_empty()) {
            let between = piece.first.sent < newest.sent && newest.sent < piece.last().sent;
            let sure = piece.covered.is_some_and(|c| c.hidden == 0 && !c.sacked);
            piece.jumped |= counted && between && sure && !piece.overtaken;
        }
    }

    /// Whether nothing beyond the acknowledgement that came by at `at` can have reached the receiver before it.
    fn in_order(&self, at: Time) -> bool {
        let (una, nxt) = (self.board.pieces.una(), self.board.pieces.nxt());
        let since = at - self.times.beyond();
        let mut flight = self.board.pieces.across(una, nxt).take(LATELY);
        flight.all(|piece| piece.first.at > since)
    }

    /// The receiver answered something that it had already, which came by before `since`: what begins at `place`, or the
    /// oldest of which that is not known yet.
    fn answered(&mut self, since: Time, place: Option<i64>) {
        let since = since + self.times.beyond_now - self.times.beyond();
        let open = |p: &Piece| {
            let known = usize::from(p.dsacks) + usize::from(p.answered);
            known < p.times_again() && p.last().at <= since
        };
        let una = self.board.pieces.una();
        let oldest = || {
            let again = self.verdicts.waiting.iter().take(MOST_ANSWERED);
            let mut pieces = again.flat_map(|open| {
                let pieces = self.board.pieces.across(open.start, open.end);
                let last = |p: &&Piece| p.end <= una && p.last().number == open.number;
                pieces.take(MOST_PARTS).filter(last)
            });
            Some(pieces.find(|p| open(p))?.start)
        };
        let found = place.or_else(oldest);
        let found = found.and_then(|place| self.board.pieces.at(place));
        if let Some(piece) = found.filter(|p| open(p)) {
            piece.answered = piece.answered.saturating_add(1);
            self.reports.answers += 1;
        }
    }

    /// Whoever sent this reset had closed: it answers a duplicate, if all had been acknowledged (RFC 9293 §3.10.7.1).
    fn reset(&mut self, event: &Event) {
        let over =
            self.board.pieces.una() == self.board.pieces.nxt() && self.board.pieces.nxt() > 0;
        if over && !event.flags.ack() {
            let since = event.at - self.times.beyond_now;
            self.answered(since, None);
        }
    }
}
