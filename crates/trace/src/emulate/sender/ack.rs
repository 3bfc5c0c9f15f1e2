//! An acknowledgement worked through by an emulated sender (`tcp_ack`).

use rexmit_tcp::recovery::machine::{self, AckOutcome, AckView};
use rexmit_tcp::recovery::CaState;
use rexmit_tcp::settings::AckOrder;

use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};

impl EmulatedSender {
    /// An acknowledgement came; the board has it already.
    pub fn on_ack(&mut self, board: &mut Board, report: &AckReport) {
        self.judge_rate(board, report);
        self.raise_threshold(board, report);
        self.catch_up(board, report.at, report.slack);
        self.timing.timers.missed = false;
        self.marks.advanced(board.una);
        self.course.forget_timeout_instead(board);
        let mut outcome = AckOutcome::NONE;
        if report.advanced {
            outcome.set(AckOutcome::ADVANCED);
        }
        if report.other_use {
            outcome.set(AckOutcome::DATA);
        }
        self.note_duplicate(board, report, &mut outcome);
        self.work_through(board, report, &mut outcome);
        self.course.note_advance_after_frto(report);
        if board.is_empty() {
            self.marks.clear();
            self.timing.timers.timer.clear();
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
        if self.sees_reneging(board) {
            outcome.set(AckOutcome::RENEGING);
        }
        let order = self.settings.loss.ack_order;
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

    /// Whether the receiver seems to have dropped what it SACKed: that is first now. A timeout takes its SACKs for void, which
    /// the common board keeps.
    pub(super) fn sees_reneging(&self, board: &Board) -> bool {
        self.episode.state != CaState::Loss && board.head().is_some_and(|head| head.sacked)
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::recovery::Job;
    use rexmit_tcp::Mechanism;
    use rexmit_time::{Duration, Time};

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::profile;
    use crate::emulate::sender::{Moment, Recycled};

    /// How long the timeout waits, in whole ticks, after an acknowledgement ended at a segment that had been SACKed, with a
    /// round-trip time of 40 ms.
    fn wait_after_reneging(stack: &str) -> (EmulatedSender, Board, Duration) {
        let mut pages = profile::all().iter();
        let profile = pages.find(|profile| profile.stack == stack).unwrap();
        let mut board = board_of(6);
        let mut sender = EmulatedSender::new(profile, 0, Recycled::default());
        let rtt = Duration::from_millis(40);
        sender.established(Time::from_nanos(45_000_000), Some(rtt), &board);
        for (segment, block) in [(0, 2..3), (2, 0..0)] {
            let report = ack(&mut board, segment, block, 0);
            sender.on_ack(&mut board, &report);
        }
        let timer = sender.timing.timers.timer;
        assert_eq!(timer.job(), Some(Job::Timeout));
        (sender, board, timer.span)
    }

    #[test]
    fn a_receiver_that_dropped_what_it_sacked_brings_the_timeout() {
        let (sender, _, span) = wait_after_reneging("linux-6");
        let rtt = sender.timing.trips.rtt.srtt_fraction().unwrap();
        let tick = sender.timing.clock.tick();
        assert_eq!(span, tick.up(rtt / 2), "half a round trip");
        let (mut sender, mut board, span) = wait_after_reneging("linux-3.10");
        assert_eq!(span, sender.timing.clock.tick().span(), "at once");
        // The timeout that it brings is not doubled, and takes the SACKs for void: the next is a full one.
        let (rto, bias) = (sender.timing.timers.rto, sender.timing.trips.bias);
        let moment = Moment {
            at: Time::from_nanos(50_100_000),
            ack_at: Time::from_nanos(50_000_000),
            gap: Duration::from_micros(100),
            packets: 1,
            ..Moment::default()
        }
        .of_retransmission();
        sender.on_retransmission(&mut board, &moment, 0..1);
        let said = sender.evidence.opinions.back().unwrap();
        assert_eq!(said.mechanism, Mechanism::Rto);
        assert_eq!(
            (sender.timing.timers.rto, sender.timing.trips.bias),
            (rto, bias)
        );
        let report = ack(&mut board, 2, 4..5, 0);
        sender.on_ack(&mut board, &report);
        assert_eq!(sender.timing.timers.timer.span, rto);
    }
}
