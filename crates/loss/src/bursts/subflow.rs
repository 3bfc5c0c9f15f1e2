//! One subflow: where its packets stand, and what was sent again.

use std::collections::BTreeMap;

use rexmit_wire::mptcp::Mapping;
use rexmit_wire::{FlowKey, SeqNum};

use super::mappings::Mappings;

/// One subflow, as seen from the server. Its bytes are counted from its initial sequence number, which is 0.
#[derive(Debug)]
pub(crate) struct Subflow<P> {
    pub key: FlowKey,
    /// From 1.
    pub path: u32,
    pub isn: SeqNum,
    /// Behind the highest byte that was sent, FIN included, and its sequence number.
    highest: (u64, SeqNum),
    mappings: Mappings,
    /// What was sent first in one packet, by its first byte.
    pieces: BTreeMap<u64, Piece<P>>,
    /// What was sent again, a packet each.
    again: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece<P> {
    end: u64,
    /// Where the packet stands, when it carried new data.
    place: Option<P>,
}

impl<P: Copy> Subflow<P> {
    /// Nothing sent but the SYN with this number.
    pub fn new(key: FlowKey, path: u32, isn: SeqNum) -> Self {
        Subflow {
            key,
            path,
            isn,
            highest: (1, isn + 1),
            mappings: Mappings::default(),
            pieces: BTreeMap::new(),
            again: Vec::new(),
        }
    }

    /// How far `seq` lies behind the initial sequence number; `None` for one before it.
    pub fn relative(&self, seq: SeqNum) -> Option<u64> {
        let (highest, number) = self.highest;
        highest.checked_add_signed(i64::from(seq.offset_from(number)))
    }

    /// Takes in what a packet at `start` says of its bytes: they, or some around them, are data from `data` on. `fin` is
    /// one of the mapping's numbers but no byte (RFC 8684 §3.3.3).
    pub fn announce(&mut self, start: u64, mapping: &Mapping, fin: bool, data: i64) {
        let offset = mapping.subflow_seq.wrapping_sub(start as u32) as i32;
        let Some(first) = start.checked_add_signed(i64::from(offset)) else {
            return;
        };
        let bytes = u64::from(mapping.len) - u64::from(fin && mapping.len > 0);
        let end = match mapping.len {
            // Of all that follows (RFC 8684 §3.7).
            0 => u64::MAX,
            _ => first + bytes,
        };
        if first < end {
            self.mappings.announce(first, end, data);
        }
    }

    /// Where the byte at `at` lies in the data of a Multipath TCP connection.
    pub fn data(&self, at: u64) -> Option<i64> {
        self.mappings.data(at)
    }

    pub fn has_mappings(&self) -> bool {
        !self.mappings.is_empty()
    }

    /// The packet in which the byte at `at` went first, if it did, and the how manieth time it goes now.
    pub fn sent(&self, at: u64) -> Option<(Option<P>, u32)> {
        let (_, piece) = self.pieces.range(..=at).next_back()?;
        if at >= piece.end {
            return None;
        }
        let again = self.again.iter();
        let times = again.filter(|(start, end)| *start <= at && at < *end);
        Some((piece.place, times.count() as u32 + 2))
    }

    /// Bytes `start..end` are sent in one packet that stands at `place`; `top` lies behind its FIN, too. Says whether it
    /// carries the highest number sent so far.
    pub fn send(&mut self, start: u64, end: u64, top: u64, place: Option<P>) -> bool {
        if self.sent(start).is_some() {
            self.again.push((start, end));
        }
        let mut gap = start;
        let there: Vec<(u64, u64)> = self
            .pieces
            .range(..end)
            .rev()
            .take_while(|(_, piece)| piece.end > start)
            .map(|(from, piece)| (*from, piece.end))
            .collect();
        for (from, to) in there.into_iter().rev().chain([(end, end)]) {
            if gap < from {
                self.pieces.insert(gap, Piece { end: from, place });
            }
            gap = gap.max(to);
        }
        let highest = top >= self.highest.0;
        if highest {
            let by = (top - self.highest.0) as u32;
            self.highest = (top, self.highest.1 + by);
        }
        highest
    }

    /// The FIN or SYN behind `top` was sent, without data.
    pub fn reach(&mut self, top: u64) {
        if top > self.highest.0 {
            let by = (top - self.highest.0) as u32;
            self.highest = (top, self.highest.1 + by);
        }
    }
}
