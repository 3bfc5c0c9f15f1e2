//! What other settings would have done, replayed from the same events.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use crate::event::{Direction, SenderEvent};
use crate::facts::SenderFacts;
use crate::rows::WhatIf;

/// What became known of a resend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The resend's number in its half.
    pub number: u32,
    /// What made it.
    pub mechanism: Mechanism,
    /// Whether it was needed.
    pub need: Need,
    /// Its episode.
    pub episode: u32,
    /// From the original to the resend.
    pub detection: Option<Duration>,
    /// The timer that ran out.
    pub timer: Option<Duration>,
    /// Segments outstanding when it was sent.
    pub flight_segments: u32,
}

/// All settings asked for, replayed side by side over one half.
#[derive(Debug)]
pub struct Replay {}

impl Replay {
    /// A replay for a sender of which `facts` are known.
    #[must_use]
    pub fn new(_direction: Direction, _facts: &SenderFacts) -> Self {
        Replay {}
    }

    /// The next event, in the sender's order. Resends are numbered as in [`crate::event::SentKind::Resend`].
    pub fn event(&mut self, _event: &SenderEvent) {}

    /// What a resend was, once that is known; in the order of their numbers.
    pub fn resolved(&mut self, _resend: &Resolved) {}

    /// The connection is over.
    pub fn finish(self, _out: &mut Vec<WhatIf>) {}
}
