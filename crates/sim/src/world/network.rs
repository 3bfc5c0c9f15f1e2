//! Hosts, switches and links, and the way from each to each.

use std::collections::VecDeque;
use std::net::IpAddr;

use rexmit_tcp::connection::DeferAccept;
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Streams, Time};

use super::packet::Packet;
use super::Event;
use crate::link::{self, Hop};
use crate::machine::Stack;

/// A host or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub(crate) u32);

/// When the programs of a host run, its filter among them, after something has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// At once: before anything else that comes in at the same instant.
    #[default]
    AtOnce,
    /// After all that comes in at this instant, as threads run after interrupts, and so much later.
    Last(Duration),
}

/// A host, or one of the addresses of a host that has several.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its address.
    pub address: IpAddr,
    /// Bytes of an IP packet on its interface.
    pub mtu: u32,
    /// Its TCP.
    pub stack: Stack,
    /// Its packets go through a program (NFQUEUE) that runs when all others wait.
    pub filtered: bool,
    /// When its programs run.
    pub turn: Turn,
    /// Bound of the window that it offers, bytes (RTAX_WINDOW).
    pub window_clamp: Option<u32>,
    /// What it remembers of those it talked to.
    pub metrics: Metrics,
    /// How far a look at its clock moves it on.
    pub look: Duration,
    /// Its listeners defer accepting.
    pub defer_accept: Option<DeferAccept>,
}

impl Host {
    /// On Ethernet, with programs that run at once, that remembers nobody.
    #[must_use]
    pub fn new(address: IpAddr, stack: Stack) -> Self {
        Self {
            address,
            mtu: 1500,
            stack,
            filtered: false,
            turn: Turn::AtOnce,
            window_clamp: None,
            metrics: Metrics::default(),
            look: Duration::ZERO,
            defer_accept: None,
        }
    }
}

pub(crate) struct Wire<O> {
    hop: Hop<Packet<O>>,
    /// The turn of its queue that is awaited.
    turn: Option<Time>,
    from: NodeId,
    to: NodeId,
    /// The only link that packets from here can go on by, and that nothing else enters: what leaves here can enter
    /// there at once, with the time at which it will.
    onward: Option<LinkId>,
    /// Packets under way by the time at which they leave.
    under_way: VecDeque<(Time, Packet<O>)>,
    /// The number of the arrival that is awaited: that of the first of them.
    awaited: u32,
}

/// The network; its packets carry `O` beside their segments.
pub struct Network<O = ()> {
    nodes: Vec<Option<Host>>,
    pub(crate) wires: Vec<Wire<O>>,
    /// Arrivals that were awaited so far.
    arrivals: u32,
    /// `[node][host node]`: the link to take.
    routes: Vec<Vec<Option<LinkId>>>,
    sealed: bool,
}

/// The arrival of the first packet of a link. Of several at one time the one that was awaited first comes first, as of
/// timers that expire together that which was set first: the link that has waited for its packet for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    number: u32,
    link: LinkId,
}

/// What is to happen at a link, and when: a packet has its turn in its queue, or arrives.
pub(super) type Due = (Time, Event);

impl<O> Default for Network<O> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            wires: Vec::new(),
            arrivals: 0,
            routes: Vec::new(),
            sealed: false,
        }
    }
}

impl<O: Copy> Network<O> {
    /// An empty network.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host.
    pub fn add_host(&mut self, host: Host) -> NodeId {
        self.add_node(Some(host))
    }

    /// Adds a switch, which passes packets on at once.
    pub fn add_switch(&mut self) -> NodeId {
        self.add_node(None)
    }

