//! The lab of one cell: its hosts, its network, and what of a transfer is written down.

use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use anyhow::{bail, Result};
use rexmit_plan::{
    Cell, ClientKind, Events, Ignored, Layout, LoggedPacket, Packets, Place, Rows, Start,
    REHEARSAL_NS,
};
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Streams, Time};

use super::captures;
use super::inspect::Inspect;
use super::settings::{Prepared, DEFAULT};
use super::watch::{Captures, Wants, Watch};
use crate::bytes::Style;
use crate::link;
use crate::machine::Stack;
use crate::synth::Look;
use crate::world::{Host, Network, NodeId, Turn, Work, World};

/// When the first transfer may begin: the hosts have been up for a while.
pub const UP: Time = Time::from_nanos(1_000_000_000);

/// Where the server listens.
pub const PORT: u16 = 80;

/// A cell, ready to run.
pub struct Bench<'a, M> {
    pub cell: &'a Cell,
    pub hosts: Prepared,
    /// The server's address.
    pub server: IpAddr,
    /// The client's on each path.
    pub clients: Vec<IpAddr>,
    pub streams: Streams,
    /// When the hosts are free for the next transfer.
    pub free: Time,
    /// Nothing is lost by chance, and the client waits.
    pub undisturbed: bool,
    /// What the hosts remember of each other.
    pub metrics: [Metrics; 2],
    machine: PhantomData<M>,
}

/// How the packets of a cell's hosts are written: as their system does. Their identification says nothing.
pub fn style(cell: &Cell) -> Style {
    let name = cell.stack.as_ref().map_or(DEFAULT, |stack| &stack.name);
    Look::of(name).style(0)
}

/// What was seen of a transfer.
pub struct Observed {
    pub log: Option<Vec<LoggedPacket>>,
    pub captures: Option<Captures>,
    /// When it was to start: times of the log count from there.
    pub planned: Time,
}

/// A network with its hosts.
pub struct Built<M: Inspect> {
    pub world: World<M, Watch>,
    pub server: NodeId,
    /// The client on each path.
    pub clients: Vec<NodeId>,
}

impl<'a, M: Inspect> Bench<'a, M> {
    /// # Errors
    /// When there is no such stack, or it cannot do what the cell asks for.
    pub fn new(cell: &'a Cell) -> Result<Self> {
        let (server, clients) = addresses(cell)?;
        Ok(Self {
            cell,
            hosts: Prepared::new(cell)?,
            server,
            clients,
            streams: Streams::new(cell.seed.unwrap_or(0)),
            free: UP,
            undisturbed: false,
            metrics: [Metrics::default(); 2],
            machine: PhantomData,
        })
    }

    /// What of the plan is done otherwise than it says.
    pub fn ignored(&self) -> Vec<Ignored> {
        let mut ignored = self.hosts.ignored.clone();
        let page = self.cell.workload.page();
        if let Some(client) = page.map(|page| page.client) {
            if client != ClientKind::Builtin {
                ignored.push(Ignored {
                    setting: format!("workload.client = {client:?}").to_lowercase(),
                    why: "the model's client asks and reads as the built-in one does".into(),
                });
            }
        }
        ignored
    }

    /// How long the client waits.
    pub fn patience(&self) -> Result<Duration> {
        let mut patience_ns = self.cell.patience_ns();
        if self.undisturbed {
            patience_ns = patience_ns.max(REHEARSAL_NS);
        }
        Ok(Duration::from_nanos(i64::try_from(patience_ns)?))
    }

    /// How long a network needs to become quiet.
    pub fn settling(&self) -> Result<Duration> {
        Ok(Duration::from_nanos(i64::try_from(
            self.cell.settling_ns(),
        )?))
    }

    /// What is wanted of a transfer that counts.
    pub fn wants(&self) -> Wants {
        Wants {
            both: self.cell.packets || self.cell.needs_client(),
            log: self.cell.packets,
            captures: self.cell.capture,
        }
    }

    /// Bytes of an IP header.
    pub fn ip_header(&self) -> u32 {
        if self.server.is_ipv4() {
            20
        } else {
            40
        }
    }

    /// Adds both directions of a link, that from the server first. Outages count from `begin`, if there are to be any.
    fn add_link<O: Copy>(
        &self,
        network: &mut Network<O>,
        (near, far): (NodeId, NodeId),
        link: &rexmit_plan::Link,
        streams: &Streams,
        begin: Option<Time>,
    ) {
        let mut link = link.clone();
        if self.undisturbed {
            link.lose_nothing();
        }
        for (from, to, way) in [(near, far, link.down()), (far, near, link.up())] {
            let mut settings = link::Settings::planned(way, self.cell.network.at, begin);
            if self.cell.network.at == Place::Wire {
                settings.delay += LOOKS;
            }
            network.add_one_way(from, to, settings, streams);
        }
    }

