//! Hosts, their programs and the network between them, in simulated time.
//!
//! Work takes no time. At one instant a host's TCP deals with the packet or timer first, then its programs run until they
//! wait, and what the TCP has to send leaves in the order in which it was made: at once, or behind a filter
//! ([`Host::filtered`]) when all programs wait, as on a host with one processor and NFQUEUE. Or programs and filter have
//! their turn after all that comes in at this instant ([`Turn::Last`]), which tells where packets of several paths arrive
//! together.
//!
//! A connection has a path or several, each between an address of the client and one of the server.

mod gate;
mod network;
mod packet;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rexmit_loss::{Decision, PacketId, Verdict};
use rexmit_tcp::connection::{Event as Happened, Local};
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Stream, Streams, Time};
use rexmit_wire::{FlowKey, SeqNum};

use crate::apps::App;
use crate::machine::{Machine, Out};
use crate::queue::Queue;
use network::{Arrival, FRAME};

pub use gate::{Gate, Open};
pub use network::{Host, LinkId, Network, NodeId, Turn};
pub use packet::{EndId, Packet};

/// What happens. Those at the same time happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A link delivers what is due.
    Deliver(Arrival),
    /// A connection's timers, or its program's.
    Timer(EndId),
    /// The gate's deadline.
    Gate,
    /// A client opens its connection.
    Open(EndId),
    /// An end's program has its turn.
    Program(EndId),
    /// The filter lets packets go, once nothing else goes on.
    Filter,
}

/// One end of a connection and its program.
struct End<M> {
    /// Apart: there may be very many, and a list that grows would hold twice their size.
    machine: Option<Box<M>>,
    app: App,
    first: Way,
    /// Its other paths.
    further: Vec<Way>,
    /// The path on which its connection is opened.
    opens_on: usize,
    /// The timer event that waits in the queue; none at [`Time::MAX`].
    armed: Time,
}

/// One path of an end.
#[derive(Clone, Copy, Debug)]
struct Way {
    key: FlowKey,
    node: NodeId,
    peer_node: NodeId,
}

impl<M> End<M> {
    fn way(&self, path: usize) -> &Way {
        match path.checked_sub(1) {
            None => &self.first,
            Some(further) => &self.further[further],
        }
    }
}

/// A simulation.
pub struct World<M: Machine, G> {
    queue: Queue<Event>,
    network: Network<M::Options>,
    ends: Vec<End<M>>,
    /// What stands between hosts and network.
    pub gate: G,
    gate_armed: Option<Time>,
    /// Packets that wait until all programs of their host do.
    outbox: VecDeque<Packet<M::Options>>,
    /// What programs are to be told when they have their turn.
    happened: BTreeMap<EndId, Vec<Happened>>,
    filter_armed: bool,
    held: BTreeMap<PacketId, Packet<M::Options>>,
    next_packet: u64,
    work: Work,
    works_until: Time,
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

/// How long hosts and filter work on a packet that leaves, one after another; no time on the lab's own kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// On each.
    pub packet: Duration,
    /// On a retransmission besides: the filter reads the kernel's counters to name it.
    pub retransmission: Duration,
}

impl<M: Machine, G: Gate<M>> World<M, G> {
    /// A simulation that starts at `now`. Initial sequence numbers are drawn from `streams`.
    #[must_use]
    pub fn new(mut network: Network<M::Options>, gate: G, streams: &Streams, now: Time) -> Self {
        network.seal();
        Self {
            queue: Queue::new(now),
            network,
            ends: Vec::new(),
            gate,
            gate_armed: None,
            outbox: VecDeque::new(),
            happened: BTreeMap::new(),
            filter_armed: false,
            held: BTreeMap::new(),
            next_packet: 0,
            delivered: 0,
            numbers: streams.stream("isn", 0),
            work: Work::default(),
            works_until: now,
        }
    }

    /// The same where packets make work.
    #[must_use]
    pub fn with_work(mut self, work: Work) -> Self {
        self.work = work;
        self
    }

    /// Opens a connection at `at`, which has no path but one; gives the client's end.
    ///
    /// # Panics
    /// When one of the nodes is no host, or `at` is past.
    pub fn open(&mut self, at: Time, talk: Talk) -> EndId {
        let (client_node, client_port, client_app) = talk.client;
        let (server_node, server_port, server_app) = talk.server;
        let path = (client_node, client_port);
        let server = (server_node, server_port);
        self.open_over(at, &[path], server, 0, [client_app, server_app])
    }

