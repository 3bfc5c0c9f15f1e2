//! A receiver that seems to have dropped what it SACKed (RFC 2018 §8).

use rexmit_time::Duration;

use super::constants::RENEGING_MIN;

/// How long later SACKs may put that right before a timeout: half a round trip (`tcp_check_sack_reneging`, 6.x; 3.10 takes
/// it for dropped at once).
#[must_use]
pub fn wait(srtt: Option<Duration>) -> Duration {
    let half = srtt.map_or(Duration::ZERO, |srtt| srtt / 2);
    // srtt_us >> 4
    Duration::from_micros(half.as_nanos() / 1_000).max(RENEGING_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_half_a_round_trip_and_ten_milliseconds_at_least() {
        let of = |micros| wait(Some(Duration::from_micros(micros)));
        assert_eq!(of(50_001), Duration::from_micros(25_000));
        assert_eq!(of(19_000), Duration::from_millis(10));
        assert_eq!(wait(None), Duration::from_millis(10));
    }
}
