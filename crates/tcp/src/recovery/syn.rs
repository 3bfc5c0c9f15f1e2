//! The timer of a SYN, and of a SYN-ACK.

use rexmit_time::Duration;

/// The timeout of a SYN, or SYN-ACK, after it was sent again `count` times, the last time by a timeout of `before`. Those of
/// a SYN may be alike at first (`tcp_syn_linear_timeouts`, 6.5); a SYN-ACK's double from the first on.
#[must_use]
pub fn next_timeout(
    syn_ack: bool,
    count: u32,
    linear: u32,
    before: Duration,
    max_rto: Duration,
) -> Duration {
    if syn_ack || count > linear {
        (before * 2).min(max_rto)
    } else {
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_timeouts_of_a_syn_may_be_alike() {
        let after = |syn_ack, linear| {
            let mut timeout = Duration::from_secs(1);
            let mut all = Vec::new();
            for count in 1..=6 {
                let max = Duration::from_secs(10);
                timeout = next_timeout(syn_ack, count, linear, timeout, max);
                all.push(timeout.as_nanos() / 1_000_000_000);
            }
            all
        };
        assert_eq!(after(false, 0), [2, 4, 8, 10, 10, 10]);
        assert_eq!(after(false, 4), [1, 1, 1, 1, 2, 4]);
        assert_eq!(after(true, 4), [2, 4, 8, 10, 10, 10]);
    }
}
