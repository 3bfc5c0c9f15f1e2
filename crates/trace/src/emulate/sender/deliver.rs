//! Noting what an acknowledgement says was delivered (`tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`), and the round-trip
//! time that this gives.

use rexmit_tcp::recovery::State;
use rexmit_tcp::settings::{AckOrder, FrtoTest, ReorderingUnit};
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board, Piece};

/// When the first and the last left of those that were sent once.
#[derive(Clone, Copy, Debug, Default)]
struct SentOnce {
    first: Option<Time>,
    last: Option<Time>,
}

impl SentOnce {
    fn note(&mut self, at: Time) {
        self.first.get_or_insert(at);
        self.last = Some(at);
    }
}

impl EmulatedSender {
    /// The board has let a piece go.
    pub fn on_let_go(&mut self, piece: &Piece) {
        self.marks.take_off(piece);
    }

    /// Notes what was delivered.
    pub(super) fn deliver(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        let sacked = self.note_sacked(board, report, flags);
        let mut once = SentOnce::default();
        let mut late = None;
        let mut packets = 0;
        for piece in &report.acked {
            flags.acked = true;
            packets += piece.packets;
            if piece.retransmissions > 0 {
                flags.retransmitted_acked = true;
            } else {
                if !piece.sacked {
                    once.note(piece.sent);
                    late.get_or_insert(piece.start);
                }
                let counts = !piece.sacked || self.settings.sacked_count_again;
                flags.original |= counts && !piece.end.is_after(self.episode.point);
            }
            let new = !piece.sacked && board.sack && self.settings.rack;
            if new && !Self::is_spurious(piece, report) {
                self.advance_rack(piece, report.at);
            }
            self.marks.take_off(piece);
        }
        self.grow_window(flags, packets, report.newly_delivered);
        match self.settings.ack_order {
            AckOrder::RecoveryFirst if flags.acked => {
                self.sample_ticks(board, report);
                self.rearm(board, report.at);
            }
            AckOrder::RecoveryFirst => return,
            AckOrder::LossesFirst => self.sample_micros(board, report, once, sacked, flags),
        }
        if !flags.acked {
            return;
        }
        if board.sack {
            if let Some(late) = late.filter(|late| late.is_before(report.prior_highest)) {
                self.note_reordering(board, late, report);
            }
        } else {
            self.remove_duplicates(packets, board);
            flags.original &=
                !(self.settings.frto_test == FrtoTest::Once && flags.retransmitted_acked);
        }
    }

    /// Notes what was SACKed.
    fn note_sacked(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &mut AckFlags,
    ) -> SentOnce {
        let mut once = SentOnce::default();
        // Nothing of what a timeout lost tells of reordering.
        let lost = self.episode.state == State::Loss && self.episode.undo.marker.is_none();
        for &index in &report.sacked {
            let piece = *board.at(index);
            flags.sacked = true;
            if self.settings.rack {
                self.advance_rack(&piece, report.at);
            }
            if piece.retransmissions == 0 {
                if piece.start.is_before(report.prior_highest) && !lost {
                    self.note_reordering(board, piece.start, report);
                }
                flags.original |= !piece.end.is_after(self.episode.point);
                once.note(piece.sent);
            }
            self.marks.unmark(board, index);
        }
        once
    }

    /// The sample of stacks that time in microseconds: what was sent once, else what was SACKed, else the stamp.
    fn sample_micros(
        &mut self,
        board: &Board,
        report: &AckReport,
        once: SentOnce,
        sacked: SentOnce,
        flags: &mut AckFlags,
    ) {
        let since = |at| report.at - at;
        let clean = !flags.retransmitted_acked;
        let once = if clean { once } else { SentOnce::default() };
        let mut sample = once.first.or(sacked.first).map(since);
        let mut path = sacked.last.or(once.last).map(since);
        if sample.is_none() && flags.acked {
            sample = report.echo_sent.map(since);
            path = sample;
        }
        if let Some(path) = path {
            self.trips.take_path(report.at, path);
        }
        if let Some(sample) = sample {
            self.take_sample(report.at - sample, report.at, board);
        }
        flags.set_timer = match (sacked.first, board.head()) {
            _ if flags.acked => true,
            // Not if what was SACKed was sent after the head.
            (Some(first), Some(head)) => first < head.sent,
            _ => false,
        };
    }

    /// A segment never sent again was delivered although a higher one was before.
    pub(super) fn note_reordering(&mut self, board: &Board, low: SeqNum, report: &AckReport) {
        let high = board.reached(report);
        let most = self.settings.max_reordering;
        match self.settings.reordering_unit {
            ReorderingUnit::Segments => {
                // how many lie between is not known where they were not full.
                let bytes = high.offset_from(low).max(0).unsigned_abs();
                let distance = bytes.div_ceil(board.mss);
                self.detection.note_segments_overtaken(distance, most);
            }
            ReorderingUnit::Bytes => self.detection.note_overtaken(low, high, board.mss, most),
        }
    }
}
