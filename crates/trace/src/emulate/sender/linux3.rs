//! The order in which an acknowledgement is worked through and the states, as 3.10 does; stacks other than Linux's take the
//! same order with their own thresholds.

use rexmit_tcp::recovery::dupack::{self, Reason};
use rexmit_tcp::recovery::{early_retransmit, fack};
use rexmit_tcp::sender::State;
use rexmit_tcp::settings::Estimator;
use rexmit_tcp::Mechanism;
use rexmit_time::Time;

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board, LOST, RESENT};
use rexmit_tcp::recovery::Job;

impl EmulatedSender {
    pub(super) fn on_ack_linux3(&mut self, board: &mut Board, report: &AckReport) {
        self.catch_up(board, report.at, report.slack);
        self.missed = false;
        self.note_duplicate(board, report);
        let mut flags = AckFlags::default();
        if report.old {
            self.deliver_linux3(board, report, &mut flags);
            self.alert_linux3(board, report, &flags, false);
            return;
        }
        if matches!(self.timer.job(), Some(Job::EarlyRetransmit | Job::Probe)) {
            self.rearm(board, report.at);
        }
        if report.prior_out == 0 {
            if report.dsack.is_some() {
                self.alert_linux3(board, report, &flags, false);
            }
            self.judge_probe_linux3(board, report, &flags);
            return;
        }
        self.deliver_linux3(board, report, &mut flags);
        let plain = flags.acked || report.other_use;
        if !plain || flags.sacked || self.state != State::Open {
            let duplicate = !report.advanced && !plain;
            self.alert_linux3(board, report, &flags, duplicate);
        }
        self.judge_probe_linux3(board, report, &flags);
        if self.timer.job() == Some(Job::Timeout) {
            self.schedule_probe(board, report.at, true);
        }
    }

    /// Notes what was delivered.
    fn deliver_linux3(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        for &index in &report.sacked {
            let piece = *board.at(index);
            flags.sacked = true;
            if piece.retransmissions == 0 {
                if piece.start.is_before(report.prior_highest) {
                    self.note_reordering_linux3(board, piece.start, report);
                }
                if !piece.end.is_after(self.point) {
                    flags.original = true;
                }
            }
            self.unmark(board, index);
        }
        let mut packets = 0;
        let mut late = None;
        for piece in &report.acked {
            let marks = piece.marks[self.slot];
            flags.acked = true;
            packets += piece.packets;
            if piece.retransmissions > 0 {
                flags.retransmitted_acked = true;
            } else {
                if !piece.sacked {
                    late.get_or_insert(piece.start);
                }
                if !piece.end.is_after(self.point) {
                    flags.original = true;
                }
            }
            if marks & RESENT != 0 {
                self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
            }
            if marks & LOST != 0 {
                self.lost = self.lost.saturating_sub(piece.packets);
            }
        }
        if !flags.acked {
            return;
        }
        self.grow_window(flags, packets);
        self.sample_linux3(board, report);
        self.rearm(board, report.at);
        if board.sack {
            if let Some(late) = late.filter(|late| late.is_before(report.prior_highest)) {
                self.note_reordering_linux3(board, late, report);
            }
        } else {
            self.remove_duplicates(packets, board);
        }
    }

    fn unmark(&mut self, board: &mut Board, index: usize) {
        let slot = self.slot;
        let piece = board.at_mut(index);
        let marks = core::mem::take(&mut piece.marks[slot]);
        if marks & LOST != 0 {
            self.lost = self.lost.saturating_sub(piece.packets);
        }
        if marks & RESENT != 0 {
            self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
        }
    }

    /// `tcp_update_reordering`, 3.10
    fn note_reordering_linux3(
        &mut self,
        board: &Board,
        low: rexmit_wire::SeqNum,
        report: &AckReport,
    ) {
        if self.state == State::Loss && self.undo.marker.is_none() {
            return;
        }
        let distance = board.reached(report).offset_from(low).max(0).unsigned_abs();
        let distance = distance.div_ceil(board.mss);
        if distance > self.reordering {
            self.reordering = distance.min(self.settings.max_reordering);
            self.fack = false;
        }
        if distance > 0 {
            self.early = false;
        }
    }

    /// `tcp_process_tlp_ack`
    fn judge_probe_linux3(&mut self, board: &Board, report: &AckReport, flags: &AckFlags) {
        let Some(high) = self.probe else { return };
        let duplicate = !report.advanced && !report.other_use && !flags.sacked;
        if board.una == high && duplicate {
            self.probe = None;
        } else if board.una.is_after(high) {
            self.probe = None;
            if report.dsack.is_none() {
                self.point = board.nxt;
                self.state = State::Open;
            }
        }
    }

