//! Hosts, their programs and the network between them, in simulated time.
//!
//! Work takes no time. At one instant a host's TCP deals with the packet or timer first, then its programs run until they
//! wait, and what the TCP has to send leaves in the order in which it was made: at once, or behind a filter
//! ([`Host::filtered`]) when all programs wait, as on a host with one processor and NFQUEUE.

mod gate;
mod network;
mod packet;

use std::collections::{BTreeMap, VecDeque};

use rexmit_loss::{Decision, PacketId, Verdict};
use rexmit_tcp::connection::Local;
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Stream, Streams, Time};
use rexmit_wire::{FlowKey, SeqNum};

use crate::apps::App;
use crate::machine::Machine;
use crate::queue::Queue;
use network::FRAME;

pub use gate::{Gate, Open};
pub use network::{Host, LinkId, Network, NodeId};
pub use packet::{EndId, Packet};

/// What happens. Those at the same time happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A link delivers what is due.
    Deliver(LinkId),
    /// A connection's timers, or its program's.
    Timer(EndId),
    /// The gate's deadline.
    Gate,
    /// A client opens its connection.
    Open(EndId),
}

/// One end of a connection and its program.
struct End<M> {
    /// Apart: there may be very many, and a list that grows would hold twice their size.
    machine: Option<Box<M>>,
    app: App,
    key: FlowKey,
    node: NodeId,
    peer_node: NodeId,
    /// The timer event that waits in the queue; none at [`Time::MAX`].
    armed: Time,
}

/// A simulation.
pub struct World<M, G> {
    queue: Queue<Event>,
    network: Network,
    ends: Vec<End<M>>,
    /// What stands between hosts and network.
    pub gate: G,
    gate_armed: Option<Time>,
    /// Packets that wait until all programs of their host do.
    outbox: VecDeque<Packet>,
    held: BTreeMap<PacketId, Packet>,
    next_packet: u64,
    delivered: u64,
    numbers: Stream,
}

/// Who talks with whom.
#[derive(Clone, Debug)]
pub struct Talk {
    /// Where the client is, its port and its program.
    pub client: (NodeId, u16, App),
    /// Where the server is, its port and its program.
    pub server: (NodeId, u16, App),
}

impl<M: Machine, G: Gate<M>> World<M, G> {
    /// A simulation that starts at `now`. Initial sequence numbers are drawn from `streams`.
    #[must_use]
    pub fn new(mut network: Network, gate: G, streams: &Streams, now: Time) -> Self {
        network.seal();
        Self {
            queue: Queue::new(now),
            network,
            ends: Vec::new(),
            gate,
            gate_armed: None,
            outbox: VecDeque::new(),
            held: BTreeMap::new(),
            next_packet: 0,
            delivered: 0,
            numbers: streams.stream("isn", 0),
        }
    }

    /// Opens a connection at `at`; gives the client's end.
    ///
    /// # Panics
    /// When one of the nodes is no host, or `at` is past.
    pub fn open(&mut self, at: Time, talk: Talk) -> EndId {
        let (client_node, client_port, client_app) = talk.client;
        let (server_node, server_port, server_app) = talk.server;
        let address = |node| match self.network.host(node) {
            Some(host) => host.address,
            None => panic!("{node:?} is no host"),
        };
        let key = FlowKey {
            src: address(client_node),
            dst: address(server_node),
            src_port: client_port,
            dst_port: server_port,
        };
        let id = EndId(self.ends.len() as u32);
        let mut add = |node, peer_node, key, app| {
            self.ends.push(End {
                machine: None,
                app,
                key,
                node,
                peer_node,
                armed: Time::MAX,
            });
        };
        add(client_node, server_node, key, client_app);
        add(server_node, client_node, key.reversed(), server_app);
        self.queue.push(at, Event::Open(id));
        id
    }

    /// The program at an end.
    #[must_use]
    pub fn app(&self, end: EndId) -> &App {
        &self.ends[end.index()].app
    }

