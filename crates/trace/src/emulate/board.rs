//! What was sent and not acknowledged: one scoreboard for all emulated senders, and what an acknowledgement tells of it.

use std::collections::VecDeque;

use rexmit_tcp::recovery::dsack;
use rexmit_tcp::recovery::rack::sent_after;
use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::profile::MOST_PROFILES;
use super::sender::SEES_ALL;
use crate::event::{Acked, Sent, SentKind};

/// Pieces of the queue that are kept; what is sent beyond it pushes out the oldest.
const MOST_PIECES: usize = 1 << 16;

/// Stamps whose time of sending is remembered.
const STAMPS: usize = 64;

/// What an emulated sender holds of a piece: lost.
pub const LOST: u8 = 1;
/// Sent again, and that retransmission in flight.
pub const RESENT: u8 = 2;

/// A segment in flight, or several that left as one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub start: SeqNum,
    pub end: SeqNum,
    /// When it was sent last.
    pub sent: Time,
    /// The stamp that it carried then.
    pub stamp: Option<u32>,
    /// Retransmissions so far.
    pub retransmissions: u8,
    pub packets: u32,
    pub sacked: bool,
    /// Payload-free: a bare FIN.
    pub bare: bool,
    /// The monitor saw it when it was sent last.
    pub seen: bool,
    /// What had been sent when it was sent again last.
    pub nxt_then: SeqNum,
    /// Packets that had been delivered when it was sent last.
    delivered: u32,
    /// Each emulated sender's marks.
    pub marks: [u8; MOST_PROFILES],
}

/// The scoreboard.
#[derive(Debug)]
pub struct Board {
    pub una: SeqNum,
    pub nxt: SeqNum,
    pub mss: u32,
    pub sack: bool,
    pieces: VecDeque<Piece>,
    /// Packets out.
    pub out: u32,
    /// Packets SACKed.
    pub sacked: u32,
    /// After the highest byte SACKed; the first byte not acknowledged without one.
    pub highest: SeqNum,
    /// What the receiver offers, and the number that the packet bore which said so (`snd_wl1`).
    window: Option<(u32, SeqNum)>,
    /// Packets sent again so far (`total_retrans`), and packets that were reported to have come twice (`dsack_dups`).
    retransmitted: u32,
    reported: u32,
    /// Packets delivered (`tp->delivered`).
    delivered: u32,
    stamps: VecDeque<(u32, Time)>,
}

/// What an acknowledgement told.
#[derive(Debug, Default)]
pub struct AckReport {
    pub at: Time,
    pub slack: Duration,
    pub prior_una: SeqNum,
    /// The highest SACK before it.
    pub prior_highest: SeqNum,
    pub prior_sacked: u32,
    pub prior_out: u32,
    pub advanced: bool,
    /// It acknowledges less than another before it.
    pub old: bool,
    /// It carries data, or changes the window.
    pub other_use: bool,
    pub dsack: Option<SeqRange>,
    /// Packets that were reported to have come twice before, and packets sent again so far.
    pub prior_reported: u32,
    pub retransmitted: u32,
    /// Packets that had been delivered when the latest of those left that it says were delivered, 0 if there is none, and
    /// what has been delivered by now (`struct rate_sample`).
    pub prior_delivered: u32,
    pub delivered: u32,
    pub echo: Option<u32>,
    /// When the stamp that it echoes left first.
    pub echo_sent: Option<Time>,
    /// Pieces taken off.
    pub acked: Vec<Piece>,
    /// Pieces that it SACKs, by index.
    pub sacked: Vec<usize>,
}

/// The collections of a board, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    pieces: VecDeque<Piece>,
    stamps: VecDeque<(u32, Time)>,
}

impl AckReport {
    /// Empties it; it keeps a capacity of `most` pieces at most.
    pub fn clear(&mut self, most: usize) {
        *self = AckReport {
            acked: core::mem::take(&mut self.acked),
            sacked: core::mem::take(&mut self.sacked),
            ..AckReport::default()
        };
        self.acked.clear();
        self.acked.shrink_to(most);
        self.sacked.clear();
        self.sacked.shrink_to(most);
    }
}

impl Board {
    pub fn new(mss: u32, sack: bool, recycled: Recycled) -> Self {
        Board {
            una: SeqNum::default(),
            nxt: SeqNum::default(),
            mss: mss.max(1),
            sack,
            pieces: recycled.pieces,
            out: 0,
            sacked: 0,
            highest: SeqNum::default(),
            window: None,
            retransmitted: 0,
            reported: 0,
            // The SYN.
            delivered: 1,
            stamps: recycled.stamps,
        }
    }

    /// Its collections, of a capacity of `most` pieces at most.
    pub fn leave(mut self, most: usize) -> Recycled {
        self.pieces.clear();
        self.pieces.shrink_to(most);
        self.stamps.clear();
        Recycled {
            pieces: self.pieces,
            stamps: self.stamps,
        }
    }

