//! The walk over what is to be sent again: what [`recovery::retransmit`](crate::recovery::retransmit) decides of each segment.

use rexmit_wire::SeqNum;

use super::queue::SentSegment;
use super::Flight;
use crate::recovery::retransmit::{self, Phase, View, WalkStep};

/// A walk over what is to be sent again: what is lost, and then, where the stack does so and no new data can be sent, what is
/// not SACKed below the highest SACK (`tcp_xmit_retransmit_queue`).
#[derive(Debug)]
pub struct Walk {
    index: usize,
    /// After the last lost segment that was passed.
    last_lost: SeqNum,
    /// The first segment that was passed over and may be sent again when the walk goes forward.
    hole: Option<usize>,
    forward: bool,
}

impl Walk {
    /// Begins where the last walk stopped.
    pub fn begin(flight: &mut Flight) -> Self {
        let una = flight.una;
        if flight.queue.counts.lost == 0 {
            flight.fack.lost_end = una;
        }
        let mut walk = Walk {
            index: 0,
            last_lost: una,
            hole: None,
            forward: false,
        };
        if let Some(hint) = flight.queue.retransmit_hint {
            walk.index = flight.queue.index_of_id(hint);
            let (end, lost_end) = (flight.queue.at(walk.index).end, flight.fack.lost_end);
            walk.last_lost = if end.is_after(lost_end) {
                lost_end
            } else {
                end
            };
        }
        walk
    }

    /// The next segment that is to be sent again, as far as the congestion window allows.
    pub fn next(&mut self, flight: &mut Flight, cwnd: u32, may_go_forward: bool) -> Option<usize> {
        while self.index < flight.queue.len() {
            if self.hole.is_none() {
                flight.queue.retransmit_hint = Some(flight.queue.id(self.index));
            }
            let mut segment = *flight.queue.at(self.index);
            let mut step = self.step_at(flight, &segment, cwnd);
            if step == WalkStep::GoForward {
                flight.fack.lost_end = self.last_lost;
                if !may_go_forward {
                    return None;
                }
                self.forward = true;
                // Back to the first that was passed over. The marks of the segment left are in force for one step.
                self.index = self.hole.take().unwrap_or(self.index);
                let marks = segment.marks;
                segment = *flight.queue.at(self.index);
                segment.marks = marks;
                step = self.step_at(flight, &segment, cwnd);
            }
            let index = self.index;
            match step {
                WalkStep::Stop | WalkStep::GoForward => return None,
                WalkStep::PassHole => self.hole = self.hole.or(Some(index)),
                WalkStep::Pass | WalkStep::Send => {}
            }
            if !self.forward && segment.is_lost() {
                self.last_lost = segment.end;
            }
            self.index += 1;
            if step == WalkStep::Send {
                return Some(index);
            }
        }
        None
    }

    fn step_at(&self, flight: &Flight, segment: &SentSegment, cwnd: u32) -> WalkStep {
        let queue = &flight.queue;
        let phase = if self.forward {
            Phase::Forward {
                below_highest_sack: segment.seq.is_before(queue.highest_sack(flight.una)),
            }
        } else {
            Phase::Lost {
                all_sent: flight.lost_are_sent(segment),
            }
        };
        retransmit::step(&View {
            room: cwnd.saturating_sub(queue.in_flight()),
            phase,
            lost: segment.is_lost(),
            sacked: segment.is_sacked(),
            retransmission_out: segment.has_retransmission_out(),
        })
    }
}

impl Flight {
    /// Whether the walk has all behind it that is lost. Where it may go forward, retransmissions of what is not lost are out as
    /// well, and it goes by the end of what is lost (`retransmit_high`).
    fn lost_are_sent(&self, segment: &SentSegment) -> bool {
        if self.settings.loss.forward_retransmit {
            !segment.seq.is_before(self.fack.lost_end)
        } else {
            self.queue.counts.retransmissions >= self.queue.counts.lost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flight_of;
    use super::*;

    /// The segments that a walk sends again, each of which leaves.
    fn walked(flight: &mut Flight, cwnd: u32, forward: bool) -> Vec<usize> {
        let mut walk = Walk::begin(flight);
        let mut sent = Vec::new();
        while let Some(index) = walk.next(flight, cwnd, forward) {
            flight.count_retransmission(index);
            sent.push(index);
        }
        sent
    }

    #[test]
    fn the_window_bounds_a_walk_and_the_next_goes_on_where_it_stopped() {
        let mut flight = flight_of("linux-6.12", 8);
        for index in [1, 3, 4] {
            flight.queue.mark_lost(index);
        }
        assert_eq!(flight.in_flight(), 5);
        assert_eq!(walked(&mut flight, 7, false), [1, 3]);
        assert_eq!(walked(&mut flight, 8, false), [4]);
        assert_eq!(walked(&mut flight, 99, false), [0; 0]);
    }

    #[test]
    fn linux_3_10_goes_on_below_the_highest_sack_when_no_new_data_can_be_sent() {
        for (forward, more) in [(false, vec![]), (true, vec![2])] {
            let mut flight = flight_of("linux-3.10", 5);
            flight.fack.mark_lost(&mut flight.queue, 1);
            flight
                .queue
                .at_mut(3)
                .marks
                .set(super::super::Marks::SACKED);
            flight.queue.counts.sacked = 1;
            let end = flight.queue.at(3).end;
            flight.queue.advance_highest_sack(end);
            let expected = [vec![1], more].concat();
            assert_eq!(walked(&mut flight, 99, forward), expected, "{forward}");
        }
    }
}
