//! One subflow, or the one flow of plain TCP: where its packets stand, which data they carry, and what was sent again.
//!
//! Each packet of new data is given a place `P`, which is told when its bytes go again.

mod anchor;
mod first;
mod mappings;
mod repeats;
mod syn_ack;

use rexmit_wire::mptcp::{Dss, Mapping, Numbers};
use rexmit_wire::SeqNum;

pub(crate) use anchor::Anchor;
pub(crate) use first::First;
pub(crate) use repeats::Repeats;
pub(crate) use syn_ack::SynAck;

use mappings::Mappings;

/// One subflow, as seen from the server. Its bytes are counted from its initial sequence number, which is 0.
#[derive(Debug)]
pub(crate) struct Subflow<P> {
    /// From 1.
    pub path: u32,
    pub isn: SeqNum,
    /// Behind the highest byte that was sent, FIN included.
    highest: Anchor,
    mappings: Mappings,
    /// Where the packet stands in which a byte was sent first, when that carried new data.
    first: First<Option<P>>,
    again: Repeats,
}

impl<P: Copy> Subflow<P> {
    /// Nothing sent but the SYN with this number.
    pub fn new(path: u32, isn: SeqNum) -> Self {
        Subflow {
            path,
            isn,
            highest: Anchor {
                position: 1,
                seq: isn + 1,
            },
            mappings: Mappings::default(),
            first: First::default(),
            again: Repeats::default(),
        }
    }

    /// How far `seq` lies behind the initial sequence number; `None` for one before it.
    pub fn relative(&self, seq: SeqNum) -> Option<u64> {
        self.highest.position(seq)
    }

    /// Takes in what a packet at `start` says of its bytes: they, or some around them, are data from the mapping's number
    /// on. Answers where that lies in the data.
    pub fn announce(&mut self, start: u64, dss: &Dss, numbers: &mut Numbers) -> Option<i64> {
        let mapping = dss.mapping?;
        let data = numbers.place(mapping.data_seq);
        self.map(start, &mapping, dss.fin, data);
        Some(data)
    }

    /// `fin` is one of the mapping's numbers but no byte (RFC 8684 §3.3.3).
    fn map(&mut self, start: u64, mapping: &Mapping, fin: bool, data: i64) {
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
    pub fn mapped(&self, at: u64) -> Option<i64> {
        self.mappings.data(at)
    }

    /// The same, where without any mapping a connection's only subflow (`alone`) has fallen back to TCP (RFC 8684 §3.7).
    pub fn data(&self, at: u64, alone: bool) -> Option<i64> {
        let fallen_back = alone && self.mappings.is_empty();
        let plain = || fallen_back.then(|| plain(at));
        self.mapped(at).or_else(plain)
    }

    /// The packet in which the byte at `at` went first, if it did, and the how manieth time it goes now.
    pub fn sent(&self, at: u64) -> Option<(Option<P>, u32)> {
        let place = self.first.at(at)?;
        Some((place, self.again.transmission(at)))
    }

    /// Whether a packet up to `top` carries the highest number sent so far.
    pub fn is_highest(&self, top: u64) -> bool {
        top >= self.highest.position
    }

    /// Bytes `start..end` are sent in one packet that stands at `place`; `top` lies behind its FIN, too.
    pub fn send(&mut self, start: u64, end: u64, top: u64, place: Option<P>) {
        if self.first.at(start).is_some() {
            self.again.add(start, end);
        }
        self.first.send(start, end, place);
        self.reach(top);
    }

    /// All below `top` was sent, data or not.
    pub fn reach(&mut self, top: u64) {
        if top > self.highest.position {
            self.highest = Anchor {
                position: top,
                seq: self.highest.seq(top),
            };
        }
    }
}

/// Where the byte at `at` of plain TCP lies in its data.
pub(crate) fn plain(at: u64) -> i64 {
    at as i64 - 1
}