    /// The server h1 and the client h2: with a switch between them, or with a wire from each of the client's addresses.
    /// Links fail at their times where that `counts`.
    pub fn build(
        &self,
        watch: Watch,
        wants: Wants,
        streams: &Streams,
        now: Time,
        counts: bool,
    ) -> Built<M> {
        let cell = self.cell;
        let outages = counts.then_some(now);
        let by_response = cell.by_response();
        let page = cell.workload.page();
        let clamp = page.and_then(|page| page.receive_window_bytes);
        let host = |address: IpAddr, stack: &Stack, is_server: bool| Host {
            address,
            mtu: cell.network.mtu,
            stack: stack.clone(),
            filtered: is_server || (by_response && wants.both),
            // The lab's reader runs a look at the clock later: taking its packet in takes one.
            turn: match (by_response, is_server) {
                (true, _) => Turn::AtOnce,
                (false, true) => Turn::Last(Duration::ZERO),
                (false, false) => Turn::Last(LOOK),
            },
            window_clamp: clamp.filter(|_| !is_server),
            metrics: self.metrics[usize::from(!is_server)],
            look: LOOK,
            defer_accept: None,
        };
        let mut network = Network::new();
        let h1 = network.add_host(host(self.server, &self.hosts.server, true));
        let addresses = self.clients.iter();
        let clients: Vec<NodeId> = addresses
            .map(|&address| network.add_host(host(address, &self.hosts.client, false)))
            .collect();
        match &cell.network.layout {
            Layout::Links(links) => {
                let [first, second] = &**links;
                let s1 = network.add_switch();
                self.add_link(&mut network, (h1, s1), first, streams, outages);
                self.add_link(&mut network, (s1, clients[0]), second, streams, outages);
            }
            // The router passes packets on at once, so that a path is one link each way.
            Layout::Paths(paths) => {
                for (path, client) in paths.iter().zip(&clients) {
                    self.add_link(&mut network, (h1, *client), path, streams, outages);
                }
            }
        }
        let own = self.work();
        let work = Work {
            receive: Duration::from_unsigned_nanos(own.receive_ns),
            answer: Duration::from_unsigned_nanos(own.answer_ns),
            wake: Duration::from_unsigned_nanos(own.wake_ns),
            take: Duration::from_unsigned_nanos(own.take_ns),
            leave: Duration::from_unsigned_nanos(own.leave_ns),
            write: Duration::from_unsigned_nanos(own.write_ns),
            make: Duration::from_unsigned_nanos(own.make_ns),
            fetch: Duration::from_unsigned_nanos(own.fetch_ns),
            judge: Duration::from_unsigned_nanos(own.judge_ns),
            retransmission: Duration::from_unsigned_nanos(own.retransmission_ns),
        };
        Built {
            world: World::new(network, watch, streams, now).with_work(work),
            server: h1,
            clients,
        }
    }

    /// Whether work takes time.
    pub fn works(&self) -> bool {
        self.work() != rexmit_plan::Work::default()
    }

    fn work(&self) -> rexmit_plan::Work {
        self.cell
            .stack
            .as_ref()
            .map_or_else(Default::default, |stack| stack.work)
    }

    /// Writes down all of a transfer; captures go below `share`.
    pub fn write(
        &self,
        start: &Start,
        rows: &Rows,
        seen: Observed,
        share: Option<&Path>,
        out: &mut impl Events,
    ) -> Result<()> {
        let cell = self.cell;
        rows.write(out)?;
        if let Some(mut packets) = seen.log {
            for packet in &mut packets {
                packet.at_ns -= seen.planned.as_nanos() as i64;
            }
            let body = Packets {
                cell: cell.id,
                repetition: start.repetition,
                packets: &packets,
            };
            out.event("packets", &body)?;
        }
        if let (Some(captures), Some(share)) = (seen.captures, share) {
            captures::write(captures, &share.join("captures"), cell, start.repetition)?;
        }
        Ok(())
    }
}

/// The server's address, and the client's on each path.
fn addresses(cell: &Cell) -> Result<(IpAddr, Vec<IpAddr>)> {
    let family = cell.network.family;
    let address = |path: u8, who: u8| match family {
        4 => Ok(IpAddr::V4(Ipv4Addr::new(10, 0, path, who))),
        6 => {
            let (path, who) = (u16::from(path), u16::from(who));
            Ok(IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, path, 0, 0, 0, who)))
        }
        other => bail!("IP family {other}: 4 or 6"),
    };
    let clients = match &cell.network.layout {
        Layout::Links(_) => vec![address(0, 2)?],
        Layout::Paths(paths) => (1..=paths.len() as u8)
            .map(|path| address(path, 2))
            .collect::<Result<_>>()?,
    };
    Ok((address(0, 1)?, clients))
}

/// An ephemeral port as Linux hands them out: even ones first, from a random place.
pub fn ephemeral_port(stream: &mut rexmit_time::Stream) -> u16 {
    32_768 + 2 * (stream.below(14_000) as u16)
}

/// A look at the lab's clock moves it on by so much.
pub const LOOK: Duration = Duration::from_nanos(256);

/// What the two netems of a wire add to its delay: each looks at the clock when it takes a packet in. Hosts look too, but
/// seldom enough to be left out, save where a server takes the handshake's round-trip time.
const LOOKS: Duration = Duration::from_nanos(2 * 256);
