//! What each packet of the sender is: new, sent again, late, doubled, a probe.

use rexmit_tcp::recovery::constants::RTO_MAX;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqRange;

use super::clock::SYN_TIMEOUT;
use super::ids::Ids;
use super::open::Unsettled;
use super::pieces::{Copy, Covered, Piece, Said, MOST_PARTS, ORIGINAL};
use super::SenderView;
use crate::event::{packets_of, Event, SenderEvent, Sent, SentKind};
use crate::necessary::{Witness, LEAST_THRESHOLD};
use crate::window::is_place_near;

/// A packet seen twice within this time was doubled by the capture rather than the network.
const AT_ONCE: Duration = Duration::from_micros(500);
/// A packet of the same identification that comes later than this is no double: a stack may give what its timers send again the
/// identification of the first (RFC 1122 §3.2.1.5). Those with timers below 200 ms do not, they number each packet as it leaves
/// (`TCPTV_MIN` of BSD and macOS is 30 ms, Linux's probes wait 10 ms); those that keep the packet as it is have timers of 200 ms
/// and more. Doubles of a network, or of a capture at two places, come within milliseconds, and in a queue within tens of them.
pub(crate) const NO_TIMER: Duration = Duration::from_millis(100);
/// The least wait for a timer where no tail probe is sent: Linux's least timeout by the settings of data centres.
const LEAST_TIMEOUT: Duration = Duration::from_millis(5);
/// And for a tail probe: `TCP_TIMEOUT_MIN`, two ticks of a kernel with `HZ` of 1000.
const LEAST_PROBE: Duration = Duration::from_millis(2);
/// Pieces that a gap is laid out in at most.
const MOST_UNSEEN: i64 = 256;
/// Pieces that all gaps are laid out in at most: so many, and more for each packet that came by. A piece takes as much memory as
/// a packet that did.
const UNSEEN_AT_ONCE: i64 = 1 << 9;
const UNSEEN_EACH: i64 = 2;
/// More packets than this are not missing in a row: the sender counts in another way.
const MOST_MISSING: u32 = 1024;

/// What a packet is whose numbers, some of them, were sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    Retransmission,
    Late,
    Doubled,
    /// It comes so long after what followed it that the capture must have missed what happened since.
    Untold,
}

impl SenderView {
    /// The sender sent this, then.
    pub(super) fn sent(&mut self, event: &Event, at: Time) {
        if event.flags.rst() || (event.flags.syn() && self.is_recorded_late(event)) {
            return;
        }
        let older = self
            .numbers
            .newest
            .is_some_and(|n| self.numbers.own.before(event.ip_id, n.ip_id) == Some(true));
        if older {
            self.verdicts
                .held
                .came_late(packets_of(event.payload_len, self.cut));
        } else if event.ip_id != Some(0) {
            if let Some(newest) = self.numbers.newest {
                let missing = self.numbers.missing(&newest, event, self.cut);
                self.verdicts.held.note_missing(missing.min(MOST_MISSING));
            }
            self.numbers.newest = Some(*event);
        }
        let range = event.range();
        let line = self.board.line_from(event.seq);
        let nxt = self.board.pieces.nxt();
        let start = line.place(event.seq, nxt);
        let end = start + i64::from(range.len());
        // Packets that the capture missed, or that come in another order, may have moved this on from what the door has seen.
        if !is_place_near(start, nxt) {
            return;
        }
        let sent = self.times.not_before(at);
        let probe = self.probe(event, start, end);
        if self.receiver.is_shut() && end - start == 1 && start == self.board.pieces.una() {
            self.receiver.refused = Some(start);
        }
        if let Some(kind) = probe {
            self.measured.row.probes += 1;
            self.reports.probed += 1;
            self.tell_sent(event, start, end, sent, kind);
            return;
        }
        let copy = Copy {
            at: event.at,
            sent,
            stamp: event.timestamps.map(|t| t.0),
            ack: event.flags.ack().then_some(event.ack),
            ip_id: event.ip_id,
            from: start,
            span: range.len(),
            said: Said::by(event),
            number: ORIGINAL,
            seen: true,
            mark: event.flags.syn() || event.flags.fin(),
            reset: false,
            returned: false,
        };
        if start == end {
            // It bears the next number to be sent (RFC 9293 §3.10.7.4): what lies below was sent.
            let window = i64::from(self.receiver.window.unwrap_or(0));
            if start > nxt && start - nxt <= window {
                self.unseen_before(start, copy, event.at, true);
            }
            if start >= nxt && !older {
                // Nothing beyond it was.
                self.numbers.owed = 0;
            }
            return;
        }
        self.board.note_lately(event.at, start, start < nxt);
        if start >= nxt && self.numbers.owed > 0 && !event.flags.syn() {
            self.was_owed(nxt, (start, end), older, copy);
        }
        if start > self.board.pieces.nxt() {
            self.unseen(start, copy, event.at);
        }
        if nxt == 0 && start >= 0 && event.flags.syn() {
            // Nothing was sent, as far as is known, and nothing of it lies below what was acknowledged.
            self.unseen_answer(event, (start, end), copy);
        }
        let nxt = self.board.pieces.nxt().max(nxt);
        let old_end = end.min(nxt);
        if start < old_end {
            match self.old(event, start, old_end) {
                Old::Retransmission => self.retransmission(event, start, old_end, copy),
                Old::Late => {
                    self.measured.row.reordered += 1;
                    self.came(start, old_end, copy);
                }
                Old::Untold => self.came(start, old_end, copy),
                Old::Doubled => self.double(start, old_end, event.at),
            }
        }
        let new_start = start.max(nxt);
        if new_start < end {
            self.board.pieces.push(end, copy);
            self.measured.silence.ends(event.at);
            self.verdicts.held.forget_holes();
            self.measured.row.unique_bytes += payload(event, start, new_start, end);
            self.tell_sent(event, new_start, end, sent, SentKind::New);
        }
        self.heard.sent(sent);
    }

