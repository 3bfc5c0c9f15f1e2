//! The newest packets of a direction: which of them a path doubles, and what of them is missing.

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::SeqNum;

/// Packets among which a path doubles one, and stretches between them that may come late.
const RECENT: usize = 16;

/// By numbers and IP identifications, and the next one's place.
#[derive(Debug, Default)]
pub(super) struct Newest {
    packets: [Option<(SeqNum, u16)>; RECENT],
    next: usize,
    /// What did not come by before what was sent behind it, and when that did.
    holes: VecDeque<(SeqNum, SeqNum, Time)>,
}

impl Newest {
    /// Whether a packet came by before: a sender gives what it sends again another identification (RFC 6864 §4.1).
    pub fn is_doubled(&mut self, seq: SeqNum, id: u16) -> bool {
        let doubled = self.packets.contains(&Some((seq, id)));
        if !doubled {
            self.packets[self.next] = Some((seq, id));
            self.next = (self.next + 1) % RECENT;
        }
        doubled
    }

    /// What comes by at `at` begins with `end`, where `start` was to be next.
    pub fn misses(&mut self, at: Time, start: SeqNum, end: SeqNum) {
        self.holes.truncate(RECENT - 1);
        self.holes.push_front((start, end, at));
    }

    /// Since when this byte is missing, or was.
    pub fn missing_since(&self, seq: SeqNum) -> Option<Time> {
        let within =
            |hole: &&(SeqNum, SeqNum, Time)| !seq.is_before(hole.0) && seq.is_before(hole.1);
        self.holes.iter().find(within).map(|hole| hole.2)
    }
}
