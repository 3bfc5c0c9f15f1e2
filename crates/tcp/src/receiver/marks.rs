//! What a receiver tells of congestion marks (ECN, RFC 3168 §6.1.3; RFC 8257 §3.2).

use rexmit_wire::{Flags, SeqNum};

use super::delay::MOST_QUICK;
use super::{Header, Receiver};
use crate::segment::Segment;
use crate::settings::DelayedAck;

/// Quick acknowledgements after a mark (`__tcp_ecn_check_ce`, since 4.17).
const FEW_QUICK: u32 = 2;

/// The marks of a connection whose ends take them (`ecn_flags`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// Every segment says so until the peer has reduced its window (`TCP_ECN_DEMAND_CWR`).
    pub demands: bool,
    /// A packet came that could be marked (`TCP_ECN_SEEN`).
    seen: bool,
    /// With DCTCP each segment tells whether the last packet was marked: whether it was (`ce_state`), and the next number after
    /// it (`prior_rcv_nxt`).
    last: Option<(bool, SeqNum)>,
}

impl Marks {
    /// None so far. With DCTCP the data begin at `each_from`.
    pub fn new(each_from: Option<SeqNum>) -> Self {
        Marks {
            demands: false,
            seen: false,
            last: each_from.map(|first| (false, first)),
        }
    }
}

impl Receiver {
    /// The peer reduced its window (`tcp_ecn_accept_cwr`).
    pub(super) fn accept_reduction(&mut self, segment: &Segment) {
        let told = segment.flags.contains(Flags::CWR);
        if let Some(marks) = self.marks.as_mut().filter(|_| told) {
            marks.demands = false;
            // The window may be small by now: since 4.19 the acknowledgement does not wait.
            self.delay.pending.now |=
                segment.space() > 0 && self.settings.receiver.delayed_ack != DelayedAck::Linux3;
        }
    }

    /// Looks whether data were marked on the way (`tcp_ecn_check_ce`).
    pub(super) fn look_for_mark(&mut self, segment: &Segment, acks: &mut impl FnMut(Header)) {
        if self.marks.is_none() {
            return;
        }
        if segment.ect {
            self.tell_each(segment.ce, acks);
        }
        let Some(marks) = &mut self.marks else {
            return;
        };
        // What is sent again cannot be marked: it tells of a loss.
        let quick = match (segment.ce, segment.ect) {
            (true, _) => !std::mem::replace(&mut marks.demands, true),
            (false, true) => false,
            (false, false) => marks.seen,
        };
        marks.seen |= segment.ect;
        if quick {
            let most = match self.settings.receiver.delayed_ack {
                DelayedAck::Linux3 => MOST_QUICK,
                _ => FEW_QUICK,
            };
            self.delay
                .enter_quick(most, self.window.offered, self.peer_mss);
        }
    }

    /// With DCTCP an acknowledgement is of packets that were all marked, or all not (`dctcp_ece_ack_update`).
    fn tell_each(&mut self, marked: bool, acks: &mut impl FnMut(Header)) {
        let Some((before, next)) = self.marks.and_then(|marks| marks.last) else {
            return;
        };
        if before != marked {
            if self.delay.pending.timer {
                let header = self.header_of(next);
                acks(Header {
                    ece: before,
                    ..header
                });
            }
            self.delay.pending.now = true;
        }
        if let Some(marks) = &mut self.marks {
            marks.demands = marked;
            marks.last = Some((marked, self.next));
        }
    }

    /// What acknowledges less than all that came. The acknowledgement of the rest is still due (`__tcp_send_ack`,
    /// `tcp_event_ack_sent`).
    fn header_of(&mut self, next: SeqNum) -> Header {
        let sack = match self.sack {
            true => self.sacks.tell(self.most_sacks()),
            false => Default::default(),
        };
        let candidate = self.candidate_window();
        let window = self.window.offer(self.next, candidate);
        Header {
            ack: next,
            ..self.header_with(window, sack)
        }
    }
}
