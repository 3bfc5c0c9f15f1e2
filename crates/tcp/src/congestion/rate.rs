//! The rate at which a path delivers, measured at each acknowledgement (`tcp_rate.c`; draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment carries how long before it left the flight began that it belongs to, and when something was last delivered.
//! What was delivered between then and its own delivery, by the longer of the two spans, is a sample.

/// When what was sent and delivered last (`tcp_sock`), for the samples to come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// When something was last delivered, in microseconds (`delivered_mstamp`).
    pub delivered_at: u64,
    /// When that was sent which was delivered last (`first_tx_mstamp`).
    first_sent: u64,
    /// The program, not the path, bounds samples until so many segments are delivered; 0 where it does not (`app_limited`).
    pub app_limited: u32,
}

/// What a segment remembers of the time at which it left (`tcp_skb_cb`, `tx`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Microseconds since the flight began that it belongs to.
    pub flight_us: u32,
    /// Microseconds since something was last delivered.
    pub delivered_us: u32,
    /// The program bounds the sample.
    pub app_limited: bool,
}

/// The latest of the transmissions that an acknowledgement says were delivered.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    /// When it left, in microseconds.
    pub at: u64,
    /// What it remembers.
    pub departure: Departure,
    /// Segments that had been delivered when it left.
    pub prior_delivered: u32,
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug)]
pub struct AckEffect {
    /// The microsecond.
    pub at: u64,
    /// Segments that it delivered (`acked_sacked`).
    pub newly: u32,
    /// Segments that it showed lost (`losses`).
    pub losses: u32,
    /// Segments delivered so far.
    pub delivered: u32,
    /// The smallest round-trip time of late, in microseconds.
    pub min_rtt_us: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// The round-trip time of the last segment that it acknowledged or SACKed, in microseconds; none if it gives none.
    pub rtt_us: Option<u32>,
    /// It may have been delayed (`FLAG_ACK_MAYBE_DELAYED`).
    pub delayed: bool,
}

/// What an acknowledgement tells of the path (`struct rate_sample`).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// What the acknowledgement did.
    pub effect: AckEffect,
    /// Segments that had been delivered when the latest left of those that it delivered.
    pub prior_delivered: u32,
    /// Segments delivered since; none where nothing was timed.
    pub delivered: Option<u32>,
    /// In so many microseconds; none where that is no sample.
    pub interval_us: Option<u32>,
    /// The program bounds the sample.
    pub app_limited: bool,
}

impl Rate {
    /// A segment leaves at a microsecond, behind others or with nothing out (`tcp_rate_skb_sent`).
    pub fn sent(&mut self, at: u64, nothing_out: bool) -> Departure {
        if nothing_out {
            self.first_sent = at;
            self.delivered_at = at;
        }
        let since = |then: u64| u32::try_from(at.saturating_sub(then)).unwrap_or(u32::MAX);
        Departure {
            flight_us: since(self.first_sent),
            delivered_us: since(self.delivered_at),
            app_limited: self.app_limited > 0,
        }
    }

    /// An acknowledgement was worked through (`tcp_rate_skb_delivered` at its end, `tcp_rate_gen`). `latest` is none if it
    /// delivered nothing.
    pub fn sample(&mut self, latest: Option<Latest>, effect: AckEffect) -> RateSample {
        if let Some(latest) = latest {
            self.first_sent = latest.at;
        }
        // Counts run over: what is after is less than half of all numbers ahead.
        let bubble_is_gone = (effect.delivered.wrapping_sub(self.app_limited) as i32) > 0;
        if self.app_limited > 0 && bubble_is_gone {
            self.app_limited = 0;
        }
        if effect.newly > 0 {
            self.delivered_at = effect.at;
        }
        let mut sample = RateSample {
            effect,
            prior_delivered: 0,
            delivered: None,
            interval_us: None,
            app_limited: false,
        };
        let Some(Latest {
            at,
            departure,
            prior_delivered,
        }) = latest
        else {
            return sample;
        };
        sample.prior_delivered = prior_delivered;
        sample.app_limited = departure.app_limited;
        sample.delivered = Some(effect.delivered.wrapping_sub(prior_delivered));
        // The longer of the spans of sending and of acknowledgements: either may be squeezed on its way.
        let before = at.saturating_sub(u64::from(departure.delivered_us));
        let acknowledged = u32::try_from(effect.at.saturating_sub(before)).unwrap_or(u32::MAX);
        let interval = departure.flight_us.max(acknowledged);
        // Less than a round trip is no sample: what came was a copy sent before.
        sample.interval_us = (interval > 0 && interval >= effect.min_rtt_us).then_some(interval);
        sample
    }

