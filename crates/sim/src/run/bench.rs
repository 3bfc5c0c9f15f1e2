//! One cell: the lab's two hosts, its page, and a transfer for each start.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU64;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::tail::{self, TailRule};
use rexmit_loss::Rule;
use rexmit_plan::{
    line, Cell, CellStart, ClientKind, Counts, Ended, Fetched, Ignored, LoggedPacket, PacketLog,
    Packets, Place, RetransmissionRow, Row, Start, Watched, REHEARSAL_NS,
};
use rexmit_tcp::connection::{Connection, Event};
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Streams, Time};
use serde_json::json;

use super::captures;
use super::page::{self, Stream};
use super::settings::Prepared;
use super::watch::{Captures, Inspect, Wants, Watch};
use crate::apps::{App, Browser, Nginx};
use crate::link;
use crate::machine::Stack;
use crate::world::{EndId, Host, Network, Talk, World};

/// When the first transfer may begin: the hosts have been up for a while.
const UP: Time = Time::from_nanos(1_000_000_000);

/// A cell, ready to run.
struct Bench<'a> {
    cell: &'a Cell,
    hosts: Prepared,
    addresses: [IpAddr; 2],
    links: [link::Settings; 2],
    /// How long the client waits.
    patience_ns: u64,
    streams: Streams,
    /// When the hosts are free for the next transfer.
    free: Time,
    transfers: u64,
    /// What the hosts remember of each other.
    metrics: [Metrics; 2],
}

/// What was seen of a transfer.
struct Seen {
    transfers: Vec<Watched>,
    counts: Counts,
    fetched: Fetched,
    log: Option<Vec<LoggedPacket>>,
    captures: Option<Captures>,
}

/// Runs `cell` and appends its events to `out`; captures go below `share`.
pub fn run(cell: &Cell, share: Option<&Path>, out: &mut Vec<u8>) -> Result<()> {
    let mut bench = Bench::new(cell)?;
    let mut warnings = Vec::new();
    let page_bytes = bench.fit_page(&mut warnings)?;
    let head_bytes = page::head(page_bytes).len() as u64;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: bench.free.as_nanos(),
        page_bytes: usize::try_from(page_bytes)?,
        head_bytes,
        transfer_bytes: head_bytes + page_bytes,
        read_back: &bench.hosts.read_back,
        ignored: &bench.ignored(),
        warnings: &warnings,
    };
    line(out, "cell-start", &body)?;
    bench.warm_up(page_bytes)?;
    for start in &cell.starts {
        bench
            .repeat(start, page_bytes, share, out)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    let end = json!({"cell": cell.id, "virtual_ns": bench.free.as_nanos()});
    line(out, "cell-end", &end)?;
    Ok(())
}

