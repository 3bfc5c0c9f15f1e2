//! The order in which an acknowledgement is worked through and the states, as 6.x does (`tcp_ack`,
//! `tcp_fastretrans_alert`).

use rexmit_tcp::recovery::dupack;
use rexmit_tcp::sender::State;
use rexmit_time::Time;

use super::{Shadow, Told};
use crate::emulate::board::{Board, News, LOST, RESENT};

impl Shadow {
    pub(super) fn on_ack_linux6(&mut self, board: &mut Board, news: &News) {
        self.raise_threshold(board, news);
        self.catch_up(board, news.at, news.slack);
        self.missed = false;
        if news.advanced {
            self.timeouts = 0;
        }
        let mut told = Told {
            dsack_probe: self.note_duplicate(board, news),
            ..Told::default()
        };
        if news.prior_out == 0 {
            if self.believes_duplicate(news) {
                self.alert_linux6(board, news, &mut told, false);
            }
            self.judge_probe_linux6(board, news, &told);
            return;
        }
        self.deliver_linux6(board, news, &mut told);
        self.adapt_rack(news);
        let duplicate =
            !news.advanced && !news.other_use && !told.acked && !self.believes_duplicate(news);
        if news.old {
            self.alert_linux6(board, news, &mut told, false);
            return;
        }
        self.judge_probe_linux6(board, news, &told);
        let plain = told.acked || news.other_use;
        let doubtful =
            !plain || told.sacked || self.believes_duplicate(news) || self.state != State::Open;
        if doubtful {
            self.alert_linux6(board, news, &mut told, duplicate);
        }
        if told.set_timer && !self.schedule_probe(board, news.at, true) {
            self.rearm(board, news.at);
        }
    }

