//! The retransmission timeout: what [`recovery::rto`](crate::recovery::rto) decides, carried out.

use super::Sender;
use crate::recovery::machine;
use crate::recovery::rto::{self, Fire, Timeout};
use crate::words::Mechanism;

impl Sender {
    /// The timeout ran out (`tcp_retransmit_timer`).
    pub(super) fn on_timeout(&mut self) {
        let view = Fire {
            packets_out: self.flight.counts().out,
            window_shut: self.peer.window == 0,
            orphan: self.orphan,
        };
        match rto::fire(view) {
            Timeout::Nothing => {}
            Timeout::ProbeWindow => {
                let head = || self.flight.head().map(|head| self.timing.stamp(head.at));
                let first = self.episode.undo.first.stamp().or_else(head);
                let last_ack = self.peer.last_ack;
                if self.timing.gives_up_shut_window(last_ack, first) {
                    self.timed_out = true;
                    return;
                }
                machine::enter_loss_by_timeout(self);
                self.retransmit(0, 1, Mechanism::Rto);
                self.timing.back_off(true);
            }
            Timeout::Retransmit => {
                self.counters.timeouts += 1;
                let first = self.episode.undo.first.stamp();
                let timeouts = self.episode.timeouts;
                if self.timing.gives_up(timeouts, first, self.orphan) {
                    self.timed_out = true;
                    return;
                }
                machine::enter_loss_by_timeout(self);
                self.episode.timeouts += 1;
                self.retransmit(0, 1, Mechanism::Rto);
                self.timing.back_off(false);
            }
        }
    }
}
