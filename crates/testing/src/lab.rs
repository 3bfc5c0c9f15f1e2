//! Two hosts of the simulator and the paths between them: what was sent is written down, and meets the fate that a test says.

use std::collections::VecDeque;
use std::net::IpAddr;

use rexmit_loss::{Decision, PacketId, Verdict};
use rexmit_sim::link::Settings as Link;
use rexmit_sim::{App, EndId, Gate, Host, Machine, Network, NodeId, Packet, Stack, World};
use rexmit_tcp::connection::{Connection, DeferAccept};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::Segment;
use rexmit_time::{Duration, Streams, Time};
use rexmit_wire::FlowKey;

/// When connections are opened, where a test does not say it: not at a tick.
pub const BEGIN: Time = Time::from_nanos(5_000_200_000);

/// What becomes of a packet that its host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on its way.
    Pass,
    /// It is lost.
    Lose,
    /// It goes on so much later.
    Late(Duration),
}

/// A packet that left its host, or came to the other.
#[derive(Clone, Copy, Debug)]
pub struct Logged<O> {
    /// When that was.
    pub at: Time,
    /// It came.
    pub came: bool,
    /// What it is.
    pub packet: Packet<O>,
}

/// What decides about a packet.
type Decide<O> = Box<dyn FnMut(&Packet<O>) -> Fate>;

/// Writes packets down and decides about them.
pub struct Tap<O> {
    log: Vec<Logged<O>>,
    fate: Decide<O>,
    held: Vec<(Time, PacketId)>,
    released: VecDeque<PacketId>,
}

impl<O: Copy, M: Machine<Options = O>> Gate<M> for Tap<O> {
    fn on_sent(
        &mut self,
        at: Time,
        id: PacketId,
        packet: &Packet<O>,
        _: &FlowKey,
        _: &M,
    ) -> Verdict {
        let (packet, came) = (*packet, false);
        self.log.push(Logged { at, came, packet });
        match (self.fate)(&packet) {
            Fate::Pass => Verdict::Accept,
            Fate::Lose => Verdict::Drop,
            Fate::Late(by) => {
                self.held.push((at + by, id));
                Verdict::Hold
            }
        }
    }

    fn on_received(&mut self, at: Time, packet: &Packet<O>, _: &FlowKey) {
        let (packet, came) = (*packet, true);
        self.log.push(Logged { at, came, packet });
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        Some((self.released.pop_front()?, Decision::Accept))
    }

    fn deadline(&self) -> Option<Time> {
        self.held.iter().map(|(at, _)| *at).min()
    }

    fn on_deadline(&mut self, now: Time) {
        let (due, held): (Vec<_>, _) = self.held.drain(..).partition(|(at, _)| *at <= now);
        self.held = held;
        self.released.extend(due.into_iter().map(|(_, id)| id));
    }
}

/// The hosts and paths of a connection, and the programs at its ends.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of the client.
    pub client: Settings,
    /// Of the server.
    pub server: Settings,
    /// The client's and the server's.
    pub apps: [App; 2],
    /// What each path does to packets of the client and of the server. The connection is opened on the first.
    pub paths: Vec<[Link; 2]>,
    /// Of all interfaces.
    pub mtu: u32,
    /// When the connection is opened.
    pub begin: Time,
    /// What the server's listener does.
    pub defer_accept: Option<DeferAccept>,
    /// What initial sequence numbers and the paths' chances are drawn from. By that of 0 the server's numbers wrap soon.
    pub seed: u64,
}

impl Plan {
    /// Hosts of the same stack with a path of that delay one way, and no other.
    #[must_use]
    pub fn new(settings: Settings, one_way: Duration, apps: [App; 2]) -> Self {
        let delay = |delay| Link {
            delay,
            ..Link::default()
        };
        Plan {
            client: settings.clone(),
            server: settings,
            apps,
            paths: vec![[delay(one_way), delay(one_way)]],
            mtu: 1500,
            begin: BEGIN,
            defer_accept: None,
            seed: 0,
        }
    }

    /// The same with a path for each of these delays.
    #[must_use]
    pub fn over(mut self, one_ways: &[Duration]) -> Self {
        let link = |&delay: &Duration| Link {
            delay,
            ..Link::default()
        };
        self.paths = one_ways
            .iter()
            .map(|delay| [link(delay), link(delay)])
            .collect();
        self
    }
}

/// A connection between two hosts, and what was sent.
pub struct Lab<M: Machine = Connection> {
    /// All of it.
    pub world: World<M, Tap<M::Options>>,
    /// The end that opens the connection.
    pub client: EndId,
    /// The other.
    pub server: EndId,
    /// When the client's program read last.
    pub read_at: Time,
    begin: Time,
}

