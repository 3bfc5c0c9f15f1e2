//! One cell: a rehearsal without loss, then a connection for each start.

use std::fs;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::paths::Totals;
use rexmit_loss::pattern::Pattern;
use rexmit_plan::{
    line, not_all_acknowledged, not_all_came, not_all_came_up, write_capture, Ended, PathCell,
    PathCellStart, PathPackets, PathRows, PathRun, PathStory, Protocol, Start, SubflowSeen,
    SubflowState, REHEARSAL_NS,
};
use rexmit_tcp::settings::MptcpScheduler;
use rexmit_time::{Duration, Streams, Time};
use rexmit_wire::FlowKey;
use serde_json::json;

use super::bursts::Bursts;
use super::gate::{addresses, Gate, Seen, Wants};
use super::options::Keys;
use super::world::{Parts, World, SERVER};
use crate::run::{link_settings, Captures, Prepared, LOOK};

/// When the first connection may begin: the hosts have been up for a while.
const UP: Time = Time::from_nanos(1_000_000_000);
/// How long a connection and its subflows may take to come up.
const COMING_UP: Duration = Duration::from_secs(10);
/// How long is waited, after the last burst has come, for what its sender has yet to hear of.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// Where the server listens.
const PORT: u16 = 80;

struct Bench<'a> {
    cell: &'a PathCell,
    hosts: Prepared,
    pattern: Pattern,
    streams: Streams,
    /// When the hosts are free for the next connection.
    free: Time,
    /// Nothing is lost by chance, and the client waits.
    undisturbed: bool,
}

/// A connection that was watched.
struct Watched {
    seen: Seen,
    run: PathRun,
    /// When the last burst was to be written.
    planned: Time,
}

