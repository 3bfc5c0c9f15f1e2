//! The work that packets make in their hosts, which share one processor.

use rexmit_time::{Duration, Time};

use super::Packet;

/// How long the one processor of all hosts works; no time on the lab's own kernels, whose clocks stand still meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// On a packet that comes.
    pub receive: Duration,
    /// On a packet with data, or a SYN, that a TCP makes.
    pub send: Duration,
    /// On another that it makes.
    pub acknowledge: Duration,
    /// To wake the filter.
    pub filter: Duration,
    /// On a packet in the filter.
    pub judge: Duration,
    /// On a retransmission in the filter besides, which reads the kernel's counters to name it.
    pub retransmission: Duration,
}

/// The processor. What a TCP does comes first, then programs, then the filter, which takes all that waits together and lets
/// it go together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor {
    work: Work,
    /// Anything takes time.
    pub works: bool,
    /// When all that was to be done is done.
    until: Time,
}

impl Processor {
    pub fn new(work: Work, now: Time) -> Self {
        Processor {
            work,
            works: work != Work::default(),
            until: now,
        }
    }

    /// When it is free.
    pub fn free(&self, now: Time) -> Time {
        self.until.max(now)
    }

    /// When the filter can begin.
    pub fn filter_begins(&self, now: Time) -> Time {
        self.free(now) + self.work.filter
    }

    pub fn is_busy(&self, now: Time) -> bool {
        self.until > now
    }

    /// A packet comes.
    pub fn receive(&mut self, now: Time) {
        self.spend(now, self.work.receive);
    }

    /// A TCP makes a packet.
    pub fn make<X>(&mut self, now: Time, packet: &Packet<X>) {
        let segment = packet.segment();
        let work = if segment.len > 0 || segment.flags.syn() {
            self.work.send
        } else {
            self.work.acknowledge
        };
        self.spend(now, work);
    }

    /// The filter takes these packets together.
    pub fn judge<'a, X: 'a>(&mut self, now: Time, packets: impl Iterator<Item = &'a Packet<X>>) {
        for packet in packets {
            self.spend(now, self.work.judge);
            if packet.sent.mechanism.is_some() {
                self.spend(now, self.work.retransmission);
            }
        }
    }

    fn spend(&mut self, now: Time, work: Duration) {
        self.until = self.free(now) + work;
    }
}