    fn add_node(&mut self, host: Option<Host>) -> NodeId {
        self.sealed = false;
        self.nodes.push(host);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a link with both its directions, that from `a` to `b` first.
    pub fn add_link(
        &mut self,
        a: NodeId,
        b: NodeId,
        settings: &link::Settings,
        streams: &Streams,
    ) -> (LinkId, LinkId) {
        (
            self.add_one_way(a, b, settings.clone(), streams),
            self.add_one_way(b, a, settings.clone(), streams),
        )
    }

    /// Adds one direction of a link.
    pub fn add_one_way(
        &mut self,
        from: NodeId,
        to: NodeId,
        settings: link::Settings,
        streams: &Streams,
    ) -> LinkId {
        self.sealed = false;
        let id = self.wires.len();
        self.wires.push(Wire {
            hop: Hop::new(settings, streams, id as u64),
            turn: None,
            from,
            to,
            onward: None,
            under_way: VecDeque::new(),
            awaited: 0,
        });
        LinkId(id as u32)
    }

    /// The host at a node.
    #[must_use]
    pub fn host(&self, node: NodeId) -> Option<&Host> {
        self.nodes.get(node.0 as usize)?.as_ref()
    }

    /// What a link has done.
    #[must_use]
    pub fn counters(&self, link: LinkId) -> Option<link::Counters> {
        Some(self.wires.get(link.0 as usize)?.hop.link().counters)
    }

    /// Finds the ways: the fewest links, of several the one added first.
    pub(crate) fn seal(&mut self) {
        if std::mem::replace(&mut self.sealed, true) {
            return;
        }
        let nodes = self.nodes.len();
        self.routes = vec![vec![None; nodes]; nodes];
        for host in (0..nodes).filter(|n| self.nodes[*n].is_some()) {
            // Breadth first against the links' direction.
            let mut reached = VecDeque::from([host]);
            while let Some(node) = reached.pop_front() {
                for (id, wire) in self.wires.iter().enumerate() {
                    let from = wire.from.0 as usize;
                    let new = from != host && self.routes[from][host].is_none();
                    // A host passes nothing on.
                    let passes = node == host || self.nodes[node].is_none();
                    if wire.to.0 as usize == node && new && passes {
                        self.routes[from][host] = Some(LinkId(id as u32));
                        reached.push_back(from);
                    }
                }
            }
        }
        for id in 0..self.wires.len() {
            self.wires[id].onward = self.only_way_on(id);
        }
    }

    fn only_way_on(&self, id: usize) -> Option<LinkId> {
        let wire = &self.wires[id];
        if self.host(wire.to).is_some() || !wire.hop.tells_order() {
            return None;
        }
        let is_back = |other: &Wire<O>| other.from == wire.to && other.to == wire.from;
        let mut on = (0..self.wires.len())
            .filter(|n| self.wires[*n].from == wire.to && !is_back(&self.wires[*n]));
        let (Some(next), None) = (on.next(), on.next()) else {
            return None;
        };
        if !self.wires[next].hop.is_plain() {
            return None;
        }
        let feeds = |other: &Wire<O>| other.to == wire.to && other.from != self.wires[next].to;
        let feeders = self.wires.iter().filter(|other| feeds(other)).count();
        (feeders == 1).then_some(LinkId(next as u32))
    }

    /// The link that a packet takes from `node` to the host at `to`.
    #[inline]
    pub(crate) fn way(&self, node: NodeId, to: NodeId) -> Option<LinkId> {
        *self.routes.get(node.0 as usize)?.get(to.0 as usize)?
    }

    /// A packet enters a link at `now`; tells `passes` which switches it comes to on the way, and `due` when the link needs
    /// to be asked for what it delivers.
    #[inline]
    pub(super) fn enter(
        &mut self,
        now: Time,
        id: LinkId,
        packet: Packet<O>,
        mut passes: impl FnMut(Time, NodeId),
        mut due: impl FnMut(Due),
    ) {
        let mut at = now;
        let mut id = id;
        loop {
            let wire = &mut self.wires[id.0 as usize];
            let Some(link) = wire.hop.plain() else {
                let frame = packet.frame();
                self.go_on(id, due, |hop, out| hop.enter(at, packet, frame, out));
                return;
            };
            let leaves = link.enter(at, packet.frame_bytes);
            match (wire.onward, leaves) {
                (_, [None, _]) => return,
                (Some(onward), [Some(time), _]) => {
                    passes(time, wire.to);
                    (at, id) = (time, onward);
                }
                (None, leaves) => {
                    for time in leaves.into_iter().flatten() {
                        if carry(&mut self.wires[id.0 as usize].under_way, time, packet) {
                            if let Some(first) = self.first(id) {
                                due(first);
                            }
                        }
                    }
                    return;
                }
            }
        }
    }

    /// A packet has its turn in the queue of a link, unless an earlier turn has been awaited in its place.
    pub(super) fn turn(&mut self, now: Time, id: LinkId, due: impl FnMut(Due)) {
        let wire = &mut self.wires[id.0 as usize];
        if wire.turn == Some(now) {
            wire.turn = None;
            self.go_on(id, due, |hop, out| hop.take_turns(now, out));
        }
    }

    /// Carries what leaves the queue of a link, and tells `due` what is awaited then.
    fn go_on(
        &mut self,
        id: LinkId,
        mut due: impl FnMut(Due),
        act: impl FnOnce(&mut Hop<Packet<O>>, &mut dyn FnMut(Time, Packet<O>, bool)),
    ) {
        let wire = &mut self.wires[id.0 as usize];
        let Wire { hop, under_way, .. } = wire;
        let mut is_first = false;
        act(hop, &mut |time, mut packet, marked| {
            packet.sent.segment.ce |= marked;
            is_first |= carry(under_way, time, packet);
        });
        let turn = wire.hop.turn();
        if turn != wire.turn {
            wire.turn = turn;
            if let Some(turn) = turn {
                due((turn, Event::Turn(id)));
            }
        }
        if is_first {
            if let Some(first) = self.first(id) {
                due(first);
            }
        }
    }

    /// The packet that arrives, the node it comes to, and the arrival to await next on its link; nothing if an earlier one
    /// is awaited in its place by now.
    #[inline]
    pub(super) fn leave(&mut self, arrival: Arrival) -> Option<(NodeId, Packet<O>, Option<Due>)> {
        let wire = &mut self.wires[arrival.link.0 as usize];
        if wire.awaited != arrival.number {
            return None;
        }
        let (_, packet) = wire.under_way.pop_front()?;
        let node = wire.to;
        Some((node, packet, self.first(arrival.link)))
    }

    /// The arrival of a link's first packet, which is awaited from now on.
    #[inline]
    fn first(&mut self, link: LinkId) -> Option<Due> {
        let wire = &mut self.wires[link.0 as usize];
        let (time, _) = wire.under_way.front()?;
        // Numbers that wrap change the order of arrivals at one time, and nothing else.
        self.arrivals = self.arrivals.wrapping_add(1);
        wire.awaited = self.arrivals;
        let number = self.arrivals;
        Some((*time, Event::Deliver(Arrival { number, link })))
    }
}

/// Puts a packet among those under way; whether it is now the first to arrive.
fn carry<O>(under_way: &mut VecDeque<(Time, Packet<O>)>, time: Time, packet: Packet<O>) -> bool {
    let at = match under_way.back() {
        Some((last, _)) if *last > time => under_way.partition_point(|(other, _)| *other <= time),
        _ => under_way.len(),
    };
    under_way.insert(at, (time, packet));
    at == 0
}
