//! The way from a sender to its receiver and back, by the round trips that the monitor sees and the stamps of what is sent.

use rexmit_time::{Duration, Time};

use super::bottleneck::Bottleneck;
use crate::sender_view::stamps::Stamps;

/// By so much a round trip is longer than the shortest, at least, where packets queue; and by a quarter of it.
pub(super) const QUEUED: Duration = Duration::from_millis(2);

/// Round trips that show acknowledgements in a queue, at least, and none meanwhile that shows data in one.
const BACK: u8 = 4;

/// What is known of the way from the sender to its receiver and back.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// From the monitor to the sender and back, shortest.
    pub near: Duration,
    /// From the monitor to the receiver and back: shortest, by how much the newest was longer, and how many in a row showed
    /// a queue.
    pub beyond: Option<Duration>,
    longer: Duration,
    long: u8,
    /// Acknowledgements that came by long ago had not reached the sender, so much later than others do.
    pub held_back: Option<Duration>,
    /// The monitor does not stand beside the sender.
    pub away: bool,
    /// In how many round trips in a row what queued were its acknowledgements, by stamps, and not its data; and when that was seen last.
    back: u8,
    back_at: Time,
    pub bottleneck: Bottleneck,
    /// The clock of the sender's stamps.
    pub stamps: Stamps,
}

impl Path {
    /// From the monitor to the receiver and back it took so long, and takes `near` to the sender and back. By how much it was longer
    /// than the shortest, if that shows a queue should the next one do so, too. Where little of the path lies beyond the monitor, what is
    /// long there is a delayed acknowledgement.
    pub fn sample(&mut self, rtt: Duration, near: Duration) -> Option<Duration> {
        let least = self.beyond.unwrap_or(rtt).min(rtt);
        self.near = near;
        self.beyond = Some(least);
        self.longer = rtt - least;
        let long = rtt > least + QUEUED.max((least + near) / 4) && near <= least * 2;
        self.long = if long { self.long.saturating_add(1) } else { 0 };
        long.then_some(self.longer)
    }

    /// When a packet with this stamp, which comes by at `at` and was sent no earlier than `since`, would have come by, had it been
    /// on its way no longer than the fastest one.
    pub fn left(&mut self, stamp: u32, at: Time, since: Time) -> Time {
        self.stamps.learn(stamp, at, None);
        let left = self.stamps.sent(stamp, at);
        if left < since {
            // The clock was set, or another host has this address.
            self.stamps = Stamps::default();
            return at;
        }
        if left + QUEUED > at {
            at
        } else {
            left
        }
    }

    /// An acknowledgement comes by so long after what was sent last that what was sent queued for longer than it was on its way.
    pub fn is_late(&self, length: Duration) -> bool {
        let least = self.beyond.unwrap_or(Duration::ZERO);
        length > least * 2 + QUEUED
    }

    /// How long packets queue on it, or their acknowledgements on the way back, if they do.
    pub fn queue_of_both(&self) -> Option<Duration> {
        let beyond = (self.long >= 2).then_some(self.longer);
        beyond.max(self.held_back.filter(|_| self.away))
    }

    /// How long packets queue on it, if they do.
    pub fn queue(&self) -> Option<Duration> {
        self.queue_of_both().filter(|_| !self.queues_back())
    }

    /// Of what queues so long, one acknowledgement more did so for as long as this, if that is known: that is all but an eighth
    /// where they queue, and less than half where data do.
    pub fn waits_back(&mut self, at: Time, queue: Duration, ack: Option<Duration>) {
        let ack = ack.unwrap_or(Duration::ZERO);
        let trip = self.near + self.beyond.unwrap_or(Duration::ZERO) + queue;
        if ack * 2 <= queue {
            self.back = 0;
        } else if ack * 8 > queue * 7 && at - self.back_at >= trip {
            (self.back, self.back_at) = (self.back.saturating_add(1), at);
        }
    }

    /// What queues are its acknowledgements: a loss may make a few look so.
    pub fn queues_back(&self) -> bool {
        self.back >= BACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_longer_than_the_fastest_left_when_that_one_did() {
        let mut path = Path::default();
        let at = |us: u64| Time::from_nanos(1_000_000_000_000 + us * 1_000);
        for number in 0..100_u64 {
            let sent = number * 20_000;
            let since = at(sent.saturating_sub(10_000));
            let came = at(sent + 10_000);
            assert_eq!(path.left(7_000 + (sent / 1_000) as u32, came, since), came);
        }
        for number in 0..20_u64 {
            let sent = 2_000_000 + number * 120_140;
            let since = at(sent - 10_000);
            let came = at(sent + 110_000);
            let left = path.left(7_000 + (sent / 1_000) as u32, came, since);
            assert!(
                left < came - Duration::from_millis(98),
                "{number} {:?}",
                came.since(left)
            );
        }
    }
}
