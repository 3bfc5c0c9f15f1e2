//! The sender of Linux 3.10 where it works in another order than that of 6.x: the window is set while losses are found,
//! duplicate acknowledgements count, and the timer is set by what was acknowledged. Stacks of other makers take it with
//! their own parts.

mod ack;
mod loss;
mod recover;
mod retransmit;

use rexmit_time::Time;

use super::queue::Micros;
use super::Sender;

impl Sender {
    /// The tick of a time of sending (`skb->when`).
    pub(super) fn tick_of(&self, at: Micros) -> i64 {
        self.clock.ticks(Time::from_nanos(at * 1_000))
    }

    /// Whether new data could be sent now (`tcp_may_send_now`).
    pub(super) fn may_send_now(&self) -> bool {
        let Some(head) = self.backlog.head() else {
            return false;
        };
        let hold = self.output.nagle.hold();
        let held = self.waits_for_more(&head, hold);
        !held && self.quota(&head) > 0 && self.fits_peer_window(&head)
    }
}
