//! Whether a packet belongs to the connection whose addresses it bears.

use rexmit_time::Time;
use rexmit_wire::headers::Sack;
use rexmit_wire::{Headers, SeqRange};

use super::{Closed, Connection, Kept};
use crate::event::Direction;
use crate::settings::Settings;
use crate::window::MOST_STRAYS;

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
    pub fn belongs(&mut self, at: Time, headers: &Headers) -> Belongs {
        let direction = self.direction(&headers.flow);
        if headers.flags.syn() {
            return self.belongs_syn(at, direction, headers);
        }
        let half = self.sides.iter().any(|side| side.packets == 0);
        if half && self.is_before(direction, headers) {
            return Belongs::Stray;
        }
        if self.is_near(direction, headers) {
            return Belongs::Here;
        }
        self.is_far(direction, headers)
    }

    /// Whether a packet is of the connection that had the addresses before: while the peer has not answered a SYN, one that
    /// acknowledges something else than that (a challenge, RFC 5961 §4.2), or the reset that answers it.
    #[cold]
    fn is_before(&self, direction: Direction, headers: &Headers) -> bool {
        let peer = direction.reversed() as usize;
        let flags = headers.flags;
        let after = |of| self.cold.syns.isn(of).map(|isn| isn + 1);
        match (after(direction), after(direction.reversed())) {
            (None, Some(next)) if !flags.rst() => {
                let acknowledges = !headers.ack.is_before(next);
                let side = &self.sides[peer];
                flags.ack() && !(acknowledges && side.may_acknowledge(headers.ack))
            }
            (Some(next), None) => flags.rst() && !flags.ack() && headers.seq != next,
            _ => false,
        }
    }

    /// Whether the numbers of a packet are near those of both sides ([`crate::window`]).
    #[inline]
    fn is_near(&self, direction: Direction, headers: &Headers) -> bool {
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        self.sides[me].is_near(headers.seq)
            && (!headers.flags.ack() || self.sides[peer].is_near(headers.ack))
    }

    #[cold]
    fn is_far(&mut self, direction: Direction, headers: &Headers) -> Belongs {
        if headers.flags.rst() {
            // Mostly the answer to a packet without a connection, whose own number is 0 (RFC 9293 §3.10.7.1).
            return Belongs::Here;
        }
        let fit = self.sides.iter().map(|side| side.packets).sum();
        let (in_a_row, before) = &mut self.cold.strays;
        if core::mem::replace(before, fit) != fit {
            *in_a_row = 0;
        }
        *in_a_row = in_a_row.saturating_add(1);
        let moved = *in_a_row > MOST_STRAYS;
        // A connection that is closed may be followed by another; what it still sends has its numbers.
        let next =
            self.closed != Closed::Open && !self.sides[direction as usize].is_near(headers.seq);
        if next || moved {
            Belongs::Next
        } else {
            Belongs::Stray
        }
    }

    /// Of the SACK blocks of a packet, those of numbers near those of the other side.
    #[inline(never)]
    pub(super) fn near_blocks(&self, direction: Direction, sack: &Sack) -> Sack {
        let side = &self.sides[direction.reversed() as usize];
        let near = |block: &&_| {
            let &SeqRange { start, end } = *block;
            side.is_near(start) && side.is_near(end)
        };
        sack.blocks().iter().filter(near).copied().collect()
    }

    /// The SYN that came before, and was taken for a stray, of which this is one more: it was the first of the next connection,
    /// which is not over.
    pub fn stray_syn(&self, at: Time, headers: &Headers, settings: &Settings) -> Option<Kept> {
        let syn = self.cold.stray_syn.as_deref().copied();
        let lasts = |syn: &Kept| {
            let since = at.since(syn.at);
            (-settings.idle..=settings.idle).contains(&since)
        };
        syn.filter(|syn| headers.flags == syn.flags && headers.seq == syn.seq)
            .filter(|syn| self.pair.0 == headers.flow && lasts(syn))
    }

    #[cold]
    fn belongs_syn(&mut self, at: Time, direction: Direction, headers: &Headers) -> Belongs {
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        let side = &self.sides[me];
        let near = self.is_near(direction, headers);
        let answers = self.cold.syns.get(direction.reversed()).is_some();
        match self.cold.syns.get(direction) {
            Some(syn) if near && syn.seq == headers.seq => return Belongs::Here,
            // Its first packet: an answer to the client's SYN.
            None if near && side.packets == 0 && answers => {
                return Belongs::Here;
            }
            _ => {}
        }
        if self.closed != Closed::Open {
            return Belongs::Next;
        }
        // An answer made anew without memory of the first (RFC 4987 §3.6).
        let answer = headers.flags.ack() && answers && side.segments == 0;
        if answer && self.sides[peer].may_acknowledge(headers.ack) {
            return Belongs::Here;
        }
        // A SYN within the window gets a challenge and ends nothing (RFC 5961 §4.2).
        if side.is_in_window(headers.seq, u32::from(u16::MAX)) {
            let first = Kept::syn(at, headers).filter(|_| direction == Direction::Forward);
            self.cold.stray_syn = first.map(Box::new);
            Belongs::Stray
        } else {
            Belongs::Next
        }
    }
}
