//! The pattern rule over all connections.

use rexmit_time::Duration;

use super::text::Pattern;
use crate::responses::choice::Choice;
use crate::responses::out::Out;
use crate::responses::tracker::{self, Tracker};

/// How a pattern rule is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is dropped of every transfer.
    pub pattern: Pattern,
    /// As [`tail::Settings::linger`](crate::tail::Settings::linger).
    pub linger: Duration,
    /// How many connections are remembered; the one idle longest is forgotten for a new one.
    pub max_flows: usize,
}

impl Settings {
    /// The pattern, and else what a tail rule has.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        let crate::tail::Settings {
            linger, max_flows, ..
        } = crate::tail::Settings::default();
        Settings {
            pattern,
            linger,
            max_flows,
        }
    }
}

/// Drops packets of every HTTP response, and of the client that asked for it, by position; see [`Pattern`].
///
/// It is given the packets of both directions, or, where the pattern names no acknowledgements, of the server alone.
#[derive(Debug)]
pub struct PatternRule {
    tracker: Tracker,
}

impl PatternRule {
    /// A rule that knows no connection yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let choice = Choice::Pattern(settings.pattern);
        PatternRule {
            tracker: Tracker::new(settings.max_flows, Out::new(choice, settings.linger)),
        }
    }
}

tracker::is_a_rule!(PatternRule);
