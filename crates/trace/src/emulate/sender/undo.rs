//! Taking back a recovery that proved spurious, as [`recovery::undo`](rexmit_tcp::recovery::undo) and
//! [`recovery::dsack`](rexmit_tcp::recovery::dsack) decide.

use rexmit_tcp::recovery::dsack::{self, Report};
use rexmit_tcp::recovery::undo::{self, Answer, Begin, FirstRetransmission, Undo};
use rexmit_tcp::recovery::State;
use rexmit_tcp::Mechanism;
use rexmit_wire::SeqRange;

use super::clock::SEES_ALL;
use super::{AckFlags, EmulatedSender, Moment};
use crate::emulate::board::{AckReport, Board, Piece};

impl EmulatedSender {
    /// A reduction begins that may be undone.
    pub(super) fn begin_undo(&mut self, board: &Board) {
        let probe = &self.episode.probe;
        let view = Begin {
            una: self.settings.undo.then_some(board.una),
            retransmissions_out: self.marks.retransmitted,
            probe_out: probe.high.is_some() && probe.retransmission,
        };
        self.episode.undo.begin(self.settings.undo_start, &view);
    }

    /// Packets were sent again, but for a probe.
    pub(super) fn note_undo_retransmission(&mut self, mechanism: Mechanism, moment: &Moment) {
        if mechanism != Mechanism::Tlp {
            let undo = &mut self.episode.undo;
            undo.note_retransmission(moment.stamp, moment.packets);
        }
    }

    /// What a D-SACK tells.
    pub(super) fn note_duplicate(
        &mut self,
        board: &Board,
        report: &AckReport,
        flags: &mut AckFlags,
    ) {
        let Some(range) = report.dsack else {
            return;
        };
        let view = Report {
            range,
            mss: board.mss,
            // A capture that begins late does not tell the scale of windows.
            largest_window: None,
            probe_high: self.episode.probe.high,
            reported: report.prior_reported,
            // Not all that was sent again comes by monitors that stand elsewhere.
            retransmitted: (report.slack <= SEES_ALL).then_some(report.retransmitted),
        };
        let Some(told) = dsack::decide(self.settings.dsack_check, &view) else {
            return;
        };
        flags.dsack_probe = told.of_probe;
        if told.doubted {
            return;
        }
        flags.dsack = true;
        if self.detection.reordered && !told.of_probe {
            self.detection.rack.dsack_seen = true;
        }
        if !range.end.is_after(report.prior_una) {
            self.episode.undo.note_spurious(range.end, told.segments);
        }
        self.note_duplicate_in_flight(board, report, range);
    }

    /// What was in flight came twice: each of its segments that had been sent again counts by itself, even if this
    /// acknowledgement takes it off (`tcp_sacktag_one`).
    fn note_duplicate_in_flight(&mut self, board: &Board, report: &AckReport, range: SeqRange) {
        let again = |piece: &&Piece| {
            let whole = !piece.start.is_before(range.start) && !piece.end.is_after(range.end);
            whole && piece.retransmissions > 0
        };
        let out = board
            .pieces()
            .take_while(|piece| piece.start.is_before(range.end));
        for piece in report.acked.iter().chain(out).filter(again) {
            self.episode.undo.note_spurious(piece.end, piece.packets);
        }
    }

    /// The stamp says that an earlier copy arrived, not the retransmission.
    pub(super) fn is_spurious(piece: &Piece, report: &AckReport) -> bool {
        let before = |stamp| undo::echoes_before(report.echo, stamp);
        piece.retransmissions > 0 && piece.stamp.is_some_and(before)
    }

    fn undo_answer(&self, board: &Board, report: &AckReport) -> Answer {
        Answer {
            echo: report.echo,
            sack: board.sack,
            before_point: board.una.is_before(self.episode.point),
        }
    }

    /// What is known of the reduction. Elsewhere than at the sender a retransmission that counts may have left before what
    /// is acknowledged, though it comes by later.
    fn undo_as_seen(&self, report: &AckReport) -> Undo {
        let mut undo = self.episode.undo;
        let counts = undo.retransmissions > 0 && undo.first == FirstRetransmission::None;
        if counts && report.slack > SEES_ALL {
            undo.first = FirstRetransmission::Unknown;
        }
        undo
    }