/// Runs `cell` and appends its events to `out`; captures go below `share`.
pub fn run(cell: &PathCell, share: Option<&Path>, out: &mut Vec<u8>) -> Result<()> {
    let hosts = Prepared::of(&cell.sysctls, &cell.congestion_control, cell.stack.as_ref())?;
    if cell.protocol == Protocol::Mptcp
        && hosts.server.settings.mptcp_scheduler == MptcpScheduler::None
    {
        let name = cell.stack.as_ref().map_or("", |stack| stack.name.as_str());
        bail!("the stack {name} has no Multipath TCP; linux-4.1, linux-6.1 and linux-6.12 have");
    }
    let mut bench = Bench {
        cell,
        hosts,
        pattern: cell.loss.parse()?,
        streams: Streams::new(cell.seed.unwrap_or(0)),
        free: UP,
        undisturbed: false,
    };
    let mut warnings = Vec::new();
    let (burst_bytes, totals) = bench.rehearse(&mut warnings)?;
    let body = PathCellStart {
        cell: cell.id,
        virtual_ns: bench.free.as_nanos(),
        burst_bytes,
        path_packets: totals.packets(),
        read_back: &bench.hosts.read_back,
        ignored: &bench.hosts.ignored,
        warnings: &warnings,
    };
    line(out, "cell-start", &body)?;
    for start in &cell.starts {
        bench
            .repeat(start, (burst_bytes, &totals), share, out)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    let end = json!({"cell": cell.id, "virtual_ns": bench.free.as_nanos()});
    line(out, "cell-end", &end)?;
    Ok(())
}

impl Bench<'_> {
    /// The bytes of a burst, and the packets of each on each path without loss. How much a full segment holds is taken from
    /// what is sent, where a burst is given in segments.
    fn rehearse(&mut self, warnings: &mut Vec<String>) -> Result<(u64, Totals)> {
        let cell = self.cell;
        let start = Start {
            repetition: 0,
            phase_ns: cell.starts.first().map_or(0, |start| start.phase_ns),
            boundary_ns: None,
        };
        let mut segment_bytes = cell.mtu;
        loop {
            let bytes = cell.bursts.bytes_each(segment_bytes);
            let told = self.connect(bytes, None, &start, Wants::default())?;
            if !told.run.complete() {
                let why = not_all_came(cell, &told.run);
                if self.undisturbed {
                    bail!("{why}");
                }
                // What becomes of the cell's connections is for their rows to tell.
                warnings.push(why);
                self.undisturbed = true;
                continue;
            }
            let seen = told.seen.watched.mss_bytes;
            if cell.bursts.segments.is_none() || seen == segment_bytes {
                let asked = cell.bursts.segments.map(u64::from);
                for (burst, packets) in (1..).zip(told.seen.totals.packets()) {
                    let sent: u64 = packets.iter().sum();
                    if let Some(asked) = asked.filter(|asked| *asked != sent) {
                        warnings.push(format!(
                            "burst {burst} leaves in {sent} packets of at most {seen} bytes, {asked} were asked for"
                        ));
                    }
                }
                self.undisturbed = false;
                return Ok((bytes, told.seen.totals));
            }
            segment_bytes = seen;
        }
    }

    fn repeat(
        &mut self,
        start: &Start,
        (bytes, totals): (u64, &Totals),
        share: Option<&Path>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let cell = self.cell;
        let wants = Wants {
            both: cell.packets || cell.needs_client(),
            log: cell.packets,
            captures: cell.capture,
        };
        let free = self.free;
        let mut own = totals.clone();
        let mut told = self.connect(bytes, Some(totals), start, wants)?;
        let sent = &told.seen.totals;
        let differs = !sent.differences(&self.pattern, totals).is_empty();
        if differs && told.run.ended != Ended::NotConnected {
            // At this phase the packets fall to the paths otherwise: what counts is a rehearsal at it, unless that
            // lost what the pattern names.
            let after = std::mem::replace(&mut self.free, free);
            let again = self.connect(bytes, None, start, Wants::default())?;
            self.free = after;
            if again.seen.totals.check(&self.pattern).is_ok() {
                own = again.seen.totals;
                self.free = free;
                told = self.connect(bytes, Some(&own), start, wants)?;
            }
        }
        let Watched { seen, run, planned } = told;
        let rows = PathRows::new(cell, start, seen.watched, &run, &own);
        line(out, "transfer", &rows.transfer)?;
        for row in &rows.retransmissions {
            line(out, "retransmission", row)?;
        }
        for row in &rows.bursts {
            line(out, "burst", row)?;
        }
        for row in &rows.subflows {
            line(out, "subflow", row)?;
        }
        if let Some(mut packets) = seen.packets {
            for packet in &mut packets {
                packet.packet.at_ns -= planned.as_nanos() as i64;
            }
            let body = PathPackets {
                cell: cell.id,
                repetition: start.repetition,
                packets: &packets,
            };
            line(out, "packets", &body)?;
        }
        if let (Some(captures), Some(share)) = (seen.captures, share) {
            self.write_captures(captures, &share.join("captures"), start.repetition)?;
        }
        Ok(())
    }

    fn write_captures(&self, captures: Captures, folder: &Path, repetition: u32) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let name = |host: &str| folder.join(format!("{}-{repetition}.{host}.pcapng", self.cell.id));
        write_capture(captures.server, &name("h1"), &["h1-eth0"])?;
        let devices: Vec<String> = (1..=self.cell.paths.len())
            .map(|path| format!("h2-eth{path}"))
            .collect();
        write_capture(captures.client, &name("h2"), &devices)
    }

    /// Opens a connection, has its bursts written and read, and waits until all is quiet. Without `totals` nothing is lost
    /// by rule.
    fn connect(
        &mut self,
        bytes: u64,
        totals: Option<&Totals>,
        start: &Start,
        wants: Wants,
    ) -> Result<Watched> {
        let cell = self.cell;
        let number = u64::from(start.repetition);
        let multipath = cell.protocol == Protocol::Mptcp;
        let paths = cell.paths.len();
        let (server, clients) = addresses(cell.family, paths)
            .ok_or_else(|| anyhow!("IP family {}: 4 or 6", cell.family))?;
        let rule = cell.rule(bytes, &clients, totals)?;
        let story = PathStory::new(cell.bursts.count as usize, paths, cell.lossy());
        let streams = Streams::new(self.streams.stream("connection", number).next_u64());
        let form = self.hosts.server.settings.mptcp_options;
        let keys = multipath.then(|| Keys::draw(form, &mut streams.stream("keys", 0)));
        let mut ports = streams.stream("port", 0);
        let flows = clients.iter().map(|&client| FlowKey {
            src: server,
            dst: client,
            src_port: PORT,
            // Ephemeral ports as Linux hands them out: even ones first, from a random place.
            dst_port: 32_768 + 2 * (ports.below(14_000) as u16),
        });
        let first_path = cell.first_path as usize - 1;
        let parts = Parts {
            stacks: [&self.hosts.server, &self.hosts.client],
            multipath,
            mtu: cell.mtu,
            ip_header: if cell.family == 4 { 20 } else { 40 },
            flows: flows.collect(),
            links: self.wires(),
            first_path,
            look: LOOK,
        };
        let ports: Vec<u16> = parts.flows.iter().map(|flow| flow.dst_port).collect();
        let gate = Gate::new(rule, wants, story, keys);
        let begin = self.begin(start);
        let mut world = World::new(parts, gate, &streams, begin);
        let settling = Duration::from_nanos(i64::try_from(cell.settling_ns())?);
        let others = (0..if multipath { paths } else { 0 }).filter(|path| *path != first_path);
        let others: Vec<usize> = others.collect();
        let now = match bring_up(&mut world, begin, first_path, &others, settling) {
            Ok(now) => now,
            Err(failed) => {
                let told = self.not_connected(world, begin, &failed);
                self.free = failed.at + settling;
                return Ok(told);
            }
        };
        let times = self.times(now, start);
        let planned = times.last().copied().unwrap_or(now);
        let mut patience_ns = cell.patience_ns();
        if self.undisturbed {
            patience_ns = patience_ns.max(REHEARSAL_NS);
        }
        let patience = Duration::from_nanos(i64::try_from(patience_ns)?);
        world.begin(now, Bursts::new(times, bytes, patience, now));
        let end = read_all(&mut world);
        let subflows = self.subflows(&world, &ports);
        let heard;
        (self.free, heard) = settle(&mut world, end, cell)?;
        let bursts = world.bursts.take().ok_or_else(|| anyhow!("no bursts"))?;
        let mut notes = bursts.notes();
        if !heard {
            let limit_s = LAST_WORDS.as_nanos() as u64 / 1_000_000_000;
            notes.push(not_all_acknowledged(limit_s));
        }
        let meta = world.end(SERVER).meta();
        let run = PathRun {
            ended: if bursts.is_complete() {
                Ended::Finished
            } else {
                Ended::TimedOut
            },
            notes,
            bursts: bursts.seen(),
            subflows,
            counts: world.end(SERVER).counts(paths),
            client_ns: end.as_nanos() - begin.as_nanos(),
            scheduler: meta.map(|_| self.hosts.server.settings.mptcp_scheduler.to_string()),
            mptcp_retransmissions: meta.map(|meta| meta.counters().reinjections),
            probe_reinjections: meta.map(|meta| meta.counters().probe_reinjections),
        };
        Ok(Watched {
            seen: world.gate.finish(),
            run,
            planned,
        })
    }

    /// What is told of a connection that did not come up.
    fn not_connected(&self, world: World<'_>, begin: Time, failed: &NotUp) -> Watched {
        let meta = world.end(SERVER).meta();
        let run = PathRun {
            ended: Ended::NotConnected,
            notes: vec![failed.why.clone()],
            counts: world.end(SERVER).counts(self.cell.paths.len()),
            client_ns: failed.at.since(begin).as_nanos().unsigned_abs(),
            scheduler: meta.map(|_| self.hosts.server.settings.mptcp_scheduler.to_string()),
            ..PathRun::default()
        };
        Watched {
            seen: world.gate.finish(),
            run,
            planned: failed.at,
        }
    }

    /// The paths' links.
    fn wires(&self) -> Vec<crate::link::Settings> {
        let mut wires: Vec<crate::link::Settings> = self.cell.paths.iter().map(wire).collect();
        if self.undisturbed {
            for wire in &mut wires {
                wire.loss = crate::link::Loss::None;
            }
        }
        wires
    }

    /// When a connection begins, at the same phase as its bursts: as soon as the hosts are free, or so long before the
    /// burst whose time is given that it is up by then.
    fn begin(&self, start: &Start) -> Time {
        let before = u64::from(self.cell.bursts.count - 1) * self.cell.bursts.gap_ns;
        let soonest = match start.boundary_ns {
            Some(boundary) => {
                let first = (boundary + start.phase_ns).saturating_sub(before);
                let early = first.saturating_sub(COMING_UP.as_nanos().unsigned_abs());
                early.max(UP.as_nanos())
            }
            None => self.free.as_nanos(),
        };
        Time::from_nanos(self.at_phase(soonest, start.phase_ns))
    }

    /// The first time from `soonest` on that is `phase_ns` after a multiple of the cell's period.
    fn at_phase(&self, soonest: u64, phase_ns: u64) -> u64 {
        let period = self.cell.phase_period_ns.max(1);
        soonest.saturating_sub(phase_ns).next_multiple_of(period) + phase_ns
    }

    /// The last burst is written at its phase after a multiple of the cell's period, the others before it, the first of
    /// them not before now.
    fn times(&self, now: Time, start: &Start) -> Vec<Time> {
        let bursts = &self.cell.bursts;
        let before = u64::from(bursts.count - 1) * bursts.gap_ns;
        let soonest = now.as_nanos() + before;
        let given = start.boundary_ns.map(|boundary| boundary + start.phase_ns);
        let last = given
            .filter(|last| *last >= soonest)
            .unwrap_or_else(|| self.at_phase(soonest, start.phase_ns));
        (0..u64::from(bursts.count))
            .map(|burst| Time::from_nanos(last - before + burst * bursts.gap_ns))
            .collect()
    }

    /// The subflows at the end of the last burst, the first path first.
    fn subflows(&self, world: &World<'_>, ports: &[u16]) -> Vec<SubflowSeen> {
        let micros = |span: Duration| u32::try_from(span.as_nanos() / 1000).unwrap_or(0);
        let end = world.end(SERVER);
        let first = self.cell.first_path as usize - 1;
        let rest = (0..self.cell.paths.len()).filter(|path| *path != first);
        std::iter::once(first)
            .chain(rest)
            .filter_map(|path| {
                let connection = end.connection(path)?;
                let sender = connection.sender();
                Some(SubflowSeen {
                    path: path as u32 + 1,
                    client_port: ports[path],
                    t_confirmed: end.meta().and_then(|meta| meta.confirmed(path)),
                    at_end: sender.map(|sender| SubflowState {
                        srtt_us: sender.srtt().map_or(0, micros),
                        rto_us: micros(sender.rto()),
                        cwnd: sender.cwnd(),
                    }),
                })
            })
            .collect()
    }
}

