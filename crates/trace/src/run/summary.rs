//! What a run says of itself.

use rexmit_time::{Duration, Time};
use rexmit_wire::Skips;

use super::decode::Counted;
use super::lookups::Lookup;
use super::warnings::{in_words, of};
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
    /// Frames of which the capture has not all.
    pub cut: u64,
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
    /// The names that were looked up, those first that took longest; of many, the longest.
    pub lookups: Vec<Lookup>,
    /// What the analysis counted.
    pub counters: Counters,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Summary {
    pub(crate) fn new(counted: &Counted, counters: Counters, warnings: Vec<String>) -> Self {
        let mut summary = Summary {
            frames: counted.frames,
            bytes: counted.bytes,
            cut: counted.cut,
            first: counted.first,
            latest: counted.first.map(|_| counted.latest),
            skips: counted.skips,
            steps_back: counted.steps_back,
            longest_step_back: counted.longest_step_back,
            lookups: counted.lookups.0.clone(),
            counters,
            warnings,
        };
        summary.warn();
        summary
    }

    fn warn(&mut self) {
        let counters = &self.counters;
        if self.steps_back > 0 {
            let by = in_words(self.longest_step_back);
            let how = match self.steps_back {
                1 => format!("once, by {by}"),
                2 => format!("twice, by {by} at most"),
                steps => format!("{steps} times, by {by} at most"),
            };
            self.warnings.push(format!(
                "the capture's clock steps back {how}: times around there may be wrong"
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
        if counters.stray_blocks > 0 {
            self.warnings.push(format!(
                "{} numbers that their connections are nowhere near: left out; a device that changes sequence numbers may \
                 leave those in blocks as they are",
                of(counters.stray_blocks, "SACK block has", "SACK blocks have")
            ));
        }
        if counters.set > 0 {
            self.warnings.push(format!(
                "within {} the capture's clock was set, by {} at most: what passed meanwhile is told by the hosts' time stamps, or is \
                 not known",
                of(counters.set, "connection", "connections"),
                in_words(counters.farthest_set)
            ));
        }
        if counters.moved > 0 {
            self.warnings.push(format!(
                "of {} one direction is recorded late, by {} at most: it was moved, so that acknowledgements stand behind the data \
                 that they acknowledge; round-trip times are right, their parts on either side of the capture are not known",
                of(counters.moved, "connection", "connections"),
                in_words(counters.farthest_moved)
            ));
        }
        if counters.late > 0 {
            self.warnings.push(format!(
                "of {} one direction is recorded late, by up to {}: acknowledgements stand before the data that they acknowledge, \
                 and times do not tell which retransmissions were needed",
                of(counters.late, "connection", "connections"),
                in_words(counters.latest)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(told.contains("steps back once, by 3 µs: times"), "{told}");
        assert!(told.contains("1 connection was ended early"), "{told}");
        assert!(told.contains("1 packet fits nothing"), "{told}");
    }
}
