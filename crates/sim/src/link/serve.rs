//! When a link takes a packet out of its queue, and how long it takes to send it.

use std::num::NonZeroU64;

use rexmit_plan::{RateTrace, OPPORTUNITY_BYTES};
use rexmit_time::{Duration, Time};

use super::{Settings, ETHERNET};

/// What sends the packets of a queue.
#[derive(Debug)]
pub(super) enum Server {
    /// No limit.
    AtOnce,
    /// Bytes of frames a second.
    Rate(NonZeroU64),
    /// At the moments of a trace.
    Trace(Moments),
}

impl Server {
    pub fn new(settings: &Settings) -> Self {
        match (&settings.trace, NonZeroU64::new(settings.rate_bps / 8)) {
            (Some((trace, begin)), _) => Server::Trace(Moments::new(trace.clone(), *begin)),
            (None, Some(bytes_per_s)) => Server::Rate(bytes_per_s),
            (None, None) => Server::AtOnce,
        }
    }

    /// The first time at `now` or after it at which a packet can be taken.
    pub fn begin(&mut self, now: Time) -> Time {
        match self {
            Server::AtOnce | Server::Rate(_) => now,
            Server::Trace(moments) => moments.first(now),
        }
    }

    /// When a frame of `bytes` has been sent that is taken at `begin`, which [`Server::begin`] gave.
    pub fn send(&mut self, begin: Time, bytes: u32) -> Time {
        match self {
            Server::AtOnce => begin,
            Server::Rate(bytes_per_s) => begin + sending(u64::from(bytes), bytes_per_s.get()),
            Server::Trace(moments) => moments.send(u64::from(bytes.saturating_sub(ETHERNET))),
        }
    }
}

/// How long `bytes` take at a rate.
pub(super) fn sending(bytes: u64, bytes_per_s: u64) -> Duration {
    Duration::from_nanos((bytes * 1_000_000_000 / bytes_per_s) as i64)
}

/// The moments of a trace, round after round, as mahimahi uses them: a packet of IP leaves at the moment that carries its last
/// byte, and what a moment carries beyond what waits then is lost.
#[derive(Debug)]
pub(super) struct Moments {
    trace: RateTrace,
    origin: Time,
    /// The moment at hand, counted over all rounds.
    at: u64,
    /// Bytes of IP that it can still carry.
    left: u64,
}

impl Moments {
    fn new(trace: RateTrace, origin: Time) -> Self {
        let mut moments = Self {
            trace,
            origin,
            at: 0,
            left: 0,
        };
        moments.go_to(0);
        moments
    }

    fn go_to(&mut self, at: u64) {
        let moments = self.trace.moments();
        let moment = moments[(at % moments.len() as u64) as usize];
        self.at = at;
        self.left = u64::from(moment.opportunities) * OPPORTUNITY_BYTES;
    }

    /// When the moment at hand is.
    fn time(&self) -> Time {
        let moments = self.trace.moments();
        let (round, place) = (
            self.at / moments.len() as u64,
            self.at % moments.len() as u64,
        );
        let ms = round * self.trace.period_ms() + moments[place as usize].at_ms;
        self.origin + Duration::from_millis(ms as i64)
    }

    fn first(&mut self, now: Time) -> Time {
        if self.left == 0 {
            self.go_to(self.at + 1);
        }
        if self.time() < now {
            let moments = self.trace.moments();
            let period = self.trace.period_ms() * 1_000_000;
            // The last moment of a round and the first of the next may be one time.
            let after = now.since(self.origin).as_nanos().unsigned_abs();
            let (round, within) = ((after - 1) / period, (after - 1) % period + 1);
            let place = moments.partition_point(|one| one.at_ms * 1_000_000 < within);
            self.go_to(round * moments.len() as u64 + place as u64);
        }
        self.time()
    }

    fn send(&mut self, mut bytes: u64) -> Time {
        while bytes > self.left {
            bytes -= self.left;
            self.go_to(self.at + 1);
        }
        self.left -= bytes;
        self.time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: i64) -> Time {
        Time::ZERO + Duration::from_millis(at)
    }

    fn moments(text: &str) -> Moments {
        Moments::new(RateTrace::try_from(text.to_owned()).unwrap(), ms(100))
    }

    #[test]
    fn a_packet_leaves_at_the_moment_that_carries_its_last_byte() {
        // At 2, 2, 5 and 10 ms, and again from 10 ms on.
        let mut server = moments("2x2 3 5");
        assert_eq!(server.first(ms(0)), ms(102));
        assert_eq!(server.send(1500), ms(102));
        assert_eq!(server.first(ms(102)), ms(102));
        assert_eq!(server.send(1501), ms(105));
        // The rest of it is for who waits then.
        assert_eq!(server.first(ms(105)), ms(105));
        assert_eq!(server.send(1499), ms(105));
        assert_eq!(server.first(ms(105)), ms(110));
        assert_eq!(server.send(4500), ms(112));
    }

    #[test]
    fn what_nobody_waits_for_is_lost() {
        let mut server = moments("2x2 3 5");
        assert_eq!(server.first(ms(103)), ms(105));
        assert_eq!(server.send(40), ms(105));
        assert_eq!(server.first(ms(106)), ms(110));
        // A thousand rounds later.
        assert_eq!(server.first(ms(10_101)), ms(10_102));
        assert_eq!(server.first(ms(20_110)), ms(20_110));
        assert_eq!(server.send(1500), ms(20_110));
        assert_eq!(server.first(ms(20_110)), ms(20_112));
    }

    #[test]
    fn the_end_of_a_round_and_the_beginning_of_the_next_are_one_time() {
        let mut server = moments("0 4 6");
        assert_eq!(server.first(ms(109)), ms(110));
        assert_eq!(server.send(3000), ms(110));
        assert_eq!(server.first(ms(110)), ms(114));
    }
}