    /// The TCP at an end; none before its first packet.
    #[must_use]
    pub fn machine(&self, end: EndId) -> Option<&M> {
        self.ends[end.index()].machine.as_deref()
    }

    /// The flow that an end sends.
    #[must_use]
    pub fn key(&self, end: EndId) -> &FlowKey {
        &self.ends[end.index()].key
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Packets delivered to hosts so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The time of the last event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// When something happens next.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Lets everything happen up to `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.queue.next_time().is_some_and(|time| time <= until) {
            self.step();
        }
    }

    /// Lets the next thing happen; false when there is none.
    pub fn step(&mut self) -> bool {
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        match event {
            Event::Deliver(link) => self.deliver(now, link),
            Event::Timer(end) => self.timer(now, end),
            Event::Gate => self.gate_deadline(now),
            Event::Open(end) => self.connect(now, end),
        }
        true
    }

    fn deliver(&mut self, now: Time, link: LinkId) {
        loop {
            match self.network.leave(now, link) {
                Ok((node, packet)) => {
                    let to = packet.from.peer();
                    let home = self.ends[to.index()].node;
                    if home == node {
                        self.arrive(now, to, &packet);
                    } else {
                        self.gate.on_passed(now, &packet, node);
                        self.forward(now, node, home, packet);
                    }
                }
                Err(Some((time, link))) => {
                    self.queue.push(time, Event::Deliver(link));
                    return;
                }
                Err(None) => return,
            }
        }
    }

    fn arrive(&mut self, now: Time, to: EndId, packet: &Packet) {
        self.delivered += 1;
        let End { key, machine, .. } = &mut self.ends[to.index()];
        self.gate.on_received(now, packet, &key.reversed());
        let segment = packet.segment();
        match machine {
            Some(machine) => machine.on_segment(now, segment),
            None if segment.flags.syn() && !segment.flags.ack() => {
                let local = self.local(to);
                let end = &mut self.ends[to.index()];
                if let Some(host) = self.network.host(end.node) {
                    let machine = M::accept(&host.stack, &local, segment, now);
                    end.machine = Some(Box::new(machine));
                }
            }
            // A packet that is late for its connection: the reset that it would get changes nothing.
            None => return,
        }
        self.settle(now, to);
    }

    fn connect(&mut self, now: Time, id: EndId) {
        let local = self.local(id);
        let end = &mut self.ends[id.index()];
        if let Some(host) = self.network.host(end.node) {
            end.machine = Some(Box::new(M::connect(&host.stack, &local, now)));
        }
        self.settle(now, id);
    }

    fn local(&mut self, end: EndId) -> Local {
        let random = self.numbers.next_u64();
        let host = self.network.host(self.ends[end.index()].node);
        Local {
            iss: SeqNum::new(random as u32),
            timestamp_offset: (random >> 32) as u32,
            mtu: host.map_or(1500, |host| host.mtu),
            ip_header: if self.ends[end.index()].key.src.is_ipv4() {
                20
            } else {
                40
            },
            window_clamp: host.and_then(|host| host.window_clamp),
            metrics: host.map_or_else(Metrics::default, |host| host.metrics),
            look: host.map_or(Duration::ZERO, |host| host.look),
            defer_accept: host.and_then(|host| host.defer_accept),
            subflow: None,
        }
    }

    fn timer(&mut self, now: Time, id: EndId) {
        let End {
            machine: Some(machine),
            app,
            armed,
            ..
        } = &mut self.ends[id.index()]
        else {
            return;
        };
        if *armed != now {
            return;
        }
        *armed = Time::MAX;
        if machine.deadline().is_some_and(|due| due <= now) {
            machine.on_deadline(now);
        }
        if app.deadline().is_some_and(|due| due <= now) {
            app.on_deadline(now, machine.as_mut());
        }
        self.settle(now, id);
    }

    /// Lets an end's TCP and program go on until both wait, sends what they made, and sets the timer.
    fn settle(&mut self, now: Time, id: EndId) {
        let node = self.ends[id.index()].node;
        let filtered = self.network.host(node).is_some_and(|host| host.filtered);
        loop {
            let End {
                machine: Some(machine),
                app,
                ..
            } = &mut self.ends[id.index()]
            else {
                return;
            };
            if let Some(sent) = machine.poll_transmit(now) {
                let packet = self.packet(id, sent);
                if filtered {
                    self.outbox.push_back(packet);
                } else {
                    self.send(now, packet);
                }
            } else if let Some(event) = machine.poll_event() {
                app.on_event(now, event, machine.as_mut());
            } else if let Some(packet) = self.outbox.pop_front() {
                self.send(now, packet);
            } else {
                break;
            }
        }
        self.arm(id);
        self.arm_gate();
    }

    fn packet(&self, from: EndId, sent: rexmit_tcp::connection::Sent) -> Packet {
        let ip_header = if self.ends[from.index()].key.src.is_ipv4() {
            20
        } else {
            40
        };
        Packet {
            // Given when it leaves the TCP.
            id: PacketId(0),
            from,
            frame_bytes: FRAME + ip_header + sent.segment.header_len() + sent.segment.len,
            sent,
        }
    }

    /// A packet leaves its host's TCP.
    fn send(&mut self, now: Time, mut packet: Packet) {
        let id = PacketId(self.next_packet);
        packet.id = id;
        self.next_packet += 1;
        let End { key, machine, .. } = &self.ends[packet.from.index()];
        let Some(machine) = machine else { return };
        match self.gate.on_sent(now, id, &packet, key, machine) {
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

    fn leave_host(&mut self, now: Time, packet: Packet, goes_on: bool) {
        let End {
            node, peer_node, ..
        } = self.ends[packet.from.index()];
        if goes_on {
            self.forward(now, node, peer_node, packet);
        }
        if packet.sent.in_host_bytes > 0 {
            if let Some(machine) = &mut self.ends[packet.from.index()].machine {
                machine.left_host(now, packet.sent.in_host_bytes);
            }
        }
    }

    fn forward(&mut self, now: Time, node: NodeId, to: NodeId, packet: Packet) {
        if let Some(link) = self.network.way(node, to) {
            let (queue, gate) = (&mut self.queue, &mut self.gate);
            let passes = |at, node| gate.on_passed(at, &packet, node);
            self.network
                .enter(now, link, packet, passes, |(time, link)| {
                    queue.push(time, Event::Deliver(link));
                });
        }
    }

    fn arm(&mut self, id: EndId) {
        let end = &mut self.ends[id.index()];
        let machine = end.machine.as_deref().and_then(Machine::deadline);
        let due = machine.into_iter().chain(end.app.deadline()).min();
        let Some(due) = due else { return };
        // A timer that is overdue fires now, not in the past.
        let due = due.max(self.queue.now());
        if due < end.armed {
            end.armed = due;
            self.queue.push(due, Event::Timer(id));
        }
    }

    fn arm_gate(&mut self) {
        if let Some(due) = self.gate.deadline() {
            let due = due.max(self.queue.now());
            if self.gate_armed.is_none_or(|armed| due < armed) {
                self.gate_armed = Some(due);
                self.queue.push(due, Event::Gate);
            }
        }
    }

    fn gate_deadline(&mut self, now: Time) {
        if self.gate_armed != Some(now) {
            return;
        }
        self.gate_armed = None;
        self.gate.on_deadline(now);
        // Whoever's packets go may send more.
        while let Some((id, decision)) = self.gate.poll_release() {
            if let Some(packet) = self.held.remove(&id) {
                self.leave_host(now, packet, decision == Decision::Accept);
                self.settle(now, packet.from);
            }
        }
        self.arm_gate();
    }
}

#[cfg(test)]
mod tests;
