//! The state Loss: how a timeout enters it ([`recovery::rto`](rexmit_tcp::recovery::rto)), and what acknowledgements say of
//! the timeout ([`recovery::frto`](rexmit_tcp::recovery::frto)).

use rexmit_tcp::recovery::frto::{self, Answer, Verdict};
use rexmit_tcp::recovery::{rto, State};
use rexmit_tcp::settings::UndoStart;
use rexmit_time::{Duration, Time};

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board};

impl EmulatedSender {
    /// `tcp_enter_loss`
    pub(super) fn enter_loss(&mut self, board: &mut Board, now: Time) {
        let state = self.episode.state;
        let loss = rto::Loss {
            state,
            point_acknowledged: !self.episode.point.is_after(board.una),
            timeouts: self.timers.timeouts,
        };
        let reduced = loss.reduces();
        if !board.sack {
            self.marks.duplicates = 0;
        }
        let retransmitted_before = board.any_sent_again();
        self.mark_lost_by_timeout(board, now);
        match self.settings.undo_start {
            UndoStart::Clean => {
                let una = self.settings.undo.then_some(board.una);
                self.episode
                    .undo
                    .begin_by_timeout(una, retransmitted_before);
            }
            UndoStart::InFlight if reduced => self.begin_undo(board),
            UndoStart::InFlight => {}
        }
        self.detection.threshold = rto::reordering_after(
            self.settings.timeout_forgets_reordering,
            state,
            self.marks.delivered_above(board),
            self.detection.threshold,
            self.detection.own_threshold,
        );
        let begin = frto::Begin {
            state,
            reduced,
            timeouts: self.timers.timeouts,
        };
        self.episode.frto = self.has_frto() && frto::begins(self.settings.frto_test, &begin);
        self.episode.state = State::Loss;
        self.episode.before = None;
        self.episode.instead = None;
        self.episode.loss_at = Some(now);
        self.episode.point = board.nxt;
        self.episode.probe.high = None;
        self.shrink_window(board);
    }

    /// `tcp_timeout_mark_lost`
    fn mark_lost_by_timeout(&mut self, board: &mut Board, now: Time) {
        let (rule, rack) = (self.settings.timeout_marks, self.detection.rack);
        let rack = self.settings.rack.then_some(rack);
        let lost = |head, sent| {
            let wait = rack.map(|rack| rack.wait(sent, Duration::ZERO, now));
            rto::marks_lost(rule, head, wait)
        };
        if board.head().is_some_and(|head| lost(true, head.sent)) {
            self.marks.mark_lost(board, 0);
        }
        let mut marked = self.marks.on(board);
        marked.mark_sent_before(|sent| lost(false, sent));
        marked.end();
    }

    /// What an acknowledgement says of the timeout, if F-RTO's test runs. Whether it was spurious.
    fn judge_timeout(&mut self, board: &Board, report: &AckReport, flags: &AckFlags) -> bool {
        if !self.episode.frto {
            return false;
        }
        let answer = Answer {
            original: flags.original,
            advanced: report.advanced,
            sacked_or_duplicate: flags.sacked || flags.duplicate,
            new_data_sent: board.nxt.is_after(self.episode.point),
            point_acknowledged: !board.una.is_before(self.episode.point),
        };
        match frto::on_ack(self.settings.frto_test, &answer) {
            Verdict::Open => {}
            Verdict::Spurious => return true,
            Verdict::Real => self.episode.frto = false,
            // New data, if there are any, come next; a retransmission says that there were none.
            Verdict::SendNew => self.episode.point = board.nxt,
        }
        false
    }

    /// What acknowledgements say in the state Loss (`tcp_process_loss`). Where losses come first, undo by
    /// timestamps and D-SACK is asked for first, else last.
    pub(super) fn process_loss(&mut self, board: &mut Board, report: &AckReport, flags: &AckFlags) {
        let recovered = !board.una.is_before(self.episode.point);
        if self.losses_first() && report.advanced && self.try_undo_loss(board, report, false) {
            return;
        }
        if self.judge_timeout(board, report, flags) {
            self.note_taken_back(board, report);
            self.try_undo_loss(board, report, true);
            return;
        }
        if !self.losses_first() && (recovered || flags.acked) {
            self.timers.timeouts = 0;
        }
        if recovered {
            self.end_recovery(board, report);
            return;
        }
        if !board.sack {
            if board.nxt.is_after(self.episode.point) && flags.duplicate {
                self.add_duplicate(board);
            } else if report.advanced {
                self.marks.duplicates = 0;
            }
        }
        if !self.losses_first() {
            self.try_undo_loss(board, report, false);
        }
    }
}
