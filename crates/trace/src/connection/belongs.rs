//! Whether a packet belongs to the connection whose addresses it bears.

use rexmit_wire::Headers;

use super::{Closed, Connection};
use crate::event::Direction;

/// So many packets in a row that fit nothing are the middle of another connection, or of this one much later.
const MOST_STRAYS: u32 = 8;

/// What a packet is to the connection whose addresses it bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// One of its packets.
    Here,
    /// The first of a new connection; this one is over.
    Next,
    /// Neither: its numbers are none of this connection.
    Stray,
}

impl Connection {
    /// What a packet is to it.
    #[inline]
    pub fn belongs(&mut self, headers: &Headers) -> Belongs {
        let direction = self.direction(&headers.flow);
        if headers.flags.syn() {
            return self.belongs_syn(direction, headers);
        }
        if self.sides[direction as usize].is_near(headers.seq) {
            return Belongs::Here;
        }
        self.is_far(headers)
    }

    #[cold]
    fn is_far(&mut self, headers: &Headers) -> Belongs {
        if headers.flags.rst() {
            // Mostly the answer to a packet without a connection, whose own number is 0 (RFC 9293 §3.10.7.1).
            return Belongs::Here;
        }
        self.cold.strays += 1;
        if self.closed == Closed::Open && self.cold.strays <= MOST_STRAYS {
            Belongs::Stray
        } else {
            Belongs::Next
        }
    }

    #[cold]
    fn belongs_syn(&self, direction: Direction, headers: &Headers) -> Belongs {
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        let side = &self.sides[me];
        match &self.cold.syns[me] {
            Some(syn) if syn.seq == headers.seq => return Belongs::Here,
            // Its first packet: an answer to the client's SYN.
            None if side.packets == 0 && self.cold.syns[peer].is_some() => return Belongs::Here,
            _ => {}
        }
        if self.closed != Closed::Open {
            return Belongs::Next;
        }
        // An answer made anew without memory of the first (RFC 4987 §3.6).
        let answer = headers.flags.ack() && self.cold.syns[peer].is_some() && side.segments == 0;
        if answer && self.sides[peer].may_acknowledge(headers.ack) {
            return Belongs::Here;
        }
        // A SYN within the window gets a challenge and ends nothing (RFC 5961 §4.2).
        if side.is_in_window(headers.seq, u32::from(u16::MAX)) {
            Belongs::Stray
        } else {
            Belongs::Next
        }
    }
}
