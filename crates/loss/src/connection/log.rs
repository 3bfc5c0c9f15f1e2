//! What was sent first when, segment by segment.

use std::collections::VecDeque;

use rexmit_time::Time;

/// Bytes of one packet that had not been sent before. `len` is 0 for a FIN without data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub start: u64,
    pub sent: Time,
    pub len: u32,
    /// On which path, from 1.
    pub path: u16,
    pub dropped: bool,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// The end for a lookup of times: a bare FIN takes one number.
    fn top(&self) -> u64 {
        self.start + u64::from(self.len.max(1))
    }
}

/// The first transmissions of a connection in the order of their bytes, as far back as they matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    segments: VecDeque<Segment>,
    /// Positions below are no longer known.
    floor: u64,
}

impl Log {
    /// Adds a segment, whose bytes were not in the log, and forgets the first ones above `capacity`.
    #[inline]
    pub fn insert(&mut self, start: u64, len: u32, (sent, path): (Time, u16), capacity: usize) {
        let segment = Segment {
            start,
            sent,
            len,
            path,
            dropped: false,
        };
        match self.segments.back() {
            Some(last) if last.start > segment.start => {
                let at = self.segments.partition_point(|s| s.start < segment.start);
                self.segments.insert(at, segment);
            }
            _ => self.segments.push_back(segment),
        }
        while self.segments.len() > capacity {
            self.floor = self.segments.pop_front().map_or(self.floor, |s| s.end());
        }
    }

    /// Makes room for `more` segments.
    pub fn expect(&mut self, more: usize) {
        self.segments.reserve(more);
    }

    /// Forgets all that ends at or below `position`.
    pub fn forget_below(&mut self, position: u64) {
        while let Some(first) = self.segments.front() {
            if first.top() > position {
                break;
            }
            self.segments.pop_front();
        }
        self.floor = self.floor.max(position);
        if self.segments.is_empty() {
            // Connections are remembered for long after their last transfer; their memory is not.
            self.segments = VecDeque::new();
        }
    }

    /// When the oldest byte in `start..end` was sent first, and on which path.
    pub fn first_sent(&self, start: u64, end: u64) -> Option<(Time, u32)> {
        if start < self.floor {
            return None;
        }
        // The first segment that reaches past `start`: segments do not overlap.
        let first = self.segments.partition_point(|s| s.top() <= start);
        self.segments
            .iter()
            .skip(first)
            .take_while(|s| s.start < end)
            .map(|s| (s.sent, u32::from(s.path)))
            .min_by_key(|(sent, _)| *sent)
    }

    /// Data segments with a byte in `start..end`, last first.
    pub fn last_first(&self, start: u64, end: u64) -> impl Iterator<Item = &Segment> {
        let behind = self.segments.partition_point(|s| s.start < end);
        self.segments
            .range(..behind)
            .rev()
            .take_while(move |s| s.top() > start)
            .filter(move |s| s.len > 0 && s.end() > start)
    }

    /// The number, from 1, of the data segment that holds the byte at `position`, among those that are known.
    pub fn number(&self, position: u64) -> u64 {
        let behind = self.segments.partition_point(|s| s.start <= position);
        let data = |segment: &&Segment| segment.len > 0;
        self.segments.range(..behind).filter(data).count() as u64
    }

    /// Marks the segment that starts at `start` as dropped.
    pub fn mark_dropped(&mut self, start: u64) {
        let at = self.segments.partition_point(|s| s.start < start);
        if let Some(segment) = self.segments.get_mut(at).filter(|s| s.start == start) {
            segment.dropped = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(segments: &[(u64, u32, u64)], capacity: usize) -> Log {
        let mut log = Log::default();
        for &(start, len, sent) in segments {
            log.insert(start, len, (Time::from_nanos(sent), 1), capacity);
        }
        log
    }

    #[test]
    fn finds_the_oldest_byte_of_a_range() {
        let log = log(
            &[(100, 10, 1), (120, 10, 2), (110, 10, 3), (130, 0, 4)],
            100,
        );
        let sent = |start, end| log.first_sent(start, end).map(|(at, _)| at.as_nanos());
        assert_eq!(sent(100, 130), Some(1));
        assert_eq!(sent(110, 130), Some(2));
        assert_eq!(sent(119, 120), Some(3));
        assert_eq!(sent(130, 131), Some(4));
        assert_eq!((sent(50, 100), sent(131, 140)), (None, None));
    }

    #[test]
    fn forgets_the_first_segments_and_says_so() {
        let mut log = log(&[(100, 10, 1), (110, 10, 2), (120, 10, 3)], 2);
        assert_eq!(log.first_sent(105, 125), None);
        assert_eq!(log.first_sent(110, 125), Some((Time::from_nanos(2), 1)));
        log.forget_below(120);
        assert_eq!(log.last_first(0, 200).count(), 1);
    }

    #[test]
    fn walks_back_over_the_segments_of_a_transfer() {
        let mut log = log(
            &[(100, 10, 1), (110, 10, 2), (120, 10, 3), (130, 0, 4)],
            100,
        );
        log.mark_dropped(120);
        let back = |start, end| -> Vec<(u64, bool)> {
            log.last_first(start, end)
                .map(|s| (s.start, s.dropped))
                .collect()
        };
        assert_eq!(back(105, 125), [(120, true), (110, false), (100, false)]);
        assert_eq!(back(110, 131), [(120, true), (110, false)]);
    }
}
