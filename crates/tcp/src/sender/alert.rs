//! The states and what moves between them (`tcp_fastretrans_alert`, 6.x).
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
//! | Loss | Recovery | a retransmission is found lost |
//! | any | Loss | the timeout fires |

use rexmit_wire::SeqNum;

use super::ack_outcome::{AckOutcome, Resume};
use super::{Sender, State};
use crate::recovery::reneging;
use crate::recovery::undo::FirstRetransmission;
use crate::recovery::Job;
use crate::settings::SenderForm;

impl Sender {
    /// Takes a doubtful acknowledgement; returns what may be sent again after it.
    pub(super) fn alert(
        &mut self,
        prior_una: SeqNum,
        duplicates: u32,
        outcome: &mut AckOutcome,
    ) -> Resume {
        let mut count_losses =
            duplicates > 0 || (outcome.any(AckOutcome::SACKED) && self.sack_is_far());
        if self.queue.out == 0 {
            self.queue.sacked = 0;
        }
        if self.wait_for_reneging(outcome) {
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
                        self.add_duplicate(duplicates);
                    }
                } else if self.undo_partly(prior_una, &mut count_losses) {
                    return Resume::Nothing;
                }
                if self.try_undo_by_dsack() {
                    self.try_to_open();
                }
                self.find_losses(outcome);
                if self.episode.state != State::Recovery {
                    if !self.is_time_to_recover() {
                        return Resume::Nothing;
                    }
                    self.enter_recovery();
                }
            }
            State::Loss => {
                let resume = self.process_loss(*outcome, duplicates);
                self.find_losses(outcome);
                if self.episode.state != State::Open
                    && !outcome.any(AckOutcome::LOST_RETRANSMISSION)
                {
                    return resume;
                }
                begins = self.consider_recovery(duplicates, outcome);
                if !begins {
                    return resume;
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                begins = self.consider_recovery(duplicates, outcome);
                if !begins {
                    return Resume::Nothing;
                }
            }
        }
        if !self.settings.rack && count_losses {
            self.mark_lost_by_count(begins);
        }
        Resume::Lost
    }

    /// Where nothing is being repaired: a recovery begins if something is lost, which is returned; else the state becomes
    /// Open or Disorder.
    fn consider_recovery(&mut self, duplicates: u32, outcome: &mut AckOutcome) -> bool {
        if !self.sack {
            if outcome.any(AckOutcome::ADVANCED) {
                self.queue.sacked = 0;
            }
            self.add_duplicate(duplicates);
        }
        if self.episode.state <= State::Disorder {
            self.try_undo_by_dsack();
        }
        self.find_losses(outcome);
        if !self.is_time_to_recover() {
            self.try_to_open();
            return false;
        }
        self.enter_recovery();
        true
    }

    /// The acknowledgement ended at a segment that was SACKed: the receiver may have dropped it. Later SACKs get time to put
    /// that right before a timeout (RFC 2018 §8; `tcp_check_sack_reneging`).
    fn wait_for_reneging(&mut self, outcome: &mut AckOutcome) -> bool {
        if !outcome.any(AckOutcome::RENEGING) || !outcome.any(AckOutcome::ADVANCED) {
            return false;
        }
        let wait = reneging::wait(self.timing.rtt.srtt_fraction());
        self.set_timer(Job::Timeout, wait);
        outcome.clear(AckOutcome::SET_TIMER);
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

    /// An acknowledgement in recovery that stops before its end; timestamps may say that what arrived was only late. Whether
    /// nothing more is to be done (`tcp_try_undo_partial`).
    fn undo_partly(&mut self, prior_una: SeqNum, count_losses: &mut bool) -> bool {
        if self.episode.undo.marker.is_none() || !self.was_only_late() {
            *count_losses = self.sack_is_far();
            return false;
        }
        self.note_reordering(prior_una);
        if self.queue.retransmissions_out > 0 {
            return true;
        }
        self.forget_stamp();
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// `tcp_identify_packet_loss`
    fn find_losses(&mut self, outcome: &mut AckOutcome) {
        if self.queue.is_empty() {
            return;
        }
        if !self.sack {
            self.mark_lost_by_duplicates(outcome.any(AckOutcome::ADVANCED));
        } else if self.settings.rack {
            self.mark_lost_by_rack(outcome);
        }
    }

    /// `tcp_time_to_recover`
    fn is_time_to_recover(&self) -> bool {
        self.queue.lost > 0 || (!self.settings.rack && self.duplicates_say_lost())
    }

    /// `tcp_enter_recovery`
    pub(super) fn enter_recovery(&mut self) {
        if self.settings.sender == SenderForm::Linux6 {
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
    pub(super) fn try_to_open(&mut self) {
        self.forget_stamp();
        if self.episode.state != State::Cwr {
            self.keep_open();
        }
    }
}
