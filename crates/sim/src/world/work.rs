//! The work that packets make in their hosts, which share one processor.

use rexmit_time::{Duration, Time};

use super::Packet;

/// How long the one processor of all hosts works; no time on the lab's own kernels, whose clocks stand still meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// On a packet that comes.
    pub receive: Duration,
    /// Of a server that is asked, until it writes.
    pub answer: Duration,
    /// To wake a server that waits for room, or the filter.
    pub wake: Duration,
    /// On a packet that a program which waits in `recv` takes in itself.
    pub take: Duration,
    /// Of such a program on its way out of `recv`.
    pub leave: Duration,
    /// Of a program that writes as much as a packet holds.
    pub write: Duration,
    /// On a packet that a TCP makes.
    pub make: Duration,
    /// Of the filter that fetches a packet with data.
    pub fetch: Duration,
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
        self.free(now) + self.work.wake
    }

    pub fn is_busy(&self, now: Time) -> bool {
        self.until > now
    }

    /// A packet comes.
    pub fn receive(&mut self, now: Time) {
        self.spend(now, self.work.receive);
    }

    /// A server wakes that has `written` something or is asked.
    pub fn wake(&mut self, now: Time, written: bool) {
        let work = if written {
            self.work.wake
        } else {
            self.work.answer
        };
        self.spend(now, work);
    }

    /// A program takes in a packet itself.
    pub fn take(&mut self, now: Time) {
        self.spend(now, self.work.take);
    }

    /// When a reader has left `recv`, and the filter begins.
    pub fn reader_leaves(&self, now: Time) -> Time {
        self.free(now) + self.work.leave
    }

    /// A program writes so many bytes, of which a packet holds `packet`.
    pub fn write(&mut self, now: Time, bytes: u64, packet: u32) {
        let nanos = self.work.write.as_nanos() * bytes as i64 / i64::from(packet.max(1));
        self.spend(now, Duration::from_nanos(nanos));
    }

    /// A TCP makes a packet.
    pub fn make(&mut self, now: Time) {
        self.spend(now, self.work.make);
    }

    /// The filter fetches these packets.
    pub fn fetch<'a, X: 'a>(&mut self, now: Time, packets: impl Iterator<Item = &'a Packet<X>>) {
        for packet in packets {
            if packet.segment().len > 0 {
                self.spend(now, self.work.fetch);
            }
        }
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