    /// A zero-window probe or a keep-alive (RFC 9293 §3.8.6.1, RFC 1122 §4.2.3.6).
    fn probe(&self, event: &Event, start: i64, end: i64) -> Option<SentKind> {
        let (una, nxt) = (self.board.pieces.una(), self.board.pieces.nxt());
        if event.flags.syn() || event.flags.fin() || end - start > 1 || nxt == 0 {
            return None;
        }
        let closed = self.receiver.is_shut();
        if start + 1 == una && una == nxt {
            return Some(if closed {
                SentKind::WindowProbe
            } else {
                SentKind::KeepAlive
            });
        }
        let again = end > start && start == una && end <= nxt;
        if again && end == nxt && self.receiver.refused == Some(start) {
            // The window has opened, and the byte that it refused goes first.
            return Some(SentKind::WindowProbe);
        }
        (closed && (again || (start == end && start + 1 == una))).then_some(SentKind::WindowProbe)
    }

    /// Numbers up to `start` were sent, before `until`, and never came by.
    pub(super) fn unseen(&mut self, start: i64, next: Copy, until: Time) {
        self.unseen_before(start, next, until, false);
    }

    /// As [`SenderView::unseen`]; `bare`: a bare acknowledgement tells of them.
    fn unseen_before(&mut self, start: i64, next: Copy, until: Time, bare: bool) {
        let copy = Copy {
            seen: false,
            ack: None,
            ..next
        };
        let mss = i64::from(self.mss);
        let from = self.board.pieces.nxt();
        let missing = start - from;
        let since = self.board.pieces.newest_at().unwrap_or(next.at);
        self.heard.missed((from, start), since.min(until), until);
        let segments = missing / mss;
        let room = UNSEEN_AT_ONCE + self.merge.count() as i64 * UNSEEN_EACH;
        let step = if segments > MOST_UNSEEN || self.board.laid_out + segments > room {
            missing
        } else {
            self.board.laid_out += segments;
            mss
        };
        let Some(line) = self.board.line else { return };
        let mut ranges = Vec::new();
        while self.board.pieces.nxt() < start {
            let from = self.board.pieces.nxt();
            let to = (from + step).min(start);
            self.board.pieces.push(to, copy);
            ranges.push(line.range(from, to));
        }
        let like = Sent {
            at: self.times.not_before(copy.sent),
            range: SeqRange::default(),
            kind: SentKind::Unseen,
            flags: rexmit_wire::Flags::default(),
            stamp: None,
            echo: None,
            slack: self.times.slack(),
            own_time: false,
            counted: false,
            missing: None,
        };
        if self.verdicts.held.place(&ranges, &like, bare) {
            return;
        }
        for range in ranges {
            self.verdicts
                .tell(&SenderEvent::Sent(Sent { range, ..like }));
        }
    }