    /// Nothing was sent before `first`.
    pub fn begin(&mut self, first: SeqNum) {
        self.una = first;
        self.nxt = first;
        self.highest = first;
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn at(&self, index: usize) -> &Piece {
        &self.pieces[index]
    }

    pub fn at_mut(&mut self, index: usize) -> &mut Piece {
        &mut self.pieces[index]
    }

    pub fn head(&self) -> Option<&Piece> {
        self.pieces.front()
    }

    pub fn tail(&self) -> Option<&Piece> {
        self.pieces.back()
    }

    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter()
    }

    pub fn pieces_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.pieces.iter_mut()
    }

    /// Packets from the first up to the highest SACK (`fackets_out`).
    pub fn reach(&self) -> u32 {
        if self.sacked == 0 {
            return 0;
        }
        let below = |piece: &&Piece| piece.start.is_before(self.highest);
        self.pieces
            .iter()
            .take_while(below)
            .map(|piece| piece.packets)
            .sum()
    }

    /// The highest SACK of this acknowledgement and those before it.
    pub fn reached(&self, report: &AckReport) -> SeqNum {
        match report.sacked.last() {
            Some(_) if self.highest.is_after(report.prior_highest) => self.highest,
            _ => report.prior_highest,
        }
    }

    fn note_stamp(&mut self, sent: &Sent) {
        let Some(stamp) = sent.stamp else { return };
        if self.stamps.back().is_none_or(|(last, _)| *last != stamp) {
            if self.stamps.len() == STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, sent.at));
        }
    }

    /// Options that a handshake does not show may take or leave some bytes of the segment size.
    fn packets_in(&self, len: u32) -> u32 {
        len.saturating_sub(40).div_ceil(self.mss).max(1)
    }

    /// Something new was sent.
    pub fn push(&mut self, sent: &Sent) {
        self.note_stamp(sent);
        let start = if sent.range.start.is_before(self.nxt) {
            self.nxt
        } else {
            sent.range.start
        };
        let end = sent.range.end;
        if !end.is_after(start) {
            return;
        }
        let fin = u32::from(sent.flags.fin());
        let len = end.offset_from(start).unsigned_abs();
        let packets = self.packets_in(len.saturating_sub(fin));
        if self.pieces.len() == MOST_PIECES {
            if let Some(first) = self.pieces.pop_front() {
                self.out -= first.packets;
                self.sacked -= if first.sacked { first.packets } else { 0 };
            }
        }
        self.pieces.push_back(Piece {
            start,
            end,
            sent: sent.at,
            stamp: sent.stamp,
            retransmissions: 0,
            packets,
            sacked: false,
            bare: len == fin,
            seen: sent.kind != SentKind::Unseen,
            nxt_then: end,
            delivered: self.delivered,
            marks: [0; MOST_PROFILES],
        });
        self.out += packets;
        self.nxt = end;
    }

    /// The pieces of a range, cut where it begins and ends.
    pub fn locate(&mut self, range: SeqRange) -> core::ops::Range<usize> {
        let from = self.cut(range.start);
        let to = self.cut(range.end);
        from..to
    }

    /// The index of the first piece that begins at or after `seq`; a piece across it is cut.
    fn cut(&mut self, seq: SeqNum) -> usize {
        let index = self
            .pieces
            .partition_point(|piece| !piece.end.is_after(seq));
        match self.pieces.get(index) {
            Some(piece) if piece.start.is_before(seq) => {
                self.split(index, seq);
                index + 1
            }
            _ => index,
        }
    }

    fn split(&mut self, index: usize, seq: SeqNum) {
        let whole = self.pieces[index];
        let mut first = whole;
        first.end = seq;
        first.packets = self.packets_in(seq.offset_from(whole.start).unsigned_abs());
        let mut second = whole;
        second.start = seq;
        second.packets = whole.packets.saturating_sub(first.packets).max(1);
        let added = first.packets + second.packets - whole.packets;
        self.out += added;
        if whole.sacked {
            self.sacked += added;
        }
        self.pieces[index] = first;
        self.pieces.insert(index + 1, second);
    }

    /// The range was sent again.
    pub fn retransmitted(&mut self, sent: &Sent, pieces: core::ops::Range<usize>) {
        self.note_stamp(sent);
        let nxt = self.nxt;
        for piece in self.pieces.range_mut(pieces) {
            self.retransmitted += piece.packets;
            piece.sent = sent.at;
            piece.seen = true;
            piece.stamp = sent.stamp;
            piece.retransmissions = piece.retransmissions.saturating_add(1);
            piece.nxt_then = nxt;
            piece.delivered = self.delivered;
        }
    }

    /// Takes an acknowledgement in. False where it is none of what was sent.
    pub fn ack(&mut self, acked: &Acked, report: &mut AckReport) -> bool {
        report.acked.clear();
        report.sacked.clear();
        let prior_una = self.una;
        if acked.ack.is_after(self.nxt) {
            return false;
        }
        report.at = acked.at;
        report.slack = acked.slack;
        report.prior_una = prior_una;
        report.prior_highest = self.highest;
        report.prior_sacked = self.sacked;
        report.prior_out = self.out;
        report.advanced = acked.ack.is_after(prior_una);
        report.old = acked.ack.is_before(prior_una);
        report.other_use = !acked.carried.is_empty();
        report.dsack = acked.dsack;
        report.prior_reported = self.reported;
        report.retransmitted = self.retransmitted;
        if let Some(range) = acked.dsack {
            self.note_duplicate(range);
        }
        report.echo = acked.echo.filter(|echo| *echo != 0);
        report.echo_sent = None;
        if !report.old {
            report.other_use |= self.take_window(acked, report.advanced);
        }
        if let (Some(echo), true) = (report.echo, report.advanced) {
            let found = self.stamps.iter().rev().find(|(stamp, _)| *stamp == echo);
            report.echo_sent = found.map(|(_, at)| *at);
        }
        if report.advanced {
            self.take_off(acked.ack, report);
        }
        if self.sack {
            let mut blocks = [SeqRange::default(); 4];
            let given = acked.sacks.as_slice();
            let blocks = &mut blocks[..given.len()];
            blocks.copy_from_slice(given);
            // In order, so that cutting a piece moves no index that was noted.
            blocks.sort_unstable_by_key(|block| block.start.offset_from(acked.ack));
            for block in blocks {
                self.tag(*block, report);
            }
        }
        self.note_delivered(report);
        true
    }

    /// Whether an acknowledgement sets the window: one that others overtook does not, and is a duplicate if it brings nothing
    /// else (RFC 9293 §3.10.7.4; `tcp_may_update_window`). Elsewhere than at the sender which overtook which is not known: any
    /// other window may be news.
    fn take_window(&mut self, acked: &Acked, advanced: bool) -> bool {
        let seq = acked.carried.start;
        let sets = match self.window {
            None => true,
            Some((window, _)) if acked.slack > SEES_ALL => acked.window != window,
            Some((window, last)) => {
                advanced || seq.is_after(last) || (seq == last && acked.window > window)
            }
        };
        if sets {
            self.window = Some((acked.window, seq));
        }
        sets
    }

    /// Counts what a D-SACK reports, as stacks do that check it (`tcp_dsack_seen`).
    fn note_duplicate(&mut self, range: SeqRange) {
        let view = dsack::Report {
            range,
            mss: self.mss,
            largest_window: None,
            probe_high: None,
            reported: self.reported,
            retransmitted: Some(self.retransmitted),
        };
        if let Some(told) = dsack::decide(true, &view) {
            self.reported += told.segments;
            self.delivered += if told.doubted { 0 } else { told.segments };
        }
    }

    /// Counts what was delivered, and finds the latest of it (`tcp_rate_skb_delivered`).
    fn note_delivered(&mut self, report: &mut AckReport) {
        let mut latest: Option<&Piece> = None;
        let acked = report.acked.iter().filter(|piece| !piece.sacked);
        let sacked = report.sacked.iter().map(|index| &self.pieces[*index]);
        for piece in acked.chain(sacked) {
            self.delivered += piece.packets;
            if latest.is_none_or(|one| sent_after(piece.sent, piece.end, one.sent, one.end)) {
                latest = Some(piece);
            }
        }
        report.prior_delivered = latest.map_or(0, |piece| piece.delivered);
        report.delivered = self.delivered;
    }

    fn take_off(&mut self, ack: SeqNum, report: &mut AckReport) {
        self.una = ack;
        while let Some(head) = self.pieces.front() {
            if head.end.is_after(ack) {
                if !head.start.is_before(ack) {
                    break;
                }
                self.split(0, ack);
                continue;
            }
            let head = *head;
            self.out = self.out.saturating_sub(head.packets);
            if head.sacked {
                self.sacked = self.sacked.saturating_sub(head.packets);
            }
            report.acked.push(head);
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.out = 0;
            self.sacked = 0;
        }
        if self.sacked == 0 || self.highest.is_before(ack) {
            self.highest = ack;
        }
    }

    fn tag(&mut self, block: SeqRange, report: &mut AckReport) {
        if !block.end.is_after(block.start)
            || block.end.is_after(self.nxt)
            || !block.start.is_after(self.una)
        {
            return;
        }
        let mut index = self
            .pieces
            .partition_point(|piece| !piece.end.is_after(block.start));
        if self
            .pieces
            .get(index)
            .is_some_and(|piece| piece.start.is_before(block.start))
        {
            index = self.cut(block.start);
        }
        while let Some(piece) = self.pieces.get(index) {
            if !piece.start.is_before(block.end) {
                break;
            }
            if piece.end.is_after(block.end) {
                if piece.sacked {
                    break;
                }
                self.split(index, block.end);
            }
            let piece = &mut self.pieces[index];
            if !piece.sacked {
                piece.sacked = true;
                self.sacked += piece.packets;
                if piece.end.is_after(self.highest) {
                    self.highest = piece.end;
                }
                report.sacked.push(index);
            }
            index += 1;
        }
    }
}

