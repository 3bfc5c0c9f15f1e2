//! The order in which an acknowledgement is worked through (`tcp_ack`): that of 3.10, which stacks of other makers take
//! with their own thresholds, and that of 6.x.

use rexmit_tcp::recovery::{Job, State};
use rexmit_tcp::settings::AckOrder;

use super::{AckFlags, EmulatedSender};
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
        let mut flags = AckFlags::default();
        self.note_duplicate(board, report, &mut flags);
        match self.settings.ack_order {
            AckOrder::RecoveryFirst => self.on_ack_recovery_first(board, report, &mut flags),
            AckOrder::LossesFirst => self.on_ack_losses_first(board, report, &mut flags),
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
        flags: &mut AckFlags,
    ) {
        if report.old {
            self.deliver(board, report, flags);
            self.alert(board, report, flags);
            return;
        }
        let job = self.timers.timer.job();
        if matches!(job, Some(Job::EarlyRetransmit | Job::Probe)) {
            self.rearm(board, report.at);
        }
        if report.prior_out == 0 {
            if flags.dsack {
                self.alert(board, report, flags);
            }
            self.judge_probe(board, report, flags);
            return;
        }
        self.deliver(board, report, flags);
        let plain = flags.acked || report.other_use;
        if !plain || flags.sacked || self.episode.state != State::Open {
            flags.duplicate = !report.advanced && !plain;
            self.alert(board, report, flags);
        }
        self.judge_probe(board, report, flags);
        if self.timers.timer.job() == Some(Job::Timeout) {
            self.schedule_probe(board, report.at, true);
        }
    }

    fn on_ack_losses_first(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        if report.advanced {
            self.timers.timeouts = 0;
        }
        if report.prior_out == 0 {
            if flags.dsack {
                self.alert(board, report, flags);
            }
            self.judge_probe(board, report, flags);
            return;
        }
        self.deliver(board, report, flags);
        if report.old {
            self.alert(board, report, flags);
            return;
        }
        self.adapt_rack(report);
        self.judge_probe(board, report, flags);
        let plain = flags.acked || report.other_use;
        if !plain || flags.sacked || flags.dsack || self.episode.state != State::Open {
            flags.duplicate = !report.advanced && !plain && !flags.dsack;
            self.alert(board, report, flags);
        }
        if flags.set_timer && !self.schedule_probe(board, report.at, true) {
            self.rearm(board, report.at);
        }
    }
}
