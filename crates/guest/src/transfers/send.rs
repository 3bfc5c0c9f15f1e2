//! One transfer: opened, sent, read, watched to its end.

use std::time;

use anyhow::{bail, Context, Result};
use rexmit_loss::{Totals, Transfer};
use rexmit_plan::{
    not_all_acknowledged, BurstSeen, Bursts, Cell, Ended, Run, Story, SubflowSeen, SubflowState,
};
use rexmit_time::{Duration, Time};

use super::bursts::{self, Schedule};
use crate::bench::Bench;
use crate::kernel::socket::Connected;
use crate::net::Outages;
use crate::opener::Connection;
use crate::page::Page;
use crate::watch::Seen;
use crate::{client, clock};

/// How long, after the last burst has come, is waited for what its sender has yet to hear of, virtual time.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How often is looked whether it has.
const LOOK: time::Duration = time::Duration::from_millis(20);

/// What a connection sends.
#[derive(Clone, Copy)]
pub enum Load {
    /// Bursts, each of so many bytes.
    Bursts(u64),
    /// A page and its response head.
    Page(Page),
}

impl Load {
    /// Bytes of each burst, or of the response.
    pub fn bytes(&self) -> u64 {
        match self {
            Load::Bursts(bytes) => *bytes,
            Load::Page(page) => page.bytes as u64 + page.head_bytes,
        }
    }

    /// Has the web server serve it, if it is a page.
    pub fn serve(&self, bench: &Bench) -> Result<()> {
        match self {
            Load::Bursts(_) => Ok(()),
            Load::Page(page) => bench.web()?.server.set_page(page.bytes),
        }
    }
}

/// When a transfer begins.
#[derive(Clone, Copy)]
pub enum When {
    AtOnce,
    /// So many nanoseconds after a multiple of the cell's period.
    AtPhase(u64),
}

/// A transfer that was watched.
pub struct Sent {
    pub seen: Seen,
    pub run: Run,
    /// When the last burst was to be written, or the page to be asked for.
    pub planned: Time,
    /// Bytes of the response head, where one came.
    pub head_bytes: Option<u64>,
}

/// Opens a connection, has everything sent and read, and closes it. Without `lossless`, what was sent without loss, nothing
/// is lost by rule.
pub fn send(
    bench: &mut Bench,
    cell: &Cell,
    load: Load,
    lossless: Option<&Totals>,
    when: When,
) -> Result<Sent> {
    let rule = cell.rule(load.bytes(), &bench.network.clients, lossless)?;
    // Of pages over TCP the rehearsals have left it there. A file that is written changes what the kernel draws next.
    if lossless.is_none() || !cell.by_response() {
        load.serve(bench)?;
    }
    bench.watch.begin(rule, Story::of(cell), bench.rack)?;
    let begin = match when {
        // It is not asked when that was: a look at the clock takes time.
        When::AtOnce => Time::from_nanos(0),
        When::AtPhase(phase_ns) => {
            let now = clock::now().as_nanos();
            if cell.by_response() {
                Time::from_nanos(clock::boundary(now, cell.phase_period_ns) + phase_ns)
            } else {
                // The connection is opened at the same phase as its bursts: what its handshakes measure is part of what it
                // does.
                after(now, cell, phase_ns)
            }
        }
    };
    let phase_ns = match when {
        When::AtOnce => 0,
        When::AtPhase(phase_ns) => phase_ns,
    };
    bench.begin_line(&cell.network, begin, phase_ns, lossless.is_some())?;
    let outages = match lossless {
        Some(_) => Outages::start(&bench.network, &cell.network, begin)?,
        None => None,
    };
    if let When::AtPhase(_) = when {
        clock::sleep_until(begin);
    }
    let sent = match (load, cell.workload.bursts(), when) {
        (Load::Page(page), ..) => fetch_page(bench, cell, page, begin),
        (Load::Bursts(bytes), Some(bursts), When::AtPhase(phase_ns)) => {
            send_bursts(bench, cell, bursts, bytes, (begin, phase_ns))
        }
        _ => bail!("bursts without a plan"),
    }?;
    outages.map_or(Ok(()), Outages::end)?;
    if let Some(line) = &bench.network.line {
        line.settle();
    }
    // A server that was killed leaves a transfer that looks like one which TCP could not finish.
    if sent.run.bursts.iter().any(|burst| burst.t_end.is_none()) {
        bench.web_must_serve()?;
    }
    if sent.seen.unfollowed > 0 {
        // Something went again that had passed unseen.
        bench.watch.follow_all()?;
        return send(bench, cell, load, lossless, when);
    }
    Ok(sent)
}

fn send_bursts(
    bench: &mut Bench,
    cell: &Cell,
    load: &Bursts,
    bytes: u64,
    (begin, phase_ns): (Time, u64),
) -> Result<Sent> {
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
    let subflows = subflows.map(|(subflow, socket)| SubflowSeen {
        path: subflow.path,
        client_port: subflow.client.port(),
        t_confirmed: seen.confirmed.at(subflow.client),
        at_end: socket.map(|socket| SubflowState {
            srtt_us: socket.info.srtt_us,
            rto_us: socket.info.rto_us,
            cwnd: socket.cwnd,
        }),
    });
    let subflows = first_first(cell, subflows.collect());
    let (opener, network) = bench.opener()?;
    opener.close(connection, network, settling)?;
    let mut notes = late(&bursts, &schedule);
    notes.extend(unmapped(&seen));
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
    Ok(Sent {
        seen,
        run,
        planned: schedule.last(),
        head_bytes: None,
    })
}

