//! Emulated senders: what made each resend, and which stack it was.

use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

use crate::event::SenderEvent;
use crate::facts::SenderFacts;
use crate::rows::Parameters;

/// What made a resend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// The next best explanation and how sure it is.
    pub runner_up: Option<(Mechanism, f64)>,
    /// The wire cannot tell the two: a timeout and a probe of one packet fall together.
    pub either: bool,
    /// The timer that ran out.
    pub timer: Option<Duration>,
    /// Its episode, from 0, and what began it.
    pub episode: u32,
    /// What began the episode.
    pub episode_cause: Mechanism,
}

/// Which stack a sender was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The stack's name, `several` or `none`.
    pub stack: Option<&'static str>,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// All stacks that explain every resend.
    pub stacks: Vec<&'static str>,
    /// The six parameters.
    pub parameters: Parameters,
}

/// All emulated senders of one half side by side.
#[derive(Debug)]
pub struct Judges {}

impl Judges {
    /// Emulations of every stack, for a sender of which `facts` are known.
    #[must_use]
    pub fn new(_facts: &SenderFacts) -> Self {
        Judges {}
    }

    /// The next event, in the sender's order. A resend's number counts up from 0.
    pub fn event(&mut self, _event: &SenderEvent) {}

    /// What is known of resend `number` now: the opinion of the stack that explains most so far. None once forgotten.
    #[must_use]
    pub fn verdict(&self, _number: u32) -> Option<Verdict> {
        None
    }

    /// Forgets resends below `number`, which have been given out.
    pub fn forget_before(&mut self, _number: u32) {}

    /// Which stack it was, from all resends so far.
    #[must_use]
    pub fn identity(&self) -> Identity {
        Identity::default()
    }
}
