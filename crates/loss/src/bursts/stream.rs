//! The bytes of all bursts: when each was sent first, and what became of it.

use std::ops::Range;

use rexmit_time::Time;

use crate::intervals::IntervalSet;
use crate::subflow::First;

/// The bytes that were sent, on whichever path.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// When each was sent first, and on which path.
    sent: First<(Time, u32)>,
    /// What passed the rule at least once.
    passed: IntervalSet,
    /// What the rule dropped at least once.
    dropped: IntervalSet,
}

impl Stream {
    /// When the first of these bytes to be sent was sent, and on which path.
    pub fn first_sent(&self, data: &Range<u64>) -> Option<(Time, u32)> {
        self.sent
            .touching(data.start, data.end)
            .map(|(_, _, sent)| sent)
            .min_by_key(|(at, _)| *at)
    }

    /// Whether the byte at `place` was sent.
    pub fn has(&self, place: u64) -> bool {
        self.sent.at(place).is_some()
    }

    /// Whether some of these bytes were dropped.
    pub fn was_dropped(&self, data: &Range<u64>) -> bool {
        self.dropped.intersects(data.start, data.end)
    }

    /// Whether all of these bytes passed.
    pub fn has_passed(&self, data: &Range<u64>) -> bool {
        self.passed.covers(data.start, data.end)
    }

    /// These bytes are sent now.
    pub fn send(&mut self, data: &Range<u64>, at: Time, path: u32, drop: bool) {
        self.sent.send(data.start, data.end, (at, path));
        let fate = if drop {
            &mut self.dropped
        } else {
            &mut self.passed
        };
        fate.insert(data.start, data.end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn remembers_the_first_time_of_every_byte(
            sent in proptest::collection::vec((0u64..40, 1u64..12, 1u32..4, any::<bool>()), 0..20),
            start in 0u64..60, len in 1u64..9,
        ) {
            let mut stream = Stream::default();
            let mut plain = [None; 64];
            let (mut passed, mut dropped) = ([false; 64], [false; 64]);
            for (at, (start, len, path, drop)) in (0..).zip(sent) {
                stream.send(&(start..start + len), Time::from_nanos(at), path, drop);
                for place in start as usize..(start + len) as usize {
                    plain[place].get_or_insert((Time::from_nanos(at), path));
                    if drop { dropped[place] = true } else { passed[place] = true }
                }
            }
            let end = (start + len).min(64);
            let inside = start as usize..end as usize;
            let first = plain[inside.clone()].iter().flatten().min().copied();
            prop_assert_eq!(stream.first_sent(&(start..end)), first);
            prop_assert_eq!(stream.has(start), plain[start as usize].is_some());
            prop_assert_eq!(stream.was_dropped(&(start..end)), dropped[inside.clone()].contains(&true));
            prop_assert_eq!(stream.has_passed(&(start..end)), !passed[inside].contains(&false));
        }
    }
}
