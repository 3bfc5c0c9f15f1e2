//! A packet on its way out: from a TCP through the filter and the gate onto the network.

use rexmit_loss::{Decision, PacketId, Verdict};
use rexmit_time::Time;

use super::{ip_header, EndId, Gate, NodeId, Packet, Way, World};
use crate::link::ETHERNET;
use crate::machine::{Machine, Out};

impl<M: Machine, G: Gate<M>> World<M, G> {
    pub(super) fn transmit(
        &mut self,
        now: Time,
        from: EndId,
        out: Out<M::Options>,
        filtered: bool,
    ) {
        let packet = self.packet(from, out);
        self.processor.make(now);
        if filtered {
            self.outbox.push_back(packet);
        } else {
            self.send(now, packet);
        }
    }

    fn packet(&self, from: EndId, out: Out<M::Options>) -> Packet<M::Options> {
        let Out {
            path,
            sent,
            options,
        } = out;
        let way = self.ends[from.index()].way(path);
        let host = self.network.host(way.node);
        let more = host.map_or(0, |host| M::options_len(&host.stack, &sent, &options));
        let header = ip_header(&way.key) + sent.segment.header_len() + more;
        Packet {
            // Given when it leaves the TCP.
            id: PacketId(0),
            from,
            path: path as u8,
            frame_bytes: ETHERNET + header + sent.segment.len,
            sent,
            options,
        }
    }

    /// A packet leaves its host's TCP.
    pub(super) fn send(&mut self, now: Time, mut packet: Packet<M::Options>) {
        let id = PacketId(self.next_packet);
        packet.id = id;
        self.next_packet += 1;
        let end = &self.ends[packet.from.index()];
        let key = end.way(usize::from(packet.path)).key;
        let Some(machine) = &end.machine else { return };
        match self.gate.on_sent(now, id, &packet, &key, machine) {
            Verdict::Accept => self.leave_host(now, packet, true),
            Verdict::Drop => self.leave_host(now, packet, false),
            Verdict::Hold => {
                self.held.insert(id, packet);
            }
        }
        self.release(now);
    }

    fn release(&mut self, now: Time) {
        while let Some((id, decision)) = self.gate.poll_release() {
            if let Some(packet) = self.held.remove(&id) {
                self.leave_host(now, packet, decision == Decision::Accept);
            }
        }
    }

    pub(super) fn leave_host(&mut self, now: Time, packet: Packet<M::Options>, goes_on: bool) {
        let path = usize::from(packet.path);
        let Way {
            node, peer_node, ..
        } = *self.ends[packet.from.index()].way(path);
        if goes_on {
            self.forward(self.processor.free(now), node, peer_node, packet);
        } else if let Some(machine) = &mut self.ends[packet.from.index()].machine {
            machine.dropped(path, packet.sent.segment.seq);
        }
        if packet.sent.in_host_bytes > 0 {
            if let Some(machine) = &mut self.ends[packet.from.index()].machine {
                machine.left_host(now, path, packet.sent.in_host_bytes);
            }
        }
    }

    pub(super) fn forward(
        &mut self,
        now: Time,
        node: NodeId,
        to: NodeId,
        packet: Packet<M::Options>,
    ) {
        if let Some(link) = self.network.way(node, to) {
            let (queue, gate) = (&mut self.queue, &mut self.gate);
            let passes = |at, node| gate.on_passed(at, &packet, node);
            self.network
                .enter(now, link, packet, passes, |(time, event)| {
                    queue.push(time, event);
                });
        }
    }
}
