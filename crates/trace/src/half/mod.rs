//! One direction of a connection as its sender saw it.

use rexmit_wire::SeqRange;

use crate::event::{Direction, Event};
use crate::facts::SenderFacts;
use crate::rows::{HalfRow, Retransmission, WhatIf};
use crate::settings::Settings;

/// One direction of a connection: the sender's packets, and the acknowledgements that come back.
///
/// Both come in the order in which the monitor saw them. [`Half::finish`] gives what is left.
#[derive(Debug)]
pub struct Half {
    direction: Direction,
}

impl Half {
    /// A half whose sender sends in `direction`.
    #[must_use]
    pub fn new(direction: Direction, _facts: &SenderFacts, _settings: &Settings) -> Self {
        Half { direction }
    }

    /// A packet of the sender, with its SACK blocks (which belong to the other half).
    pub fn data(&mut self, _event: &Event) {}

    /// A packet of the receiver that acknowledges, with its SACK blocks.
    pub fn ack(&mut self, _event: &Event, _sacks: &[SeqRange]) {}

    /// Moves out the rows of resends that are settled, oldest first.
    pub fn settled(&mut self, _out: &mut Vec<Retransmission>) {}

    /// The connection is over: everything that is left, and what the sender did in all.
    pub fn finish(
        self,
        _resends: &mut Vec<Retransmission>,
        _whatif: &mut Vec<WhatIf>,
        _row: &mut HalfRow,
    ) {
        let _ = self.direction;
    }
}
