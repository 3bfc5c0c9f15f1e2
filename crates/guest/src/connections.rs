//! Connections whose paths the rule minds: a rehearsal without loss, then the connection at each of the cell's phases.
//! What they send are bursts, or a page over Multipath TCP.

use std::time;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::bursts::Totals;
use rexmit_plan::{
    not_all_acknowledged, not_all_came, not_as_asked, BurstSeen, Bursts, Cell, CellStart, Ended,
    PageStart, Programs, Rehearsed, Run, Start, SubflowSeen, SubflowState, Told, Workload,
    REHEARSAL_NS,
};
use rexmit_time::{Duration, Time};

use crate::bench::Bench;
use crate::bursts::{self, Schedule};
use crate::cell::{self, Surroundings};
use crate::kernel::socket::Connected;
use crate::net::in_thread;
use crate::opener::Connection;
use crate::page::{Page, Shown};
use crate::rehearsal::Rehearsals;
use crate::watch::Seen;
use crate::{client, clock};

/// How long, after the last burst has come, is waited for what its sender has yet to hear of, virtual time.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How often is looked whether it has.
const LOOK: time::Duration = time::Duration::from_millis(20);

/// How often a connection is tried whose bursts do not fall to the paths as in the rehearsal.
const ROUNDS: u32 = 12;
/// Every how many repeats there is a rehearsal more.
const EACH: u32 = 3;

/// Runs `cell` and reports its rows; gives the bench back.
pub fn run(cell: &Cell, bench: Bench, around: &Surroundings<'_>) -> Result<Bench> {
    let mut ready = bench;
    // The rest happens on the client's host.
    in_thread(|| {
        ready.network.h2.namespace.enter()?;
        run_on(&mut ready, cell, around)
    })?;
    Ok(ready)
}

/// What a connection sends.
#[derive(Clone, Copy)]
enum Load<'a> {
    /// Bursts, each of so many bytes.
    Bursts(&'a Bursts, u64),
    /// A page and its response head.
    Page(Page),
}

impl Load<'_> {
    /// Bytes of each burst, or of the response.
    fn bytes(&self) -> u64 {
        match self {
            Load::Bursts(_, bytes) => *bytes,
            Load::Page(page) => page.bytes as u64 + page.head_bytes,
        }
    }
}

fn run_on(bench: &mut Bench, cell: &Cell, around: &Surroundings<'_>) -> Result<()> {
    let report = around.report;
    report.doing(
        Some(cell.id),
        format!("{}: rehearsing without loss", cell.label),
    );
    let mut warnings = bench.older.clone();
    let (load, mut rehearsals) = rehearse(bench, cell, around.programs, &mut warnings)?;
    let totals = rehearsals.likeliest();
    totals.check(&cell.pattern(totals)?)?;
    let (read_back, ignored) = &bench.settings;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: clock::now().as_nanos(),
        page: match load {
            Load::Bursts(..) => None,
            Load::Page(page) => Some(PageStart::new(page.bytes as u64, page.head_bytes)),
        },
        rehearsed: Some(Rehearsed {
            burst_bytes: load.bytes(),
            path_packets: totals.packets(),
        }),
        read_back,
        ignored,
        warnings: &warnings,
    };
    report.event("cell-start", &body);
    let mut repeated = 0;
    for (index, start) in cell.starts.iter().enumerate() {
        let (place, of) = (index + 1, cell.starts.len());
        report.doing(
            Some(cell.id),
            format!("{}: connection {place} of {of}", cell.label),
        );
        repeated += repeat(bench, cell, load, start, &mut rehearsals, around)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    let now = clock::now().as_nanos();
    let body = serde_json::json!({"cell": cell.id, "virtual_ns": now, "repeated": repeated});
    report.event("cell-end", &body);
    Ok(())
}

