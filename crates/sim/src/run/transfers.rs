//! Runs a cell: its transfers are rehearsed without loss, then there is one for each start. What is sent is a page, or
//! bursts, over one path or several.

use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::Totals;
use rexmit_plan::{
    not_all_came, not_as_asked, CellStart, Ended, Events, PageStart, Rehearsed, Rows, Run, Start,
    Story, SubflowSeen, SubflowState, Watched, Workload,
};
use rexmit_tcp::sender::Metrics;
use rexmit_tcp::settings::MptcpScheduler;
use rexmit_tcp::stacks::{self, Page};
use rexmit_time::{Duration, Streams, Time};

use super::bench::{ephemeral_port, style, Bench, Built, Observed, PORT};
use super::inspect::{self, micros, Inspect};
use super::options::Keys;
use super::text::{self, Stream};
use super::watch::{Speakers, Wants, Watch};
use crate::apps::App;
use crate::world::{EndId, NodeId, World};

/// How long is waited, after the last burst has come, for what its sender has yet to hear of.
pub const LAST_WORDS: Duration = Duration::from_secs(10);

/// A transfer that was watched.
pub struct Transmitted {
    pub watched: Watched,
    pub seen: Observed,
    pub run: Run,
}

/// Runs the cell of `bench`.
pub fn run<M: Inspect>(
    bench: &mut Bench<'_, M>,
    share: Option<&Path>,
    out: &mut impl Events,
) -> Result<()> {
    let cell = bench.cell;
    if cell.is_multipath()
        && bench.hosts.server.settings.multipath.mptcp_scheduler == MptcpScheduler::None
    {
        let name = cell.stack.as_ref().map_or("", |stack| stack.name.as_str());
        let speaks = |page: &Page| page.settings.multipath.mptcp_scheduler != MptcpScheduler::None;
        let those: Vec<_> = stacks::all().filter(speaks).map(|page| page.name).collect();
        bail!(
            "the stack {name} has no Multipath TCP; those that have: {}",
            those.join(", ")
        );
    }
    let mut warnings = Vec::new();
    let (bytes, lossless) = bench.rehearse(&mut warnings)?;
    let page = cell.workload.page().map(|_| {
        let page_bytes = text::fit(bytes).unwrap_or(0);
        PageStart::new(page_bytes, bytes - page_bytes)
    });
    let body = CellStart {
        cell: cell.id,
        virtual_ns: bench.free.as_nanos(),
        page,
        rehearsed: (!cell.by_response()).then(|| Rehearsed {
            burst_bytes: bytes,
            path_packets: lossless.packets(),
        }),
        read_back: &bench.hosts.read_back,
        ignored: &bench.ignored(),
        warnings: &warnings,
    };
    out.event("cell-start", &body)?;
    bench.warm_up(bytes)?;
    for start in &cell.starts {
        bench
            .repeat(start, (bytes, &lossless), share, out)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    Ok(())
}

impl<M: Inspect> Bench<'_, M> {
    /// Bytes of each burst, or of the response, where a full segment has `segment_bytes` of payload.
    fn bytes_each(&self, segment_bytes: u32) -> Result<u64> {
        match &self.cell.workload {
            Workload::Burst(bursts) => Ok(bursts.bytes_each(segment_bytes)),
            Workload::Nginx(page) => page.bytes_wanted(u64::from(segment_bytes)),
        }
    }

    /// The segments that are asked for, if these are.
    fn segments_wanted(&self) -> Option<u64> {
        let segments = match &self.cell.workload {
            Workload::Burst(bursts) => bursts.segments,
            Workload::Nginx(page) => page.segments,
        };
        segments.map(u64::from)
    }

    /// Payload of a full segment of plain TCP.
    fn segment_bytes(&self) -> u32 {
        let timestamps = if self.hosts.server.settings.segments.timestamps {
            12
        } else {
            0
        };
        let headers = self.ip_header() + 20 + timestamps;
        self.cell.network.mtu.saturating_sub(headers)
    }

    /// The bytes of a burst, or of the response, and what is sent of it without loss. How much a full segment holds is
    /// taken from what is sent where more than that is taken from it, and something is asked for in segments.
    fn rehearse(&mut self, warnings: &mut Vec<String>) -> Result<(u64, Totals)> {
        let cell = self.cell;
        let start = Start {
            repetition: 0,
            phase_ns: cell.starts.first().map_or(0, |start| start.phase_ns),
            boundary_ns: None,
        };
        let by_response = cell.by_response();
        let asked = self.segments_wanted().filter(|_| !by_response);
        let mut segment_bytes = if by_response {
            self.segment_bytes()
        } else {
            cell.network.mtu
        };
        loop {
            let bytes = self.bytes_each(segment_bytes)?;
            let begin = by_response.then_some(self.free);
            let told = self.send(bytes, None, &start, Wants::default(), begin)?;
            let watched = &told.watched;
            if !told.run.complete() || by_response && watched.transfer.is_none() {
                let why = not_all_came(cell, watched, &told.run);
                if self.undisturbed {
                    bail!("{why}");
                }
                // The same over links that lose nothing by chance, with a client that waits: what becomes of the cell's
                // transfers is for their rows to tell.
                warnings.push(why);
                self.undisturbed = true;
                continue;
            }
            let mss_bytes = watched.mss_bytes();
            if asked.is_none() || mss_bytes == segment_bytes {
                warnings.extend(not_as_asked(cell, &watched.packets(), mss_bytes));
                self.undisturbed = false;
                return Ok((bytes, told.watched.sent.packets));
            }
            segment_bytes = mss_bytes;
        }
    }

    /// Transfers without loss, before those that count: hosts that remember learn from them.
    fn warm_up(&mut self, bytes: u64) -> Result<()> {
        let cell = self.cell;
        if !cell.by_response() {
            return Ok(());
        }
        // The length of the page was tried on hosts of which nothing else is known.
        self.metrics = [Metrics::default(); 2];
        let starts = cell.starts.iter().cycle();
        for (number, start) in (0..cell.warm_up).zip(starts) {
            let start = Start {
                repetition: number,
                boundary_ns: None,
                ..start.clone()
            };
            self.send(bytes, None, &start, Wants::default(), None)?;
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        start: &Start,
        (bytes, lossless): (u64, &Totals),
        share: Option<&Path>,
        out: &mut impl Events,
    ) -> Result<()> {
        let cell = self.cell;
        let wants = self.wants();
        let free = self.free;
        let mut own = lossless.clone();
        let mut told = self.send(bytes, Some(lossless), start, wants, None)?;
        let differences = cell.differences(&told.watched.sent.packets, lossless);
        if !differences.is_empty() && told.run.ended != Ended::NotConnected {
            // At this phase the packets fall to the paths otherwise: what counts is a rehearsal at it, unless that
            // lost what the pattern names.
            let after = std::mem::replace(&mut self.free, free);
            let again = self.send(bytes, None, start, Wants::default(), None)?;
            self.free = after;
            let sent = again.watched.sent.packets;
            if cell.check_lossless(&sent).is_ok() {
                own = sent;
                self.free = free;
                told = self.send(bytes, Some(&own), start, wants, None)?;
            }
        }
        let Transmitted { watched, seen, run } = told;
        let rows = Rows::new(cell, start, watched, &run, &own);
        self.write(start, &rows, seen, share, out)
    }

    /// Opens a connection, has everything sent and read, and waits until all is quiet. Without `lossless` nothing is lost
    /// by rule. It begins at `begin`, if that is said.
    fn send(
        &mut self,
        bytes: u64,
        lossless: Option<&Totals>,
        start: &Start,
        wants: Wants,
        begin: Option<Time>,
    ) -> Result<Transmitted> {
        match &self.cell.workload {
            Workload::Burst(bursts) => {
                let streams = [Stream::of_bursts(), Stream::of_bursts()];
                let begin = begin.unwrap_or_else(|| self.begin(start, bursts.span_ns()));
                let opened = self.open(bytes, lossless, start, wants, streams, begin)?;
                self.send_bursts(bursts, bytes, start, opened)
            }
            Workload::Nginx(page) => {
                let page_bytes = text::fit(bytes).ok_or_else(|| {
                    let least = text::head(0).len();
                    anyhow!("no length of the page makes a transfer of {bytes} bytes: the response head alone has {least}")
                })?;
                let texts = [text::head(page_bytes), text::request(self.server)];
                let streams = texts.map(Stream::of);
                let begin = begin.unwrap_or_else(|| self.begin(start, 0));
                let opened = self.open(bytes, lossless, start, wants, streams, begin)?;
                self.send_page(page, page_bytes, opened)
            }
        }
    }

    /// All that a connection needs, from `begin` on, for bursts of so many bytes.
    fn open(
        &mut self,
        bytes: u64,
        lossless: Option<&Totals>,
        start: &Start,
        wants: Wants,
        texts: [Stream; 2],
        begin: Time,
    ) -> Result<Opened<M>> {
        let cell = self.cell;
        let by_response = cell.by_response();
        let rule = cell.rule(bytes, &self.clients, lossless)?;
        let streams = self.chance(start, lossless.is_some());
        let form = self.hosts.server.settings.multipath.mptcp_options;
        let speakers = Speakers {
            streams: texts,
            keys: cell
                .is_multipath()
                .then(|| Keys::draw(form, &mut streams.stream("keys", 0))),
            clients: if by_response {
                Vec::new()
            } else {
                self.clients.clone()
            },
            style: style(cell),
        };
        let watch = Watch::new(rule, wants, Story::of(cell), speakers);
        let Built {
            world,
            server,
            clients,
        } = self.build(watch, wants, &streams, begin, lossless.is_some());
        let first = cell.first_path as usize - 1;
        // Plain TCP knows of one path alone, which is the first that it has.
        let (paths, first) = if cell.is_multipath() {
            ((0..clients.len()).collect(), first)
        } else {
            (vec![first], 0)
        };
        let mut draws = streams.stream("port", 0);
        let ports = clients.iter().map(|_| ephemeral_port(&mut draws));
        let ports: Vec<u16> = ports.collect();
        let ways = paths.iter().map(|path| (clients[*path], ports[*path]));
        Ok(Opened {
            world,
            server: (server, PORT),
            ways: ways.collect(),
            numbers: paths.iter().map(|path| *path as u32 + 1).collect(),
            first,
            begin,
        })
    }

    /// Where a transfer's chance comes from: its repetition alone, so that it is the same in other cells, whatever they sent
    /// before. A rehearsal over paths has that of its transfer, for packets to fall to the paths as they will there.
    fn chance(&self, start: &Start, counts: bool) -> Streams {
        let name = if counts || !self.cell.by_response() {
            "transfer"
        } else {
            "rehearsal"
        };
        let number = u64::from(start.repetition);
        Streams::new(self.streams.stream(name, number).next_u64())
    }

    /// When a connection begins, at the same phase as the last of its bursts, whose first write is `span_ns` behind that of
    /// the first: as soon as the hosts are free, or so long before the burst whose time is given that it is up by then.
    /// The time that is given for a page over TCP is its own.
    fn begin(&self, start: &Start, span_ns: u64) -> Time {
        if self.cell.by_response() {
            let period = self.cell.phase_period_ns.max(1);
            let next = || self.free.as_nanos().next_multiple_of(period);
            return Time::from_nanos(start.boundary_ns.unwrap_or_else(next) + start.phase_ns);
        }
        let soonest = match start.boundary_ns {
            Some(boundary) => super::bursts::early(boundary + start.phase_ns, span_ns),
            None => self.free.as_nanos(),
        };
        Time::from_nanos(self.at_phase(soonest, start.phase_ns))
    }

    /// The first time from `soonest` on that is `phase_ns` after a multiple of the cell's period.
    pub fn at_phase(&self, soonest: u64, phase_ns: u64) -> u64 {
        let period = self.cell.phase_period_ns.max(1);
        soonest.saturating_sub(phase_ns).next_multiple_of(period) + phase_ns
    }

    /// Runs until the server has heard of all that it sent since `end`, and what it sent spuriously has crossed the network;
    /// tells of its subflows and counters. Over the one flow of a response it is not waited for the server.
    pub fn settle(&mut self, one: &mut OpenConnection<M>, end: Time, run: &mut Run) -> Result<()> {
        let (quiet, heard) = if self.cell.by_response() {
            (end, true)
        } else {
            run.subflows = one.subflows();
            one.wait_until_heard(end)
        };
        self.free = quiet + self.settling()?;
        one.world.run_until(self.free);
        if !heard {
            let limit_s = LAST_WORDS.as_nanos() as u64 / 1_000_000_000;
            run.notes.push(rexmit_plan::not_all_acknowledged(limit_s));
        }
        self.count(one, run);
        Ok(())
    }

    /// What the server has counted.
    pub fn count(&self, one: &OpenConnection<M>, run: &mut Run) {
        let server = one.world.machine(one.client.peer());
        run.counts = server.map_or_else(Default::default, |machine| {
            inspect::counts(machine, one.numbers.len())
        });
        if self.cell.is_multipath() {
            let scheduler = self.hosts.server.settings.multipath.mptcp_scheduler;
            let meta = server.and_then(Inspect::meta);
            let counters = meta.map(|meta| meta.counters()).unwrap_or_default();
            run.scheduler = Some(scheduler.to_string());
            run.mptcp_retransmissions = Some(counters.reinjections);
            run.probe_reinjections = Some(counters.probe_reinjections);
        }
    }
}

/// A network with a connection that is about to be opened.
pub struct Opened<M: Inspect> {
    world: World<M, Watch>,
    server: (NodeId, u16),
    ways: Vec<(NodeId, u16)>,
    /// The numbers of its paths, from 1.
    numbers: Vec<u32>,
    /// The place of the first path among them.
    first: usize,
    begin: Time,
}

/// A connection.
pub struct OpenConnection<M: Inspect> {
    pub world: World<M, Watch>,
    pub client: EndId,
    /// Its paths: the client's ports.
    ports: Vec<u16>,
    /// Their numbers, from 1.
    pub numbers: Vec<u32>,
    /// The place of the first path among them.
    pub first: usize,
    /// When it was opened.
    pub begin: Time,
}

impl<M: Inspect> Opened<M> {
    /// Opens it, with these programs of client and server.
    pub fn start(mut self, apps: [App; 2]) -> OpenConnection<M> {
        let (begin, first) = (self.begin, self.first);
        let client = self
            .world
            .open_over(begin, &self.ways, self.server, first, apps);
        OpenConnection {
            world: self.world,
            client,
            ports: self.ways.iter().map(|(_, port)| *port).collect(),
            numbers: self.numbers,
            first,
            begin,
        }
    }
}

impl<M: Inspect> OpenConnection<M> {
    /// Its paths but the first, in order.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let first = self.first;
        (0..self.numbers.len()).filter(move |path| *path != first)
    }

    /// The server's subflows that are confirmed, the first path first.
    fn subflows(&self) -> Vec<SubflowSeen> {
        let Some(server) = self.world.machine(self.client.peer()) else {
            return Vec::new();
        };
        std::iter::once(self.first)
            .chain(self.others())
            .filter_map(|path| {
                let connection = server.connection(path)?;
                let t_confirmed = server.meta().map(|meta| meta.confirmed(path));
                if t_confirmed == Some(None) {
                    return None;
                }
                Some(SubflowSeen {
                    path: self.numbers[path],
                    client_port: self.ports[path],
                    t_confirmed: t_confirmed.flatten(),
                    at_end: connection.sender().map(|sender| SubflowState {
                        srtt_us: sender.timing().srtt().map_or(0, micros),
                        rto_us: micros(sender.timing().rto()),
                        cwnd: sender.window().cwnd,
                    }),
                })
            })
            .collect()
    }

    /// Whether the server waits for an acknowledgement on some path.
    fn waits(&self) -> bool {
        let server = self.world.machine(self.client.peer());
        let connections = (0..self.numbers.len()).filter_map(|path| server?.connection(path));
        let mut senders = connections.filter_map(|connection| connection.sender());
        senders.any(|sender| sender.flight().packets_out() > 0)
    }

    /// Runs until the server has heard of all that it sent until `end`: when that was, and whether it has.
    fn wait_until_heard(&mut self, end: Time) -> (Time, bool) {
        let limit = end + LAST_WORDS;
        let mut quiet = end;
        while self.waits() && self.world.next_time().is_some_and(|time| time <= limit) {
            self.world.step();
            quiet = quiet.max(self.world.now());
        }
        (quiet, !self.waits())
    }

    /// What is told of it, once `more` is added of what was seen.
    pub fn told(
        mut self,
        mut run: Run,
        planned: Time,
        more: impl FnOnce(&mut Run, &Watched),
    ) -> Result<Transmitted> {
        let now = self.world.now();
        let watch = &mut self.world.gate;
        watch.finish(now);
        if let Some(error) = watch.failed.take() {
            return Err(error);
        }
        let watched = watch.story.end();
        more(&mut run, &watched);
        let (log, captures) = watch.kept();
        Ok(Transmitted {
            watched,
            seen: Observed {
                log,
                captures,
                planned,
            },
            run,
        })
    }
}
