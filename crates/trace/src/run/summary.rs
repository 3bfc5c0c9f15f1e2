//! What a run says of itself.

use rexmit_time::{Duration, Time};
use rexmit_wire::Skips;

use super::decode::Counted;
use super::lookups::Lookup;
use super::warnings;
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
        let counted = warnings::counted(&summary);
        summary.warnings.extend(counted);
        summary
    }
}