/// What connections send, and the packets of each burst on each path without loss.
fn rehearse<'a>(
    bench: &mut Bench,
    cell: &'a Cell,
    programs: &Programs,
    warnings: &mut Vec<String>,
) -> Result<(Load<'a>, Rehearsals)> {
    let mut undisturbed = None;
    loop {
        let as_it_is = undisturbed.as_ref().unwrap_or(cell);
        let tried = match &cell.workload {
            Workload::Burst(bursts) => rehearse_bursts(bench, as_it_is, bursts, warnings),
            Workload::Nginx(_) => rehearse_page(bench, as_it_is, warnings),
        };
        match tried {
            Err(error) if error.is::<Incomplete>() && undisturbed.is_none() => {
                // What becomes of the cell's connections is for their rows to tell.
                warnings.push(format!("{error}"));
                let calm = without_chance(cell);
                bench.network.replace_links(&calm.network, programs)?;
                undisturbed = Some(calm);
            }
            tried => {
                let (load, totals) = tried?;
                bench.forget_packets();
                if undisturbed.is_some() {
                    bench.network.replace_links(&cell.network, programs)?;
                }
                return Ok((load, Rehearsals::new(totals)));
            }
        }
    }
}

/// A connection without loss by rule that did not bring everything, and why.
#[derive(Debug)]
struct Incomplete(String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

/// A connection without loss by rule. The error is [`Incomplete`] where it shows nothing.
fn without_loss(bench: &mut Bench, cell: &Cell, load: Load<'_>) -> Result<WatchedConnection> {
    let phase = cell.starts.first().map_or(0, |start| start.phase_ns);
    let told = connect(bench, cell, load, None, phase)?;
    if !told.run.complete() {
        bail!(Incomplete(not_all_came(cell, &told.run)));
    }
    let (seen, mtu) = (told.seen.connection.sent.mss_bytes, cell.network.mtu);
    if seen > mtu {
        bail!("a segment of {seen} bytes left the server on a path of MTU {mtu}: an offload is not switched off");
    }
    Ok(told)
}

/// How much a full segment holds is taken from the wire, where a burst is given in segments.
fn rehearse_bursts<'a>(
    bench: &mut Bench,
    cell: &Cell,
    bursts: &'a Bursts,
    warnings: &mut Vec<String>,
) -> Result<(Load<'a>, Totals)> {
    let mut segment_bytes = cell.network.mtu;
    loop {
        let load = Load::Bursts(bursts, bursts.bytes_each(segment_bytes));
        let sent = without_loss(bench, cell, load)?.seen.connection.sent;
        if bursts.segments.is_none() || sent.mss_bytes == segment_bytes {
            warnings.extend(not_as_asked(cell, &sent.packets, sent.mss_bytes));
            return Ok((load, sent.packets));
        }
        segment_bytes = sent.mss_bytes;
    }
}

/// The length of the page is found as over plain TCP.
fn rehearse_page<'a>(
    bench: &mut Bench,
    cell: &Cell,
    warnings: &mut Vec<String>,
) -> Result<(Load<'a>, Totals)> {
    let mut lengths = std::mem::take(&mut bench.lengths);
    let mut totals = Totals::default();
    let fit = lengths.fit(cell, warnings, |page| {
        let told = without_loss(bench, cell, Load::Page(page))?;
        let sent = told.seen.connection.sent;
        let segments = sent.packets.packets().iter().flatten().sum();
        totals = sent.packets;
        Ok(Shown {
            mss_bytes: sent.mss_bytes,
            head_bytes: told
                .head_bytes
                .ok_or_else(|| anyhow!("a page without a response head"))?,
            segments,
        })
    });
    bench.lengths = lengths;
    Ok((Load::Page(fit?), totals))
}

/// The same cell over paths that lose nothing by chance, with a client that waits.
fn without_chance(cell: &Cell) -> Cell {
    let mut calm = cell.clone();
    for link in calm.network.links_mut() {
        link.loss = 0.0;
    }
    calm.transfer_timeout_ns = calm.transfer_timeout_ns.max(REHEARSAL_NS);
    calm
}

