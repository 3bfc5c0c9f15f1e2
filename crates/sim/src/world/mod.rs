//! Hosts, their programs and the network between them, in simulated time.
//!
//! Work takes no time, unless it is said how much ([`Work`]). At one instant a host's TCP deals with the packet or timer first, then its programs run until they
//! wait, and what the TCP has to send leaves in the order in which it was made: at once, or behind a filter
//! ([`Host::filtered`]) when all programs wait, as on a host with one processor and NFQUEUE. Or programs and filter have
//! their turn after all that comes in at this instant ([`Turn::Last`]), which tells where packets of several paths arrive
//! together.
//!
//! A connection has a path or several, each between an address of the client and one of the server.

mod events;
mod gate;
mod leave;
mod network;
mod packet;
mod reader;
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rexmit_loss::PacketId;
use rexmit_tcp::connection::Event as Happened;
use rexmit_time::{Stream, Streams, Time};
use rexmit_wire::FlowKey;

use crate::apps::App;
use crate::machine::Machine;
use crate::queue::Queue;
use network::Arrival;
use reader::Readers;
use work::Processor;

pub use gate::{Gate, Open};
pub use network::{Host, LinkId, Network, NodeId, Turn};
pub use packet::{EndId, Packet};
pub use work::Work;

/// What happens. Those at the same time happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A link delivers what is due.
    Deliver(Arrival),
    /// A packet has its turn to leave the queue before a link.
    Turn(LinkId),
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
    /// A program that waited in `recv` goes on, once the filter waits too.
    Reader(EndId),
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
    /// Packets that the filter has fetched.
    fetched: VecDeque<Packet<M::Options>>,
    /// When the filter has its turn.
    filter_at: Option<Time>,
    /// Nothing is taken in that comes later than that until the filter, which was woken, has begun.
    filter_wakes: Option<Time>,
    /// What came later.
    late: VecDeque<(EndId, Packet<M::Options>)>,
    /// Until when the filter works.
    filter_works: Time,
    readers: Readers<M::Options>,
    /// Programs that were woken.
    awake: BTreeSet<EndId>,
    held: BTreeMap<PacketId, Packet<M::Options>>,
    next_packet: u64,
    processor: Processor,
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
            fetched: VecDeque::new(),
            filter_at: None,
            filter_wakes: None,
            late: VecDeque::new(),
            filter_works: now,
            readers: Readers::default(),
            awake: BTreeSet::new(),
            held: BTreeMap::new(),
            next_packet: 0,
            delivered: 0,
            numbers: streams.stream("isn", 0),
            processor: Processor::new(Work::default(), now),
        }
    }

    /// The same where packets make work.
    #[must_use]
    pub fn with_work(mut self, work: Work) -> Self {
        self.processor = Processor::new(work, self.now());
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

    /// Lets everything happen up to `until`; then it is that late.
    pub fn wait_until(&mut self, until: Time) {
        self.run_until(until);
        self.queue.wait_until(until);
    }

    /// Lets the next thing happen; false when there is none.
    pub fn step(&mut self) -> bool {
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        match event {
            Event::Deliver(arrival) => self.deliver(now, arrival),
            Event::Turn(link) => {
                let queue = &mut self.queue;
                self.network
                    .turn(now, link, |(time, event)| queue.push(time, event));
            }
            Event::Timer(end) => self.timer(now, end),
            Event::Gate => self.gate_deadline(now),
            Event::Open(end) => self.connect(now, end),
            Event::Program(end) => self.program(now, end),
            Event::Filter => self.filter(now),
            Event::Reader(end) => self.reader(now, end),
        }
        true
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
