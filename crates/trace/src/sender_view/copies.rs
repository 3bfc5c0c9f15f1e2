//! What each packet of the sender is: new, sent again, late, doubled, a probe.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqRange;

use super::ids::Ids;
use super::open::Open;
use super::pieces::{Copy, Covered, Piece, ORIGINAL};
use super::{SenderView, LATELY};
use crate::event::{Event, SenderEvent, Sent, SentKind};

/// Farther away than this a packet is not of this connection: more than the largest window (RFC 7323 §2.3).
const FAR: i64 = 1 << 30;
/// A packet seen twice within this time was doubled by the capture rather than the network.
const AT_ONCE: Duration = Duration::from_micros(500);
/// Pieces that a gap is laid out in at most.
const MOST_UNSEEN: i64 = 256;
/// More packets than this are not missing in a row: the sender counts in another way.
const MOST_MISSING: u32 = 1024;

/// What a packet is whose numbers, some of them, were sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    Retransmission,
    Late,
    Doubled,
}

impl SenderView {
    /// The sender sent this, then.
    pub(super) fn sent(&mut self, event: &Event, at: Time) {
        if event.flags.rst() {
            return;
        }
        let older = self
            .newest
            .is_some_and(|n| self.ids.before(event.ip_id, n.ip_id) == Some(true));
        if older {
            self.held
                .came_late(event.payload_len.div_ceil(self.mss).max(1));
        } else if event.ip_id != Some(0) {
            if let Some(newest) = self.newest {
                let missing = self.missing(&newest, event);
                self.held.note_missing(missing.min(MOST_MISSING));
            }
            self.newest = Some(*event);
        }
        let range = event.range();
        let line = self.line_from(event.seq);
        let nxt = self.pieces.nxt();
        let start = line.place(event.seq, nxt);
        let end = start + i64::from(range.len());
        if start > nxt + FAR || end < self.pieces.una() - FAR {
            return;
        }
        let sent = self.not_before(at);
        let probe = self.probe(event, start, end);
        if self.window == Some(0) && end - start == 1 && start == self.pieces.una() {
            self.refused = Some(start);
        }
        if let Some(kind) = probe {
            self.row.probes += 1;
            self.probed += 1;
            self.tell_sent(event, start, end, sent, kind);
            return;
        }
        let copy = Copy {
            at: event.at,
            sent,
            stamp: event.timestamps.map(|t| t.0),
            ack: event.flags.ack().then_some(event.ack),
            ip_id: event.ip_id,
            span: range.len(),
            number: ORIGINAL,
            seen: true,
            mark: event.flags.syn() || event.flags.fin(),
        };
        if start == end {
            // It bears the next number to be sent (RFC 9293 §3.10.7.4): what lies below was sent.
            let window = i64::from(self.window.unwrap_or(0));
            if start > nxt && start - nxt <= window {
                self.unseen(start, copy);
            }
            return;
        }
        if self.lately.len() == LATELY {
            self.lately.pop_front();
        }
        self.lately.push_back((event.at, start, start < nxt));
        if start >= nxt && self.owed > 0 && !event.flags.syn() {
            self.was_owed(nxt, (start, end), older, copy);
        }
        if start > self.pieces.nxt() {
            self.unseen(start, copy);
        }
        let nxt = self.pieces.nxt().max(nxt);
        let old_end = end.min(nxt);
        if start < old_end {
            match self.old(event, start, old_end) {
                Old::Retransmission => self.retransmission(event, start, old_end, copy),
                Old::Late => self.late(start, old_end, copy),
                Old::Doubled => self.double(start, old_end, event.at),
            }
        }
        let new_start = start.max(nxt);
        if new_start < end {
            self.pieces.push(end, copy);
            self.silence.ends(event.at);
            self.held.forget_holes();
            self.row.unique_bytes += payload(event, start, new_start, end);
            self.tell_sent(event, new_start, end, sent, SentKind::New);
        }
    }

    /// The line, laid from `seq` if there is none yet.
    pub(super) fn line_from(&mut self, seq: rexmit_wire::SeqNum) -> super::Line {
        *self.line.get_or_insert(super::Line::new(seq))
    }