    /// Notes what was delivered (`tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).
    fn deliver_linux6(&mut self, board: &mut Board, news: &News, told: &mut Told) {
        let mut sack_sent: Option<Time> = None;
        let mut sack_last: Option<Time> = None;
        for &index in &news.sacked {
            let piece = *board.at(index);
            told.sacked = true;
            self.advance_rack(&piece, news.at);
            let marks = piece.marks[self.slot];
            if piece.retransmissions == 0 {
                if piece.start.is_before(news.prior_highest) {
                    self.note_reordering(board, piece.start, news);
                }
                if !piece.end.is_after(self.point) {
                    told.original = true;
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
        for piece in &news.acked {
            let marks = piece.marks[self.slot];
            told.acked = true;
            packets += piece.packets;
            if piece.retransmissions > 0 {
                told.retransmitted_acked = true;
            } else if !piece.sacked {
                first.get_or_insert(piece.sent);
                last = Some(piece.sent);
                low.get_or_insert(piece.start);
                if !piece.end.is_after(self.point) {
                    told.original = true;
                }
            }
            if !piece.sacked && board.sack && !Self::is_spurious(piece, news) {
                self.advance_rack(piece, news.at);
            }
            if marks & RESENT != 0 {
                self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
            }
            if marks & LOST != 0 {
                self.lost = self.lost.saturating_sub(piece.packets);
            }
        }
        self.grow_window(told, packets);
        let mut sample = first
            .filter(|_| !told.retransmitted_acked)
            .map(|at| news.at - at);
        let mut path = last
            .filter(|_| !told.retransmitted_acked)
            .map(|at| news.at - at);
        let sack_rtt = sack_sent.map(|at| news.at - at);
        if let Some(last) = sack_last {
            path = Some(news.at - last);
        }
        sample = sample.or(sack_rtt);
        if sample.is_none() && told.acked {
            sample = news.echo_sent.map(|at| news.at - at);
            path = sample;
        }
        if let Some(path) = path {
            self.take_path(news.at, path);
        }
        if let Some(sample) = sample {
            self.take_sample(news.at - sample, news.at, board);
        }
        if told.acked {
            told.set_timer = true;
            if board.sack {
                if let Some(low) = low.filter(|low| low.is_before(news.prior_highest)) {
                    self.note_reordering(board, low, news);
                }
            } else {
                self.remove_duplicates(packets, board);
                if told.retransmitted_acked {
                    told.original = false;
                }
            }
        } else if let (Some(rtt), Some(head)) = (sack_rtt, board.head()) {
            told.set_timer = rtt > news.at - head.sent;
        }
    }

    /// A segment never sent again was delivered although a higher one was before (`tcp_check_sack_reordering`).
    fn note_reordering(&mut self, board: &Board, low: rexmit_wire::SeqNum, news: &News) {
        if self.state == State::Loss && self.undo.marker.is_none() {
            return;
        }
        let distance = board.reached(news).offset_from(low).max(0).unsigned_abs();
        if distance > self.reordering * board.mss {
            self.reordering = distance
                .div_ceil(board.mss)
                .min(self.settings.max_reordering);
        }
        self.reordered = true;
    }

    /// `tcp_process_tlp_ack`
    fn judge_probe_linux6(&mut self, board: &Board, news: &News, told: &Told) {
        let Some(high) = self.probe else { return };
        if board.una.is_before(high) {
            return;
        }
        let duplicate = !news.advanced && !news.other_use && !told.sacked;
        if !self.probe_retransmitted || told.dsack_probe {
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

    fn alert_linux6(&mut self, board: &mut Board, news: &News, told: &mut Told, duplicate: bool) {
        let mut mark = duplicate || (told.sacked && self.sack_is_far(board));
        if self.is_settled(board, news) {
            return;
        }
        match self.state {
            State::Recovery => {
                if !news.advanced {
                    if !board.sack && duplicate {
                        self.add_duplicate(board);
                    }
                } else if self.undo_partly_linux6(board, news) {
                    return;
                } else {
                    mark = self.sack_is_far(board);
                }
                if self.try_undo_by_dsack(board) {
                    self.note_end_of_recovery();
                    self.keep_open_unless_reducing(board);
                }
                self.find_losses_linux6(board, news, told);
                if self.state != State::Recovery && self.is_time_to_recover_linux6(board) {
                    self.enter_recovery(board, news.at);
                }
            }
            State::Loss => {
                self.process_loss_linux6(board, news, told, duplicate);
                self.find_losses_linux6(board, news, told);
                if self.state != State::Open && !told.lost_retransmission {
                    return;
                }
                self.consider_recovery_linux6(board, news, told, duplicate);
            }
            State::Open | State::Disorder | State::Cwr => {
                self.consider_recovery_linux6(board, news, told, duplicate);
            }
        }
        if self.state == State::Recovery && !self.settings.rack && board.sack && mark {
            self.mark_by_count(board, self.began);
        }
    }

    fn consider_recovery_linux6(
        &mut self,
        board: &mut Board,
        news: &News,
        told: &mut Told,
        duplicate: bool,
    ) {
        self.before_recovery(board, news, duplicate);
        self.find_losses_linux6(board, news, told);
        if self.is_time_to_recover_linux6(board) {
            self.enter_recovery(board, news.at);
        } else {
            self.forget_stamp(board);
            self.keep_open_unless_reducing(board);
        }
    }

    /// `tcp_try_undo_partial`. Whether nothing more is to be done.
    fn undo_partly_linux6(&mut self, board: &mut Board, news: &News) -> bool {
        if self.undo.marker.is_none() || !self.was_only_late(board, news) {
            return false;
        }
        self.note_reordering(board, news.prior_una, news);
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
    fn find_losses_linux6(&mut self, board: &mut Board, news: &News, told: &mut Told) {
        if board.is_empty() {
            return;
        }
        if !board.sack {
            if dupack::head_is_lost(self.state, self.dups, self.reordering, news.advanced) {
                self.mark_lost(board, 0);
            }
        } else if self.settings.rack {
            let (lost_retransmission, set) = self.mark_lost_by_rack(board, news.at);
            told.lost_retransmission |= lost_retransmission;
            if set {
                told.set_timer = false;
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
        news: &News,
        told: &Told,
        duplicate: bool,
    ) {
        let recovered = !board.una.is_before(self.point);
        if news.advanced && self.try_undo_loss(board, news, false) {
            return;
        }
        if self.frto {
            if told.original && self.try_undo_loss(board, news, true) {
                return;
            }
            if board.nxt.is_after(self.point) {
                if told.sacked || duplicate {
                    self.frto = false;
                }
            } else if news.advanced && !recovered {
                // New data, if there are any, come next; a retransmission says that there were none.
                self.point = board.nxt;
            }
        }
        if recovered {
            self.end_recovery(board, news);
            return;
        }
        if !board.sack {
            if board.nxt.is_after(self.point) && duplicate {
                self.add_duplicate(board);
            } else if news.advanced {
                self.dups = 0;
            }
        }
    }
}
