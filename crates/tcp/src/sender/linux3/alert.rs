//! The states and what moves between them (`tcp_fastretrans_alert`, 3.10); the table is that of the newer `alert`, but a
//! recovery begins by counting, and Loss never turns into Recovery.

use super::super::ack_outcome::AckOutcome;
use super::super::nagle::Hold;
use super::super::{Sender, State};
use super::ack::Before;
use crate::recovery::dupack::{self, Count, Reason};
use crate::recovery::frto::Verdict;
use crate::recovery::undo::FirstRetransmission;
use crate::words::Mechanism;

impl Sender {
    /// Takes a doubtful acknowledgement of `acked` segments, and sends again what it allows.
    pub(super) fn alert_linux3(
        &mut self,
        before: &Before,
        acked: u32,
        duplicate: bool,
        outcome: AckOutcome,
    ) {
        let far = dupack::reach_is_far(self.fack_reach(), self.detection.threshold);
        let mut mark = duplicate || (outcome.any(AckOutcome::SACKED) && far);
        if self.queue.out == 0 {
            self.queue.sacked = 0;
        }
        if self.queue.sacked == 0 {
            self.detection.fack.reach = 0;
        }
        if outcome.any(AckOutcome::RENEGING) {
            self.forget_sacks();
            return;
        }
        if self.episode.state == State::Open {
            self.episode.undo.first = FirstRetransmission::None;
        } else if !self.una.is_before(self.episode.point) && self.leave_at_recovery_point() {
            return;
        }
        let mut begins = false;
        match self.episode.state {
            State::Recovery => {
                if outcome.any(AckOutcome::ADVANCED) {
                    mark = self.undo_partly_linux3(acked);
                } else if !self.sack && duplicate {
                    self.add_duplicate(1);
                }
            }
            State::Loss => {
                self.process_loss_linux3(outcome, duplicate);
                if self.episode.state != State::Open {
                    return;
                }
                begins = self.consider_recovery_linux3(before, duplicate, outcome);
                if !begins {
                    return;
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                begins = self.consider_recovery_linux3(before, duplicate, outcome);
                if !begins {
                    return;
                }
            }
        }
        if mark || (self.detection.fack.on && self.head_timed_out()) {
            self.update_scoreboard_linux3(begins);
        }
        let delivered = self.newly_delivered(before);
        self.step_reduction(delivered, 0, false, begins);
        self.send_lost_linux3();
    }

    /// Segments newly acknowledged or SACKed.
    fn newly_delivered(&self, before: &Before) -> u32 {
        (before.out + self.queue.sacked).saturating_sub(self.queue.out + before.sacked)
    }

    /// Where nothing is being repaired: whether a recovery begins; else the state becomes Open or Disorder.
    fn consider_recovery_linux3(
        &mut self,
        before: &Before,
        duplicate: bool,
        outcome: AckOutcome,
    ) -> bool {
        if !self.sack {
            if outcome.any(AckOutcome::ADVANCED) {
                self.queue.sacked = 0;
            }
            if duplicate {
                self.add_duplicate(1);
            }
        }
        let delivered = self.newly_delivered(before);
        if self.episode.state <= State::Disorder {
            self.try_undo_by_dsack();
        }
        let Some(by) = self.reason_to_recover() else {
            self.try_to_open_linux3(delivered);
            return false;
        };
        self.enter_recovery();
        self.causes.began_by = by;
        true
    }

    /// Why a recovery should begin, if it should (`tcp_time_to_recover`).
    fn reason_to_recover(&mut self) -> Option<Mechanism> {
        let new_data_can_go = self.may_send_now();
        let view = Count {
            packets_out: self.queue.out,
            sacked_out: self.queue.sacked,
            lost_out: self.queue.lost,
            threshold: self.detection.threshold,
            least_threshold: self.settings.dupack_threshold,
            fack: self.detection.fack.on.then_some(self.detection.fack.reach),
            head_timed_out: self.head_timed_out(),
            new_data_can_go,
        };
        match dupack::reason(&view) {
            Some(Reason::Fack) => Some(Mechanism::Fack),
            Some(Reason::Lost | Reason::Duplicates | Reason::FewOut) => {
                Some(Mechanism::FastRetransmit)
            }
            None if self.retransmits_early(new_data_can_go) => Some(Mechanism::EarlyRetransmit),
            None => None,
        }
    }

    /// `tcp_try_to_open`
    fn try_to_open_linux3(&mut self, delivered: u32) {
        self.forget_stamp();
        if self.episode.state == State::Cwr {
            self.step_reduction(delivered, 0, false, false);
            return;
        }
        self.keep_open();
        if self.episode.state != State::Open {
            self.moderate_window();
        }
    }

    /// What acknowledgements say in the state Loss (`tcp_process_loss`).
    fn process_loss_linux3(&mut self, outcome: AckOutcome, duplicate: bool) {
        let recovered = !self.una.is_before(self.episode.point);
        match self.frto_verdict(outcome, duplicate) {
            Verdict::Spurious => {
                self.try_undo_loss(true);
                return;
            }
            Verdict::Real => self.episode.frto = false,
            Verdict::SendNew => {
                self.episode.point = self.nxt;
                self.push_with(Hold::OFF);
                if self.nxt.is_after(self.episode.point) {
                    return;
                }
                self.episode.frto = false;
            }
            Verdict::Open => {}
        }
        if recovered {
            self.timing.timeouts = 0;
            self.end_recovery();
            return;
        }
        if outcome.any(AckOutcome::ACKED) {
            self.timing.timeouts = 0;
        }
        if !self.sack {
            if self.nxt.is_after(self.episode.point) && duplicate {
                self.add_duplicate(1);
            } else if outcome.any(AckOutcome::ADVANCED) {
                self.queue.sacked = 0;
            }
        }
        if !self.try_undo_loss(false) {
            self.send_lost_linux3();
        }
    }

    /// The acknowledgement ended at a segment that was SACKed: the receiver dropped it, and all SACKs are void (RFC 2018 §8;
    /// `tcp_check_sack_reneging`).
    fn forget_sacks(&mut self) {
        self.enter_loss_linux3(true);
        self.timing.timeouts += 1;
        self.retransmit(0, 1, Mechanism::Rto);
        self.set_timer(crate::recovery::Job::Timeout, self.timing.rto);
    }
}