/// A connection that was watched.
struct WatchedConnection {
    seen: Seen,
    run: Run,
    /// When the last burst was to be written, or the page to be asked for.
    planned: Time,
    /// Bytes of the response head, where one came.
    head_bytes: Option<u64>,
}

/// Opens a connection, has everything sent and read, and closes it. Without `totals` nothing is lost by rule.
fn connect(
    bench: &mut Bench,
    cell: &Cell,
    load: Load<'_>,
    totals: Option<&Totals>,
    phase_ns: u64,
) -> Result<WatchedConnection> {
    let rule = cell.burst_rule(load.bytes(), &bench.network.clients, totals)?;
    if let Load::Page(page) = load {
        bench.web()?.server.set_page(page.bytes)?;
    }
    bench.watch.begin(Box::new(rule), bench.reading)?;
    // The connection is opened at the same phase as its bursts: what its handshakes measure is part of what it does.
    let begin = after(clock::now().as_nanos(), cell, phase_ns);
    clock::sleep_until(begin);
    match load {
        Load::Bursts(bursts, bytes) => send_bursts(bench, cell, bursts, bytes, (begin, phase_ns)),
        Load::Page(page) => fetch_page(bench, cell, page, begin),
    }
}

fn send_bursts(
    bench: &mut Bench,
    cell: &Cell,
    load: &Bursts,
    bytes: u64,
    (begin, phase_ns): (Time, u64),
) -> Result<WatchedConnection> {
    let settling = settling(cell);
    let (opener, network) = bench.opener()?;
    let mut connection = match opener.connect(network, settling)? {
        Ok(connection) => connection,
        Err(why) => return not_connected(bench, begin, settling, why),
    };
    let schedule = schedule(cell, load, bytes, phase_ns)?;
    let (bursts, ended) = bursts::run(&mut connection, &schedule)?;
    let end = clock::now();
    let state = bench.opener()?.0.state(&connection)?;
    let heard = settle(bench, cell, &connection)?;
    let seen = bench.watch.finish()?;
    let subflows = connection.subflows.iter().zip(&state);
    let mut subflows: Vec<SubflowSeen> = subflows
        .map(|(subflow, socket)| SubflowSeen {
            path: subflow.path,
            client_port: subflow.client.port(),
            t_confirmed: seen.confirmed.at(subflow.client),
            at_end: socket.map(|socket| SubflowState {
                srtt_us: socket.info.srtt_us,
                rto_us: socket.info.rto_us,
                cwnd: socket.cwnd,
            }),
        })
        .collect();
    subflows.sort_by_key(|subflow| (subflow.path != cell.first_path, subflow.path));
    let (opener, network) = bench.opener()?;
    opener.close(connection, network, settling)?;
    let mut notes = notes(&bursts, &schedule, seen.unmapped);
    if !heard {
        notes.push(not_all_acknowledged(
            LAST_WORDS.as_nanos() as u64 / 1_000_000_000,
        ));
    }
    let run = Run {
        ended,
        notes,
        bursts,
        subflows,
        client_ns: end.as_nanos() - begin.as_nanos(),
        ..counted(bench, &seen)
    };
    Ok(WatchedConnection {
        seen,
        run,
        planned: schedule.times.last().copied().unwrap_or(begin),
        head_bytes: None,
    })
}

