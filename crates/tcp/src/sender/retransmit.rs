//! The walk over what is to be sent again: what [`recovery::retransmit`](crate::recovery::retransmit) decides, carried out.

use rexmit_wire::SeqNum;

use super::queue::Sent;
use super::Sender;
use crate::recovery::machine::Clock as _;
use crate::recovery::retransmit::{self, Forward, Phase, Step, View};
use crate::recovery::Job;
use crate::settings::PacketSizing;
use crate::words::Mechanism;

impl Sender {
    /// Sends again what is lost, as far as the congestion window allows, and then, where the stack does so and no new data can
    /// be sent, what is not SACKed below the highest SACK (`tcp_xmit_retransmit_queue`).
    pub(super) fn send_lost(&mut self) {
        if self.queue.counts.out == 0 {
            return;
        }
        let (mut index, mut last_lost) = self.begin_walk();
        let mut hole = None;
        let mut forward = false;
        while index < self.queue.len() {
            if hole.is_none() {
                self.queue.retransmit_hint = Some(self.queue.id(index));
            }
            let mut segment = *self.queue.at(index);
            let mut step = self.step_at(&segment, forward);
            if step == Step::GoForward {
                self.fack.lost_end = last_lost;
                if !self.may_go_forward() {
                    return;
                }
                forward = true;
                // Back to the first that was passed over. The marks of the segment left are in force for one step.
                index = hole.take().unwrap_or(index);
                let marks = segment.marks;
                segment = *self.queue.at(index);
                segment.marks = marks;
                step = self.step_at(&segment, true);
            }
            match step {
                Step::Stop | Step::GoForward => return,
                Step::Pass => {}
                Step::PassHole => hole = hole.or(Some(index)),
                Step::Send => {
                    if !self.send_again(index) {
                        return;
                    }
                }
            }
            if !forward && segment.is_lost() {
                last_lost = segment.end;
            }
            index += 1;
        }
    }

    /// Where the walk begins, and the end of the last lost segment before that.
    fn begin_walk(&mut self) -> (usize, SeqNum) {
        if self.queue.counts.lost == 0 {
            self.fack.lost_end = self.una;
        }
        let Some(hint) = self.queue.retransmit_hint else {
            return (0, self.una);
        };
        let index = self.queue.index_of_id(hint);
        let end = self.queue.at(index).end;
        let lost_end = self.fack.lost_end;
        let last_lost = if end.is_after(lost_end) {
            lost_end
        } else {
            end
        };
        (index, last_lost)
    }

    fn step_at(&self, segment: &Sent, forward: bool) -> Step {
        let cwnd = self.congestion.window.cwnd;
        let phase = if forward {
            Phase::Forward {
                below_highest_sack: segment.seq.is_before(self.queue.highest_sack(self.una)),
            }
        } else {
            Phase::Lost {
                all_sent: self.lost_are_sent(segment),
            }
        };
        retransmit::step(&View {
            room: cwnd.saturating_sub(self.queue.in_flight()),
            phase,
            lost: segment.is_lost(),
            sacked: segment.is_sacked(),
            retransmission_out: segment.has_retransmission_out(),
        })
    }

    /// Whether the walk has all behind it that is lost. Where it may go forward, retransmissions of what is not lost are out as
    /// well, and it goes by the end of what is lost (`retransmit_high`).
    fn lost_are_sent(&self, segment: &Sent) -> bool {
        if self.settings.loss.forward_retransmit {
            !segment.seq.is_before(self.fack.lost_end)
        } else {
            self.queue.counts.retransmissions >= self.queue.counts.lost
        }
    }

    fn may_go_forward(&self) -> bool {
        retransmit::may_go_forward(&Forward {
            on: self.settings.loss.forward_retransmit,
            state: self.episode.state,
            sack: self.sack,
            new_data_can_go: self.can_send_now(),
        })
    }

    /// Sends a segment again; a retransmission of the head starts a fresh timeout. Whether it went out.
    fn send_again(&mut self, index: usize) -> bool {
        let len = self.queue.at(index).len();
        if self.settings.segments.small_queue_retransmits && self.host_is_full(len, true) {
            return false;
        }
        if self.queue.counts.retransmissions == 0 {
            self.fack.retransmitted_low = self.nxt;
        }
        let mechanism = self.mechanism_of_retransmission();
        if !self.retransmit(index, self.segments_again(), mechanism) {
            return false;
        }
        if self.episode.in_reduction() {
            self.congestion.prr.sent += self.queue.at(index).count();
        }
        if index == 0 && self.timing.timer.job() != Some(Job::Reordering) {
            self.set_timer(Job::Timeout, self.timing.rto);
        }
        true
    }

    /// Segments that a retransmission may hold.
    fn segments_again(&self) -> u32 {
        let cwnd = self.congestion.window.cwnd;
        match self.settings.segments.packet_sizing {
            PacketSizing::Window => 1,
            PacketSizing::PacingRate => cwnd
                .saturating_sub(self.queue.in_flight())
                .min(self.burst_segments()),
        }
    }

    /// What a retransmission from the queue of the lost is called: as the kernel counts it, and by what finds losses here.
    fn mechanism_of_retransmission(&self) -> Mechanism {
        let rack = self.settings.loss.rack;
        self.episode
            .causes
            .of_lost(self.episode.state, self.sack, rack)
    }
}
