//! The rule over all subflows of one connection.

use std::net::IpAddr;

use rexmit_time::Time;
use rexmit_wire::TcpPacket;

use super::totals::Totals;
use crate::pattern::Pattern;
use crate::{Decision, Event, PacketId, Rule, Verdict};

/// How a path rule is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is dropped.
    pub pattern: Pattern,
    /// Bytes of each burst, in the order in which they are written; the first byte of the first is the first that the
    /// server sends.
    pub bursts: Vec<u64>,
    /// The client's address on each path.
    pub clients: Vec<IpAddr>,
    /// Packets of new data by burst and path, of the same case without loss. Without it nothing is dropped, only
    /// counted: a rehearsal.
    pub totals: Option<Totals>,
}

/// Drops packets of one connection's bursts, and of the client that they go to, by path, burst and position.
///
/// It is given the packets of both directions, or, where the pattern names no acknowledgements, of the server alone.
/// A rule is for one connection.
#[derive(Debug)]
pub struct PathRule {
    settings: Settings,
    counts: Totals,
}

impl PathRule {
    /// A rule that has seen nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let counts = Totals::none(settings.bursts.len(), settings.clients.len());
        PathRule { settings, counts }
    }

    /// Packets of new data that were sent so far, by burst and path.
    #[must_use]
    pub fn counts(&self) -> &Totals {
        &self.counts
    }
}

impl Rule for PathRule {
    fn on_packet(&mut self, _id: PacketId, packet: &TcpPacket<'_>, _now: Time) -> Verdict {
        let _ = (packet, &self.settings);
        Verdict::Accept
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        None
    }

    fn poll_event(&mut self) -> Option<Event> {
        None
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn finish(&mut self, _now: Time) {}
}