/// A seed by which the server's first number lies 3484 before 2^32, and the client's in the midst.
const WRAPS: u64 = 2_298_615;

impl<M: Machine> Lab<M> {
    /// Opens a connection by `plan`; nothing has happened yet.
    ///
    /// # Panics
    /// When there is no path.
    #[must_use]
    pub fn open(plan: Plan) -> Self {
        let streams = Streams::new(if plan.seed == 0 { WRAPS } else { plan.seed });
        let mut network = Network::new();
        let host = |net: u8, last: u8, settings: &Settings| Host {
            mtu: plan.mtu,
            defer_accept: plan.defer_accept,
            ..Host::new(
                IpAddr::from([10, 0, net, last]),
                Stack::new(settings.clone()),
            )
        };
        let server = network.add_host(host(0, 2, &plan.server));
        let mut ways: Vec<(NodeId, u16)> = Vec::new();
        for [up, down] in plan.paths {
            let node = network.add_host(host(ways.len() as u8, 1, &plan.client));
            network.add_one_way(node, server, up, &streams);
            network.add_one_way(server, node, down, &streams);
            ways.push((node, 40_000));
        }
        let tap = Tap {
            log: Vec::new(),
            fate: Box::new(|_| Fate::Pass),
            held: Vec::new(),
            released: VecDeque::new(),
        };
        let mut world = World::new(network, tap, &streams, plan.begin);
        let client = world.open_over(plan.begin, &ways, (server, 80), 0, plan.apps);
        Lab {
            world,
            client,
            server: client.peer(),
            read_at: plan.begin,
            begin: plan.begin,
        }
    }

    /// The same with packets that meet these fates from now on.
    #[must_use]
    pub fn with_fate(mut self, fate: impl FnMut(&Packet<M::Options>) -> Fate + 'static) -> Self {
        self.world.gate.fate = Box::new(fate);
        self
    }

    /// The same with packets lost for which `loses` says so.
    #[must_use]
    pub fn losing(self, mut loses: impl FnMut(&Packet<M::Options>) -> bool + 'static) -> Self {
        self.with_fate(move |packet| {
            if loses(packet) {
                Fate::Lose
            } else {
                Fate::Pass
            }
        })
    }

    /// From now on times count from here, and nothing was sent yet.
    pub fn begin_anew(&mut self) {
        self.begin = self.world.now();
        self.world.gate.log.clear();
    }

    /// Milliseconds since the beginning.
    pub fn ms(&self, at: Time) -> f64 {
        (at - self.begin).as_nanos() as f64 / 1e6
    }

    /// Lets everything happen up to so many milliseconds after the beginning; then it is that late.
    pub fn run(&mut self, until_ms: f64) -> &mut Self {
        let until = self.begin + Duration::from_nanos((until_ms * 1e6).round() as i64);
        let mut read = self.read();
        while self.world.next_time().is_some_and(|at| at <= until) {
            self.world.step();
            if read != self.read() {
                (read, self.read_at) = (self.read(), self.world.now());
            }
        }
        self.world.wait_until(until);
        self
    }

    /// The program at `end`, or somebody beside it, does `act` now.
    pub fn with<T>(&mut self, end: EndId, act: impl FnOnce(Time, &mut M) -> T) -> T {
        let mut done = None;
        self.world
            .with(end, |now, machine, _| done = Some(act(now, machine)));
        done.expect("the end has a connection")
    }

    /// The TCP of the client, which is there from the beginning.
    pub fn client(&self) -> &M {
        self.world.machine(self.client).expect("a client")
    }

    /// The TCP of the server, when the first SYN has come.
    pub fn server(&self) -> &M {
        self.world.machine(self.server).expect("a server")
    }

    /// Bytes that the client's program has read.
    pub fn read(&self) -> u64 {
        match self.world.app(self.client) {
            App::Browser(browser) => browser.received,
            App::Sink(sink) => sink.received,
            _ => 0,
        }
    }

    /// What left its host and what came, in order.
    pub fn log(&self) -> &[Logged<M::Options>] {
        &self.world.gate.log
    }

    /// The packets that `end` sent, with the milliseconds.
    pub fn sent(&self, end: EndId) -> impl Iterator<Item = (f64, &Packet<M::Options>)> {
        let own = move |one: &&Logged<_>| !one.came && one.packet.from == end;
        self.log()
            .iter()
            .filter(own)
            .map(|one| (self.ms(one.at), &one.packet))
    }

    /// When `end` sent packets for which `which` holds, in milliseconds.
    pub fn times(&self, end: EndId, which: impl Fn(&Segment) -> bool) -> Vec<f64> {
        let sent = self.sent(end).filter(|(_, packet)| which(packet.segment()));
        sent.map(|(at, _)| at).collect()
    }
}
