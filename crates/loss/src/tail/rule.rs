//! The tail rule over all connections.

use super::settings::{Counters, Settings};
use crate::responses::choice::Choice;
use crate::responses::out::Out;
use crate::responses::tracker::{self, Tracker};

/// Drops the last N data segments of every HTTP response, once; see the [module](super).
#[derive(Debug)]
pub struct TailRule {
    settings: Settings,
    tracker: Tracker,
}

impl TailRule {
    /// A rule that knows no connection yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let choice = Choice::Tail {
            segments: settings.segments,
            mode: settings.mode,
            hold_limit: settings.hold_limit,
        };
        TailRule {
            settings,
            tracker: Tracker::new(settings.max_flows, Out::new(choice, settings.linger)),
        }
    }

    /// How it was set up.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What it has counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.tracker.counters()
    }
}

tracker::is_a_rule!(TailRule);
