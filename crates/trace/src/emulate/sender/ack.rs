//! An acknowledgement worked through by an emulated sender (`tcp_ack`).

use rexmit_tcp::recovery::machine::{self, AckOutcome, AckView};
use rexmit_tcp::settings::AckOrder;

use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};

impl EmulatedSender {
    /// An acknowledgement came; the board has it already.
    pub fn on_ack(&mut self, board: &mut Board, report: &AckReport) {
        self.judge_rate(board, report);
        self.raise_threshold(board, report);
        self.catch_up(board, report.at, report.slack);
        self.timers.missed = false;
        self.marks.advanced(board.una);
        self.forget_timeout_instead(board);
        let mut outcome = AckOutcome::NONE;
        if report.advanced {
            outcome.set(AckOutcome::ADVANCED);
        }
        if report.other_use {
            outcome.set(AckOutcome::DATA);
        }
        self.note_duplicate(board, report, &mut outcome);
        self.work_through(board, report, &mut outcome);
        self.note_advance_after_frto(report);
        if board.is_empty() {
            self.marks.clear();
            self.timers.timer.clear();
        }
    }

    fn work_through(&mut self, board: &mut Board, report: &AckReport, outcome: &mut AckOutcome) {
        let mut view = AckView {
            prior_una: report.prior_una,
            prior_out: report.prior_out,
            prior_sacked: report.prior_sacked,
            prior_in_flight: self.marks.in_flight(board),
            acked: 0,
            duplicates: 0,
        };
        if report.old {
            view.acked = self.deliver(board, report, outcome);
            machine::alert(&mut self.on(board, report), &view, outcome);
            return;
        }
        machine::begin_ack(&mut self.on(board, report), *outcome);
        if report.prior_out == 0 {
            machine::on_ack_of_nothing(&mut self.on(board, report), &view, outcome);
            return;
        }
        view.acked = self.deliver(board, report, outcome);
        let order = self.settings.ack_order;
        let mut acting = self.on(board, report);
        match order {
            AckOrder::RecoveryFirst => {
                machine::on_ack_recovery_first(&mut acting, &view, outcome);
            }
            AckOrder::LossesFirst => {
                let (prior, delivered) = (report.prior_delivered, report.delivered);
                machine::on_ack_losses_first(&mut acting, &view, outcome, prior, delivered);
            }
        }
    }
}