/// The page, by this program's own client. Its sockets are gone when all of the transfer is over, and with them what they
/// would say of their state.
fn fetch_page(
    bench: &mut Bench,
    cell: &Cell,
    page: Page,
    begin: Time,
) -> Result<WatchedConnection> {
    let limit = time::Duration::from_nanos(cell.transfer_timeout_ns);
    let settling = settling(cell);
    let (opener, network) = bench.opener()?;
    let mut failed = None;
    let dial = || {
        opener.dial(network, limit).unwrap_or_else(|error| {
            failed = Some(error);
            Err(std::io::ErrorKind::Other.into())
        })
    };
    let host = network.h1.address;
    let fetched = client::builtin(dial, host, page.bytes, limit);
    if let Some(error) = failed {
        return Err(error);
    }
    let said = bench.web()?.server.said();
    let (fetched, head_bytes) = fetched.with_context(|| format!("nginx said: {said:?}"))?;
    let end = begin + Duration::from_nanos(i64::try_from(fetched.duration_ns)?);
    let (opener, network) = bench.opener()?;
    opener.wait_until_gone(network, settling)?;
    let seen = bench.watch.finish()?;
    let clients = &bench.network.clients;
    let complete = fetched.complete();
    let mut subflows: Vec<SubflowSeen> = seen
        .confirmed
        .all()
        .filter_map(|(client, time)| {
            let place = clients.iter().position(|own| *own == client.ip())?;
            Some(SubflowSeen {
                path: place as u32 + 1,
                client_port: client.port(),
                t_confirmed: Some(time),
                at_end: None,
            })
        })
        .collect();
    subflows.sort_by_key(|subflow| (subflow.path != cell.first_path, subflow.path));
    let mut run = Run {
        subflows,
        bursts: vec![BurstSeen {
            t_start: seen.connection.sent.t_first.unwrap_or(begin),
            t_end: complete.then_some(end),
            bytes: page.bytes as u64 + page.head_bytes,
        }],
        client_ns: fetched.duration_ns,
        ended: fetched.ended,
        ..counted(bench, &seen)
    };
    run.notes.extend(fetched.said);
    run.notes.extend(unmapped(seen.unmapped));
    Ok(WatchedConnection {
        seen,
        run,
        planned: begin,
        head_bytes,
    })
}

/// What the server's host counted.
fn counted(bench: &Bench, seen: &Seen) -> Run {
    let multipath = bench.scheduler.is_some();
    Run {
        counts: seen.counts,
        scheduler: bench.scheduler.clone(),
        mptcp_retransmissions: multipath.then_some(seen.mptcp_retransmissions),
        probe_reinjections: seen.probe_reinjections.filter(|_| multipath),
        ..Run::default()
    }
}

fn settling(cell: &Cell) -> time::Duration {
    time::Duration::from_nanos(cell.settling_ns())
}

/// What is told of a connection that did not come up, and `why`.
fn not_connected(
    bench: &mut Bench,
    begin: Time,
    settling: time::Duration,
    why: String,
) -> Result<WatchedConnection> {
    let planned = clock::now();
    let (opener, network) = bench.opener()?;
    opener.wait_until_gone(network, settling)?;
    let seen = bench.watch.finish()?;
    let run = Run {
        ended: Ended::NotConnected,
        notes: vec![why],
        client_ns: planned.as_nanos() - begin.as_nanos(),
        mptcp_retransmissions: None,
        probe_reinjections: None,
        ..counted(bench, &seen)
    };
    Ok(WatchedConnection {
        seen,
        run,
        planned,
        head_bytes: None,
    })
}

/// The last burst is written `phase_ns` after a multiple of the cell's period, the others before it, the first of them
/// not before now.
fn schedule(cell: &Cell, bursts: &Bursts, bytes: u64, phase_ns: u64) -> Result<Schedule> {
    let before = bursts.span_ns();
    let last = after(clock::now().as_nanos() + before, cell, phase_ns).as_nanos();
    let times = (0..u64::from(bursts.count))
        .map(|burst| Time::from_nanos(last - before + burst * bursts.gap_ns))
        .collect();
    Ok(Schedule {
        times,
        bytes: usize::try_from(bytes)?,
        patience: time::Duration::from_nanos(cell.patience_ns()),
    })
}

/// The first time, `soonest` or later, that lies `phase_ns` after a multiple of the cell's period.
fn after(soonest: u64, cell: &Cell, phase_ns: u64) -> Time {
    let boundary = clock::boundary(soonest.saturating_sub(phase_ns), cell.phase_period_ns);
    Time::from_nanos(boundary + phase_ns)
}