/// A path's link: what the lab's wires add besides is theirs.
fn wire(path: &rexmit_plan::Link) -> crate::link::Settings {
    link_settings(path, rexmit_plan::Place::Wire)
}

/// A connection that did not come up.
struct NotUp {
    /// When that was clear.
    at: Time,
    /// What did not come up.
    why: String,
}

/// Opens the connection on its first path and a subflow on each other when that is confirmed; `settling` more passes. When
/// that is over, or why it does not come up.
fn bring_up(
    world: &mut World<'_>,
    begin: Time,
    first: usize,
    others: &[usize],
    settling: Duration,
) -> std::result::Result<Time, NotUp> {
    let limit_s = COMING_UP.as_nanos() as u64 / 1_000_000_000;
    // When that is so, or until when it was waited for.
    let wait = |world: &mut World<'_>, up: &dyn Fn(&World<'_>) -> bool| {
        let limit = world.now() + COMING_UP;
        while !up(world) {
            if !world.step(limit) {
                return Err(limit);
            }
        }
        Ok(world.now())
    };
    let failed = |at| NotUp {
        at,
        why: format!("path {} does not come up within {limit_s} s", first + 1),
    };
    world.open(begin, first);
    let now = wait(world, &|world| world.is_open(first)).map_err(failed)?;
    world.say_hello(now);
    let now = wait(world, &|world| world.is_up(first)).map_err(failed)?;
    for path in others {
        world.open(now, *path);
    }
    let all = |world: &World<'_>| others.iter().all(|path| world.is_up(*path));
    let now = wait(world, &all).map_err(|at| {
        let mut paths = [&[first], others].concat();
        paths.sort_unstable();
        let number = |path: &usize| *path as u32 + 1;
        let up = paths.iter().filter(|path| world.is_up(**path)).map(number);
        let (up, all): (Vec<u32>, Vec<u32>) = (up.collect(), paths.iter().map(number).collect());
        NotUp {
            at,
            why: not_all_came_up(&up, &all, limit_s),
        }
    })?;
    // Now that all is up the client says so: its window is open before the first burst.
    world.say_hello(now);
    let heard = |world: &World<'_>| world.heard() == 2;
    let now = wait(world, &heard).map_err(|at| NotUp {
        at,
        why: format!("the client is not heard within {limit_s} s"),
    })?;
    let until = now + settling;
    while world.step(until) {}
    Ok(until)
}