    /// A zero-window probe or a keep-alive (RFC 9293 §3.8.6.1, RFC 1122 §4.2.3.6).
    fn probe(&self, event: &Event, start: i64, end: i64) -> Option<SentKind> {
        let (una, nxt) = (self.pieces.una(), self.pieces.nxt());
        if event.flags.syn() || event.flags.fin() || end - start > 1 || nxt == 0 {
            return None;
        }
        let closed = self.window == Some(0);
        if start + 1 == una && una == nxt {
            return Some(if closed {
                SentKind::WindowProbe
            } else {
                SentKind::KeepAlive
            });
        }
        let again = end > start && start == una && end <= nxt;
        if again && end == nxt && self.refused == Some(start) {
            // The window has opened, and the byte that it refused goes first.
            return Some(SentKind::WindowProbe);
        }
        (closed && (again || (start == end && start + 1 == una))).then_some(SentKind::WindowProbe)
    }

    /// Numbers up to `start` were sent, and never came by.
    pub(super) fn unseen(&mut self, start: i64, next: Copy) {
        let copy = Copy {
            seen: false,
            ack: None,
            ..next
        };
        let mss = i64::from(self.mss);
        let step = if (start - self.pieces.nxt()) / mss > MOST_UNSEEN {
            start - self.pieces.nxt()
        } else {
            mss
        };
        let Some(line) = self.line else { return };
        let mut ranges = Vec::new();
        while self.pieces.nxt() < start {
            let from = self.pieces.nxt();
            let to = (from + step).min(start);
            self.pieces.push(to, copy);
            ranges.push(line.range(from, to));
        }
        let like = Sent {
            at: self.not_before(copy.sent),
            range: SeqRange::default(),
            kind: SentKind::Unseen,
            flags: rexmit_wire::Flags::default(),
            stamp: None,
            echo: None,
            slack: self.slack(),
            own_time: false,
            counted: false,
            missing: None,
        };
        if self.held.place(&ranges, &like) {
            return;
        }
        for range in ranges {
            self.tell(&SenderEvent::Sent(Sent { range, ..like }));
        }
    }

    /// What a packet is whose numbers `start..end` were sent before.
    fn old(&self, event: &Event, start: i64, end: i64) -> Old {
        let stamp = event.timestamps.map(|t| t.0);
        let soon = self.rtts.least().map_or(Duration::ZERO, |rtt| rtt * 9 / 10);
        if self.is_same_packet(event, stamp, soon, (start, end)) {
            return Old::Doubled;
        }
        let late = |piece: &Piece| Self::overtook(&self.ids, event, stamp, soon, piece);
        let mut pieces = self.pieces.across(start, end).peekable();
        // Where nothing is kept of these numbers, they were acknowledged long ago.
        if pieces.peek().is_some() && pieces.all(late) {
            Old::Late
        } else {
            Old::Retransmission
        }
    }

    /// Whether one packet that was seen carried just these numbers, and this is that packet. A packet of other bounds is
    /// another packet, however soon it comes.
    fn is_same_packet(
        &self,
        event: &Event,
        stamp: Option<u32>,
        soon: Duration,
        (start, end): (i64, i64),
    ) -> bool {
        let ack = event.flags.ack().then_some(event.ack);
        let same = |c: &Copy| {
            let apart = event.at - c.at;
            c.seen
                && c.span == event.range().len()
                && c.stamp == stamp
                && match self.ids.equal(c.ip_id, event.ip_id) {
                    Some(equal) => equal,
                    None => c.ack == ack && (apart < soon || apart == Duration::ZERO),
                }
        };
        let mut at = None;
        let all = self.pieces.across(start, end).all(|piece| {
            let mut copies = piece.copies();
            let known = copies.find(|c| same(c) && at.is_none_or(|at| c.at == at));
            at = known.map(|c| c.at);
            known.is_some()
        });
        all && at.is_some()
    }

    /// Whether a packet left before the one that carried a piece, which overtook it.
    fn overtook(
        ids: &Ids,
        event: &Event,
        stamp: Option<u32>,
        soon: Duration,
        piece: &Piece,
    ) -> bool {
        let last = piece.last();
        let newer = match (stamp, last.stamp) {
            (Some(a), Some(b)) => a.wrapping_sub(b) as i32,
            _ => 0,
        };
        let before = match newer {
            // What was seen is sent again, whatever its number in the order of the sender's packets. What was only seen
            // when it was sent again may have been overtaken by that.
            0 if piece.first.seen => Some(false),
            0 => ids.before(event.ip_id, last.ip_id),
            _ => Some(newer < 0),
        };
        before.unwrap_or(event.at - last.at < soon)
    }

