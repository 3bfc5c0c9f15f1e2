//! The sending half of a connection: a sender while data may be sent, and what is still asked of it afterwards.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::receiver::Sending;
use crate::sender::{Counters, Sender};

/// The sending half.
#[derive(Debug, Default)]
pub(super) struct SendingHalf {
    /// From the end of the handshake to the end of both streams.
    sender: Option<Box<Sender>>,
    remains: Option<Box<Remains>>,
}

/// What is still asked of a sender that is gone.
#[derive(Clone, Copy, Debug)]
struct Remains {
    counters: Counters,
    /// The number of the next byte.
    nxt: SeqNum,
}

impl SendingHalf {
    /// The sender, if there is one.
    pub fn get(&self) -> Option<&Sender> {
        self.sender.as_deref()
    }

    pub fn get_mut(&mut self) -> Option<&mut Sender> {
        self.sender.as_deref_mut()
    }

    /// The handshake is over.
    pub fn begin(&mut self, sender: Sender) {
        self.sender = Some(Box::new(sender));
    }

    /// Nothing more is sent.
    pub fn end(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.remains = Some(Box::new(Remains {
                counters: sender.counters(),
                nxt: sender.flight().nxt(),
            }));
        }
    }

    /// What the sender has counted, which outlives it.
    pub fn counters(&self) -> Counters {
        match (&self.sender, &self.remains) {
            (Some(sender), _) => sender.counters(),
            (None, Some(remains)) => remains.counters,
            (None, None) => Counters::default(),
        }
    }

    /// The number of the next byte that leaves; none before there is a sender.
    pub fn leaves_next(&self) -> Option<SeqNum> {
        let gone = self.remains.as_ref().map(|remains| remains.nxt);
        self.get().map(Sender::leaves_next).or(gone)
    }

    /// What the receiver has to know of it; `initial`: the timeout while there is none.
    pub fn told(&self, clock: &Clock, initial: Duration) -> Sending {
        Sending {
            srtt: self.get().and_then(|sender| sender.timing().srtt()),
            rto_ticks: match self.get() {
                Some(sender) => sender.timing().rto_ticks(),
                None => clock.ticks_in(initial),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rexmit_time::Time;

    use super::*;
    use crate::sender::{Metrics, Peer};
    use crate::stacks;

    #[test]
    fn what_a_sender_counted_and_where_it_stood_outlive_it() {
        let settings = Arc::new(stacks::page("linux-6.12").unwrap().settings);
        let clock = settings.timers.clock();
        let initial = settings.timers.initial_rto;
        let mut half = SendingHalf::default();
        assert_eq!(half.leaves_next(), None);
        assert_eq!(
            half.told(&clock, initial).rto_ticks,
            clock.ticks_in(initial)
        );
        let (iss, now) = (SeqNum::new(7), Time::from_nanos(1));
        let mut sender = Sender::new(settings, clock, 1000, iss, now);
        let peer = Peer {
            window: 65_535,
            seq: iss,
            sack: true,
            ecn: false,
            handshake_retransmissions: 0,
            metrics: Metrics::default(),
        };
        sender.established(now, None, &peer);
        sender.writer(now).write(500, false);
        half.begin(sender);
        assert_eq!(half.leaves_next(), Some(iss + 1), "it was not fetched");
        let counters = half.counters();
        half.end();
        half.end();
        assert_eq!(half.leaves_next(), Some(iss + 501), "all of it left");
        assert!(half.get().is_none());
        assert_eq!(half.counters(), counters);
    }
}
