//! What is seen of a connection on its way: every packet as TCP made it, and when it came by where.

use rexmit_loss::{PacketId, Verdict};
use rexmit_tcp::connection::Connection;
use rexmit_tcp::{words, Mechanism, Segment};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, SeqNum};

use super::updates::Updates;
use crate::world::{EndId, Gate, NodeId, Packet};

words! {
    /// Where captures are made. The order is that of [`Record::seen`].
    pub enum Point ("point") {
        /// The host that sends most.
        Sender = "sender",
        /// Somewhere on the way.
        Switch = "switch",
        /// The other host.
        Receiver = "receiver",
    }
}

/// A packet as TCP made it, and its fate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub at: Time,
    pub from: EndId,
    pub segment: Segment,
    pub mechanism: Option<Mechanism>,
    /// The SYN-ACK answers a SYN of this instant.
    pub answers_syn: bool,
    /// Bytes sent and not acknowledged when it left.
    pub outstanding: u32,
    /// When it first came by, at each point.
    pub seen: [Option<Time>; 3],
    /// It came to the other host.
    pub arrived: bool,
}

/// What an end has sent and has had acknowledged.
#[derive(Clone, Copy, Debug)]
struct Out {
    una: SeqNum,
    nxt: SeqNum,
}

/// Writes down what comes by.
pub(super) struct Record {
    tap: NodeId,
    /// The client sends most.
    upload: bool,
    pub packets: Vec<Made>,
    /// Sightings at each point: when, and the packet's place in `packets`. A copy is seen again.
    pub seen: [Vec<(Time, u32)>; 3],
    out: Vec<Option<Out>>,
    syn_came: Option<(Time, EndId)>,
    updates: Updates,
}

impl Record {
    pub fn new(tap: NodeId, upload: bool, updates: Updates) -> Self {
        Record {
            tap,
            upload,
            packets: Vec::new(),
            seen: Default::default(),
            out: Vec::new(),
            syn_came: None,
            updates,
        }
    }

    /// The host's point at which what `end` sends leaves.
    pub fn home(&self, end: EndId) -> Point {
        if end.is_client() == self.upload {
            Point::Sender
        } else {
            Point::Receiver
        }
    }

    fn see(&mut self, at: Time, point: Point, id: PacketId) {
        let index = id.0 as usize;
        self.seen[point as usize].push((at, index as u32));
        if let Some(made) = self.packets.get_mut(index) {
            made.seen[point as usize].get_or_insert(at);
        }
    }

    fn out(&mut self, end: EndId) -> &mut Option<Out> {
        let index = end.index();
        if index >= self.out.len() {
            self.out.resize(index + 1, None);
        }
        &mut self.out[index]
    }

    /// Puts the sightings of each point into the order of time.
    pub fn sort(&mut self) {
        for seen in &mut self.seen {
            // Of one instant, in the order in which it happened.
            seen.sort_by_key(|(at, _)| *at);
        }
    }
}

impl Gate<Connection> for Record {
    fn on_sent(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &Packet,
        _: &FlowKey,
        _: &Connection,
    ) -> Verdict {
        debug_assert_eq!(id.0 as usize, self.packets.len());
        let segment = *packet.segment();
        let from = packet.from;
        let out = self.out(from).get_or_insert(Out {
            una: segment.seq,
            nxt: segment.seq,
        });
        let outstanding = out.nxt.offset_from(out.una).max(0).unsigned_abs();
        if segment.end().is_after(out.nxt) {
            out.nxt = segment.end();
        }
        let answers_syn = segment.flags.syn() && self.syn_came == Some((now, from));
        self.packets.push(Made {
            at: now,
            from,
            segment,
            mechanism: packet.sent.mechanism,
            answers_syn,
            outstanding,
            seen: [None; 3],
            arrived: false,
        });
        self.see(now, self.home(from), id);
        if self.updates.lose(from.index(), &segment) {
            return Verdict::Drop;
        }
        Verdict::Accept
    }

    fn on_passed(&mut self, at: Time, packet: &Packet, node: NodeId) {
        if node == self.tap {
            self.see(at, Point::Switch, packet.id);
        }
    }

    fn on_received(&mut self, now: Time, packet: &Packet, _: &FlowKey) {
        let to = packet.from.peer();
        let segment = packet.segment();
        if segment.flags.syn() {
            self.syn_came = Some((now, to));
        }
        if segment.flags.ack() {
            let ack = segment.ack;
            if let Some(out) = self.out(to) {
                if ack.is_after(out.una) && !ack.is_after(out.nxt) {
                    out.una = ack;
                }
            }
        }
        if let Some(made) = self.packets.get_mut(packet.id.0 as usize) {
            made.arrived = true;
        }
        self.see(now, self.home(to), packet.id);
    }
}
