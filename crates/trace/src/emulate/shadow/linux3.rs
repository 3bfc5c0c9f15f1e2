//! The order in which an acknowledgement is worked through and the states, as 3.10 does; stacks other than Linux's take the
//! same order with their own thresholds.

use rexmit_tcp::sender::State;
use rexmit_tcp::settings::EarlyRetransmit;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::{Shadow, Told};
use crate::emulate::board::{Board, News, LOST, RESENT};
use rexmit_tcp::recovery::Job;

/// The shortest delay of an early retransmit.
const SHORTEST_DELAY: Duration = Duration::from_millis(2);

impl Shadow {
    pub(super) fn on_ack_linux3(&mut self, board: &mut Board, news: &News) {
        self.catch_up(board, news.at, news.slack);
        self.missed = false;
        self.note_duplicate(board, news);
        let mut told = Told::default();
        if news.old {
            self.deliver_linux3(board, news, &mut told);
            self.alert_linux3(board, news, &told, false);
            return;
        }
        if matches!(self.timer.job(), Some(Job::EarlyRetransmit | Job::Probe)) {
            self.rearm(board, news.at);
        }
        if news.prior_out == 0 {
            if news.dsack.is_some() {
                self.alert_linux3(board, news, &told, false);
            }
            self.judge_probe_linux3(board, news, &told);
            return;
        }
        self.deliver_linux3(board, news, &mut told);
        let plain = told.acked || news.other_use;
        if !plain || told.sacked || self.state != State::Open {
            let duplicate = !news.advanced && !plain;
            self.alert_linux3(board, news, &told, duplicate);
        }
        self.judge_probe_linux3(board, news, &told);
        if self.timer.job() == Some(Job::Timeout) {
            self.schedule_probe(board, news.at, true);
        }
    }

