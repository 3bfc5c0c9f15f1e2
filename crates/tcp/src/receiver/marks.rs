//! What a receiver tells of congestion marks (ECN, RFC 3168 §6.1.3).

use rexmit_wire::Flags;

use super::delay::MOST_QUICK;
use super::Receiver;
use crate::segment::Segment;
use crate::settings::DelayedAck;

/// Quick acknowledgements after a mark (`__tcp_ecn_check_ce`, since 4.17).
const FEW_QUICK: u32 = 2;

/// The marks of a connection whose ends take them (`ecn_flags`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Every segment says so until the peer has reduced its window (`TCP_ECN_DEMAND_CWR`).
    pub demands: bool,
    /// A packet came that could be marked (`TCP_ECN_SEEN`).
    seen: bool,
}

impl Receiver {
    /// The peer reduced its window (`tcp_ecn_accept_cwr`).
    pub(super) fn accept_reduction(&mut self, segment: &Segment) {
        if let Some(marks) = self
            .marks
            .as_mut()
            .filter(|_| segment.flags.contains(Flags::CWR))
        {
            marks.demands = false;
            // The window may be small by now: since 4.19 the acknowledgement does not wait.
            self.delay.pending.now |=
                segment.space() > 0 && self.settings.receiver.delayed_ack != DelayedAck::Linux3;
        }
    }

    /// Looks whether data were marked on the way (`tcp_ecn_check_ce`).
    pub(super) fn look_for_mark(&mut self, segment: &Segment) {
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
}
