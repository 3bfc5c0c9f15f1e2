//! Taking an acknowledgement in: what it takes off the scoreboard, what it SACKs, and what that tells.

use rexmit_tcp::recovery::dsack;
use rexmit_tcp::recovery::rack::sent_after;
use rexmit_wire::{SeqNum, SeqRange};

use super::{AckReport, Board, Piece};
use crate::emulate::sender::SEES_ALL;
use crate::event::Acked;

impl Board {
    /// Takes an acknowledgement in. False where it is none of what was sent.
    pub fn ack(&mut self, acked: &Acked, report: &mut AckReport) -> bool {
        report.acked.clear();
        report.sacked.clear();
        let prior_una = self.una;
        if acked.ack.is_after(self.nxt) {
            return false;
        }
        self.make_room();
        report.at = acked.at;
        report.slack = acked.slack;
        report.prior_una = prior_una;
        report.prior_highest = self.highest;
        report.prior_sacked = self.sacked;
        report.prior_out = self.out;
        let prior_delivered = self.delivered;
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
        report.newly_delivered = self.delivered.wrapping_sub(prior_delivered);
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
            self.reported = self.reported.wrapping_add(told.segments);
            let arrived = if told.doubted { 0 } else { told.segments };
            self.delivered = self.delivered.wrapping_add(arrived);
        }
    }

    /// Counts what was delivered, and finds the latest of it (`tcp_rate_skb_delivered`).
    fn note_delivered(&mut self, report: &mut AckReport) {
        let mut latest: Option<&Piece> = None;
        let acked = report.acked.iter().filter(|piece| !piece.sacked);
        let sacked = report.sacked.iter().map(|index| &self.pieces[*index]);
        for piece in acked.chain(sacked) {
            // It wraps in the kernel, too.
            self.delivered = self.delivered.wrapping_add(piece.packets);
            if latest.is_none_or(|one| sent_after(piece.sent, piece.end, one.sent, one.end)) {
                latest = Some(piece);
            }
        }
        report.prior_delivered = latest.map_or(0, |piece| piece.delivered);
        report.delivered = self.delivered;
    }

    fn take_off(&mut self, ack: SeqNum, report: &mut AckReport) {
        self.acknowledged_to(ack);
        for _ in 0..self.cut(ack) {
            let Some(head) = self.pieces.pop_front() else {
                break;
            };
            self.out = self.out.saturating_sub(head.packets);
            if head.start.is_before(self.highest) {
                self.below_highest -= head.packets;
            }
            if head.sacked {
                self.sacked = self.sacked.saturating_sub(head.packets);
            }
            self.again -= usize::from(head.retransmissions > 0);
            report.acked.push(head);
        }
        if self.pieces.is_empty() {
            self.out = 0;
            self.sacked = 0;
        }
        if self.sacked == 0 || self.highest.is_before(ack) {
            self.highest = ack;
            self.below_highest = 0;
        }
        self.trim_order();
    }

    /// The piece at `index`, which ends there, is the highest SACKed.
    fn raise_highest(&mut self, index: usize, highest: SeqNum) {
        let passed = self.pieces.range(0..index + 1).rev();
        let passed = passed.take_while(|piece| !piece.start.is_before(self.highest));
        self.below_highest += passed.map(|piece| piece.packets).sum::<u32>();
        self.highest = highest;
    }

    fn tag(&mut self, block: SeqRange, report: &mut AckReport) {
        if !block.end.is_after(block.start)
            || block.end.is_after(self.nxt)
            || !block.start.is_after(self.una)
        {
            return;
        }
        // What a block before tagged is passed over (`tcp_sacktag_skip` and its cache of blocks).
        let mut parts = core::mem::take(&mut self.tagged);
        parts.insert(
            self.place(block.start),
            self.place(block.end),
            |start, end| {
                let (start, end) = (self.seq(start), self.seq(end));
                self.tag_part(SeqRange { start, end }, report);
            },
        );
        self.tagged = parts;
    }

    /// SACKs what none of its pieces was tagged before.
    fn tag_part(&mut self, block: SeqRange, report: &mut AckReport) {
        let mut index = self.cut(block.start);
        while let Some(piece) = self.pieces.get(index) {
            if !piece.start.is_before(block.end) {
                break;
            }
            if piece.end.is_after(block.end) {
                if piece.sacked {
                    break;
                }
                self.cut(block.end);
            }
            let piece = &mut self.pieces[index];
            if !piece.sacked {
                piece.sacked = true;
                self.sacked += piece.packets;
                let highest = piece.end;
                if highest.is_after(self.highest) {
                    self.raise_highest(index, highest);
                }
                report.sacked.push(index);
            }
            index += 1;
        }
    }
}