#[cfg(test)]
pub mod tests {
    use rexmit_tcp::SackList;
    use rexmit_wire::Flags;

    use super::*;

    const MSS: u32 = 1_000;
    const FIRST: SeqNum = SeqNum::new(u32::MAX - 1_500);

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn sent(ms: u64, segment: u32) -> Sent {
        Sent {
            at: at(ms),
            range: SeqRange::new(FIRST + segment * MSS, MSS),
            kind: SentKind::New,
            flags: Flags::ACK,
            stamp: None,
            echo: None,
            slack: Duration::ZERO,
            own_time: true,
            counted: false,
            missing: None,
        }
    }

    /// A board with so many segments out, sent a millisecond apart.
    pub fn board_of(segments: u32) -> Board {
        let mut board = Board::new(MSS, true, Recycled::default());
        board.begin(FIRST);
        for segment in 0..segments {
            board.push(&sent(u64::from(segment), segment));
        }
        board
    }

    /// What an acknowledgement of all before `segment` tells that SACKs the segments of `block`.
    pub fn ack(
        board: &mut Board,
        segment: u32,
        block: core::ops::Range<u32>,
        twice: u32,
    ) -> AckReport {
        let mut report = AckReport::default();
        let mut sacks = SackList::default();
        if !block.is_empty() {
            sacks.push(SeqRange {
                start: FIRST + block.start * MSS,
                end: FIRST + block.end * MSS,
            });
        }
        let acked = Acked {
            at: at(50),
            ack: FIRST + segment * MSS,
            window: 1 << 20,
            sacks,
            dsack: (twice > 0).then_some(SeqRange::new(FIRST, twice * MSS)),
            stamp: None,
            echo: None,
            carried: SeqRange::default(),
            slack: Duration::ZERO,
        };
        assert!(board.ack(&acked, &mut report));
        report
    }

