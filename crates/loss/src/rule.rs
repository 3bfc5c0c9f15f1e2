//! What a loss rule is.

use rexmit_time::Time;
use rexmit_wire::TcpPacket;

use crate::Event;

/// The caller's name for a packet, unique among the packets that are held at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// What happens to a packet now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Accept,
    /// It is lost.
    Drop,
    /// It waits; [`Rule::poll_release`] names it later.
    Hold,
}

/// What happens to a held packet in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on.
    Accept,
    /// It is lost.
    Drop,
}

/// Decides which packets are lost.
///
/// # Order of calls
/// After every [`on_packet`](Rule::on_packet), [`on_deadline`](Rule::on_deadline) and
/// [`finish`](Rule::finish) the caller carries out the verdict, then drains
/// [`poll_release`](Rule::poll_release), then [`poll_event`](Rule::poll_event), then looks at
/// [`deadline`](Rule::deadline). `now` never goes back from one call to the next.
/// A packet answered with [`Verdict::Hold`] may be released by the very same call.
///
/// # Packets
/// The rule is given every TCP packet of the sending side (the server's OUTPUT), and, where it is to judge those too,
/// of the other side as they leave. It knows a packet's direction by its connection's handshake: who sent the
/// SYN-ACK is the server.
/// Packets that [`TcpPacket::parse`] skips are not for it: they pass.
///
/// # Randomness
/// There is none in this interface. A rule that needs some is built with its own
/// `rexmit_time::Stream`, so that its draws depend on its packets alone and rules that need none
/// (this crate's tail rule) carry nothing.
pub trait Rule {
    /// Judges one packet that is being sent at `now`.
    fn on_packet(&mut self, id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Verdict;

    /// The next held packet whose fate is settled, in the order in which they are to leave.
    fn poll_release(&mut self) -> Option<(PacketId, Decision)>;

    /// The next event.
    fn poll_event(&mut self) -> Option<Event>;

    /// When [`on_deadline`](Rule::on_deadline) is due, if at all.
    fn deadline(&self) -> Option<Time>;

    /// Acts on every deadline up to `now`; does nothing when none is due.
    fn on_deadline(&mut self, now: Time);

    /// Ends everything: releases all held packets and closes all transfers. Connections stay known, so
    /// that their late packets pass; the rule may go on with new ones.
    fn finish(&mut self, now: Time);

    /// Packets with data of which the rule cannot tell where they belong. They pass, and count nowhere.
    fn unmapped(&self) -> u64 {
        0
    }
}

impl<R: Rule + ?Sized> Rule for Box<R> {
    fn on_packet(&mut self, id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Verdict {
        (**self).on_packet(id, packet, now)
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        (**self).poll_release()
    }

    fn poll_event(&mut self) -> Option<Event> {
        (**self).poll_event()
    }

    fn deadline(&self) -> Option<Time> {
        (**self).deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        (**self).on_deadline(now);
    }

    fn finish(&mut self, now: Time) {
        (**self).finish(now);
    }

    fn unmapped(&self) -> u64 {
        (**self).unmapped()
    }
}