    fn alert_linux3(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &AckFlags,
        duplicate: bool,
    ) {
        let mut mark = duplicate || (flags.sacked && self.sack_is_far(board));
        if self.is_settled(board, report) {
            return;
        }
        match self.state {
            State::Recovery => {
                if report.advanced {
                    mark = self.undo_partly_linux3(board, report);
                } else if !board.sack && duplicate {
                    self.add_duplicate(board);
                }
            }
            State::Loss => {
                self.process_loss_linux3(board, report, flags, duplicate);
                if self.state != State::Open {
                    return;
                }
                self.consider_recovery_linux3(board, report, duplicate);
            }
            State::Open | State::Disorder | State::Cwr => {
                self.consider_recovery_linux3(board, report, duplicate);
            }
        }
        if self.state == State::Recovery
            && (mark || (self.fack && self.head_timed_out(board, report.at)))
        {
            self.mark_by_count(board, self.began);
            self.mark_overdue(board, report.at);
        }
    }

    /// With FACK, what has been out for more than a timeout, from the head up to the first that has not
    /// (`tcp_timeout_skbs`).
    fn mark_overdue(&mut self, board: &mut Board, now: Time) {
        if !self.fack || !self.head_timed_out(board, now) {
            return;
        }
        for index in 0..board.len() {
            let piece = *board.at(index);
            if !fack::timed_out(now - piece.sent, self.rto) {
                break;
            }
            if piece.marks[self.slot] == 0 {
                self.mark_lost(board, index);
            }
        }
    }

    /// Whether more is to be marked lost.
    fn undo_partly_linux3(&mut self, board: &mut Board, report: &AckReport) -> bool {
        let failed = !board.sack || self.sack_is_far(board);
        if self.may_undo(board, report) {
            self.forget_stamp(board);
            let distance = board.reach() + report.acked.len() as u32;
            if distance > self.reordering {
                self.reordering = distance.min(self.settings.max_reordering);
                self.fack = false;
            }
            self.early = false;
            return false;
        }
        failed
    }

    fn consider_recovery_linux3(&mut self, board: &mut Board, report: &AckReport, duplicate: bool) {
        self.before_recovery(board, report, duplicate);
        match self.reason_to_recover(board, report.at) {
            Some(by) => {
                self.enter_recovery(board, report.at);
                self.began_by = by;
            }
            None => {
                self.forget_stamp(board);
                self.keep_open_unless_reducing(board);
            }
        }
    }

    /// Why a recovery should begin, if it should. Whether new data can go is not seen: if they can, they are about to.
    fn reason_to_recover(&mut self, board: &Board, now: Time) -> Option<Mechanism> {
        if board.is_empty() {
            return None;
        }
        let view = dupack::Count {
            packets_out: board.out,
            sacked_out: self.delivered_above(board),
            lost_out: self.lost,
            threshold: self.reordering,
            least_threshold: self.settings.dupack_threshold,
            fack: self.fack.then(|| self.reach(board)),
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
        self.unless_more |= unless_more;
        Some(by)
    }

    /// `tcp_head_timedout`
    pub(super) fn head_timed_out(&self, board: &Board, now: Time) -> bool {
        // When in its tick the head was sent is not seen.
        let age = |sent| now - sent - self.ticks.tick() / 2;
        self.settings.head_timeout
            && board
                .head()
                .is_some_and(|head| fack::timed_out(age(head.sent), self.rto))
    }

    /// Whether fewer duplicates are enough now; else the timer may be set to when they are.
    fn retransmits_early(&mut self, board: &Board, now: Time) -> bool {
        let view = early_retransmit::View {
            on: self.early,
            packets_out: board.out,
            sacked_out: self.delivered_above(board),
            retransmissions_out: self.retransmitted,
            new_data_can_go: false,
        };
        if !early_retransmit::is_due(&view) {
            return false;
        }
        let view = early_retransmit::Pause {
            srtt: self.rtt.srtt(),
            in_micros: self.settings.estimator == Estimator::LinuxMicros,
            timer_left: self.timer.due() - now,
        };
        let rule = self.settings.early_retransmit;
        match early_retransmit::pause(rule, &view, self.ticks.length()) {
            None => true,
            Some(wait) => {
                self.timer.set(now, Job::EarlyRetransmit, wait);
                false
            }
        }
    }

    /// `tcp_resume_early_retransmit`
    pub(super) fn on_early_retransmit_timer(&mut self, board: &Board, now: Time) {
        self.rearm(board, now);
        if self.early && !board.is_empty() {
            self.enter_recovery(board, now);
            self.began_by = Mechanism::EarlyRetransmit;
        }
    }

    /// What acknowledgements say in the state Loss (`tcp_process_loss`).
    fn process_loss_linux3(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &AckFlags,
        duplicate: bool,
    ) {
        let recovered = !board.una.is_before(self.point);
        if self.frto {
            if flags.original {
                self.try_undo_loss(board, report, true);
                return;
            }
            let sent_new = board.nxt.is_after(self.point);
            if sent_new && (flags.sacked || duplicate) {
                self.frto = false;
            } else if report.advanced && !recovered {
                self.point = board.nxt;
            }
        }
        if recovered {
            self.timeouts = 0;
            self.end_recovery(board, report);
            return;
        }
        if flags.acked {
            self.timeouts = 0;
        }
        if !board.sack {
            if board.nxt.is_after(self.point) && duplicate {
                self.add_duplicate(board);
            } else if report.advanced {
                self.dups = 0;
            }
        }
        self.try_undo_loss(board, report, false);
    }
}
