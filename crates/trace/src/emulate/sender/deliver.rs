//! Noting what an acknowledgement says was delivered (`tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`), and the round-trip
//! time that this gives.

use rexmit_tcp::recovery::machine::{self, AckOutcome};
use rexmit_tcp::recovery::rack::Delivered;
use rexmit_tcp::recovery::CaState;
use rexmit_tcp::settings::{AckOrder, FrtoTest, ReorderingUnit};
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::EmulatedSender;
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

    /// Notes what was delivered; returns the packets acknowledged.
    pub(super) fn deliver(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
    ) -> u32 {
        let sacked = self.note_sacked(board, report, outcome);
        let mut once = SentOnce::default();
        let mut late = None;
        let mut packets = 0;
        for piece in &report.acked {
            outcome.set(AckOutcome::ACKED);
            packets += piece.packets;
            if piece.retransmissions > 0 {
                outcome.set(AckOutcome::RETRANSMISSION_ACKED);
            } else {
                if !piece.sacked {
                    once.note(piece.sent);
                    late.get_or_insert(piece.start);
                }
                let counts = !piece.sacked || self.settings.loss.sacked_count_again;
                if counts && !piece.end.is_after(self.episode.point) {
                    outcome.set(AckOutcome::ORIGINAL);
                }
            }
            let new = !piece.sacked && board.sack && self.settings.loss.rack;
            if new && !Self::is_spurious(piece, report) {
                self.advance_rack(board, piece, report);
            }
            self.marks.take_off(piece);
        }
        let reordered = self.detection.threshold > self.settings.loss.dupack_threshold;
        let delivered = report.newly_delivered;
        self.flight
            .grow(self.settings, reordered, *outcome, packets, delivered);
        let acked = outcome.any(AckOutcome::ACKED);
        match self.settings.loss.ack_order {
            AckOrder::RecoveryFirst if acked => {
                self.timing.sample_ticks(board, report);
                machine::rearm(&mut self.on(board, report));
            }
            AckOrder::RecoveryFirst => return 0,
            AckOrder::LossesFirst => self.sample_micros(board, report, once, sacked, outcome),
        }
        if !acked {
            return 0;
        }
        if board.sack {
            if let Some(late) = late.filter(|late| late.is_before(report.prior_highest)) {
                self.note_reordering(board, late, report);
            }
        } else {
            machine::remove_duplicates(&mut self.on(board, report), packets);
            let covers_retransmission = outcome.any(AckOutcome::RETRANSMISSION_ACKED);
            if self.settings.loss.frto_test == FrtoTest::Once && covers_retransmission {
                outcome.clear(AckOutcome::ORIGINAL);
            }
        }
        packets
    }

    /// Notes what was SACKed.
    fn note_sacked(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
    ) -> SentOnce {
        let mut once = SentOnce::default();
        // Nothing of what a timeout lost tells of reordering.
        let lost = self.episode.state == CaState::Loss && self.episode.undo.marker.is_none();
        for &index in &report.sacked {
            let piece = *board.at(index);
            outcome.set(AckOutcome::SACKED);
            if self.settings.loss.rack {
                self.advance_rack(board, &piece, report);
            }
            if piece.retransmissions == 0 {
                if piece.start.is_before(report.prior_highest) && !lost {
                    self.note_reordering(board, piece.start, report);
                }
                if !piece.end.is_after(self.episode.point) {
                    outcome.set(AckOutcome::ORIGINAL);
                }
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
        outcome: &mut AckOutcome,
    ) {
        let since = |at| report.at - at;
        let clean = !outcome.any(AckOutcome::RETRANSMISSION_ACKED);
        let acked = outcome.any(AckOutcome::ACKED);
        let once = if clean { once } else { SentOnce::default() };
        let mut sample = once.first.or(sacked.first).map(since);
        let mut path = sacked.last.or(once.last).map(since);
        if sample.is_none() && acked {
            sample = report.echo_sent.map(since);
            path = sample;
        }
        if let Some(path) = path {
            self.timing.trips.take_path(report.at, path);
        }
        if let Some(sample) = sample {
            self.timing
                .take_sample(report.at - sample, report.at, board.range());
        }
        let sets_timer = match (sacked.first, board.head()) {
            _ if acked => true,
            // Not if what was SACKed was sent after the head.
            (Some(first), Some(head)) => first < head.sent,
            _ => false,
        };
        if sets_timer {
            outcome.set(AckOutcome::SET_TIMER);
        }
    }

    /// A transmission was delivered.
    fn advance_rack(&mut self, board: &mut Board, piece: &Piece, report: &AckReport) {
        let delivered = Delivered {
            sent: piece.sent,
            end: piece.end,
            retransmitted: piece.retransmissions > 0,
        };
        machine::note_delivered(&mut self.on(board, report), &delivered);
    }

    /// A segment never sent again was delivered although a higher one was before.
    fn note_reordering(&mut self, board: &mut Board, low: SeqNum, report: &AckReport) {
        match self.settings.loss.reordering_unit {
            ReorderingUnit::Segments => {
                // how many lie between is not known where they were not full.
                let high = board.reached(report);
                let bytes = high.offset_from(low).max(0).unsigned_abs();
                let distance = bytes.div_ceil(board.mss);
                machine::note_segments_overtaken(&mut self.on(board, report), distance);
            }
            ReorderingUnit::Bytes => machine::note_overtaken(&mut self.on(board, report), low),
        }
    }
}
