//! The order in which an acknowledgement is worked through and the states, as 6.x does (`tcp_ack`,
//! `tcp_fastretrans_alert`).

use rexmit_tcp::recovery::dupack;
use rexmit_tcp::sender::State;
use rexmit_time::Time;

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board, LOST, RESENT};

impl EmulatedSender {
    pub(super) fn on_ack_linux6(&mut self, board: &mut Board, report: &AckReport) {
        self.raise_threshold(board, report);
        self.catch_up(board, report.at, report.slack);
        self.missed = false;
        if report.advanced {
            self.timeouts = 0;
        }
        let mut flags = AckFlags {
            dsack_probe: self.note_duplicate(board, report),
            ..AckFlags::default()
        };
        if report.prior_out == 0 {
            if self.believes_duplicate(report) {
                self.alert_linux6(board, report, &mut flags, false);
            }
            self.judge_probe_linux6(board, report, &flags);
            return;
        }
        self.deliver_linux6(board, report, &mut flags);
        self.adapt_rack(report);
        let duplicate = !report.advanced
            && !report.other_use
            && !flags.acked
            && !self.believes_duplicate(report);
        if report.old {
            self.alert_linux6(board, report, &mut flags, false);
            return;
        }
        self.judge_probe_linux6(board, report, &flags);
        let plain = flags.acked || report.other_use;
        let doubtful =
            !plain || flags.sacked || self.believes_duplicate(report) || self.state != State::Open;
        if doubtful {
            self.alert_linux6(board, report, &mut flags, duplicate);
        }
        if flags.set_timer && !self.schedule_probe(board, report.at, true) {
            self.rearm(board, report.at);
        }
    }

    /// Notes what was delivered (`tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).
    fn deliver_linux6(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        let mut sack_sent: Option<Time> = None;
        let mut sack_last: Option<Time> = None;
        for &index in &report.sacked {
            let piece = *board.at(index);
            flags.sacked = true;
            self.advance_rack(&piece, report.at);
            let marks = piece.marks[self.slot];
            if piece.retransmissions == 0 {
                if piece.start.is_before(report.prior_highest) {
                    self.note_reordering(board, piece.start, report);
                }
                if !piece.end.is_after(self.point) {
                    flags.original = true;
                }
                sack_sent.get_or_insert(piece.sent);
                sack_last = Some(piece.sent);
            }
            if marks & LOST != 0 {
                self.lost = self.lost.saturating_sub(piece.packets);
            }
            if marks & RESENT != 0 {
                self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
            }
            board.at_mut(index).marks[self.slot] = 0;
        }
        let mut first: Option<Time> = None;
        let mut last: Option<Time> = None;
        let mut low = None;
        let mut packets = 0;
        for piece in &report.acked {
            let marks = piece.marks[self.slot];
            flags.acked = true;
            packets += piece.packets;
            if piece.retransmissions > 0 {
                flags.retransmitted_acked = true;
            } else if !piece.sacked {
                first.get_or_insert(piece.sent);
                last = Some(piece.sent);
                low.get_or_insert(piece.start);
                if !piece.end.is_after(self.point) {
                    flags.original = true;
                }
            }
            if !piece.sacked && board.sack && !Self::is_spurious(piece, report) {
                self.advance_rack(piece, report.at);
            }
            if marks & RESENT != 0 {
                self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
            }
            if marks & LOST != 0 {
                self.lost = self.lost.saturating_sub(piece.packets);
            }
        }
        self.grow_window(flags, packets);
        let mut sample = first
            .filter(|_| !flags.retransmitted_acked)
            .map(|at| report.at - at);
        let mut path = last
            .filter(|_| !flags.retransmitted_acked)
            .map(|at| report.at - at);
        let sack_rtt = sack_sent.map(|at| report.at - at);
        if let Some(last) = sack_last {
            path = Some(report.at - last);
        }
        sample = sample.or(sack_rtt);
        if sample.is_none() && flags.acked {
            sample = report.echo_sent.map(|at| report.at - at);
            path = sample;
        }
        if let Some(path) = path {
            self.take_path(report.at, path);
        }
        if let Some(sample) = sample {
            self.take_sample(report.at - sample, report.at, board);
        }
        if flags.acked {
            flags.set_timer = true;
            if board.sack {
                if let Some(low) = low.filter(|low| low.is_before(report.prior_highest)) {
                    self.note_reordering(board, low, report);
                }
            } else {
                self.remove_duplicates(packets, board);
                if flags.retransmitted_acked {
                    flags.original = false;
                }
            }
        } else if let (Some(rtt), Some(head)) = (sack_rtt, board.head()) {
            flags.set_timer = rtt > report.at - head.sent;
        }
    }

    /// A segment never sent again was delivered although a higher one was before (`tcp_check_sack_reordering`).
    fn note_reordering(&mut self, board: &Board, low: rexmit_wire::SeqNum, report: &AckReport) {
        if self.state == State::Loss && self.undo.marker.is_none() {
            return;
        }
        let distance = board.reached(report).offset_from(low).max(0).unsigned_abs();
        if distance > self.reordering * board.mss {
            self.reordering = distance
                .div_ceil(board.mss)
                .min(self.settings.max_reordering);
        }
        self.reordered = true;
    }

