//! Windows that are closed, resets, and what became of the handshake.

use rexmit_time::{Duration, Time};
use rexmit_wire::message::Message;
use rexmit_wire::{tls, Headers};

use super::{Cold, Connection, BOTH};
use crate::event::Direction;
use crate::measures::window::Closings;
use crate::measures::{Alert, ConnectionState, Handshake, Reset};

/// What is measured of few connections.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Of each side's own window.
    pub closings: [Closings; 2],
    /// RSTs of each side.
    pub resets: [u32; 2],
    /// The first of them that fits.
    pub reset: Option<Reset>,
    /// ICMP said of a SYN that it cannot be delivered.
    pub unreachable: bool,
    /// The first alert of TLS that ended the handshake.
    pub alert: Option<Alert>,
}

impl Connection {
    /// A side offers a window of nothing, or did so in its packet before.
    #[cold]
    pub(super) fn window_moves(&mut self, at: Time, direction: Direction, headers: &Headers) {
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        let flags = headers.flags;
        // One that was overtaken says nothing of now (RFC 9293 §3.10.7.4).
        if flags.syn()
            || flags.rst()
            || !flags.ack()
            || self.sides[peer].is_acked_beyond(headers.ack)
        {
            return;
        }
        if headers.window > 0 {
            if let Some(measured) = &mut self.cold.measured {
                measured.closings[me].open(at);
            }
        } else if !flags.fin() && !self.sides[peer].fin {
            // To a peer that has nothing more to send no window is closed.
            self.cold.measured().closings[me].close(at);
        }
    }

    /// A side sent a keep-alive without payload.
    #[cold]
    pub(super) fn keeps_alive(&mut self, direction: Direction) {
        let me = direction as usize;
        let shut = self.sides[direction.reversed() as usize].offers_nothing();
        self.cold.probes[me] = self.cold.probes[me].saturating_add(1);
        let probes = &mut self.cold.window_probes[me];
        *probes = probes.saturating_add(u32::from(shut));
    }

    /// Counts a reset, and keeps the first that `fits`. The packet before it came by at `before`.
    pub(super) fn note_reset(&mut self, at: Time, before: Time, direction: Direction, fits: bool) {
        let reset = Reset {
            by: direction,
            state: self.state(),
            after: self.before,
            silence: at.since(before).max(Duration::ZERO),
        };
        let measured = self.cold.measured();
        let count = &mut measured.resets[direction as usize];
        *count = count.saturating_add(1);
        if fits {
            measured.reset.get_or_insert(reset);
            measured.closings.iter_mut().for_each(|side| side.open(at));
        }
    }

    pub(super) fn state(&self) -> ConnectionState {
        let [client, server] = &self.sides;
        let answered = self.cold.syns.get(Direction::Backward).is_some();
        match (client.fin, server.fin) {
            (true, true) => ConnectionState::Closed,
            (true, false) | (false, true) => ConnectionState::HalfClosed,
            _ if self.shaken || (server.is_known() && !answered) => ConnectionState::Established,
            _ if answered => ConnectionState::SynReceived,
            _ => ConnectionState::SynSent,
        }
    }

    /// What became of the handshake.
    pub(super) fn handshake(&self) -> Handshake {
        let server = &self.sides[Direction::Backward as usize];
        let [syn, answer] = BOTH.map(|of| self.cold.syns.get(of));
        let refused = |reset: &Reset| {
            reset.by == Direction::Backward && reset.state == ConnectionState::SynSent
        };
        match (syn, answer) {
            (Some(_), Some(_)) if self.shaken => Handshake::Complete,
            (Some(_), Some(_)) => Handshake::HalfOpen,
            // What the client acknowledges came, though not by here.
            (Some(_), None) if server.packets == 0 && !server.is_known() => {
                match &self.cold.measured {
                    Some(measured) if measured.unreachable => Handshake::Unreachable,
                    _ => Handshake::Unanswered,
                }
            }
            (Some(_), None) if self.cold.reset().as_ref().is_some_and(refused) => {
                Handshake::Refused
            }
            _ => Handshake::Unseen,
        }
    }
}

impl Cold {
    pub(super) fn measured(&mut self) -> &mut Measured {
        self.measured.get_or_insert_default()
    }

    /// A side ends the handshake of TLS.
    #[cold]
    pub(super) fn note_alert(&mut self, by: Direction, message: Option<&Message>) {
        if let Some(&Message::Alert(description)) = message {
            if tls::alert(description).is_some() {
                let alert = Alert { by, description };
                self.measured().alert.get_or_insert(alert);
            }
        }
    }

    /// The first reset that fits.
    pub(super) fn reset(&self) -> Option<Reset> {
        self.measured.as_ref()?.reset
    }
}