    fn retransmission(&mut self, event: &Event, start: i64, end: i64, copy: Copy) {
        let number = self.next_number;
        self.next_number += 1;
        if start < self.pieces.bottom() {
            let before = Copy {
                seen: false,
                at: Time::ZERO,
                ack: None,
                ..copy
            };
            let covered = Covered {
                at: Time::ZERO,
                echo: None,
                edge: false,
                sacked: false,
                reported: false,
                hidden: 0,
                over: false,
                bare: false,
                carried: false,
            };
            self.pieces.push_front(start, before, covered);
        }
        let (una, high) = (self.pieces.una(), self.sacked.highest());
        let credit = self.credit;
        let mut first = None;
        let mut unseen = 0;
        for piece in self.pieces.within(start, end) {
            if piece.again.is_empty() {
                piece.overtaken = credit > 0 || high.is_some_and(|high| high > piece.end);
            }
            if !piece.copies().any(|c| c.seen) {
                unseen += piece.end - piece.start;
            }
            first.get_or_insert((piece.first, *piece.last(), piece.again.len() as u32 + 1));
            piece.again.push(Copy { number, ..copy });
        }
        self.row.unique_bytes += unseen as u64;
        let known = |c: Copy| (c.at > Time::ZERO).then_some(c.at);
        let previous = first.and_then(|(_, c, _)| known(c));
        let retransmission = Open {
            number,
            at: event.at,
            start,
            end,
            length: event.payload_len,
            shown: unseen < end - start,
            first_sent: first.and_then(|(c, _, _)| known(c)),
            previous,
            waited: self.waited_for(event.at, previous),
            copy: first.map_or(1, |(_, _, n)| n),
            high: self.pieces.nxt(),
            recovered: None,
            flight: (
                self.pieces.flight_segments(),
                (self.pieces.nxt() - una) as u32,
            ),
            moving: self.rtts.moving(),
            episode: 0,
        };
        self.silence.ends(event.at);
        self.waiting.push(retransmission, una);
        self.tell_sent(
            event,
            start,
            end,
            copy.sent,
            SentKind::Retransmission(number),
        );
    }

    /// How long the sender has waited when it sends again what it sent last at `previous`: not at all where it has nothing
    /// outstanding or the peer's window is shut.
    fn waited_for(&self, at: Time, previous: Option<Time>) -> Duration {
        if self.pieces.una() == self.pieces.nxt() || self.window == Some(0) {
            return Duration::ZERO;
        }
        self.silence.waited(at, previous)
    }

    /// A packet that was sent before others that came by before it.
    fn late(&mut self, start: i64, end: i64, copy: Copy) {
        self.row.reordered += 1;
        let mut unseen = 0;
        for piece in self.pieces.within(start, end) {
            if !piece.first.seen {
                if piece.again.iter().all(|c| !c.seen) {
                    unseen += piece.end - piece.start;
                }
                piece.first = Copy {
                    sent: piece.first.sent,
                    ..copy
                };
            }
        }
        self.row.unique_bytes += unseen as u64;
    }

    /// The same packet once more.
    fn double(&mut self, start: i64, end: i64, at: Time) {
        let mut capture = false;
        for piece in self.pieces.within(start, end) {
            piece.doubled = piece.doubled.saturating_add(1);
            capture |= at - piece.last().at < AT_ONCE;
        }
        if capture {
            self.row.capture_duplicates += 1;
        } else {
            self.row.network_duplicates += 1;
        }
    }

    fn tell_sent(&mut self, event: &Event, start: i64, end: i64, sent: Time, kind: SentKind) {
        let Some(line) = self.line else { return };
        let told = SenderEvent::Sent(Sent {
            at: sent,
            range: line.range(start, end),
            kind,
            flags: event.flags,
            stamp: event.timestamps.map(|t| t.0),
            echo: event.timestamps.filter(|_| event.flags.ack()).map(|t| t.1),
            slack: self.slack(),
            own_time: self.is_own_time(event),
            counted: false,
            missing: self.ids.count_own().then(|| self.held.missing_here()),
        });
        self.tell(&told);
    }

    /// Whether the time of a packet is the sender's own.
    fn is_own_time(&self, event: &Event) -> bool {
        self.clock.is_beside_sender()
            || (event.timestamps.is_some() && self.stamps.tick().is_some())
    }

    /// How far times at the sender may be off.
    pub(super) fn slack(&self) -> Duration {
        match (self.clock.position(), self.stamps.tick()) {
            (crate::rows::Position::Sender, _) => Duration::ZERO,
            (_, Some(tick)) => tick,
            _ => (self.clock.delay(true) + self.waited) / 4,
        }
    }
}

/// Payload bytes among the places from `new_start` of a packet that takes `start..end`.
fn payload(event: &Event, start: i64, new_start: i64, end: i64) -> u64 {
    let from = new_start.max(start + i64::from(event.flags.syn()));
    let to = end - i64::from(event.flags.fin());
    (to - from).max(0) as u64
}
