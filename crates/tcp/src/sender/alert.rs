//! The states and what moves between them (`tcp_fastretrans_alert`).
//!
//! | state | left for | when |
//! |---|---|---|
//! | Open, Disorder | Recovery | something is marked lost |
//! | Open | Disorder | something is SACKed, doubled or retransmitted, nothing lost |
//! | Disorder | Open | nothing is any more |
//! | Cwr | Open | something beyond the recovery point is acknowledged |
//! | Recovery | Open | the recovery point is acknowledged; without SACK, something beyond it |
//! | Recovery | Open, Disorder | D-SACKs or timestamps prove the recovery spurious |
//! | Loss | Open | the recovery point is acknowledged, or the timeout proves spurious |
//! | Loss | Recovery | a retransmission is found lost, in 6.x |
//! | any | Loss | the timeout fires |
//!
//! The setting `ack_order` says what comes first. With [`AckOrder::LossesFirst`] losses are looked for at each step, a
//! recovery begins once something is marked lost, and the window follows when all is done. With
//! [`AckOrder::RecoveryFirst`] a recovery begins by counting, losses are marked then and while it runs, and the window follows
//! here.

use super::ack_outcome::{AckOutcome, Resume};
use super::{Sender, State};
use crate::recovery::reneging;
use crate::recovery::undo::FirstRetransmission;
use crate::recovery::Job;
use crate::settings::{AckOrder, Reneging};
use crate::words::Mechanism;

/// What an acknowledgement brought, and what was out before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubtful {
    /// The first byte not acknowledged before it.
    pub prior_una: rexmit_wire::SeqNum,
    /// Segments out and SACKed before it.
    pub prior_out: u32,
    pub prior_sacked: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// Segments up to the highest SACK before it, and that SACK; without one, the first byte not acknowledged.
    pub prior_reach: u32,
    pub prior_highest: rexmit_wire::SeqNum,
    /// Segments that it acknowledges.
    pub acked: u32,
    /// Duplicates that it stands for.
    pub duplicates: u32,
}