    /// What a packet is whose numbers `start..end` were sent before.
    fn old(&self, event: &Event, start: i64, end: i64) -> Old {
        let stamp = event.timestamps.map(|t| t.0);
        let soon = self
            .measured
            .rtts
            .least()
            .map_or(Duration::ZERO, |rtt| rtt * 9 / 10);
        if self.is_same_packet(event, stamp, soon, (start, end)) {
            return Old::Doubled;
        }
        if self.is_untold(event, (start, end)) {
            return Old::Untold;
        }
        let late = |piece: &Piece| Self::overtook(&self.numbers.own, event, stamp, soon, piece);
        let pieces = self.board.pieces.across(start, end).take(MOST_PARTS);
        let mut pieces = pieces.peekable();
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
        // A stamp of a later tick would differ.
        let tick = stamp.and(self.times.stamps.tick()).map(|tick| tick * 2);
        let same = |c: &Copy| {
            let apart = event.at - c.at;
            c.is_repeated_by(event)
                && apart < NO_TIMER
                && match self.numbers.own.equal(c.ip_id, event.ip_id) {
                    Some(equal) => equal,
                    None if tick.is_some_and(|tick| apart >= tick) => true,
                    None if apart >= soon.max(LEAST_TIMEOUT) => false,
                    None => apart < self.least_wait(event, c, (start, end), soon),
                }
        };
        let mut at = None;
        let mut pieces = self.board.pieces.across(start, end).take(MOST_PARTS);
        let all = pieces.all(|piece| {
            let mut copies = piece.copies();
            let known = copies.find(|c| same(c) && at.is_none_or(|at| c.at == at));
            at = known.map(|c| c.at);
            known.is_some()
        });
        (all && at.is_some()) || self.is_same_merged(event, (start, end))
    }

    /// No sender sends sooner again what it sent as `copy`, where less than a round trip is `soon`: it has not heard of a loss yet,
    /// and no timer is as short.
    fn least_wait(
        &self,
        event: &Event,
        copy: &Copy,
        (start, end): (i64, i64),
        soon: Duration,
    ) -> Duration {
        // Which SYN the capture holds twice was found before: one that is here was sent, if in the same moment.
        if event.flags.syn() {
            return soon;
        }
        let least = match self.facts.sack && end == self.board.pieces.nxt() {
            true => LEAST_PROBE,
            false => LEAST_TIMEOUT,
        };
        match self.signals(event, copy, (start, end)) {
            0 => soon.max(least),
            few if few < LEAST_THRESHOLD => soon,
            _ => Duration::from_nanos(1),
        }
    }

    /// Whether this is packets that were seen once more, merged into one, or a part of one that was: their identifications are as
    /// far apart as their segments.
    fn is_same_merged(&self, event: &Event, (start, end): (i64, i64)) -> bool {
        let Some(id) = event.ip_id.filter(|&id| id != 0) else {
            return false;
        };
        let (ack, said) = (event.flags.ack().then_some(event.ack), Said::by(event));
        let stamp = event.timestamps.map(|t| t.0);
        let span = event.range().len();
        let mut pieces = self.board.pieces.across(start, end).take(MOST_PARTS);
        let mut covered = start;
        let all = pieces.all(|piece| {
            let same = |c: &Copy| {
                let alike = c.seen && (c.stamp, c.ack) == (stamp, ack) && c.said.merges_with(&said);
                let segments = (c.from - start) / i64::from(self.cut);
                let number = self.numbers.own.follows(id, c.ip_id, segments as i16);
                alike && c.span != span && number && event.at - c.at < NO_TIMER
            };
            let next = piece.start <= covered;
            covered = piece.end;
            next && piece.copies().any(same)
        });
        all && covered >= end && span == (end - start) as u32
    }

    /// Whether nothing of these numbers came by, and they come later than a timer of any stack sends again what it sent last.
    fn is_untold(&self, event: &Event, (start, end): (i64, i64)) -> bool {
        let pieces = self.board.pieces.across(start, end).take(MOST_PARTS);
        let pieces = pieces.filter(|piece| piece.start < end && start < piece.end);
        let mut pieces = pieces.peekable();
        let untold =
            |piece: &Piece| piece.copies().all(|c| !c.seen) && event.at - piece.last().at > RTO_MAX;
        if pieces.peek().is_some() {
            return pieces.all(untold);
        }
        // Nothing is kept of them: the sender was silent for longer.
        let last = self.board.lately.iter().rev().nth(1);
        last.is_some_and(|&(at, ..)| event.at - at > RTO_MAX)
    }

