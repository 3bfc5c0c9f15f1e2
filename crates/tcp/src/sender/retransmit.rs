//! The walk over what is to be sent again (`tcp_xmit_retransmit_queue`, 3.10): the lost first, then, if no new data can be
//! sent, what is not SACKed below the highest SACK.

use super::queue::Marks;
use super::{Sender, State};
use crate::recovery::Job;
use crate::words::Mechanism;

impl Sender {
    pub(super) fn send_lost_forward(&mut self) {
        if self.queue.out == 0 {
            return;
        }
        if self.queue.lost == 0 {
            self.detection.fack.lost_end = self.una;
        }
        let (mut index, mut last_lost) = match self.queue.retransmit_hint {
            Some(id) => {
                let index = self.queue.index_of_id(id);
                let end = self.queue.at(index).end;
                let beyond = end.is_after(self.detection.fack.lost_end);
                (
                    index,
                    if beyond {
                        self.detection.fack.lost_end
                    } else {
                        end
                    },
                )
            }
            None => (0, self.una),
        };
        let mut hole = None;
        let mut forward = false;
        while index < self.queue.len() {
            if hole.is_none() {
                self.queue.retransmit_hint = Some(self.queue.id(index));
            }
            if self.queue.in_flight() >= self.congestion.window.cwnd {
                return;
            }
            let mut segment = *self.queue.at(index);
            // Going back below leaves the marks of the segment it was left at in force for one step.
            let marks = segment.marks;
            if !forward && !segment.seq.is_before(self.detection.fack.lost_end) {
                self.detection.fack.lost_end = last_lost;
                if !self.may_retransmit_forward() {
                    return;
                }
                // Back to the first that was passed over.
                index = hole.take().unwrap_or(index);
                segment = *self.queue.at(index);
                forward = true;
            }
            if forward {
                let end = self.queue.highest_sack(self.una);
                if !segment.seq.is_before(end) {
                    return;
                }
            } else if segment.is_lost() {
                last_lost = segment.end;
            } else {
                if hole.is_none() && !segment.has_retransmission_out() && !segment.is_sacked() {
                    hole = Some(index);
                }
                index += 1;
                continue;
            }
            if marks.any(Marks::SACKED | Marks::RETRANSMISSION_OUT) {
                index += 1;
                continue;
            }
            let mechanism = self.mechanism_of_retransmission();
            if !self.send_again(index, mechanism) {
                return;
            }
            index += 1;
        }
    }

    /// Sends a segment again; a retransmission of the head starts a fresh timeout. Whether it went out.
    fn send_again(&mut self, index: usize, mechanism: Mechanism) -> bool {
        if self.queue.retransmissions_out == 0 {
            self.detection.fack.retransmitted_low = self.nxt;
        }
        if !self.retransmit(index, 1, mechanism) {
            return false;
        }
        if self.in_reduction() {
            self.episode.prr.sent += self.queue.at(index).count();
        }
        if index == 0 {
            self.set_timer(Job::Timeout, self.timing.rto);
        }
        true
    }

    /// `tcp_can_forward_retransmit`; RFC 6675 §4 NextSeg rule 3
    fn may_retransmit_forward(&self) -> bool {
        self.settings.forward_retransmit
            && self.episode.state == State::Recovery
            && self.sack
            && !self.may_send_now()
    }
}