    /// Notes what was delivered.
    fn deliver_linux3(&mut self, board: &mut Board, news: &News, told: &mut Told) {
        for &index in &news.sacked {
            let piece = *board.at(index);
            told.sacked = true;
            if piece.resends == 0 {
                if piece.start.is_before(news.prior_highest) {
                    self.note_reordering_linux3(board, piece.start, news);
                }
                if !piece.end.is_after(self.point) {
                    told.original = true;
                }
            }
            self.unmark(board, index);
        }
        let mut packets = 0;
        let mut late = None;
        for piece in &news.acked {
            let marks = piece.marks[self.slot];
            told.acked = true;
            packets += piece.packets;
            if piece.resends > 0 {
                told.resent_acked = true;
            } else {
                if !piece.sacked {
                    late.get_or_insert(piece.start);
                }
                if !piece.end.is_after(self.point) {
                    told.original = true;
                }
            }
            if marks & RESENT != 0 {
                self.resent = self.resent.saturating_sub(piece.packets);
            }
            if marks & LOST != 0 {
                self.lost = self.lost.saturating_sub(piece.packets);
            }
        }
        if !told.acked {
            return;
        }
        self.grow_window(told, packets);
        self.sample_linux3(board, news);
        self.rearm(board, news.at);
        if board.sack {
            if let Some(late) = late.filter(|late| late.is_before(news.prior_highest)) {
                self.note_reordering_linux3(board, late, news);
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
            self.resent = self.resent.saturating_sub(piece.packets);
        }
    }

    /// `tcp_update_reordering`, 3.10
    fn note_reordering_linux3(&mut self, board: &Board, low: rexmit_wire::SeqNum, news: &News) {
        if self.state == State::Loss && self.undo.marker.is_none() {
            return;
        }
        let distance = board.reached(news).offset_from(low).max(0).unsigned_abs();
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
    fn judge_probe_linux3(&mut self, board: &Board, news: &News, told: &Told) {
        let Some(high) = self.probe else { return };
        let duplicate = !news.advanced && !news.other_use && !told.sacked;
        if board.una == high && duplicate {
            self.probe = None;
        } else if board.una.is_after(high) {
            self.probe = None;
            if news.dsack.is_none() {
                self.point = board.nxt;
                self.state = State::Open;
            }
        }
    }

    fn alert_linux3(&mut self, board: &mut Board, news: &News, told: &Told, duplicate: bool) {
        let mut mark = duplicate || (told.sacked && self.sack_is_far(board));
        if self.is_settled(board, news) {
            return;
        }
        match self.state {
            State::Recovery => {
                if news.advanced {
                    mark = self.undo_partly_linux3(board, news);
                } else if !board.sack && duplicate {
                    self.add_duplicate(board);
                }
            }
            State::Loss => {
                self.process_loss_linux3(board, news, told, duplicate);
                if self.state != State::Open {
                    return;
                }
                self.consider_recovery_linux3(board, news, duplicate);
            }
            State::Open | State::Disorder | State::Cwr => {
                self.consider_recovery_linux3(board, news, duplicate);
            }
        }
        if self.state == State::Recovery
            && (mark || (self.fack && self.head_timed_out(board, news.at)))
        {
            self.mark_by_count(board, self.began);
            self.mark_overdue(board, news.at);
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
            if now - piece.sent <= self.rto {
                break;
            }
            if piece.marks[self.slot] == 0 {
                self.mark_lost(board, index);
            }
        }
    }

    /// Whether more is to be marked lost.
    fn undo_partly_linux3(&mut self, board: &mut Board, news: &News) -> bool {
        let failed = !board.sack || self.sack_is_far(board);
        if self.may_undo(board, news) {
            self.forget_stamp(board);
            let distance = board.reach() + news.acked.len() as u32;
            if distance > self.reordering {
                self.reordering = distance.min(self.settings.max_reordering);
                self.fack = false;
            }
            self.early = false;
            return false;
        }
        failed
    }

    fn consider_recovery_linux3(&mut self, board: &mut Board, news: &News, duplicate: bool) {
        self.before_recovery(board, news, duplicate);
        match self.reason_to_recover(board, news.at) {
            Some(by) => {
                self.enter_recovery(board, news.at);
                self.began_by = by;
            }
            None => {
                self.forget_stamp(board);
                self.keep_open_unless_reducing(board);
            }
        }
    }

    /// Why a recovery should begin, if it should (`tcp_time_to_recover`).
    fn reason_to_recover(&mut self, board: &Board, now: Time) -> Option<Mechanism> {
        let above = self.delivered_above(board);
        if board.is_empty() {
            return None;
        }
        if self.lost > 0 || above + 1 > self.reordering {
            return Some(Mechanism::FastRetransmit);
        }
        if self.fack && (self.reach(board) > self.reordering || self.head_timed_out(board, now)) {
            return Some(Mechanism::Fack);
        }
        // Few segments are out, half of them arrived, and nothing more can be sent.
        let enough = (board.out / 2).max(self.settings.dupack_threshold);
        if board.out <= self.reordering && above >= enough {
            self.unless_more = true;
            return Some(Mechanism::FastRetransmit);
        }
        if self.may_retransmit_early(board) && !self.waits_before_early_retransmit(now) {
            self.unless_more = true;
            return Some(Mechanism::EarlyRetransmit);
        }
        None
    }

    /// `tcp_head_timedout`
    pub(super) fn head_timed_out(&self, board: &Board, now: Time) -> bool {
        self.settings.head_timeout
            && board
                .head()
                .is_some_and(|head| now - head.sent > self.rto + self.ticks.tick() / 2)
    }

    /// What cannot be seen is whether new data could be sent: if so, they are about to be.
    fn may_retransmit_early(&self, board: &Board) -> bool {
        let above = self.delivered_above(board);
        self.early && self.resent == 0 && above > 0 && board.out > above && board.out < 4
    }

    /// `tcp_pause_early_retransmit`
    fn waits_before_early_retransmit(&mut self, now: Time) -> bool {
        let Some(srtt) = self.rtt.srtt() else {
            return false;
        };
        if self.settings.early_retransmit != EarlyRetransmit::Delayed {
            return false;
        }
        let wait = self.ticks.down(srtt / 4).max(self.ticks.up(SHORTEST_DELAY));
        if self.timer.due() <= now + wait {
            return false;
        }
        self.timer.set(now, Job::EarlyRetransmit, wait);
        true
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
        news: &News,
        told: &Told,
        duplicate: bool,
    ) {
        let recovered = !board.una.is_before(self.point);
        if self.frto {
            if told.original {
                self.try_undo_loss(board, news, true);
                return;
            }
            let sent_new = board.nxt.is_after(self.point);
            if sent_new && (told.sacked || duplicate) {
                self.frto = false;
            } else if news.advanced && !recovered {
                self.point = board.nxt;
            }
        }
        if recovered {
            self.timeouts = 0;
            self.end_recovery(board, news);
            return;
        }
        if told.acked {
            self.timeouts = 0;
        }
        if !board.sack {
            if board.nxt.is_after(self.point) && duplicate {
                self.add_duplicate(board);
            } else if news.advanced {
                self.dups = 0;
            }
        }
        self.try_undo_loss(board, news, false);
    }
}
