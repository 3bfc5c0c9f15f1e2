//! Recoveries taken back: by D-SACK for every retransmission (RFC 3708), or by timestamps older than the first
//! retransmission (RFC 3522).

use rexmit_tcp::sender::State;
use rexmit_tcp::Mechanism;
use rexmit_wire::SeqNum;

use super::clock::SEES_ALL;
use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};

/// What a recovery would need to be taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub marker: Option<SeqNum>,
    pub retransmissions: i64,
    pub stamp: Option<u32>,
}

impl Default for Undo {
    fn default() -> Self {
        Undo {
            marker: None,
            retransmissions: -1,
            stamp: None,
        }
    }
}

impl EmulatedSender {
    pub(super) fn begin_undo(&mut self, board: &Board) {
        self.undo.marker = self.settings.undo.then_some(board.una);
        let mut retransmissions = i64::from(self.retransmitted);
        if self.newer() {
            retransmissions += i64::from(self.probe.is_some() && self.probe_retransmitted);
            if retransmissions == 0 {
                retransmissions = -1;
            }
        }
        self.undo.retransmissions = retransmissions;
    }

    pub(super) fn note_undo_retransmission(
        &mut self,
        mechanism: Mechanism,
        stamp: Option<u32>,
        packets: u32,
    ) {
        if mechanism == Mechanism::Tlp {
            return;
        }
        self.undo.stamp = self.undo.stamp.or(stamp);
        self.undo.retransmissions = self.undo.retransmissions.max(0) + i64::from(packets);
    }

    /// A D-SACK: a retransmission was spurious.
    pub(super) fn note_duplicate(&mut self, board: &Board, report: &AckReport) -> bool {
        let Some(range) = report.dsack else {
            return false;
        };
        let len = range.end.offset_from(range.start).max(0).unsigned_abs();
        let packets = i64::from(len.div_ceil(board.mss).max(1));
        let of_probe = len <= board.mss && self.probe == Some(range.end);
        if self.doubts(report) {
            return of_probe;
        }
        if self.reordered && !of_probe {
            self.rack.note_duplicate();
        }
        let counts = self
            .undo
            .marker
            .is_some_and(|marker| range.end.is_after(marker));
        let counts = counts && !range.end.is_after(report.prior_una);
        if self.undo.retransmissions > 0 && counts {
            self.undo.retransmissions = (self.undo.retransmissions - packets).max(0);
        }
        of_probe
    }

    /// Whether it takes a report of a duplicate for the network's doing. Not all that was sent again comes by monitors that
    /// stand elsewhere.
    fn doubts(&self, report: &AckReport) -> bool {
        self.newer() && report.dubious && report.slack <= SEES_ALL
    }

    /// It believes that something sent again came twice (`FLAG_DSACKING_ACK`).
    pub(super) fn believes_duplicate(&self, report: &AckReport) -> bool {
        report.dsack.is_some() && !self.doubts(report)
    }

    fn echoes_before(stamp: u32, report: &AckReport) -> bool {
        report
            .echo
            .is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// The stamp says that an earlier copy arrived, not the retransmission.
    pub(super) fn is_spurious(piece: &crate::emulate::board::Piece, report: &AckReport) -> bool {
        piece.retransmissions > 0
            && piece
                .stamp
                .is_some_and(|stamp| Self::echoes_before(stamp, report))
    }

    /// `tcp_packet_delayed`
    pub(super) fn was_only_late(&self, board: &Board, report: &AckReport) -> bool {
        match self.undo.stamp {
            Some(stamp) => Self::echoes_before(stamp, report),
            // Without timestamps the clock is not seen: something had been sent again, or not.
            None if self.undo.retransmissions > 0 => false,
            None => board.sack || board.una.is_before(self.point) || !self.newer(),
        }
    }

    pub(super) fn may_undo(&self, board: &Board, report: &AckReport) -> bool {
        self.undo.marker.is_some()
            && (self.undo.retransmissions == 0 || self.was_only_late(board, report))
    }

    pub(super) fn undo_reduction(&mut self, board: &mut Board, unmark: bool) {
        if unmark {
            self.clear_lost(board);
        }
        self.undo.marker = None;
        self.rack.advanced = true;
        self.forget_window();
    }

    /// `tcp_try_undo_recovery`. Whether the state is kept.
    pub(super) fn end_recovery(&mut self, board: &Board, report: &AckReport) -> bool {
        if self.may_undo(board, report) {
            self.undo.marker = None;
            self.rack.advanced = true;
        } else {
            self.rack.recovered();
        }
        if self.waits_beyond_point(board) {
            return true;
        }
        self.state = State::Open;
        false
    }

    /// Without SACK the state is kept until something beyond the recovery point is acknowledged.
    fn waits_beyond_point(&mut self, board: &Board) -> bool {
        if board.sack || board.una != self.point {
            return false;
        }
        if self.newer() {
            self.forget_stamp(board);
        }
        true
    }

    pub(super) fn try_undo_by_dsack(&mut self, board: &mut Board) -> bool {
        if self.undo.marker.is_none() || self.undo.retransmissions != 0 {
            return false;
        }
        self.rack.undone();
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
        self.timeouts = 0;
        self.loss_at = None;
        if self.newer() && self.waits_beyond_point(board) {
            return true;
        }
        if by_frto || board.sack {
            self.state = State::Open;
        }
        true
    }

    pub(super) fn forget_stamp(&mut self, board: &Board) {
        if !self.any_retransmission_out(board) {
            self.undo.stamp = None;
        }
    }
}
