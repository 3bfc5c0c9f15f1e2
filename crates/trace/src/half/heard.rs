//! What an acknowledgement tells.

use rexmit_tcp::SackList;
use rexmit_time::Time;
use rexmit_wire::SeqRange;

use super::line::Line;
use super::merge::Ack;
use super::pieces::{Copy, Covered, Piece, ORIGINAL};
use super::Half;
use crate::event::{Acked, SenderEvent};

/// How far beyond what was seen an acknowledgement may lie to count as one for packets that the capture missed: the
/// largest window without scaling, or what the receiver offers.
const LEAST_WINDOW: u32 = 65_535;

/// What one acknowledgement covers for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// The newest packet sent once.
    newest: Option<Copy>,
    /// How many pieces were sent once.
    once: u32,
    /// Something covered was never seen.
    unseen: bool,
    /// The places of what was sent more than once, from the first to the last.
    resent: Option<(i64, i64)>,
}

impl News {
    fn take(&mut self, piece: &Piece) {
        if !piece.again.is_empty() {
            let (start, end) = self.resent.unwrap_or((piece.start, piece.end));
            self.resent = Some((start.min(piece.start), end.max(piece.end)));
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

impl Half {
    /// The sender heard this at `at`.
    pub(super) fn heard(&mut self, ack: &Ack, at: Time) {
        let event = &ack.event;
        let line = self.line_from(event.ack);
        let place = line.place(event.ack, self.pieces.nxt());
        let beyond = place - self.pieces.nxt();
        if beyond > i64::from(self.window.unwrap_or(0).max(LEAST_WINDOW)) {
            return;
        }
        let at = self.not_before(at);
        if beyond > 0 {
            self.missed(place, event.at, at);
        }
        let una = self.pieces.una();
        if place < una && ack.blocks.is_empty() {
            return;
        }
        let blocks = self.blocks(line, ack, place.max(una));
        if let Some((start, end)) = blocks.dsack {
            self.reported(start, end);
        }
        let covered = Covered {
            at: event.at,
            echo: event.timestamps.map(|t| t.1),
            edge: false,
            sacked: true,
        };
        let mut news = News::default();
        for &(start, end) in blocks.sacks() {
            let (pieces, sacked) = (&mut self.pieces, &mut self.sacked);
            sacked.insert(start, end, |from, to| {
                for piece in pieces.within(from, to) {
                    if piece.covered.is_none() {
                        piece.covered = Some(covered);
                        news.take(piece);
                    }
                }
            });
        }
        let repeated = self.repeated;
        if place > una {
            let covered = Covered {
                sacked: false,
                ..covered
            };
            self.pieces
                .advance(place, covered, |piece| news.take(piece));
            self.sacked.forget_below(place);
            self.waiting.advanced(place, event.at);
            self.repeated = 0;
        } else if place == una && event.payload_len == 0 && una < self.pieces.nxt() {
            self.repeated += 1;
        }
        match (news.newest, news.resent) {
            (Some(newest), None) if !news.unseen => {
                self.rtts.sample(at - newest.sent);
                self.clock.acknowledged(event.at - newest.at);
            }
            (Some(newest), Some((start, end))) if news.once > repeated => {
                // Had the resend filled a hole, those would have been reported as they came.
                for piece in self.pieces.within(start, end) {
                    let now = piece.covered.is_some_and(|c| c.at == event.at);
                    let between = piece.first.sent < newest.sent && newest.sent < piece.last().sent;
                    piece.jumped |= now && between && !piece.again.is_empty();
                }
            }
            _ => {}
        }
        if place >= una {
            let shift = if event.flags.syn() {
                0
            } else {
                self.facts.window_shift.min(14)
            };
            self.window = Some(u32::from(event.window) << shift);
        }
        let mut list = SackList::default();
        for &(start, end) in blocks.sacks() {
            list.push(line.range(start, end));
        }
        let told = SenderEvent::Acked(Acked {
            at,
            ack: event.ack,
            window: self.window.unwrap_or(0),
            sacks: list,
            dsack: blocks.dsack.map(|(start, end)| line.range(start, end)),
            stamp: event.timestamps.map(|t| t.0),
            echo: event.timestamps.map(|t| t.1),
            carried: event.range().len(),
            slack: self.slack(),
        });
        self.tell(&told);
    }

    /// The capture missed what lies below `place`.
    fn missed(&mut self, place: i64, seen: Time, at: Time) {
        if self.pieces.nxt() == 0 {
            // The capture begins here.
            self.pieces.push(place, unseen(seen, at));
            return;
        }
        let segments = (place - self.pieces.nxt()) as u32;
        self.row.capture_losses += segments.div_ceil(self.mss);
        self.unseen(place, unseen(seen, at));
    }

    /// The blocks by their places, `edge` the cumulative acknowledgement.
    fn blocks(&self, line: Line, ack: &Ack, edge: i64) -> Blocks {
        let nxt = self.pieces.nxt();
        let places = |block: &SeqRange| {
            let start = line.place(block.start, nxt);
            (start, start + i64::from(block.len() as i32))
        };
        let mut found = Blocks::default();
        let blocks = ack.blocks.as_slice();
        for (i, block) in blocks.iter().enumerate() {
            let (start, end) = places(block);
            if start >= end || end > nxt {
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
    fn reported(&mut self, start: i64, end: i64) {
        self.reports += 1;
        let start = start.max(self.pieces.bottom());
        for piece in self.pieces.within(start, end.max(start)) {
            piece.dsacks = piece.dsacks.saturating_add(1);
        }
    }
}

fn unseen(seen: Time, sent: Time) -> Copy {
    Copy {
        at: seen,
        sent,
        stamp: None,
        ip_id: None,
        number: ORIGINAL,
        seen: false,
    }
}
