//! When a recovery begins, by what, and when it begins early (`tcp_time_to_recover`).

use rexmit_tcp::recovery::dupack::{self, Reason};
use rexmit_tcp::recovery::{early_retransmit, fack, Job};
use rexmit_tcp::settings::{AckOrder, Estimator};
use rexmit_tcp::Mechanism;
use rexmit_time::Time;

use super::EmulatedSender;
use crate::emulate::board::Board;

impl EmulatedSender {
    /// Why a recovery should begin, if it should.
    pub(super) fn reason_to_recover(&mut self, board: &Board, now: Time) -> Option<Mechanism> {
        match self.settings.ack_order {
            AckOrder::RecoveryFirst => self.reason_by_counting(board, now),
            AckOrder::LossesFirst => {
                let (above, threshold) =
                    (self.marks.delivered_above(board), self.detection.threshold);
                let by_count = !self.settings.rack && dupack::says_lost(above, threshold);
                (self.marks.lost > 0 || by_count).then_some(Mechanism::FastRetransmit)
            }
        }
    }

    /// Whether new data can go is not seen: if they can, they are about to.
    fn reason_by_counting(&mut self, board: &Board, now: Time) -> Option<Mechanism> {
        if board.is_empty() {
            return None;
        }
        let view = dupack::Count {
            packets_out: board.out,
            sacked_out: self.marks.delivered_above(board),
            lost_out: self.marks.lost,
            threshold: self.detection.threshold,
            least_threshold: self.settings.dupack_threshold,
            fack: self.detection.fack.then(|| self.reach(board)),
            head_timed_out: self.head_timed_out(board, now),
            new_data_can_go: false,
        };
        let (by, unless_more) = match dupack::reason(&view) {
            Some(Reason::Lost | Reason::Duplicates) => (Mechanism::FastRetransmit, false),
            Some(Reason::Fack) => (Mechanism::Fack, false),
            Some(Reason::FewOut) => (Mechanism::FastRetransmit, true),
            None if self.retransmits_early(board, now) => (Mechanism::EarlyRetransmit, true),
            None => return None,
        };
        self.episode.unless_more |= unless_more;
        Some(by)
    }

    /// `tcp_head_timedout`
    pub(super) fn head_timed_out(&self, board: &Board, now: Time) -> bool {
        // When in its tick the head was sent is not seen.
        let age = |sent| now - sent - self.clock.ticks.tick() / 2;
        self.settings.head_timeout
            && board
                .head()
                .is_some_and(|head| fack::timed_out(age(head.sent), self.timers.rto))
    }

    /// Marks what is [overdue](super::overdue).
    pub(super) fn mark_overdue(&mut self, board: &mut Board, now: Time) {
        if self.detection.fack && self.head_timed_out(board, now) {
            self.marks.mark_overdue(board, now - self.timers.rto);
        }
    }

    /// Whether fewer duplicates are enough now; else the timer may be set to when they are.
    fn retransmits_early(&mut self, board: &Board, now: Time) -> bool {
        let view = early_retransmit::View {
            rule: self.settings.early_retransmit,
            in_order: self.detection.early_retransmit,
            packets_out: board.out,
            sacked_out: self.marks.delivered_above(board),
            retransmissions_out: self.marks.retransmitted,
            new_data_can_go: false,
        };
        if !early_retransmit::is_due(&view) {
            return false;
        }
        let view = early_retransmit::Pause {
            srtt: self.trips.rtt.srtt(),
            in_micros: self.settings.estimator == Estimator::LinuxMicros,
            timer_left: self.timers.timer.due() - now,
        };
        let rule = self.settings.early_retransmit;
        match early_retransmit::pause(rule, &view, self.clock.ticks.length()) {
            None => true,
            Some(wait) => {
                self.timers.timer.set(now, Job::EarlyRetransmit, wait);
                false
            }
        }
    }

    /// `tcp_resume_early_retransmit`
    pub(super) fn on_early_retransmit_timer(&mut self, board: &Board, now: Time) {
        self.rearm(board, now);
        if self.detection.early_retransmit && !board.is_empty() {
            self.enter_recovery(board, now);
            self.episode.causes.began_by = Mechanism::EarlyRetransmit;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rexmit_tcp::settings::Settings;
    use rexmit_tcp::stacks;
    use rexmit_time::Duration;

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::profile::Profile;
    use crate::emulate::sender::Recycled;

    /// What the timer of a sender of this page is set for after the second of three segments was SACKed, with a round-trip
    /// time of 52 ms and ticks of 4 ms.
    fn timer_after_sack(page: &str) -> Option<(Job, Duration)> {
        let settings = Settings {
            hz: 250,
            ..stacks::page(page).unwrap().settings
        };
        let profile = Box::leak(Box::new(Profile {
            page: "linux-3.10",
            stack: "linux-3.10",
            other_minimum: false,
            settings: Arc::new(settings),
            since: 0,
            prior: 0.0,
        }));
        let mut board = board_of(3);
        let mut sender = EmulatedSender::new(profile, 0, Recycled::default());
        let rtt = Duration::from_millis(52);
        sender.established(Time::from_nanos(52_000_000), Some(rtt), &board);
        sender.timers.set_to_timeout(Time::from_nanos(2_000_000));
        let report = ack(&mut board, 0, 1..2, 0);
        sender.on_ack(&mut board, &report);
        let timer = sender.timers.timer;
        timer.job().map(|job| (job, timer.span))
    }

    #[test]
    fn an_early_retransmit_waits_whole_ticks_and_of_microseconds_one_more() {
        let early = |ms| Some((Job::EarlyRetransmit, Duration::from_millis(ms)));
        assert_eq!(timer_after_sack("linux-3.10"), early(12));
        assert_eq!(timer_after_sack("linux-4.1"), early(16));
    }
}
