//! Runs one cell: gets a bench ready, rehearses without loss, and repeats the connection at each of the cell's phases.

use std::fs;
use std::time;

use anyhow::{bail, Context, Result};
use rexmit_loss::paths::Totals;
use rexmit_loss::pattern::Pattern;
use rexmit_plan::{
    not_all_acknowledged, not_all_came, BurstSeen, Ended, PathCell, PathCellStart, PathPackets,
    PathRows, PathRun, Programs, Start, SubflowSeen, SubflowState, REHEARSAL_NS,
};
use rexmit_time::{Duration, Time};

use super::bench::PathBench;
use super::bursts::{self, Schedule};
use super::rehearsal::Rehearsals;
use super::witness::Seen;
use crate::cell::Surroundings;
use crate::clock;
use crate::kernel::socket::Connected;
use crate::net::{client_device, in_thread};

/// How long, after the last burst has come, is waited for what its sender has yet to hear of, virtual time.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How often is looked whether it has.
const LOOK: time::Duration = time::Duration::from_millis(20);

/// How often a connection is tried whose bursts do not fall to the paths as in the rehearsal.
const ROUNDS: u32 = 12;
/// Every how many repeats there is a rehearsal more.
const EACH: u32 = 3;

/// Runs `cell` and reports its rows, on the bench that the last cell left where it suits, and leaves one for the next
/// where everything ended well.
pub fn run(
    cell: &PathCell,
    bench: &mut Option<PathBench>,
    around: &Surroundings<'_>,
) -> Result<()> {
    around
        .report
        .doing(Some(cell.id), format!("{}: setting up", cell.label));
    let last = bench.take().filter(|bench| bench.suits(cell));
    let mut ready = match last {
        Some(bench) => bench.made_ready(cell, around.programs, around.series)?,
        None => PathBench::set_up(cell, around.programs, around.series)?,
    };
    // The rest happens on the client's host.
    in_thread(|| {
        ready.network.h2.enter()?;
        run_on(&mut ready, cell, around)
    })?;
    *bench = Some(ready);
    Ok(())
}

