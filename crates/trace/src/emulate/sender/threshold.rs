//! A threshold of duplicates that is not the page's (`net.ipv4.tcp_reordering`). The first recovery that begins before, or
//! does not begin when it should, tells what it is.

use rexmit_tcp::recovery::CaState;

use super::timing::SEES_ALL;
use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};
use crate::emulate::TOGETHER;

/// How many hosts have another is a guess; as a natural logarithm.
pub(super) const OTHER: f64 = -3.9;

/// The smallest and largest that are taken for one.
const LEAST: u32 = 2;
const MOST: u32 = 64;

impl EmulatedSender {
    /// Duplicates that make a loss.
    pub fn own_threshold(&self) -> u32 {
        self.detection.own_threshold
    }

    /// What it costs to believe that the threshold is as low as what is SACKed now; none if it cannot be.
    pub(super) fn lower_threshold(&self, board: &Board, index: usize) -> Option<f64> {
        let lower = (LEAST..self.detection.threshold).contains(&board.sacked);
        let may =
            self.course.threshold_open && board.sack && self.episode.state < CaState::Recovery;
        // Few are SACKed, then.
        let first = || (0..index).all(|before| board.at(before).sacked);
        (may && lower && index < board.len() && first()).then_some(OTHER)
    }

    /// A recovery began with so few duplicates: that is the threshold.
    pub(super) fn learn_threshold(&mut self, board: &Board) {
        self.detection.set_own_threshold(board.sacked);
        self.course.threshold_open = false;
    }

    /// A recovery should have begun with the acknowledgement before and nothing was sent again: the threshold is higher.
    pub(super) fn raise_threshold(&mut self, board: &mut Board, report: &AckReport) {
        let Some(entered) = self
            .course
            .entered
            .filter(|_| self.episode.state == CaState::Recovery)
        else {
            return;
        };
        let counted = report.prior_sacked >= self.detection.threshold
            && (!self.settings.loss.rack
                || (self.detection.reordering_seen == 0
                    && !self.settings.loss.rack_no_dupack_threshold));
        let sure = report.slack <= SEES_ALL && report.at - entered > TOGETHER + report.slack;
        if !self.course.threshold_open
            || !board.sack
            || !counted
            || !sure
            || report.prior_sacked >= MOST
        {
            return;
        }
        if self.detection.own_threshold == self.settings.loss.dupack_threshold {
            self.evidence.score += OTHER;
        }
        self.detection.set_own_threshold(report.prior_sacked + 1);
        self.marks.clear_lost(board);
        self.episode.undo.marker = None;
        self.take_recovery_back();
        self.detection.rack.advanced = true;
    }
}