/// Runs until the client has read everything or gives up; when that was.
fn read_all(world: &mut World<'_>) -> Time {
    loop {
        let Some(bursts) = &world.bursts else {
            return world.now();
        };
        if bursts.is_complete() {
            return world.now();
        }
        let limit = bursts.gives_up();
        if !world.step(limit) {
            if let Some(bursts) = &mut world.bursts {
                bursts.give_up();
            }
            return limit.max(world.now());
        }
    }
}

/// Runs until the server has heard of all that it sent, and what it sent spuriously has crossed the network. When that is
/// over, and whether it has heard.
fn settle(world: &mut World<'_>, end: Time, cell: &PathCell) -> Result<(Time, bool)> {
    let limit = end + LAST_WORDS;
    let waits = |world: &World<'_>| {
        (0..cell.paths.len()).any(|path| {
            let connection = world.end(SERVER).connection(path);
            connection
                .and_then(|c| c.sender())
                .is_some_and(|sender| sender.packets_out() > 0)
        })
    };
    let mut quiet = end;
    while waits(world) && world.step(limit) {
        quiet = quiet.max(world.now());
    }
    let heard = !waits(world);
    let until = quiet + Duration::from_nanos(i64::try_from(cell.settling_ns())?);
    while world.step(until) {}
    Ok((until, heard))
}
