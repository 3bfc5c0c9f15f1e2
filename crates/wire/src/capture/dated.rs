//! Packets whose time stamps their neighbours in the file refute.
//!
//! A file has its packets in the order in which they were captured. A single time stamp that lies far before or far behind
//! those of both neighbours, which are near each other, was never the time: a bit that fell over, a clock that was read while
//! it was being set. Taken as it is, it would split connections, and hold back a whole file among several.
//!
//! Two packets in a row that are far away are no such error: there the clock was set.

use rexmit_time::{Duration, Time};
use serde::{Deserialize, Serialize};

/// So far from its neighbours a time stamp is wrong. Queues of a network card and of the kernel disorder packets by
/// milliseconds, and ntpd sets a clock at once that is off by 128 ms (`CLOCK_MAX`, ntp_proto.h): neither is meant here.
const FAR: Duration = Duration::from_secs(1);

/// What was found of a file's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misdated {
    /// Packets with a wrong time stamp. They were given the time of the packet before.
    pub packets: u64,
    /// How far the worst of them was from the time that it was given.
    pub farthest: Duration,
}

impl Misdated {
    /// Counts one that was given another time.
    pub(super) fn count(&mut self, stamped: Time, given: Time) {
        self.packets += 1;
        self.farthest = self.farthest.max(distance(stamped, given));
    }
}

fn distance(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

/// Whether a packet behind one of the time `before` may be wrong; then the next one must be known.
#[inline]
pub(super) fn may_be_wrong(before: Time, time: Time) -> bool {
    distance(time, before) > FAR
}

/// The time of a packet where its own is wrong, which lies between two that are known. The last one of a file is refuted only
/// where the clock went back: after the others there may have been any silence. The first one is not: the second may be wrong.
pub(super) fn mended(before: Time, time: Time, next: Option<Time>) -> Option<Time> {
    let wrong = match next {
        Some(next) => {
            let off = distance(time, before).min(distance(time, next));
            off > FAR && off > distance(before, next)
        }
        None => before.since(time) > FAR,
    };
    wrong.then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn one_that_is_away_from_both_neighbours_is_wrong() {
        let mended = |before, time, next| mended(at(before), at(time), Some(at(next)));
        assert_eq!(mended(100, 18_100, 101), Some(at(100)), "hours ahead");
        assert_eq!(mended(18_100, 100, 18_101), Some(at(18_100)), "hours back");
        assert_eq!(mended(18_100, 0, 18_100), Some(at(18_100)), "never set");
        // The neighbours may be out of order themselves.
        assert_eq!(mended(101, 18_100, 100), Some(at(101)));
    }

    #[test]
    fn silence_and_a_clock_that_was_set_are_none() {
        let mended = |before, time, next| mended(at(before), at(time), Some(at(next)));
        assert_eq!(mended(100, 18_100, 18_101), None, "silence before it");
        assert_eq!(mended(100, 101, 18_100), None, "silence after it");
        assert_eq!(mended(100, 9_000, 18_100), None, "on both sides");
        assert_eq!(mended(18_100, 100, 101), None, "set back before it");
        assert_eq!(mended(18_100, 18_101, 101), None, "set back after it");
        // Ten hours of silence, then a clock that is set back by one.
        assert_eq!(mended(100, 36_100, 32_500), None);
    }

    #[test]
    fn of_the_last_only_a_clock_that_went_back_is_wrong() {
        assert_eq!(mended(at(18_100), at(100), None), Some(at(18_100)));
        assert_eq!(mended(at(100), at(18_100), None), None);
    }
}
