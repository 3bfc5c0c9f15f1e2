//! What acknowledgements say in the state Loss: was the timeout spurious ([`recovery::frto`](crate::recovery::frto)), is it
//! over.

use super::ack_outcome::{AckOutcome, Resume};
use super::nagle::Hold;
use super::Sender;
use crate::recovery::frto::{self, Answer, Verdict};
use crate::settings::AckOrder;

impl Sender {
    /// What an acknowledgement says of the timeout, if F-RTO's test runs.
    pub(super) fn frto_verdict(&self, outcome: AckOutcome, duplicate: bool) -> Verdict {
        if !self.episode.frto {
            return Verdict::Open;
        }
        let answer = Answer {
            original: outcome.any(AckOutcome::ORIGINAL),
            advanced: outcome.any(AckOutcome::ADVANCED),
            sacked_or_duplicate: outcome.any(AckOutcome::SACKED) || duplicate,
            new_data_sent: self.nxt.is_after(self.episode.point),
            point_acknowledged: !self.una.is_before(self.episode.point),
        };
        frto::on_ack(self.settings.frto_test, &answer)
    }

    /// What an acknowledgement says in the state Loss; returns what may be sent after it (`tcp_process_loss`). Where losses
    /// come first, undo by timestamps and D-SACK is asked for first, else last, and new data are then sent at once.
    pub(super) fn process_loss(&mut self, outcome: AckOutcome, duplicates: u32) -> Resume {
        let losses_first = self.settings.ack_order == AckOrder::LossesFirst;
        let recovered = !self.una.is_before(self.episode.point);
        if losses_first && outcome.any(AckOutcome::ADVANCED) && self.try_undo_loss(false) {
            return Resume::Nothing;
        }
        match self.frto_verdict(outcome, duplicates > 0) {
            Verdict::Spurious => {
                self.try_undo_loss(true);
                return Resume::Nothing;
            }
            Verdict::Real => self.episode.frto = false,
            Verdict::SendNew => {
                self.episode.point = self.nxt;
                if !losses_first {
                    self.push_with(Hold::OFF);
                    if self.nxt.is_after(self.episode.point) {
                        return Resume::Nothing;
                    }
                } else if !self.backlog.is_empty() && self.window_end().is_after(self.nxt) {
                    return Resume::New;
                }
                self.episode.frto = false;
            }
            Verdict::Open => {}
        }
        if !losses_first && (recovered || outcome.any(AckOutcome::ACKED)) {
            self.timing.timeouts = 0;
        }
        if recovered {
            self.end_recovery();
            return Resume::Nothing;
        }
        if !self.sack {
            if self.nxt.is_after(self.episode.point) && duplicates > 0 {
                self.add_duplicate(duplicates);
            } else if outcome.any(AckOutcome::ADVANCED) {
                self.queue.sacked = 0;
            }
        }
        if !losses_first && self.try_undo_loss(false) {
            return Resume::Nothing;
        }
        Resume::Lost
    }
}