impl<'a> Bench<'a> {
    fn new(cell: &'a Cell) -> Result<Self> {
        let addresses = match cell.network.family {
            4 => [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n))),
            6 => [1, 2].map(|n| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n))),
            other => bail!("IP family {other}: 4 or 6"),
        };
        Ok(Self {
            cell,
            hosts: Prepared::new(cell)?,
            addresses,
            links: [0, 1].map(|n| link_settings(&cell.network.links[n], cell.network.at)),
            patience_ns: cell.transfer_timeout_ns,
            streams: Streams::new(cell.seed.unwrap_or(0)),
            free: UP,
            transfers: 0,
            metrics: [Metrics::default(); 2],
        })
    }

    /// What of the plan is done otherwise than it says.
    fn ignored(&self) -> Vec<Ignored> {
        let mut ignored = self.hosts.ignored.clone();
        let client = self.cell.workload.client;
        if client != ClientKind::Builtin {
            ignored.push(Ignored {
                setting: format!("workload.client = {client:?}").to_lowercase(),
                why: "the model's client asks and reads as the built-in one does".into(),
            });
        }
        ignored
    }

    /// Finds the length of the page that makes the transfer as long as the plan wants it, and tries it without loss.
    fn fit_page(&mut self, warnings: &mut Vec<String>) -> Result<u64> {
        let workload = &self.cell.workload;
        let mss = self.segment_bytes();
        let want = match (workload.bytes, workload.segments) {
            (Some(bytes), None) => bytes,
            (None, Some(segments)) => u64::from(segments) * mss,
            _ => bail!("the plan names either the transfer's segments or its bytes"),
        };
        let page_bytes = page::fit(want).ok_or_else(|| {
            anyhow!("no length of the page makes a transfer of {want} bytes: the response head alone has {}", page::head(0).len())
        })?;
        let mut seen = self.rehearse(self.free, page_bytes)?;
        if !seen.fetched.complete() {
            warnings.push(format!(
                "a transfer from which the rule took nothing did not complete in {} s either",
                self.patience_s()
            ));
            seen = self.rehearse_undisturbed(page_bytes)?;
        }
        let transfer = seen.transfers.first().map(|watched| &watched.transfer);
        let Some(transfer) = transfer else {
            bail!("a transfer without loss: {}", self.no_response());
        };
        if !seen.fetched.complete() {
            let note = transfer.note();
            bail!(
                "a transfer without loss did not complete in {} s: {}",
                self.patience_s(),
                note.as_deref().unwrap_or("the client gave up"),
            );
        }
        if let Some(segments) = workload.segments {
            if u64::from(segments) != transfer.segments {
                warnings.push(format!(
                    "the transfer leaves in {} segments of at most {mss} bytes, {segments} were asked for",
                    transfer.segments
                ));
            }
        }
        Ok(page_bytes)
    }

    /// Transfers without loss, before those that count: hosts that remember learn from them.
    fn warm_up(&mut self, page_bytes: u64) -> Result<()> {
        // The length of the page was tried on hosts of which nothing else is known.
        self.metrics = [Metrics::default(); 2];
        for start in self
            .cell
            .starts
            .iter()
            .cycle()
            .take(self.cell.warm_up as usize)
        {
            let period = self.cell.phase_period_ns.max(1);
            let boundary = self.free.as_nanos().next_multiple_of(period);
            let begin = Time::from_nanos(boundary + start.phase_ns);
            self.rehearse(begin, page_bytes)?;
        }
        Ok(())
    }

    /// One transfer from which the rule takes nothing.
    fn rehearse(&mut self, begin: Time, page_bytes: u64) -> Result<Seen> {
        let rule = TailRule::new(tail::Settings {
            linger: Duration::MAX,
            ..tail::Settings::default()
        });
        self.transfer(Box::new(rule), Wants::default(), begin, page_bytes)
    }

    /// The same over links that lose nothing by chance, with a client that waits: what the cell's transfers come to is
    /// for their rows to tell.
    fn rehearse_undisturbed(&mut self, page_bytes: u64) -> Result<Seen> {
        let patience_ns = self.patience_ns;
        let links = self.links.clone();
        for link in &mut self.links {
            link.loss = link::Loss::None;
        }
        self.patience_ns = patience_ns.max(REHEARSAL_NS);
        let seen = self.rehearse(self.free, page_bytes);
        (self.links, self.patience_ns) = (links, patience_ns);
        seen
    }

    fn patience_s(&self) -> f64 {
        Duration::from_nanos(self.patience_ns as i64).as_secs_f64()
    }

    /// Why there may be nothing to tell of a transfer.
    fn no_response(&self) -> String {
        format!(
            "no head of a response left the server in {} s; the path, the receive window or the timeout keeps it from that",
            self.patience_s()
        )
    }

    /// Payload of a full segment.
    fn segment_bytes(&self) -> u64 {
        let ip_header = if self.cell.network.family == 4 {
            20
        } else {
            40
        };
        let timestamps = if self.hosts.server.settings.timestamps {
            12
        } else {
            0
        };
        u64::from(self.cell.network.mtu).saturating_sub(ip_header + 20 + timestamps)
    }

    fn repeat(
        &mut self,
        start: &Start,
        page_bytes: u64,
        share: Option<&Path>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let cell = self.cell;
        let period = cell.phase_period_ns.max(1);
        let boundary = start
            .boundary_ns
            .unwrap_or_else(|| self.free.as_nanos().next_multiple_of(period));
        let begin = Time::from_nanos(boundary + start.phase_ns);
        let wants = Wants {
            both: cell.packets || cell.loss.needs_client(),
            lossy: cell.lossy(),
            log: cell.packets,
            captures: cell.capture,
        };
        let seen = self.transfer(cell.loss.rule()?, wants, begin, page_bytes)?;
        let size = page::head(page_bytes).len() as u64 + page_bytes;
        let row = Row::new(
            cell,
            start,
            size,
            &seen.transfers,
            seen.counts,
            &seen.fetched,
        );
        line(out, "transfer", &row)?;
        for retransmission in seen
            .transfers
            .first()
            .map_or(&[][..], |one| &one.retransmissions)
        {
            let row = RetransmissionRow {
                cell: cell.id,
                repetition: start.repetition,
                retransmission,
            };
            line(out, "retransmission", &row)?;
        }
        if let Some(mut packets) = seen.log {
            for packet in &mut packets {
                packet.at_ns -= begin.as_nanos() as i64;
            }
            let body = Packets {
                cell: cell.id,
                repetition: start.repetition,
                packets: &packets,
            };
            line(out, "packets", &body)?;
        }
        if let (Some(captures), Some(share)) = (seen.captures, share) {
            let name = format!("{}-{}", cell.id, start.repetition);
            captures::write(captures, &share.join("captures"), &name)?;
        }
        Ok(())
    }

    /// One transfer on hosts that know of no other.
    fn transfer(
        &mut self,
        rule: Box<dyn Rule + Send>,
        wants: Wants,
        begin: Time,
        page_bytes: u64,
    ) -> Result<Seen> {
        let number = self.transfers;
        self.transfers += 1;
        let request = page::request(self.addresses[0]);
        let head = page::head(page_bytes);
        let client = App::Browser(
            Browser::new(request.len() as u32)
                .with_pace(self.cell.workload.read_bps.and_then(NonZeroU64::new)),
        );
        let mut server = Nginx::new(request.len() as u32, head.len() as u32, page_bytes);
        if !self.cell.workload.tcp_nopush {
            server = server.without_nopush();
        }
        let server = App::Nginx(server);
        let total = head.len() as u64 + page_bytes;
        let (response, request) = (Stream { text: head }, Stream { text: request });
        let watch = Watch::new(rule, wants, response, request);
        let mut world = self.world(watch, wants, number, begin);
        // Ephemeral ports as Linux hands them out: even ones first, from a random place.
        let port = 32_768 + 2 * (self.streams.stream("port", number).below(14_000) as u16);
        let [h1, h2] = world.1;
        let talk = Talk {
            client: (h2, port, client),
            server: (h1, 80, server),
        };
        let world = &mut world.0;
        let end = world.open(begin, talk);
        let patience = Duration::from_nanos(i64::try_from(self.patience_ns)?);
        let fetched = fetch(world, end, total, begin, patience);
        let over = begin + Duration::from_nanos(i64::try_from(fetched.duration_ns)?);
        self.free = over + Duration::from_nanos(i64::try_from(self.cell.settling_ns())?);
        world.run_until(self.free);
        let counts = world
            .machine(end.peer())
            .map_or_else(Counts::default, Inspect::counts);
        for (index, end) in [end.peer(), end].into_iter().enumerate() {
            if let Some(machine) = world.machine(end) {
                self.metrics[index] = machine.metrics();
            }
        }
        let watch = &mut world.gate;
        watch.finish(self.free);
        if let Some(error) = watch.failed.take() {
            return Err(error);
        }
        Ok(Seen {
            transfers: watch.story.finish(),
            counts,
            fetched,
            log: watch.log.as_mut().map(PacketLog::take),
            captures: watch.captures.take(),
        })
    }

    /// The server h1 and the client h2 with a switch between them.
    fn world(
        &self,
        watch: Watch,
        wants: Wants,
        number: u64,
        now: Time,
    ) -> (World<Connection, Watch>, [crate::world::NodeId; 2]) {
        let plan = &self.cell.network;
        let host = |index: usize, stack: &Stack, filtered: bool, window_clamp: Option<u32>| Host {
            address: self.addresses[index],
            mtu: plan.mtu,
            stack: stack.clone(),
            filtered,
            window_clamp,
            metrics: self.metrics[index],
            look: LOOK,
            defer_accept: None,
        };
        let clamp = self.cell.workload.receive_window_bytes;
        let mut network = Network::new();
        let h1 = network.add_host(host(0, &self.hosts.server, true, None));
        let h2 = network.add_host(host(1, &self.hosts.client, wants.both, clamp));
        let s1 = network.add_switch();
        let streams = Streams::new(self.streams.stream("transfer", number).next_u64());
        network.add_link(h1, s1, &self.links[0], &streams);
        network.add_link(s1, h2, &self.links[1], &streams);
        (World::new(network, watch, &streams, now), [h1, h2])
    }
}