/// What a reader of the rows should know besides.
fn notes(bursts: &[BurstSeen], schedule: &Schedule, unmapped: u64) -> Vec<String> {
    let late = Duration::from_millis(1);
    let times = bursts.iter().zip(&schedule.times);
    let mut notes: Vec<String> = (1..)
        .zip(times)
        .filter(|(_, (burst, time))| burst.t_start.since(**time) > late)
        .map(|(number, _)| {
            format!("burst {number} was written late: the one before it filled the server's buffer")
        })
        .collect();
    notes.extend(self::unmapped(unmapped));
    notes
}

fn unmapped(packets: u64) -> Option<String> {
    (packets > 0).then(|| format!("{packets} packets without a mapping count nowhere"))
}

/// Waits until the server has heard of all that it sent, and what it sent spuriously has crossed the network. Whether it
/// has heard, in the end.
fn settle(bench: &mut Bench, cell: &Cell, connection: &Connection) -> Result<bool> {
    let begin = clock::now();
    let waiting = |socket: &Option<Connected>| socket.is_some_and(|one| one.outstanding > 0);
    let mut heard = true;
    let opener = bench.opener()?.0;
    while opener.state(connection)?.iter().any(waiting) {
        if clock::now().since(begin) > LAST_WORDS {
            heard = false;
            break;
        }
        std::thread::sleep(LOOK);
    }
    std::thread::sleep(settling(cell));
    Ok(heard)
}

/// A connection that shares its bursts out among the paths as a rehearsal did, so that positions from behind are what they
/// are meant to be; that rehearsal; and how many connections before it did not.
///
/// A scheduler that compares what it has measured of the paths may decide otherwise at another phase, or where something
/// is random from one connection to the next. Where it did, the connection is rehearsed at its own phase and repeated,
/// then repeated by what the most rehearsals have shown, and so on, some times at most.
fn as_rehearsed(
    bench: &mut Bench,
    cell: &Cell,
    load: Load<'_>,
    rehearsals: &mut Rehearsals,
    phase_ns: u64,
) -> Result<(WatchedConnection, Totals, u32)> {
    let mut rehearsal = rehearsals.likeliest().clone();
    let mut told = connect(bench, cell, load, Some(&rehearsal), phase_ns)?;
    let mut repeated = 0;
    while repeated + 1 < ROUNDS {
        let sent = &told.seen.connection.sent.packets;
        let pattern = cell.pattern(&rehearsal)?;
        if !told.run.complete() || sent.differences(&pattern, &rehearsal).is_empty() {
            break;
        }
        rehearsal = rehearsals.likeliest().clone();
        if repeated % EACH == 0 {
            let again = connect(bench, cell, load, None, phase_ns)?;
            let again = again.seen.connection.sent.packets;
            if again.check(&cell.pattern(&again)?).is_ok() {
                rehearsals.add(&again);
                rehearsal = again;
            }
        }
        bench.forget_packets();
        told = connect(bench, cell, load, Some(&rehearsal), phase_ns)?;
        repeated += 1;
    }
    Ok((told, rehearsal, repeated))
}

/// Runs one repetition and reports its rows; how many connections it was repeated.
fn repeat(
    bench: &mut Bench,
    cell: &Cell,
    load: Load<'_>,
    start: &Start,
    rehearsals: &mut Rehearsals,
    around: &Surroundings<'_>,
) -> Result<u32> {
    let (told, rehearsal, repeated) = as_rehearsed(bench, cell, load, rehearsals, start.phase_ns)?;
    let WatchedConnection {
        mut seen,
        run,
        planned,
        ..
    } = told;
    let watched = std::mem::take(&mut seen.connection);
    let rows = (Told::Connection(Box::new(watched), rehearsal), &run);
    cell::report(cell, start, rows, &mut seen, planned, bench, around)?;
    Ok(repeated)
}