fn run_on(bench: &mut PathBench, cell: &PathCell, around: &Surroundings<'_>) -> Result<()> {
    let report = around.report;
    report.doing(
        Some(cell.id),
        format!("{}: rehearsing without loss", cell.label),
    );
    let mut warnings = Vec::new();
    let mut rehearsals = rehearse(bench, cell, around.programs, &mut warnings)?;
    let totals = rehearsals.likeliest();
    totals.check(&cell.loss.pattern.parse()?)?;
    let (read_back, ignored) = &bench.settings;
    let body = PathCellStart {
        cell: cell.id,
        virtual_ns: clock::now().as_nanos(),
        burst_bytes: rehearsals.burst_bytes,
        path_packets: totals.packets(),
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
        repeated += repeat(bench, cell, start, &mut rehearsals, around)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    let now = clock::now().as_nanos();
    let body = serde_json::json!({"cell": cell.id, "virtual_ns": now, "repeated": repeated});
    report.event("cell-end", &body);
    Ok(())
}

/// The bytes of a burst, and the packets of each on each path without loss.
///
/// How much a full segment holds is taken from the wire, where a burst is given in segments.
fn rehearse(
    bench: &mut PathBench,
    cell: &PathCell,
    programs: &Programs,
    warnings: &mut Vec<String>,
) -> Result<Rehearsals> {
    let mut segment_bytes = cell.mtu;
    let (mut undisturbed, paths) = (None, &cell.paths);
    loop {
        let cell = undisturbed.as_ref().unwrap_or(cell);
        let bytes = cell.bursts.bytes_each(segment_bytes);
        let phase = cell.starts.first().map_or(0, |start| start.phase_ns);
        let told = connect(bench, cell, bytes, None, phase)?;
        if !told.run.complete() {
            let why = not_all_came(cell, &told.run);
            if undisturbed.is_some() {
                bail!("{why}");
            }
            // What becomes of the cell's connections is for their rows to tell.
            warnings.push(why);
            let calm = without_chance(cell);
            bench.network.replace_wires(&calm.paths, programs)?;
            undisturbed = Some(calm);
            continue;
        }
        let seen = told.seen.watched.mss_bytes;
        if seen > cell.mtu {
            bail!("a segment of {seen} bytes left the server on a path of MTU {}: an offload is not switched off", cell.mtu);
        }
        if cell.bursts.segments.is_none() || seen == segment_bytes {
            let asked = cell.bursts.segments.map(u64::from);
            for (burst, packets) in (1..).zip(told.seen.totals.packets()) {
                let sent: u64 = packets.iter().sum();
                if asked.is_some_and(|asked| asked != sent) {
                    let asked = asked.unwrap_or(0);
                    warnings.push(format!(
                        "burst {burst} leaves in {sent} packets of at most {seen} bytes, {asked} were asked for"
                    ));
                }
            }
            forget_packets(bench);
            if undisturbed.is_some() {
                bench.network.replace_wires(paths, programs)?;
            }
            return Ok(Rehearsals::new(bytes, told.seen.totals));
        }
        segment_bytes = seen;
    }
}

/// The same cell over paths that lose nothing by chance, with a client that waits.
fn without_chance(cell: &PathCell) -> PathCell {
    let mut calm = cell.clone();
    for path in &mut calm.paths {
        path.loss = 0.0;
    }
    calm.transfer_timeout_ns = calm.transfer_timeout_ns.max(REHEARSAL_NS);
    calm
}

/// A connection that was watched.
struct WatchedConnection {
    seen: Seen,
    run: PathRun,
    /// When the last burst was to be written.
    planned: Time,
}

/// Opens a connection, has its bursts written and read, and closes it. Without `totals` nothing is lost by rule.
fn connect(
    bench: &mut PathBench,
    cell: &PathCell,
    bytes: u64,
    totals: Option<&Totals>,
    phase_ns: u64,
) -> Result<WatchedConnection> {
    let rule = cell.rule(bytes, &bench.network.clients, totals)?;
    let reading = bench.reading(cell);
    bench.watch.begin(rule, reading)?;
    // The connection is opened at the same phase as its bursts: what its handshakes measure is part of what it does.
    let begin = after(clock::now().as_nanos(), cell, phase_ns);
    clock::sleep_until(begin);
    let settling = time::Duration::from_nanos(cell.settling_ns());
    let mut connection = match bench.opener.connect(&bench.network, settling)? {
        Ok(connection) => connection,
        Err(why) => return not_connected(bench, begin, settling, why),
    };
    let schedule = schedule(cell, bytes, phase_ns)?;
    let (bursts, ended) = bursts::run(&mut connection, &schedule)?;
    let end = clock::now();
    let state = bench.opener.state(&connection)?;
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
    bench.opener.close(connection, &bench.network, settling)?;
    let multipath = bench.scheduler.is_some();
    let mut notes = notes(&bursts, &schedule, seen.unmapped);
    if !heard {
        notes.push(not_all_acknowledged(
            LAST_WORDS.as_nanos() as u64 / 1_000_000_000,
        ));
    }
    let run = PathRun {
        ended,
        notes,
        bursts,
        subflows,
        counts: seen.counts,
        client_ns: end.as_nanos() - begin.as_nanos(),
        scheduler: bench.scheduler.clone(),
        mptcp_retransmissions: multipath.then_some(seen.mptcp_retransmissions),
        probe_reinjections: seen.probe_reinjections.filter(|_| multipath),
    };
    let planned = schedule.times.last().copied().unwrap_or(begin);
    Ok(WatchedConnection { seen, run, planned })
}

/// What is told of a connection that did not come up, and `why`.
fn not_connected(
    bench: &mut PathBench,
    begin: Time,
    settling: time::Duration,
    why: String,
) -> Result<WatchedConnection> {
    let planned = clock::now();
    bench.opener.wait_until_gone(&bench.network, settling)?;
    let seen = bench.watch.finish()?;
    let run = PathRun {
        ended: Ended::NotConnected,
        notes: vec![why],
        counts: seen.counts,
        client_ns: planned.as_nanos() - begin.as_nanos(),
        scheduler: bench.scheduler.clone(),
        ..PathRun::default()
    };
    Ok(WatchedConnection { seen, run, planned })
}

/// The last burst is written `phase_ns` after a multiple of the cell's period, the others before it, the first of them
/// not before now.
fn schedule(cell: &PathCell, bytes: u64, phase_ns: u64) -> Result<Schedule> {
    let bursts = &cell.bursts;
    let before = u64::from(bursts.count - 1) * bursts.gap_ns;
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
fn after(soonest: u64, cell: &PathCell, phase_ns: u64) -> Time {
    let boundary = soonest.saturating_sub(phase_ns);
    Time::from_nanos(boundary.next_multiple_of(cell.phase_period_ns.max(1)) + phase_ns)
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
    if unmapped > 0 {
        notes.push(format!(
            "{unmapped} packets without a mapping count nowhere"
        ));
    }
    notes
}

/// Waits until the server has heard of all that it sent, and what it sent spuriously has crossed the network. Whether it
/// has heard, in the end.
fn settle(
    bench: &mut PathBench,
    cell: &PathCell,
    connection: &super::connection::Connection,
) -> Result<bool> {
    let begin = clock::now();
    let waiting = |socket: &Option<Connected>| socket.is_some_and(|one| one.outstanding > 0);
    let mut heard = true;
    while bench.opener.state(connection)?.iter().any(waiting) {
        if clock::now().since(begin) > LAST_WORDS {
            heard = false;
            break;
        }
        std::thread::sleep(LOOK);
    }
    std::thread::sleep(time::Duration::from_nanos(cell.settling_ns()));
    Ok(heard)
}

/// A connection that shares its bursts out among the paths as a rehearsal did, so that positions from behind are what they
/// are meant to be; that rehearsal; and how many connections before it did not.
///
/// A scheduler that compares what it has measured of the paths may decide otherwise at another phase, or where something
/// is random from one connection to the next. Where it did, the connection is rehearsed at its own phase and repeated,
/// then repeated by what the most rehearsals have shown, and so on, some times at most.
fn as_rehearsed(
    bench: &mut PathBench,
    cell: &PathCell,
    rehearsals: &mut Rehearsals,
    phase_ns: u64,
) -> Result<(WatchedConnection, Totals, u32)> {
    let pattern: Pattern = cell.loss.pattern.parse()?;
    let bytes = rehearsals.burst_bytes;
    let mut rehearsal = rehearsals.likeliest().clone();
    let mut told = connect(bench, cell, bytes, Some(&rehearsal), phase_ns)?;
    let mut repeated = 0;
    while repeated + 1 < ROUNDS {
        let sent = &told.seen.totals;
        if !told.run.complete() || sent.differences(&pattern, &rehearsal).is_empty() {
            break;
        }
        rehearsal = rehearsals.likeliest().clone();
        if repeated % EACH == 0 {
            let again = connect(bench, cell, bytes, None, phase_ns)?.seen.totals;
            if again.check(&pattern).is_ok() {
                rehearsals.add(&again);
                rehearsal = again;
            }
        }
        forget_packets(bench);
        told = connect(bench, cell, bytes, Some(&rehearsal), phase_ns)?;
        repeated += 1;
    }
    Ok((told, rehearsal, repeated))
}

/// Forgets what was captured.
fn forget_packets(bench: &PathBench) {
    bench.captures.iter().for_each(|(h1, h2)| {
        h1.clear();
        h2.clear();
    });
}

/// Runs one repetition and reports its rows; how many connections it was repeated.
fn repeat(
    bench: &mut PathBench,
    cell: &PathCell,
    start: &Start,
    rehearsals: &mut Rehearsals,
    around: &Surroundings<'_>,
) -> Result<u32> {
    let report = around.report;
    let (told, rehearsal, repeated) = as_rehearsed(bench, cell, rehearsals, start.phase_ns)?;
    let WatchedConnection {
        mut seen,
        run,
        planned,
    } = told;
    let rows = PathRows::new(cell, start, seen.watched, &run, &rehearsal);
    if let Some((h1, h2)) = &bench.captures {
        let folder = around.share.join("captures");
        fs::create_dir_all(&folder)?;
        let path =
            |host: &str| folder.join(format!("{}-{}.{host}.pcapng", cell.id, start.repetition));
        h1.write(&path("h1"), &[bench.network.h1.device])?;
        let devices: Vec<String> = (1..=cell.paths.len()).map(client_device).collect();
        h2.write(&path("h2"), &devices)?;
    }
    report.event("transfer", &rows.transfer);
    for row in &rows.retransmissions {
        report.event("retransmission", row);
    }
    for row in &rows.bursts {
        report.event("burst", row);
    }
    for row in &rows.subflows {
        report.event("subflow", row);
    }
    if cell.packets {
        for logged in &mut seen.packets {
            logged.packet.at_ns -= planned.as_nanos() as i64;
        }
        let body = PathPackets {
            cell: cell.id,
            repetition: start.repetition,
            packets: &seen.packets,
        };
        report.event("packets", &body);
    }
    Ok(repeated)
}
