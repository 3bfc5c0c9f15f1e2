//! What a sender does that has sent again: how its state goes on.

use rexmit_tcp::recovery::{machine, CaState};
use rexmit_tcp::settings::{AckOrder, Reneging};
use rexmit_tcp::Mechanism;

use super::causes::SLIGHTLY;
use super::explain::{Candidate, Cause, Moment};
use super::{EmulatedSender, Minimum};
use crate::emulate::board::Board;
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
        match best.cause {
            Cause::Timeout { .. } | Cause::OtherTimeout => {
                let missed = match best.cause {
                    Cause::Timeout { missed } => missed,
                    _ => 0,
                };
                if best.cause == Cause::OtherTimeout {
                    self.timing.learn_minimum(at, self.episode.timeouts > 0);
                }
                self.note_end_of_recovery();
                let off = self.timing.clock.off_phase(at);
                if off.is_some_and(|off| !is_in_phase(off, moment.slack)) {
                    self.timing.clock.forget_phase();
                }
                // What the receiver dropped brings a timeout that tells nothing of the usual one.
                let reneged = self.sees_reneging(board);
                let own = best.cause == (Cause::Timeout { missed: 0 }) && !reneged;
                if self.timing.timers.timer.job() == Some(Job::Timeout) && own {
                    let open = self.timing.trips.minimum == Minimum::Open;
                    if open && best.fit > SLIGHTLY && self.timing.shows_minimum() {
                        self.timing.trips.minimum = Minimum::Proved;
                    }
                    let backed_off = self.episode.timeouts > 0;
                    self.timing.learn_from_timeout(at, moment.slack, backed_off);
                }
                machine::enter_loss_by_timeout(&mut self.at(board, at));
                self.episode.timeouts += 1 + missed;
                let at_once = reneged && self.settings.loss.reneging == Reneging::Timeout;
                for _ in u32::from(at_once)..=missed {
                    self.timing.timers.back_off(self.settings);
                }
                self.timing.timers.set_to_timeout(at);
            }
            Cause::Probe | Cause::OtherProbe => {
                if best.cause == Cause::OtherProbe {
                    self.timing.learn_minimum(at, self.episode.timeouts > 0);
                }
                self.episode.probe.high = Some(board.nxt);
                self.episode.probe.retransmission = true;
                self.timing.timers.set_to_timeout(at);
                self.episode.causes.note(Mechanism::Tlp);
                return;
            }
            Cause::Reordering => {
                machine::on_reordering_timer(&mut self.at(board, at));
                if pieces.start == 0 {
                    self.timing.timers.set_to_timeout(at);
                }
                if self.episode.state != CaState::Recovery {
                    machine::enter_recovery(&mut self.at(board, at));
                }
            }
            Cause::None => {
                self.note_unexplained(board, pieces);
                return;
            }
            Cause::EarlyRetransmit => {
                machine::on_early_retransmit_timer(&mut self.at(board, at));
            }
            Cause::WithoutFrto => self.go_on_without_frto(board, moment),
            Cause::Ack => {
                if self.episode.state < CaState::Recovery {
                    let lower = self.lower_threshold(board, pieces.start).is_some();
                    if lower {
                        self.learn_threshold(board);
                    }
                    machine::enter_recovery(&mut self.at(board, moment.ack_at));
                    self.episode.causes.began_by = best.mechanism;
                    if lower && !self.settings.loss.rack {
                        machine::mark_by_count(&mut self.at(board, at), true);
                    }
                }
                if self.episode.state == CaState::Loss {
                    self.episode.frto = false;
                }
                let piece = board.get(pieces.start);
                self.course.forward |= piece.is_some_and(|piece| {
                    !self.marks.is_lost(piece) && self.may_go_forward(board, piece.start)
                });
            }
        }
        self.course.entered = None;
        self.course.unless_more = false;
        let restarts = matches!(
            best.cause,
            Cause::Ack | Cause::EarlyRetransmit | Cause::WithoutFrto
        );
        if restarts && pieces.start == 0 && self.timing.timers.timer.job() != Some(Job::Reordering)
        {
            self.timing.timers.set_to_timeout(at);
        }
        for index in pieces.clone() {
            if self.settings.loss.ack_order == AckOrder::LossesFirst
                && !self.marks.is_lost(board.at(index))
            {
                self.marks.mark_lost(board, index);
            }
            self.marks.mark_retransmitted(board, index);
        }
        self.timing.trips.timed = None;
        self.flight.rate.note_sent(moment.packets);
        self.course.note_again_after_frto(moment);
        self.note_undo_retransmission(best.mechanism, moment);
        self.episode.causes.note(best.mechanism);
    }
}