    /// Whether a SYN that comes behind its answer is the first, and the capture has them in another order: the answer echoes its
    /// stamp, or came sooner before it than any timer sends a SYN again.
    fn is_recorded_late(&mut self, event: &Event) -> bool {
        let Some(answer) = self.receiver.early_answer.take() else {
            return false;
        };
        let echoed = match (event.timestamps, answer.timestamps) {
            (Some((stamp, _)), Some((_, echo))) => stamp == echo,
            _ => event.at - answer.at < SYN_TIMEOUT / 2,
        };
        echoed && answer.ack == event.range().end
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
        let number = self.verdicts.number();
        if start < self.board.pieces.bottom() {
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
            self.board.pieces.push_front(start, before, covered);
        }
        let (una, high) = (self.board.pieces.una(), self.board.sacked.highest());
        let credit = self.repeats.credit;
        let mut first = None;
        let mut unseen = 0;
        let copy = Copy { number, ..copy };
        self.board.pieces.send_again((start, end), copy, |piece| {
            if piece.again.is_empty() {
                piece.overtaken = credit > 0 || high.is_some_and(|high| high > piece.end);
            }
            if !piece.copies().any(|c| c.seen) {
                unseen += piece.end - piece.start;
            }
            first.get_or_insert((piece.first, *piece.last(), piece.times_again() as u32 + 1));
        });
        self.measured.row.unique_bytes += unseen as u64;
        let known = |c: Copy| (c.at > Time::ZERO && c.seen).then_some(c.at);
        let last = first
            .map(|(_, last, _)| last)
            .filter(|last| last.at > Time::ZERO);
        let times = first.map_or(1, |(.., times)| times);
        let witness = self.witness(event, (start, end), &copy, (times == 1, last));
        let retransmission = Unsettled {
            number,
            at: event.at,
            start,
            end,
            length: event.payload_len,
            shown: unseen < end - start,
            first_sent: first.and_then(|(c, _, _)| known(c)),
            witness,
            waited: self.waited_for(event.at, last.and_then(known), &witness),
            copy: times,
            high: self.board.pieces.nxt(),
            recovered: None,
            flight: (
                self.board.pieces.flight_segments(),
                (self.board.pieces.nxt() - una) as u32,
            ),
            moving: self.measured.rtts.moving(),
            episode: 0,
        };
        self.measured.silence.ends(event.at);
        if witness.prompted.is_none() {
            self.note_again(&witness, event.at, retransmission.high);
        }
        self.verdicts.waiting.push(retransmission, una);
        self.tell_sent(
            event,
            start,
            end,
            copy.sent,
            SentKind::Retransmission(number),
        );
    }

    /// How long the sender has waited when it sends again what it sent last at `previous`, or when nobody saw it: at least, and at
    /// most. Not at all where it has nothing outstanding, the peer's window is shut, or it sends again for another reason than a loss.
    fn waited_for(
        &self,
        at: Time,
        previous: Option<Time>,
        witness: &Witness,
    ) -> (Duration, Duration) {
        let nothing_out = self.board.pieces.una() == self.board.pieces.nxt();
        if nothing_out || self.receiver.is_shut() || witness.prompted.is_some() {
            return (Duration::ZERO, Duration::ZERO);
        }
        let most = self.measured.silence.waited(at, previous);
        // Its sender's clock knows better than the monitor's.
        let (least, longest) = witness.since_sent;
        (most.min(least), most.min(longest))
    }

    /// The first time that these numbers come by, though others behind them have.
    fn came(&mut self, start: i64, end: i64, copy: Copy) {
        let mut unseen = 0;
        for piece in self.board.pieces.within(start, end).take(MOST_PARTS) {
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
        self.measured.row.unique_bytes += unseen as u64;
    }

    /// The same packet once more.
    fn double(&mut self, start: i64, end: i64, at: Time) {
        let mut capture = false;
        for piece in self.board.pieces.within(start, end).take(MOST_PARTS) {
            piece.doubled = piece.doubled.saturating_add(1);
            capture |= at - piece.last().at < AT_ONCE;
        }
        if capture {
            self.measured.row.capture_duplicates += 1;
        } else {
            self.measured.row.network_duplicates += 1;
        }
    }

    pub(super) fn tell_sent(
        &mut self,
        event: &Event,
        start: i64,
        end: i64,
        sent: Time,
        kind: SentKind,
    ) {
        let Some(line) = self.board.line else { return };
        let told = SenderEvent::Sent(Sent {
            at: sent,
            range: line.range(start, end),
            kind,
            flags: event.flags,
            stamp: event.timestamps.map(|t| t.0),
            echo: event.timestamps.filter(|_| event.flags.ack()).map(|t| t.1),
            slack: self.times.slack(),
            own_time: self.times.is_own(event),
            counted: false,
            missing: self
                .numbers
                .own
                .count_own()
                .then(|| self.verdicts.held.missing_here()),
        });
        self.verdicts.tell(&told);
    }
}

/// Payload bytes among the places from `new_start` of a packet that takes `start..end`.
fn payload(event: &Event, start: i64, new_start: i64, end: i64) -> u64 {
    let from = new_start.max(start + i64::from(event.flags.syn()));
    let to = end - i64::from(event.flags.fin());
    (to - from).max(0) as u64
}
