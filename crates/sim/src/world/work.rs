//! The work that packets make in their hosts.

use rexmit_time::{Duration, Time};

/// How long hosts and filter work on a packet that leaves, one after another; no time on the lab's own kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// On each.
    pub packet: Duration,
    /// On a retransmission besides: the filter reads the kernel's counters to name it.
    pub retransmission: Duration,
}

/// Hosts and filter at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worker {
    work: Work,
    /// When all that left so far is done.
    until: Time,
}

impl Worker {
    pub fn new(work: Work, now: Time) -> Self {
        Worker { work, until: now }
    }

    /// When a packet that leaves a TCP now is through with what its host and the filter do, one packet after another.
    pub fn through(&mut self, now: Time, retransmission: bool) -> Time {
        let more = if retransmission {
            self.work.retransmission
        } else {
            Duration::ZERO
        };
        self.until = self.until.max(now) + self.work.packet + more;
        self.until
    }
}
