//! The order in which an acknowledgement is worked through (`tcp_ack`): that of 3.10, which stacks of other makers take
//! with their own thresholds, and that of 6.x.

use rexmit_tcp::recovery::machine::{self, AckOutcome, AckView, Actor as _, Clock as _};
use rexmit_tcp::recovery::{Job, State};
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
        match self.settings.ack_order {
            AckOrder::RecoveryFirst => self.on_ack_recovery_first(board, report, &mut outcome),
            AckOrder::LossesFirst => self.on_ack_losses_first(board, report, &mut outcome),
        }
        self.note_advance_after_frto(report);
        if board.is_empty() {
            self.marks.clear();
            self.timers.timer.clear();
        }
    }

    fn on_ack_recovery_first(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
    ) {
        let job = self.timers.timer.job();
        if !report.old && matches!(job, Some(Job::EarlyRetransmit | Job::Probe)) {
            machine::rearm(&mut self.on(board, report));
        }
        if report.prior_out == 0 && !report.old {
            self.on_ack_of_nothing(board, report, outcome);
            return;
        }
        let acked = self.deliver(board, report, outcome);
        let mut view = view(report, acked);
        let doubtful = !outcome.any(AckOutcome::NOT_DUPLICATE)
            || outcome.any(AckOutcome::SACKED)
            || self.episode.state != State::Open;
        let mut acting = self.on(board, report);
        if report.old {
            machine::alert(&mut acting, &view, outcome);
            return;
        }
        if doubtful {
            let duplicate = !outcome.any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE);
            view.duplicates = u32::from(duplicate);
            machine::alert(&mut acting, &view, outcome);
        }
        machine::judge_probe(&mut acting, *outcome);
        if acting.job() == Some(Job::Timeout) {
            machine::schedule_probe(&mut acting, true);
        }
    }

    fn on_ack_losses_first(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
    ) {
        if report.advanced {
            self.episode.timeouts = 0;
        }
        if report.prior_out == 0 {
            self.on_ack_of_nothing(board, report, outcome);
            return;
        }
        let acked = self.deliver(board, report, outcome);
        let mut view = view(report, acked);
        let mut acting = self.on(board, report);
        if report.old {
            machine::alert(&mut acting, &view, outcome);
            return;
        }
        machine::adapt_rack(&mut acting, report.prior_delivered, report.delivered);
        machine::judge_probe(&mut acting, *outcome);
        let doubtful = !outcome.any(AckOutcome::NOT_DUPLICATE)
            || outcome.any(AckOutcome::ALERT)
            || acting.episode().state != State::Open;
        if doubtful {
            let duplicate =
                !outcome.any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE | AckOutcome::DSACK);
            view.duplicates = u32::from(duplicate);
            machine::alert(&mut acting, &view, outcome);
        }
        if outcome.any(AckOutcome::SET_TIMER) && !machine::schedule_probe(&mut acting, true) {
            machine::rearm(&mut acting);
        }
    }

    /// Nothing was out.
    fn on_ack_of_nothing(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        outcome: &mut AckOutcome,
    ) {
        let mut acting = self.on(board, report);
        if outcome.any(AckOutcome::DSACK) {
            machine::alert(&mut acting, &view(report, 0), outcome);
        }
        machine::judge_probe(&mut acting, *outcome);
    }
}

/// What an acknowledgement of so many packets brought.
fn view(report: &AckReport, acked: u32) -> AckView {
    AckView {
        prior_una: report.prior_una,
        prior_out: report.prior_out,
        prior_sacked: report.prior_sacked,
        acked,
        duplicates: 0,
    }
}
