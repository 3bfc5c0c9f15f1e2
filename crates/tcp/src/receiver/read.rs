//! What the reader takes, and what that makes due (`tcp_recvmsg`, `tcp_cleanup_rbuf`).

use rexmit_time::Time;

use super::{Header, Receiver};
use crate::settings::DelayedAck;

impl Receiver {
    /// Takes up to `most` bytes for the reader; what that makes due goes to `acks`. A reader that finds nothing takes 0
    /// and looks again whether something is to be acknowledged (`tcp_recvmsg`).
    pub fn read(&mut self, now: Time, most: u32) -> (u32, Option<Header>) {
        let mut taken = 0;
        while let Some(packet) = self.queues.first().copied() {
            let end = packet.range.end - u32::from(packet.fin);
            let there = end.offset_from(self.copied).max(0) as u32;
            let used = there.min(most - taken);
            if used > 0 {
                self.copied += used;
                taken += used;
                let waiting = self.next.offset_from(self.copied).max(0) as u32;
                let known = self
                    .taken_directly
                    .is_some_and(|end| !self.copied.is_after(end));
                if !known {
                    self.window
                        .reader_took(now, &self.rtt, self.copied, waiting);
                }
            }
            if used < there {
                break;
            }
            self.queues.drop_first();
            if packet.fin {
                self.copied += 1;
                break;
            }
            if taken == most {
                break;
            }
        }
        self.reader_waits = taken == 0;
        let due = self.is_due_after_read(taken > 0);
        (taken, due.then(|| self.header()))
    }

    /// Whether a reader waits who takes in data himself (`tp->ucopy.task`).
    #[must_use]
    pub fn reader_waits(&self) -> bool {
        self.settings.receiver.prequeue && self.reader_waits
    }

    /// He takes in one more packet before he returns (`__release_sock`).
    pub fn reader_stays(&mut self) {
        self.reader_waits = true;
    }

    /// Whether reading made room that is worth telling, or took what was pushed (`tcp_cleanup_rbuf`).
    pub(crate) fn is_due_after_read(&mut self, took: bool) -> bool {
        let pending = self.delay.pending;
        if pending.scheduled && self.settings.receiver.delayed_ack != DelayedAck::Rfc {
            let drained = took
                && self.queues.cost() == 0
                && (pending.pushed_twice || (pending.pushed && !self.delay.is_interactive()));
            if drained || self.unacknowledged() > self.peer_mss {
                return true;
            }
        }
        if !took || self.fin {
            return false;
        }
        let left = self.window.left(self.next);
        if 2 * left > self.window.clamp {
            return false;
        }
        let candidate = self.candidate_window();
        candidate > 0 && candidate >= 2 * left
    }
}
