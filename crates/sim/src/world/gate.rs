//! What stands between a host's TCP and its network.

use rexmit_loss::{Decision, PacketId, Verdict};
use rexmit_time::Time;
use rexmit_wire::FlowKey;

use super::network::NodeId;
use super::packet::Packet;
use crate::machine::Machine;

/// Sees what the hosts send and receive, and may drop or hold what they send.
pub trait Gate<M: Machine> {
    /// `packet` leaves its host's TCP, whose machine this is, as a packet of the flow `key`.
    fn on_sent(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &Packet<M::Options>,
        key: &FlowKey,
        machine: &M,
    ) -> Verdict;

    /// `packet` reaches the host that it was sent to.
    fn on_received(&mut self, _now: Time, _packet: &Packet<M::Options>, _key: &FlowKey) {}

    /// `packet` comes to the switch `node` at `at`, which may lie ahead of the last time told.
    fn on_passed(&mut self, _at: Time, _packet: &Packet<M::Options>, _node: NodeId) {}

    /// The next packet held whose fate is settled.
    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        None
    }

    /// When [`Gate::on_deadline`] is due.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Acts on every deadline up to `now`.
    fn on_deadline(&mut self, _now: Time) {}
}

/// Lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl<M: Machine> Gate<M> for Open {
    fn on_sent(
        &mut self,
        _: Time,
        _: PacketId,
        _: &Packet<M::Options>,
        _: &FlowKey,
        _: &M,
    ) -> Verdict {
        Verdict::Accept
    }
}
