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
pub(super) struct EcnEcho {
    /// Every segment says so until the peer has reduced its window (`TCP_ECN_DEMAND_CWR`).
    pub demands: bool,
    /// A packet came that could be marked (`TCP_ECN_SEEN`).
    seen: bool,
    /// With DCTCP each segment tells whether the last packet was marked, and every packet may be, not data alone.
    pub of_each: bool,
    /// Whether the last was (`ce_state`), and the next number after it (`prior_rcv_nxt`).
    last_marked: bool,
    after_last: SeqNum,
}

impl EcnEcho {
    /// None so far; the data begin at `first`.
    pub fn new(of_each: bool, first: SeqNum) -> Self {
        EcnEcho {
            demands: false,
            seen: false,
            of_each,
            last_marked: false,
            after_last: first,
        }
    }

    /// The peer reduced its window (`tcp_ecn_accept_cwr`).
    pub fn accept_reduction(&mut self, segment: &Segment) -> bool {
        let reduced = segment.flags.contains(Flags::CWR);
        self.demands &= !reduced;
        reduced
    }

    /// Data came, marked or not, after which `next` is the next number. Whether quick acknowledgements begin, as they were marked
    /// or sent again: these cannot be marked, and tell of a loss (`__tcp_ecn_check_ce`).
    fn see(&mut self, segment: &Segment, next: SeqNum) -> bool {
        if self.of_each && segment.ect {
            (self.last_marked, self.after_last) = (segment.ce, next);
            self.demands = segment.ce;
        }
        let seen = self.seen;
        self.seen |= segment.ect;
        match (segment.ce, segment.ect) {
            (true, _) => !std::mem::replace(&mut self.demands, true),
            (false, true) => false,
            (false, false) => seen,
        }
    }
}

/// Looks whether data were marked on the way (`tcp_ecn_check_ce`). With DCTCP an acknowledgement is of packets that were all
/// marked, or all not: one that waits for others leaves to `acks` (`dctcp_ece_ack_update`).
pub(super) fn look_for_mark(
    receiver: &mut Receiver,
    segment: &Segment,
    acks: &mut impl FnMut(Header),
) {
    let Some(mut echo) = receiver.ecn else {
        return;
    };
    if echo.of_each && segment.ect && echo.last_marked != segment.ce {
        if receiver.delay.pending.timer {
            // Less than came: the acknowledgement of the rest is still due (`__tcp_send_ack`, `tcp_event_ack_sent`).
            let candidate = receiver.candidate_window();
            let window = receiver.window.offer(receiver.next, candidate);
            let marked = echo.last_marked;
            acks(super::header_of(receiver, echo.after_last, window, marked));
        }
        receiver.delay.pending.now = true;
    }
    if echo.see(segment, receiver.next) {
        let most = match receiver.settings.receiver.delayed_ack {
            DelayedAck::Linux3 => MOST_QUICK,
            _ => FEW_QUICK,
        };
        let (window, mss) = (receiver.window.offered, receiver.peer_mss);
        receiver.delay.enter_quick(most, window, mss);
    }
    receiver.ecn = Some(echo);
}