    /// Whether what arrived was only late.
    pub(super) fn was_only_late(&self, board: &Board, report: &AckReport) -> bool {
        let answer = self.undo_answer(board, report);
        let undo = self.undo_as_seen(report);
        undo.was_only_late(self.settings.retrans_stamp_cleanup, &answer)
    }

    /// Whether the reduction proved wrong.
    pub(super) fn may_undo(&self, board: &Board, report: &AckReport) -> bool {
        let answer = self.undo_answer(board, report);
        let undo = self.undo_as_seen(report);
        undo.may_undo(self.settings.retrans_stamp_cleanup, &answer)
    }

    pub(super) fn undo_reduction(&mut self, board: &mut Board, unmark: bool) {
        if unmark {
            self.marks.clear_lost(board);
        }
        self.episode.undo.marker = None;
        self.detection.rack.advanced = true;
        self.forget_window();
    }

    /// `tcp_try_undo_recovery`. Whether the state is kept.
    pub(super) fn end_recovery(&mut self, board: &mut Board, report: &AckReport) -> bool {
        if self.may_undo(board, report) {
            self.undo_reduction(board, false);
        } else {
            self.detection.rack.recovered();
        }
        if self.waits_beyond_point(board) {
            return true;
        }
        self.episode.state = State::Open;
        false
    }

    /// Without SACK the state is kept until something beyond the recovery point is acknowledged.
    fn waits_beyond_point(&mut self, board: &Board) -> bool {
        if !undo::waits_beyond_point(board.sack, board.una, self.episode.point) {
            return false;
        }
        if self.settings.retrans_stamp_cleanup {
            self.forget_stamp(board);
        }
        true
    }

    /// `tcp_try_undo_dsack`
    pub(super) fn try_undo_by_dsack(&mut self, board: &mut Board) -> bool {
        if !self.episode.undo.proved_by_dsack() {
            return false;
        }
        self.detection.rack.undone();
        self.undo_reduction(board, false);
        true
    }

    /// `tcp_try_undo_loss`
    pub(super) fn try_undo_loss(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        by_frto: bool,
    ) -> bool {
        if !by_frto && !self.may_undo(board, report) {
            return false;
        }
        self.undo_reduction(board, true);
        self.timers.timeouts = 0;
        self.episode.loss_at = None;
        if self.settings.retrans_stamp_cleanup && self.waits_beyond_point(board) {
            return true;
        }
        if by_frto || board.sack {
            self.episode.state = State::Open;
        }
        true
    }

    /// The next retransmission starts the clock anew if none is on its way.
    pub(super) fn forget_stamp(&mut self, board: &Board) {
        if !self.marks.any_retransmission_out(board) {
            self.episode.undo.first = FirstRetransmission::None;
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Duration;

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    #[test]
    fn elsewhere_a_probe_that_counts_may_have_left_before_what_is_acknowledged() {
        let mut board = board_of(4);
        let newest = &profile::all()[0];
        let mut sender = EmulatedSender::new(newest, 0, Recycled::default());
        sender.episode.state = State::Recovery;
        sender.episode.point = board.nxt;
        sender.episode.probe.high = Some(board.nxt);
        sender.episode.probe.retransmission = true;
        sender.begin_undo(&board);
        let mut report = ack(&mut board, 1, 2..3, 0);
        assert!(sender.was_only_late(&board, &report));
        report.slack = Duration::from_millis(1);
        assert!(!sender.was_only_late(&board, &report));
        assert!(!sender.may_undo(&board, &report));
    }

    #[test]
    fn reports_of_duplicates_are_doubted_only_beside_the_sender() {
        let judged = |slack: i64| {
            let mut board = board_of(4);
            let newest = &profile::all()[0];
            let mut sender = EmulatedSender::new(newest, 0, Recycled::default());
            // Nothing was sent again.
            let mut report = ack(&mut board, 2, 0..0, 1);
            report.slack = Duration::from_millis(slack);
            let mut flags = AckFlags::default();
            sender.note_duplicate(&board, &report, &mut flags);
            flags.dsack
        };
        assert!(!judged(0) && judged(1));
    }
}