    /// The program has less than a segment to send, nothing waits in the host, the window has room, and what was lost was sent
    /// again: what is in flight bounds samples (`tcp_rate_check_app_limited`).
    pub fn limit_by_program(&mut self, delivered: u32, in_flight: u32) {
        self.app_limited = delivered.wrapping_add(in_flight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(at: u64, newly: u32, delivered: u32) -> AckEffect {
        AckEffect {
            at,
            newly,
            losses: 0,
            delivered,
            min_rtt_us: 10_000,
            prior_in_flight: 0,
            rtt_us: None,
            delayed: false,
        }
    }

    fn latest(at: u64, departure: Departure, prior_delivered: u32) -> Option<Latest> {
        Some(Latest {
            at,
            departure,
            prior_delivered,
        })
    }

    #[test]
    fn a_sample_is_what_was_delivered_in_the_longer_of_two_spans() {
        let mut rate = Rate::default();
        // Ten segments leave at 1 s, a millisecond apart; the first two are acknowledged at 1.02 s.
        let first = rate.sent(1_000_000, true);
        let second = rate.sent(1_001_000, false);
        assert_eq!((first.flight_us, first.delivered_us), (0, 0));
        assert_eq!((second.flight_us, second.delivered_us), (1_000, 1_000));
        let sample = rate.sample(latest(1_001_000, second, 1), effect(1_020_000, 2, 3));
        assert_eq!(
            (sample.delivered, sample.interval_us),
            (Some(2), Some(20_000))
        );
        // One that leaves now belongs to the flight that began with the one delivered last.
        let third = rate.sent(1_020_500, false);
        assert_eq!((third.flight_us, third.delivered_us), (19_500, 500));
        // Acknowledgements squeezed: the span of sending is longer.
        let sample = rate.sample(latest(1_020_500, third, 3), effect(1_030_500, 8, 11));
        assert_eq!(
            (sample.delivered, sample.interval_us),
            (Some(8), Some(19_500))
        );
    }

    #[test]
    fn less_than_a_round_trip_is_no_sample_and_nothing_delivered_has_none() {
        let mut rate = Rate::default();
        let departure = rate.sent(1_000_000, true);
        let sample = rate.sample(latest(1_000_000, departure, 1), effect(1_009_999, 1, 2));
        assert_eq!((sample.delivered, sample.interval_us), (Some(1), None));
        let sample = rate.sample(None, effect(1_015_000, 0, 2));
        assert_eq!((sample.delivered, sample.interval_us), (None, None));
    }

    #[test]
    fn the_program_bounds_samples_until_what_was_in_flight_is_delivered() {
        let mut rate = Rate::default();
        rate.limit_by_program(1, 4);
        let departure = rate.sent(1_000_000, true);
        assert!(departure.app_limited);
        rate.sample(latest(1_000_000, departure, 1), effect(1_020_000, 4, 5));
        assert!(rate.sent(1_020_000, false).app_limited);
        rate.sample(latest(1_020_000, departure, 5), effect(1_040_000, 1, 6));
        assert!(!rate.sent(1_040_000, false).app_limited);
        rate.limit_by_program(0, 0);
        assert_eq!(rate.app_limited, 1);
    }
}