/// Reads between two of the client's looks at how long the whole took.
const READS_A_LOOK: u32 = 16;

/// Runs until the client has read to the end of the file, or gives up. As the lab's client, it gives each read its
/// `patience`, and the whole only at every sixteenth.
fn fetch(
    world: &mut World<Connection, Watch>,
    client: EndId,
    bytes: u64,
    begin: Time,
    patience: Duration,
) -> Fetched {
    let mut ended = None;
    let mut limit = begin + patience;
    let (mut received, mut reads) = (0, 0);
    while world.next_time().is_some_and(|time| time <= limit) {
        world.step();
        let App::Browser(browser) = world.app(client) else {
            continue;
        };
        if browser.finished.is_some() || browser.broke.is_some() {
            let how = match browser.broke {
                Some(Event::TimedOut) => Ended::GaveUp,
                Some(_) => Ended::Reset,
                None if browser.received == bytes => Ended::Finished,
                None => Ended::Short,
            };
            ended = Some((browser.finished.unwrap_or(world.now()), how));
            break;
        }
        if browser.received > received {
            received = browser.received;
            reads += 1;
            limit = world.now() + patience;
            if (reads + 1) % READS_A_LOOK == 0 && world.now() > begin + patience {
                ended = Some((world.now(), Ended::TimedOut));
                break;
            }
        }
    }
    let (end, ended) = ended.unwrap_or((limit, Ended::TimedOut));
    Fetched {
        duration_ns: end.since(begin).as_nanos().unsigned_abs(),
        ended,
        said: None,
    }
}

