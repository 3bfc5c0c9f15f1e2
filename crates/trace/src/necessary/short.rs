//! Timers shorter than the usual least one: believed where a host shows one twice.

use rexmit_time::Duration;
use serde::{Deserialize, Serialize};

/// Those of one host that are remembered.
const MOST: usize = 64;

/// Times after which a sender sent something again that it had heard nothing of, each shorter than the usual least timer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShortTimers {
    spans: Vec<Duration>,
}

impl ShortTimers {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// One more.
    pub(crate) fn note(&mut self, span: Duration) {
        if self.spans.len() < MOST {
            self.spans.push(span);
        }
    }

    /// Those of another connection, too.
    pub(crate) fn add(&mut self, other: &ShortTimers) {
        other.spans.iter().for_each(|span| self.note(*span));
    }

    /// Whether a timer that may have run out after `span` is one of several as short, or one that doubled.
    pub(crate) fn show_twice(&self, span: Duration) -> bool {
        let like = |other: &&Duration| {
            let (low, high) = (span.min(**other), span.max(**other));
            let near = |one: Duration| {
                let apart = one.max(high) - one.min(high);
                apart <= one / 8 + Duration::from_millis(2)
            };
            high > Duration::ZERO && (near(low) || near(low * 2))
        };
        self.spans.iter().filter(like).count() > 1
    }
}
