//! The states and what moves between them (`tcp_fastretrans_alert`), in either order of work.

use rexmit_tcp::recovery::undo::FirstRetransmission;
use rexmit_tcp::recovery::{dupack, State};
use rexmit_tcp::settings::PartialUndo;
use rexmit_time::Time;

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board};

impl EmulatedSender {
    /// Takes a doubtful acknowledgement.
    pub(super) fn alert(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        let mut mark = flags.duplicate || (flags.sacked && self.sack_is_far(board));
        if board.out == 0 {
            self.marks.duplicates = 0;
        }
        if self.episode.state == State::Open {
            self.episode.undo.first = FirstRetransmission::None;
        } else if !board.una.is_before(self.episode.point) && self.leave_at_point(board, report) {
            return;
        }
        match self.episode.state {
            State::Recovery => {
                if !report.advanced {
                    if !board.sack && flags.duplicate {
                        self.add_duplicate(board);
                    }
                } else if self.undo_partly(board, report, &mut mark) {
                    return;
                }
                if self.losses_first() {
                    self.go_on_recovering(board, report, flags);
                }
            }
            State::Loss => {
                self.process_loss(board, report, flags);
                self.find_losses(board, report, flags);
                if self.episode.state != State::Open && !flags.lost_retransmission {
                    return;
                }
                self.consider_recovery(board, report, flags);
            }
            State::Open | State::Disorder | State::Cwr => {
                self.consider_recovery(board, report, flags);
            }
        }
        if self.episode.state == State::Recovery && self.counts_losses(board) {
            let overdue = self.detection.fack && self.head_timed_out(board, report.at);
            if mark || overdue {
                self.mark_by_count(board, self.episode.causes.recovery_began);
                self.mark_overdue(board, report.at);
            }
        }
    }

    /// Whether counting marks losses: where losses come first not with RACK, and without SACK the head alone.
    fn counts_losses(&self, board: &Board) -> bool {
        !self.losses_first() || (!self.settings.rack && board.sack)
    }

    /// The recovery point is acknowledged. Whether nothing more is to be done.
    fn leave_at_point(&mut self, board: &mut Board, report: &AckReport) -> bool {
        match self.episode.state {
            State::Cwr => {
                if board.una != self.episode.point {
                    self.episode.state = State::Open;
                }
            }
            State::Recovery => {
                if !board.sack {
                    self.marks.duplicates = 0;
                }
                self.note_end_of_recovery();
                return self.end_recovery(board, report);
            }
            State::Open | State::Disorder | State::Loss => {}
        }
        false
    }

    /// In recovery, where losses come first: whether D-SACKs end it, and what is lost.
    fn go_on_recovering(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        if self.try_undo_by_dsack(board) {
            self.note_end_of_recovery();
            self.try_to_open(board);
        }
        self.find_losses(board, report, flags);
        if self.episode.state != State::Recovery
            && self.reason_to_recover(board, report.at).is_some()
        {
            self.enter_recovery(board, report.at);
        }
    }

    /// Where nothing is being repaired: a recovery begins, or the state becomes Open or Disorder.
    fn consider_recovery(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        if !board.sack {
            if report.advanced {
                self.marks.duplicates = 0;
            }
            if flags.duplicate {
                self.add_duplicate(board);
            }
        }
        if self.episode.state <= State::Disorder {
            self.try_undo_by_dsack(board);
        }
        self.find_losses(board, report, flags);
        match self.reason_to_recover(board, report.at) {
            Some(by) => {
                self.enter_recovery(board, report.at);
                self.episode.causes.began_by = by;
            }
            None => self.try_to_open(board),
        }
    }

    /// What is marked lost before it is asked whether a recovery is to begin, where losses come first
    /// (`tcp_identify_packet_loss`).
    fn find_losses(&mut self, board: &mut Board, report: &AckReport, flags: &mut AckFlags) {
        if board.is_empty() || !self.losses_first() {
            return;
        }
        if !board.sack {
            let (state, duplicates) = (self.episode.state, self.marks.duplicates);
            let threshold = self.detection.threshold;
            if dupack::head_is_lost(state, duplicates, threshold, report.advanced) {
                self.marks.mark_lost(board, 0);
            }
        } else if self.settings.rack {
            let (lost_retransmission, set) = self.mark_lost_by_rack(board, report.at);
            flags.lost_retransmission |= lost_retransmission;
            flags.set_timer &= !set;
        }
    }

    /// An acknowledgement in recovery that stops before its end; timestamps may say that what arrived was only late. Whether
    /// nothing more is to be done; else `mark` says whether more is to be marked lost (`tcp_try_undo_partial`).
    fn undo_partly(&mut self, board: &mut Board, report: &AckReport, mark: &mut bool) -> bool {
        let late = match self.settings.partial_undo {
            PartialUndo::Window => self.may_undo(board, report),
            PartialUndo::Recovery => {
                self.episode.undo.marker.is_some() && self.was_only_late(board, report)
            }
        };
        if !late {
            *mark = self.sack_is_far(board) || (!self.losses_first() && !board.sack);
            return false;
        }
        match self.settings.partial_undo {
            PartialUndo::Window => {
                self.forget_stamp(board);
                let acked: u32 = report.acked.iter().map(|piece| piece.packets).sum();
                let distance = self.reach(board) + acked;
                let most = self.settings.max_reordering;
                self.detection.note_segments_overtaken(distance, most);
                *mark = false;
            }
            PartialUndo::Recovery => {
                self.note_reordering(board, report.prior_una, report);
                if self.marks.retransmitted > 0 {
                    return true;
                }
                self.forget_stamp(board);
                self.undo_reduction(board, true);
                self.note_end_of_recovery();
                self.keep_open(board);
            }
        }
        false
    }

    /// `tcp_enter_recovery`
    pub(super) fn enter_recovery(&mut self, board: &Board, at: Time) {
        if self.settings.retrans_stamp_cleanup {
            self.forget_stamp(board);
        }
        self.episode.causes.recovery_began = true;
        self.begin_rate(board);
        self.forget_window();
        self.episode.entered = Some(at);
        self.begin_undo(board);
        if !self.episode.in_reduction() {
            self.episode.point = board.nxt;
            self.episode.probe.high = None;
        }
        self.episode.state = State::Recovery;
        self.episode.forward = false;
    }

    /// The recovery is over. One in which nothing was ever sent again did not take place.
    pub(super) fn note_end_of_recovery(&mut self) {
        if self.episode.entered.take().is_some() {
            self.evidence.score -= 3.0;
        }
    }

    /// `tcp_try_keep_open`
    pub(super) fn keep_open(&mut self, board: &Board) {
        let state = self.marks.state_at_peace(board);
        if self.episode.state != state {
            self.episode.state = state;
            self.episode.point = board.nxt;
        }
    }

    /// `tcp_try_to_open`
    fn try_to_open(&mut self, board: &Board) {
        self.forget_stamp(board);
        if self.episode.state != State::Cwr {
            self.keep_open(board);
        }
    }
}
