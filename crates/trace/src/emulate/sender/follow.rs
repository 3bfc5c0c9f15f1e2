//! What a sender does that has sent again: how its state goes on.

use rexmit_tcp::sender::State;
use rexmit_tcp::settings::TimeoutMarks;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::causes::SLIGHTLY;
use super::explain::{Candidate, Cause, Moment};
use super::{EmulatedSender, Minimum};
use crate::emulate::board::{Board, LOST};
use crate::emulate::likelihood::is_in_phase;
use rexmit_tcp::recovery::Job;

impl EmulatedSender {
    /// Goes on as the sender does that sent again for this cause.
    pub(super) fn follow(
        &mut self,
        board: &mut Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
        best: Candidate,
    ) {
        let at = moment.at;
        let packets: u32 = pieces.clone().map(|index| board.at(index).packets).sum();
        match best.cause {
            Cause::Timeout { .. } | Cause::OtherTimeout => {
                let missed = match best.cause {
                    Cause::Timeout { missed } => missed,
                    _ => 0,
                };
                if best.cause == Cause::OtherTimeout {
                    self.learn_minimum(moment);
                }
                self.note_end_of_recovery();
                if let Some(phase) = self.phase {
                    let off = self.ticks.off_phase(at, phase);
                    if !is_in_phase(off, moment.slack) {
                        // Its ticks are others than the page's.
                        self.phase = None;
                        self.phased = false;
                    }
                }
                let own = best.cause == (Cause::Timeout { missed: 0 });
                if self.timer.job() == Some(Job::Timeout) && own {
                    if self.minimum == Minimum::Open && best.fit > SLIGHTLY {
                        self.minimum = Minimum::Proved;
                    }
                    self.learn_from_timeout(at, moment.slack);
                }
                self.enter_loss(board, at);
                self.timeouts += 1 + missed;
                for _ in 0..=missed {
                    self.back_off();
                }
                self.timer.set(at, Job::Timeout, self.rto);
            }
            Cause::Probe | Cause::OtherProbe => {
                if best.cause == Cause::OtherProbe {
                    self.learn_minimum(moment);
                }
                self.probe = Some(board.nxt);
                self.probe_retransmitted = true;
                self.timer.set(at, Job::Timeout, self.rto);
                self.note_retransmission(Mechanism::Tlp);
                return;
            }
            Cause::Reordering => {
                self.on_reordering_timer(board, at);
                if pieces.start == 0 {
                    self.timer.set(at, Job::Timeout, self.rto);
                }
                if self.state != State::Recovery {
                    self.enter_recovery(board, at);
                }
            }
            Cause::None => {
                self.note_unexplained(board, pieces);
                return;
            }
            Cause::EarlyRetransmit => self.on_early_retransmit_timer(board, at),
            Cause::Ack => {
                if self.state < State::Recovery {
                    let lower = self.lower_threshold(board, pieces.start).is_some();
                    if lower {
                        self.learn_threshold(board);
                    }
                    self.enter_recovery(board, moment.ack_at);
                    self.began_by = best.mechanism;
                    if lower && !self.settings.rack {
                        self.mark_by_count(board, true);
                    }
                }
                if self.state == State::Loss {
                    self.frto = false;
                }
            }
        }
        self.entered = None;
        self.unless_more = false;
        let restarts = matches!(best.cause, Cause::Ack | Cause::EarlyRetransmit);
        if restarts && pieces.start == 0 && self.timer.job() != Some(Job::Reordering) {
            self.timer.set(at, Job::Timeout, self.rto);
        }
        for index in pieces.clone() {
            if self.marks(board, index) & LOST == 0 && self.newer() {
                self.mark_lost(board, index);
            }
            self.mark_retransmitted(board, index);
        }
        if self.timed.is_some() {
            self.timed = None;
        }
        self.note_rate_sent(packets);
        self.note_undo_retransmission(best.mechanism, moment.stamp, packets);
        self.note_retransmission(best.mechanism);
    }

    /// `tcp_enter_loss`
    pub(super) fn enter_loss(&mut self, board: &mut Board, now: Time) {
        let first = self.state < State::Recovery;
        let anew = self.state <= State::Disorder
            || !self.point.is_after(board.una)
            || (self.state == State::Loss && self.timeouts == 0);
        let by_rack =
            self.settings.timeout_marks == TimeoutMarks::Rack && self.settings.rack && board.sack;
        if !board.sack {
            self.dups = 0;
        }
        if self.newer() {
            for index in 0..board.len() {
                let piece = *board.at(index);
                let young = self.rack_wait(&piece, Duration::ZERO, now) > Duration::ZERO;
                if by_rack && index > 0 && young {
                    continue;
                }
                self.mark_lost(board, index);
            }
            if anew {
                self.begin_undo(board);
            }
            let threshold = self.threshold;
            if self.state <= State::Disorder && self.delivered_above(board) >= threshold {
                self.reordering = self.reordering.min(threshold);
            }
            self.frto = self.settings.frto && (first || self.timeouts > 0);
        } else {
            let retransmitted_before = board.pieces().any(|piece| piece.retransmissions > 0);
            for index in 0..board.len() {
                self.mark_lost(board, index);
            }
            self.undo.retransmissions = 0;
            self.undo.marker = (self.settings.undo && !retransmitted_before).then_some(board.una);
            self.reordering = self.reordering.min(self.settings.dupack_threshold);
            self.frto = self.settings.frto && (anew || self.timeouts > 0);
        }
        self.state = State::Loss;
        self.before = None;
        self.loss_at = Some(now);
        self.point = board.nxt;
        self.probe = None;
        self.shrink_window(board);
    }
}
