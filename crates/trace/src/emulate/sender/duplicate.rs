//! What a D-SACK tells an emulated sender, as [`recovery::dsack`](rexmit_tcp::recovery::dsack) decides.

use rexmit_tcp::recovery::dsack::Report;
use rexmit_tcp::recovery::machine::{self, AckOutcome};
use rexmit_tcp::recovery::undo;
use rexmit_tcp::Mechanism;
use rexmit_wire::SeqRange;

use super::timing::SEES_ALL;
use super::{EmulatedSender, Moment};
use crate::emulate::board::{AckReport, Board, Piece};

impl EmulatedSender {
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
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
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
        let mut acting = self.on(board, report);
        let told = machine::take_duplicate(&mut acting, &view, report.prior_una, outcome);
        if told.is_some_and(|told| !told.doubted) {
            self.note_duplicate_in_flight(board, report, range);
        }
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
}

#[cfg(test)]
mod tests {
    use rexmit_time::Duration;

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    #[test]
    fn reports_of_duplicates_are_doubted_only_beside_the_sender() {
        let judged = |slack: i64| {
            let mut board = board_of(4);
            let newest = &profile::all()[0];
            let mut sender = EmulatedSender::new(newest, 0, Recycled::default());
            // Nothing was sent again.
            let mut report = ack(&mut board, 2, 0..0, 1);
            report.slack = Duration::from_millis(slack);
            let mut outcome = AckOutcome::NONE;
            sender.note_duplicate(&mut board, &report, &mut outcome);
            outcome.any(AckOutcome::DSACK)
        };
        assert!(!judged(0) && judged(1));
    }
}