/// A look at the lab's clock moves it on by so much.
pub(crate) const LOOK: Duration = Duration::from_nanos(256);

/// What the two netems of a wire add to its delay: each looks at the clock when it takes a packet in. Hosts look too, but
/// seldom enough to be left out, save where a server takes the handshake's round-trip time.
const LOOKS: Duration = Duration::from_nanos(2 * 256);

/// As the lab's queueing disciplines have it: times in whole microseconds.
pub(crate) fn link_settings(link: &rexmit_plan::Link, at: Place) -> link::Settings {
    let micros = |nanos: u64| Duration::from_micros(((nanos + 500) / 1000) as i64);
    let shaper = match at {
        Place::Wire => link::Shaper::Netem,
        Place::Host => link::Shaper::Htb,
    };
    let delay = match at {
        Place::Wire => micros(link.delay_ns.saturating_sub(1000)) + link::FIRST_STAGE + LOOKS,
        Place::Host => micros(link.delay_ns),
    };
    link::Settings {
        rate_bps: link.rate_bps,
        delay,
        jitter: micros(link.jitter_ns),
        queue_packets: link.queue_packets as usize,
        loss: if link.loss > 0.0 {
            link::Loss::Random(link.loss)
        } else {
            link::Loss::None
        },
        shaper,
        ..link::Settings::default()
    }
}