    #[test]
    fn what_was_delivered_when_the_latest_delivered_left_is_told() {
        let mut board = board_of(4);
        let first = ack(&mut board, 1, 2..3, 0);
        assert_eq!((first.prior_delivered, first.delivered), (1, 3));
        // Sent after three had arrived with the SYN; what is sent again too.
        board.push(&sent(60, 4));
        board.retransmitted(&sent(61, 1), 0..1);
        let second = ack(&mut board, 2, 4..5, 0);
        assert_eq!((second.prior_delivered, second.delivered), (3, 5));
        // What was SACKed does not arrive again.
        let third = ack(&mut board, 3, 0..0, 0);
        assert_eq!((third.prior_delivered, third.delivered), (0, 5));
    }

    #[test]
    fn a_smaller_window_of_an_overtaken_acknowledgement_is_no_news() {
        let mut board = board_of(4);
        let mut other_use = |window: u32, carried: u32, slack: i64| {
            let acked = Acked {
                at: at(50),
                ack: FIRST + MSS,
                window,
                sacks: SackList::default(),
                dsack: None,
                stamp: None,
                echo: None,
                carried: SeqRange::new(SeqNum::new(carried), 0),
                slack: Duration::from_millis(slack),
            };
            let mut report = AckReport::default();
            assert!(board.ack(&acked, &mut report));
            report.other_use
        };
        assert!(other_use(5_000, 10, 0));
        assert!(!other_use(5_000, 10, 0) && !other_use(4_000, 10, 0));
        assert!(other_use(6_000, 10, 0), "larger");
        assert!(other_use(3_000, 11, 0), "newer");
        assert!(!other_use(9_000, 10, 0), "older");
        assert!(other_use(2_000, 11, 1), "its place is not known");
        assert!(!other_use(2_000, 11, 1));
    }

    #[test]
    fn reports_of_more_than_was_sent_again_are_nothing_delivered() {
        let mut board = board_of(4);
        board.retransmitted(&sent(10, 0), 0..1);
        let believed = ack(&mut board, 2, 0..0, 1);
        assert_eq!((believed.prior_reported, believed.delivered), (0, 4));
        let doubted = ack(&mut board, 3, 0..0, 2);
        assert_eq!((doubted.prior_reported, doubted.delivered), (1, 5));
    }
}