    /// Opens a connection at `at` on the path `opens_on` of `paths`, each a node of the client's and its port; gives the
    /// client's end. `apps` are the client's and the server's.
    ///
    /// # Panics
    /// When one of the nodes is no host, there is no path, or `at` is past.
    pub fn open_over(
        &mut self,
        at: Time,
        paths: &[(NodeId, u16)],
        server: (NodeId, u16),
        opens_on: usize,
        apps: [App; 2],
    ) -> EndId {
        let address = |node| match self.network.host(node) {
            Some(host) => host.address,
            None => panic!("{node:?} is no host"),
        };
        let id = EndId(self.ends.len() as u32);
        let way = |&(node, port): &(NodeId, u16)| Way {
            key: FlowKey {
                src: address(node),
                dst: address(server.0),
                src_port: port,
                dst_port: server.1,
            },
            node,
            peer_node: server.0,
        };
        let back = |way: Way| Way {
            key: way.key.reversed(),
            node: way.peer_node,
            peer_node: way.node,
        };
        let client: Vec<Way> = paths.iter().map(way).collect();
        let server = client.iter().copied().map(back).collect();
        for (ways, app) in [client, server].into_iter().zip(apps) {
            let mut ways = ways.into_iter();
            let first = ways.next().expect("a connection has a path");
            self.ends.push(End {
                machine: None,
                app,
                first,
                further: ways.collect(),
                opens_on,
                armed: Time::MAX,
            });
        }
        self.queue.push(at, Event::Open(id));
        id
    }

    /// A client opens a further subflow on `path`, now.
    pub fn join(&mut self, id: EndId, path: usize) {
        let now = self.now();
        let local = self.local(id, path);
        if let Some(machine) = &mut self.ends[id.index()].machine {
            machine.join(now, path, &local, None);
        }
        self.settle(now, id);
    }