    /// `tcp_process_tlp_ack`
    fn judge_probe_linux6(&mut self, board: &Board, report: &AckReport, flags: &AckFlags) {
        let Some(high) = self.probe else { return };
        if board.una.is_before(high) {
            return;
        }
        let duplicate = !report.advanced && !report.other_use && !flags.sacked;
        if !self.probe_retransmitted || flags.dsack_probe {
            self.probe = None;
        } else if board.una.is_after(high) {
            self.probe = None;
            self.point = board.nxt;
            self.state = State::Open;
            self.keep_open(board);
        } else if duplicate {
            self.probe = None;
        }
    }

    fn alert_linux6(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &mut AckFlags,
        duplicate: bool,
    ) {
        let mut mark = duplicate || (flags.sacked && self.sack_is_far(board));
        if self.is_settled(board, report) {
            return;
        }
        match self.state {
            State::Recovery => {
                if !report.advanced {
                    if !board.sack && duplicate {
                        self.add_duplicate(board);
                    }
                } else if self.undo_partly_linux6(board, report) {
                    return;
                } else {
                    mark = self.sack_is_far(board);
                }
                if self.try_undo_by_dsack(board) {
                    self.note_end_of_recovery();
                    self.keep_open_unless_reducing(board);
                }
                self.find_losses_linux6(board, report, flags);
                if self.state != State::Recovery && self.is_time_to_recover_linux6(board) {
                    self.enter_recovery(board, report.at);
                }
            }
            State::Loss => {
                self.process_loss_linux6(board, report, flags, duplicate);
                self.find_losses_linux6(board, report, flags);
                if self.state != State::Open && !flags.lost_retransmission {
                    return;
                }
                self.consider_recovery_linux6(board, report, flags, duplicate);
            }
            State::Open | State::Disorder | State::Cwr => {
                self.consider_recovery_linux6(board, report, flags, duplicate);
            }
        }
        if self.state == State::Recovery && !self.settings.rack && board.sack && mark {
            self.mark_by_count(board, self.began);
        }
    }

    fn consider_recovery_linux6(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &mut AckFlags,
        duplicate: bool,
    ) {
        self.before_recovery(board, report, duplicate);
        self.find_losses_linux6(board, report, flags);
        if self.is_time_to_recover_linux6(board) {
            self.enter_recovery(board, report.at);
        } else {
            self.forget_stamp(board);
            self.keep_open_unless_reducing(board);
        }
    }

    /// `tcp_try_undo_partial`. Whether nothing more is to be done.
    fn undo_partly_linux6(&mut self, board: &mut Board, report: &AckReport) -> bool {
        if self.undo.marker.is_none() || !self.was_only_late(board, report) {
            return false;
        }
        self.note_reordering(board, report.prior_una, report);
        if self.retransmitted > 0 {
            return true;
        }
        self.forget_stamp(board);
        self.undo_reduction(board, true);
        self.note_end_of_recovery();
        self.keep_open(board);
        false
    }

    /// `tcp_identify_packet_loss`
    fn find_losses_linux6(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        if board.is_empty() {
            return;
        }
        if !board.sack {
            if dupack::head_is_lost(self.state, self.dups, self.reordering, report.advanced) {
                self.mark_lost(board, 0);
            }
        } else if self.settings.rack {
            let (lost_retransmission, set) = self.mark_lost_by_rack(board, report.at);
            flags.lost_retransmission |= lost_retransmission;
            if set {
                flags.set_timer = false;
            }
        }
    }

    /// `tcp_time_to_recover`
    fn is_time_to_recover_linux6(&self, board: &Board) -> bool {
        let by_count =
            !self.settings.rack && dupack::says_lost(self.delivered_above(board), self.reordering);
        self.lost > 0 || by_count
    }

    /// What acknowledgements say in the state Loss (`tcp_process_loss`).
    fn process_loss_linux6(
        &mut self,
        board: &mut Board,
        report: &AckReport,
        flags: &AckFlags,
        duplicate: bool,
    ) {
        let recovered = !board.una.is_before(self.point);
        if report.advanced && self.try_undo_loss(board, report, false) {
            return;
        }
        if self.frto {
            if flags.original && self.try_undo_loss(board, report, true) {
                return;
            }
            if board.nxt.is_after(self.point) {
                if flags.sacked || duplicate {
                    self.frto = false;
                }
            } else if report.advanced && !recovered {
                // New data, if there are any, come next; a retransmission says that there were none.
                self.point = board.nxt;
            }
        }
        if recovered {
            self.end_recovery(board, report);
            return;
        }
        if !board.sack {
            if board.nxt.is_after(self.point) && duplicate {
                self.add_duplicate(board);
            } else if report.advanced {
                self.dups = 0;
            }
        }
    }
}
