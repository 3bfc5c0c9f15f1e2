//! What a run says of itself.

use rexmit_time::{Duration, Time};
use rexmit_wire::Skips;

use super::decode::Decoder;
use crate::analyzer::Counters;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames read.
    pub frames: u64,
    /// The capture's clock.
    pub clock: Time,
}

/// What a run counted, and what is to be known before its rows are trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Frames read.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// First time stamp; none without frames.
    pub first: Option<Time>,
    /// Latest time stamp.
    pub latest: Option<Time>,
    /// Frames that are no TCP packets, or cannot be read.
    pub skips: Skips,
    /// Frames whose time stamp is before that of the frame before, and the longest such step.
    pub steps_back: u64,
    /// The longest step back of the capture's clock.
    pub longest_step_back: Duration,
    /// What the analysis counted.
    pub counters: Counters,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Summary {
    pub(super) fn new(decoder: &Decoder, counters: Counters, warnings: Vec<String>) -> Self {
        let mut summary = Summary {
            frames: decoder.frames,
            bytes: decoder.bytes,
            first: decoder.first,
            latest: decoder.first.map(|_| decoder.latest),
            skips: decoder.skips,
            steps_back: decoder.steps_back,
            longest_step_back: decoder.longest_step_back,
            counters,
            warnings,
        };
        summary.warn();
        summary
    }

    fn warn(&mut self) {
        let counters = &self.counters;
        if self.steps_back > 0 {
            self.warnings.push(format!(
                "the capture's clock steps back {}, by {} at most: times around there may be wrong",
                match self.steps_back {
                    1 => "once".to_owned(),
                    2 => "twice".to_owned(),
                    steps => format!("{steps} times"),
                },
                in_words(self.longest_step_back)
            ));
        }
        if counters.evicted > 0 {
            self.warnings.push(format!(
                "{} ended early to make room for others, {} of them with hardly more than a first packet: what came \
                 of them later counts as further connections, begun before the capture",
                of(counters.evicted, "connection was", "connections were"),
                counters.evicted_openings
            ));
        }
        if counters.strays > 0 {
            self.warnings.push(format!(
                "{} nothing of the connection whose addresses and ports they bear: left out",
                of(counters.strays, "packet fits", "packets fit")
            ));
        }
    }
}

fn of(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// A span of time in the unit in which it is a small number.
fn in_words(span: Duration) -> String {
    let nanos = span.as_nanos();
    for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")] {
        if nanos >= unit {
            let number = nanos as f64 / unit as f64;
            let digits = usize::from(number < 100.0 && nanos % unit != 0);
            return format!("{number:.digits$} {name}");
        }
    }
    format!("{nanos} ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_small_numbers_of_a_unit() {
        let words = |nanos| in_words(Duration::from_nanos(nanos));
        assert_eq!(words(3_000), "3 µs");
        assert_eq!(words(44_602_753_000), "44.6 s");
        assert_eq!(words(1_500_000), "1.5 ms");
        assert_eq!(words(999), "999 ns");
        assert_eq!(words(250_400_000), "250 ms");
    }

    #[test]
    fn one_of_something_is_not_several() {
        let mut summary = Summary {
            steps_back: 1,
            longest_step_back: Duration::from_nanos(3_000),
            ..Summary::default()
        };
        summary.counters.strays = 1;
        summary.counters.evicted = 1;
        summary.warn();
        let told = summary.warnings.join("\n");
        assert!(told.contains("steps back once, by 3 µs at most"), "{told}");
        assert!(told.contains("1 connection was ended early"), "{told}");
        assert!(told.contains("1 packet fits nothing"), "{told}");
    }
}