    /// A program does `act` now, of its own accord.
    pub fn with(&mut self, id: EndId, act: impl FnOnce(Time, &mut M, &mut App)) {
        let now = self.now();
        let End { machine, app, .. } = &mut self.ends[id.index()];
        if let Some(machine) = machine {
            act(now, machine, app);
        }
        self.settle(now, id);
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

    /// The flow that an end sends, on its first path.
    #[must_use]
    pub fn key(&self, end: EndId) -> &FlowKey {
        &self.ends[end.index()].first.key
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network<M::Options> {
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
            Event::Deliver(arrival) => self.deliver(now, arrival),
            Event::Timer(end) => self.timer(now, end),
            Event::Gate => self.gate_deadline(now),
            Event::Open(end) => self.connect(now, end),
            Event::Program(end) => self.program(now, end),
            Event::Filter => self.filter(now),
        }
        true
    }

    fn deliver(&mut self, now: Time, arrival: Arrival) {
        let Some((node, packet, next)) = self.network.leave(arrival) else {
            return;
        };
        if let Some((time, arrival)) = next {
            self.queue.push(time, Event::Deliver(arrival));
        }
        let to = packet.from.peer();
        let home = self.ends[to.index()].way(usize::from(packet.path)).node;
        if home == node {
            self.arrive(now, to, &packet);
        } else {
            self.gate.on_passed(now, &packet, node);
            self.forward(now, node, home, packet);
        }
    }

    fn arrive(&mut self, now: Time, to: EndId, packet: &Packet<M::Options>) {
        self.delivered += 1;
        let path = usize::from(packet.path);
        let segment = packet.segment();
        let opens = segment.flags.syn() && !segment.flags.ack();
        let end = &mut self.ends[to.index()];
        let key = end.way(path).key.reversed();
        self.gate.on_received(now, packet, &key);
        match &mut end.machine {
            Some(machine) if !opens || machine.is_open_on(path) => {
                machine.on_segment(now, path, segment, &packet.options);
            }
            _ if opens => {
                let local = self.local(to, path);
                let end = &mut self.ends[to.index()];
                let host = self.network.host(end.way(path).node);
                match (&mut end.machine, host) {
                    (Some(machine), _) => machine.join(now, path, &local, Some(segment)),
                    (None, Some(host)) => {
                        let machine = M::accept(&host.stack, path, &local, segment, now);
                        end.machine = Some(Box::new(machine));
                    }
                    (None, None) => {}
                }
            }
            // A packet that is late for its connection: the reset that it would get changes nothing.
            _ => return,
        }
        self.settle(now, to);
    }

    fn connect(&mut self, now: Time, id: EndId) {
        let path = self.ends[id.index()].opens_on;
        let local = self.local(id, path);
        let end = &mut self.ends[id.index()];
        if let Some(host) = self.network.host(end.way(path).node) {
            end.machine = Some(Box::new(M::connect(&host.stack, path, &local, now)));
        }
        self.settle(now, id);
    }

    fn local(&mut self, end: EndId, path: usize) -> Local {
        let random = self.numbers.next_u64();
        let way = self.ends[end.index()].way(path);
        let host = self.network.host(way.node);
        Local {
            iss: SeqNum::new(random as u32),
            timestamp_offset: (random >> 32) as u32,
            mtu: host.map_or(1500, |host| host.mtu),
            ip_header: ip_header(&way.key),
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

    /// Lets an end's TCP and program go on until both wait, or until the program's turn; sends what they made, and sets the
    /// timer.
    fn settle(&mut self, now: Time, id: EndId) {
        let host = self.network.host(self.ends[id.index()].first.node);
        let filtered = host.is_some_and(|host| host.filtered);
        match host.map_or(Turn::AtOnce, |host| host.turn) {
            Turn::AtOnce => self.go_on(now, id, filtered),
            Turn::Last(late) => self.go_on_later(now, id, filtered, late),
        }
        self.arm(id);
        self.arm_gate();
    }

    fn go_on(&mut self, now: Time, id: EndId, filtered: bool) {
        loop {
            let End {
                machine: Some(machine),
                app,
                ..
            } = &mut self.ends[id.index()]
            else {
                return;
            };
            if let Some(out) = machine.poll_transmit(now) {
                self.transmit(now, id, out, filtered);
            } else if let Some(event) = machine.poll_event() {
                app.on_event(now, event, machine.as_mut());
            } else if let Some(packet) = self.outbox.pop_front() {
                self.send(now, packet);
            } else {
                return;
            }
        }
    }

    /// The same where programs and filter wait for their turn.
    fn go_on_later(&mut self, now: Time, id: EndId, filtered: bool, late: Duration) {
        while let Some(out) = self.machine_mut(id).and_then(|one| one.poll_transmit(now)) {
            self.transmit(now, id, out, filtered);
        }
        while let Some(event) = self.machine_mut(id).and_then(M::poll_event) {
            let happened = self.happened.entry(id).or_default();
            if happened.is_empty() {
                self.queue.push(now + late, Event::Program(id));
            }
            happened.push(event);
        }
        if !self.outbox.is_empty() && !self.filter_armed {
            self.filter_armed = true;
            self.queue.push(now, Event::Filter);
        }
    }

    fn machine_mut(&mut self, id: EndId) -> Option<&mut M> {
        self.ends[id.index()].machine.as_deref_mut()
    }

    fn program(&mut self, now: Time, id: EndId) {
        let happened = self.happened.remove(&id).unwrap_or_default();
        let End { machine, app, .. } = &mut self.ends[id.index()];
        if let Some(machine) = machine {
            for event in happened {
                app.on_event(now, event, machine.as_mut());
            }
        }
        self.settle(now, id);
    }

    /// What leaves may make room in the host for more, which then has to pass as well.
    fn filter(&mut self, now: Time) {
        self.filter_armed = false;
        let mut senders = BTreeSet::new();
        while let Some(packet) = self.outbox.pop_front() {
            senders.insert(packet.from);
            self.send(now, packet);
        }
        for sender in senders {
            self.settle(now, sender);
        }
    }

    fn transmit(&mut self, now: Time, from: EndId, out: Out<M::Options>, filtered: bool) {
        let packet = self.packet(from, out);
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
            frame_bytes: FRAME + header + sent.segment.len,
            sent,
            options,
        }
    }

    /// A packet leaves its host's TCP.
    fn send(&mut self, now: Time, mut packet: Packet<M::Options>) {
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

    fn leave_host(&mut self, now: Time, packet: Packet<M::Options>, goes_on: bool) {
        let path = usize::from(packet.path);
        let Way {
            node, peer_node, ..
        } = *self.ends[packet.from.index()].way(path);
        let worked = self.worked(now, &packet);
        if goes_on {
            self.forward(worked, node, peer_node, packet);
        } else if let Some(machine) = &mut self.ends[packet.from.index()].machine {
            machine.dropped(path, packet.sent.segment.seq);
        }
        if packet.sent.in_host_bytes > 0 {
            if let Some(machine) = &mut self.ends[packet.from.index()].machine {
                machine.left_host(now, path, packet.sent.in_host_bytes);
            }
        }
    }

    /// When a packet that leaves a TCP now is through with what its host and the filter do, one packet after another.
    fn worked(&mut self, now: Time, packet: &Packet<M::Options>) -> Time {
        let Work {
            packet: each,
            retransmission,
        } = self.work;
        if each == Duration::ZERO && retransmission == Duration::ZERO {
            return now;
        }
        let more = match packet.sent.mechanism {
            Some(_) => retransmission,
            None => Duration::ZERO,
        };
        self.works_until = self.works_until.max(now) + each + more;
        self.works_until
    }

    fn forward(&mut self, now: Time, node: NodeId, to: NodeId, packet: Packet<M::Options>) {
        if let Some(link) = self.network.way(node, to) {
            let (queue, gate) = (&mut self.queue, &mut self.gate);
            let passes = |at, node| gate.on_passed(at, &packet, node);
            self.network
                .enter(now, link, packet, passes, |(time, arrival)| {
                    queue.push(time, Event::Deliver(arrival));
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

fn ip_header(key: &FlowKey) -> u32 {
    if key.src.is_ipv4() {
        20
    } else {
        40
    }
}

#[cfg(test)]
mod tests;