impl Sender {
    /// Takes a doubtful acknowledgement; returns what may be sent again after it.
    pub(super) fn alert(&mut self, view: &Doubtful, outcome: &mut AckOutcome) -> Resume {
        let sacked = outcome.any(AckOutcome::SACKED);
        let mut count_losses = view.duplicates > 0 || (sacked && self.sack_is_far());
        if self.queue.out == 0 {
            self.queue.sacked = 0;
        }
        if self.queue.sacked == 0 {
            self.detection.fack.reach = 0;
        }
        if self.meets_reneging(outcome) {
            return Resume::Nothing;
        }
        if self.episode.state == State::Open {
            self.episode.undo.first = FirstRetransmission::None;
        } else if !self.una.is_before(self.episode.point) && self.leave_at_recovery_point() {
            return Resume::Nothing;
        }
        let mut begins = false;
        match self.episode.state {
            State::Recovery => {
                if !outcome.any(AckOutcome::ADVANCED) {
                    if !self.sack {
                        self.add_duplicate(view.duplicates);
                    }
                } else if self.undo_partly(view, &mut count_losses) {
                    return Resume::Nothing;
                }
                if !self.goes_on_recovering(view, outcome) {
                    return Resume::Nothing;
                }
            }
            State::Loss => {
                let resume = self.process_loss(*outcome, view.duplicates);
                self.find_losses(outcome);
                if self.episode.state != State::Open
                    && !outcome.any(AckOutcome::LOST_RETRANSMISSION)
                {
                    return resume;
                }
                begins = self.consider_recovery(view, outcome);
                if !begins {
                    return resume;
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                begins = self.consider_recovery(view, outcome);
                if !begins {
                    return Resume::Nothing;
                }
            }
        }
        match self.settings.ack_order {
            AckOrder::RecoveryFirst => {
                if count_losses || (self.detection.fack.on && self.head_timed_out()) {
                    self.update_scoreboard(begins);
                }
                let delivered = self.newly_delivered(view);
                self.step_reduction(delivered, 0, false, begins);
            }
            AckOrder::LossesFirst if !self.settings.rack && count_losses => {
                self.mark_lost_by_count(begins);
            }
            AckOrder::LossesFirst => {}
        }
        Resume::Lost
    }

    /// Segments newly acknowledged or SACKed.
    fn newly_delivered(&self, view: &Doubtful) -> u32 {
        let before = view.prior_out + self.queue.sacked;
        before.saturating_sub(self.queue.out + view.prior_sacked)
    }

    /// In recovery it is asked, where losses come first, whether D-SACKs end it, and losses are looked for. Whether a recovery
    /// goes on, or begins anew.
    fn goes_on_recovering(&mut self, view: &Doubtful, outcome: &mut AckOutcome) -> bool {
        if self.settings.ack_order == AckOrder::RecoveryFirst {
            return true;
        }
        if self.try_undo_by_dsack() {
            self.try_to_open(view);
        }
        self.find_losses(outcome);
        if self.episode.state == State::Recovery {
            return true;
        }
        let begins = self.reason_to_recover().is_some();
        if begins {
            self.enter_recovery();
        }
        begins
    }

    /// Where nothing is being repaired: a recovery begins if it should, which is returned; else the state becomes Open or
    /// Disorder.
    fn consider_recovery(&mut self, view: &Doubtful, outcome: &mut AckOutcome) -> bool {
        if !self.sack {
            if outcome.any(AckOutcome::ADVANCED) {
                self.queue.sacked = 0;
            }
            self.add_duplicate(view.duplicates);
        }
        if self.episode.state <= State::Disorder {
            self.try_undo_by_dsack();
        }
        self.find_losses(outcome);
        let Some(by) = self.reason_to_recover() else {
            self.try_to_open(view);
            return false;
        };
        self.enter_recovery();
        self.causes.began_by = by;
        true
    }

    /// Why a recovery should begin, if it should (`tcp_time_to_recover`).
    fn reason_to_recover(&mut self) -> Option<Mechanism> {
        match self.settings.ack_order {
            AckOrder::RecoveryFirst => self.reason_by_counting(),
            AckOrder::LossesFirst => {
                let by_count = !self.settings.rack && self.duplicates_say_lost();
                (self.queue.lost > 0 || by_count).then_some(Mechanism::FastRetransmit)
            }
        }
    }

    /// The acknowledgement ended at a segment that was SACKed: the receiver may have dropped it (RFC 2018 §8;
    /// `tcp_check_sack_reneging`). Whether nothing more is to be done.
    fn meets_reneging(&mut self, outcome: &mut AckOutcome) -> bool {
        if !outcome.any(AckOutcome::RENEGING) {
            return false;
        }
        match self.settings.reneging {
            Reneging::Timeout => self.forget_sacks(),
            Reneging::Wait if outcome.any(AckOutcome::ADVANCED) => {
                let wait = reneging::wait(self.timing.rtt.srtt_fraction());
                self.set_timer(Job::Timeout, wait);
                outcome.clear(AckOutcome::SET_TIMER);
            }
            Reneging::Wait => return false,
        }
        true
    }

    /// The recovery point is acknowledged. Whether nothing more is to be done.
    pub(super) fn leave_at_recovery_point(&mut self) -> bool {
        match self.episode.state {
            State::Cwr => {
                if self.una != self.episode.point {
                    self.end_reduction();
                    self.set_state(State::Open);
                }
            }
            State::Recovery => {
                if !self.sack {
                    self.queue.sacked = 0;
                }
                if self.end_recovery() {
                    return true;
                }
                self.end_reduction();
            }
            State::Open | State::Disorder | State::Loss => {}
        }
        false
    }

    /// What is marked lost before it is asked whether a recovery is to begin, where losses come first
    /// (`tcp_identify_packet_loss`).
    fn find_losses(&mut self, outcome: &mut AckOutcome) {
        if self.queue.is_empty() || self.settings.ack_order == AckOrder::RecoveryFirst {
            return;
        }
        if !self.sack {
            self.mark_lost_by_duplicates(outcome.any(AckOutcome::ADVANCED));
        } else if self.settings.rack {
            self.mark_lost_by_rack(outcome);
        }
    }

    /// `tcp_enter_recovery`
    pub(super) fn enter_recovery(&mut self) {
        if self.settings.retrans_stamp_cleanup {
            self.forget_stamp();
        }
        self.counters.recoveries += 1;
        self.causes.recovery_began = true;
        self.episode.prior_ssthresh = 0;
        self.begin_undo();
        if !self.in_reduction() {
            self.episode.prior_ssthresh = self.current_ssthresh();
            self.begin_reduction();
        }
        self.set_state(State::Recovery);
    }

    /// Disorder while something is SACKed, lost or retransmitted, else Open (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self) {
        let any = self.any_retransmission_out();
        let state = State::at_peace(self.queue.left_out(), any);
        if self.episode.state != state {
            self.set_state(state);
            self.episode.point = self.nxt;
        }
    }

    /// `tcp_try_to_open`
    fn try_to_open(&mut self, view: &Doubtful) {
        let window_follows = self.settings.ack_order == AckOrder::RecoveryFirst;
        self.forget_stamp();
        if self.episode.state == State::Cwr {
            if window_follows {
                let delivered = self.newly_delivered(view);
                self.step_reduction(delivered, 0, false, false);
            }
            return;
        }
        self.keep_open();
        if window_follows && self.episode.state != State::Open {
            self.moderate_window();
        }
    }
}