/// The page, by this program's own client or another. Over paths its sockets are gone when all of the transfer is over, and
/// with them what they would say of their state.
fn fetch_page(bench: &mut Bench, cell: &Cell, page: Page, begin: Time) -> Result<Sent> {
    let limit = time::Duration::from_nanos(cell.transfer_timeout_ns);
    let settling = settling(cell);
    let (fetched, head_bytes) = if cell.by_response() {
        let web = bench.web()?;
        let fetched = web.client.fetch(&web.server, page.bytes, limit);
        let fetched = fetched.with_context(|| format!("nginx said: {:?}", web.server.said()))?;
        std::thread::sleep(settling);
        (fetched, None)
    } else {
        let fetched = fetch_over_paths(bench, cell, page, limit)?;
        let (opener, network) = bench.opener()?;
        opener.wait_until_gone(network, settling)?;
        fetched
    };
    let end = begin + Duration::from_nanos(i64::try_from(fetched.duration_ns)?);
    let seen = bench.watch.finish()?;
    let clients = &bench.network.clients;
    let of_path = |(client, time): (std::net::SocketAddr, Time)| {
        let place = clients.iter().position(|own| *own == client.ip())?;
        Some(SubflowSeen {
            path: place as u32 + 1,
            client_port: client.port(),
            t_confirmed: Some(time),
            at_end: None,
        })
    };
    let over_paths = (!cell.by_response()).then(|| seen.confirmed.all());
    let subflows = over_paths.into_iter().flatten().filter_map(of_path);
    let found = seen.watched.transfer.as_ref();
    let run = Run {
        subflows: first_first(cell, subflows.collect()),
        bursts: vec![BurstSeen {
            t_start: seen.watched.sent.t_first.unwrap_or(begin),
            t_end: fetched.complete().then_some(end),
            bytes: page.bytes as u64 + page.head_bytes,
        }],
        client_ns: fetched.duration_ns,
        ended: fetched.ended,
        notes: fetched.said.into_iter().chain(unmapped(&seen)).collect(),
        ..counted(bench, &seen)
    };
    let besides = |transfer: &Transfer| match cell.workload.is_encrypted() {
        // Its FIN says how much was written.
        true => transfer.size_bytes().checked_sub(page.bytes as u64),
        false => Some(transfer.head_bytes),
    };
    Ok(Sent {
        head_bytes: found.map_or(head_bytes, besides),
        seen,
        run,
        planned: begin,
    })
}

/// What this program's own client saw of a page, and the bytes of the response head.
fn fetch_over_paths(
    bench: &mut Bench,
    cell: &Cell,
    page: Page,
    limit: time::Duration,
) -> Result<(rexmit_plan::Fetched, Option<u64>)> {
    let (opener, network) = bench.opener()?;
    let pace = cell.workload.page().and_then(rexmit_plan::Page::pace);
    let mut failed = None;
    let dial = || {
        opener.dial(network, limit).unwrap_or_else(|error| {
            failed = Some(error);
            Err(std::io::ErrorKind::Other.into())
        })
    };
    let fetched = client::builtin(dial, network.h1.address, page.bytes, pace, limit);
    if let Some(error) = failed {
        return Err(error);
    }
    let said = bench.web()?.server.said();
    fetched.with_context(|| format!("nginx said: {said:?}"))
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

/// The subflows by path, the first path first.
fn first_first(cell: &Cell, mut subflows: Vec<SubflowSeen>) -> Vec<SubflowSeen> {
    subflows.sort_by_key(|subflow| (subflow.path != cell.first_path, subflow.path));
    subflows
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
) -> Result<Sent> {
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
    Ok(Sent {
        seen,
        run,
        planned,
        head_bytes: None,
    })
}

/// The last burst is written `phase_ns` after a multiple of the cell's period, the others before it, the first of them
/// not before now. Of bursts that are asked for the first is asked for at that phase.
fn schedule(cell: &Cell, bursts: &Bursts, bytes: u64, phase_ns: u64) -> Result<Schedule> {
    let before = bursts.span_ns();
    let last = after(clock::now().as_nanos() + before, cell, phase_ns).as_nanos();
    Ok(Schedule {
        bursts: *bursts,
        first: Time::from_nanos(last - before),
        bytes: usize::try_from(bytes)?,
        patience: time::Duration::from_nanos(cell.patience_ns()),
    })
}

/// The first time, `soonest` or later, that lies `phase_ns` after a multiple of the cell's period.
fn after(soonest: u64, cell: &Cell, phase_ns: u64) -> Time {
    let boundary = clock::boundary(soonest.saturating_sub(phase_ns), cell.phase_period_ns);
    Time::from_nanos(boundary + phase_ns)
}

/// Notes on bursts that were not written at their times.
fn late(bursts: &[BurstSeen], schedule: &Schedule) -> Vec<String> {
    let late = Duration::from_millis(1);
    (0..)
        .zip(bursts)
        .filter(|_| schedule.bursts.request.is_none())
        .filter(|(index, burst)| burst.t_start.since(schedule.time(*index)) > late)
        .map(|(index, _)| {
            let number = index + 1;
            format!("burst {number} was written late: the one before it filled the server's buffer")
        })
        .collect()
}

/// A note on packets of which the rule cannot tell where they belong.
fn unmapped(seen: &Seen) -> Option<String> {
    let packets = seen.unmapped;
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
