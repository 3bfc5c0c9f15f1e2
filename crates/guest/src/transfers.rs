//! Runs a cell: what its connections send is made to fit and tried without loss, then there is a transfer at each of the
//! cell's phases. It is a page, or bursts, over one path or several.

mod bursts;
mod fit;
mod rehearsals;
mod send;

use anyhow::{bail, Context, Result};
use rexmit_loss::Totals;
use rexmit_plan::{Cell, Packets, Rows, Start};
use serde_json::json;

use crate::bench::Bench;
use crate::net::in_thread;
use crate::net::line::{Lateness, Line};
use crate::surroundings::Surroundings;
use crate::{clock, priority, real_time};
use fit::Fit;
use send::{send, Load, Sent, When};

/// How often a transfer is tried whose bursts do not fall to the paths as in the rehearsal.
const ROUNDS: u32 = 12;
/// Every how many repeats there is a rehearsal more.
const EACH: u32 = 3;

/// Runs `cell` and reports its rows, on the bench that the last cell left where it suits, and leaves one for the next
/// where everything ended well.
pub fn run(cell: &Cell, bench: &mut Option<Bench>, around: &Surroundings<'_>) -> Result<()> {
    around.doing(cell, "setting up")?;
    around.kernel.require(cell)?;
    let last = bench.take().filter(|bench| bench.suits(cell));
    let mut ready = match last {
        Some(bench) => bench.made_ready(cell, around)?,
        None => Bench::set_up(cell, around)?,
    };
    let mut progress = Progress::default();
    loop {
        // The rest happens on the client's host.
        let done = in_thread(|| {
            ready.network.h2.namespace.enter()?;
            if real_time::here() {
                // A client that waits for others delays acknowledgements (`__tcp_ack_snd_check`); it may not have the right.
                let _ = priority::CLIENT.take();
            }
            progress.go_on(&mut ready, cell, around)
        })?;
        if done {
            *bench = (!progress.cut).then_some(ready);
            return Ok(());
        }
        progress.late.extend(late(&ready)?);
        // What did not end may go on, and send in the time of the next transfer.
        let lengths = std::mem::take(&mut ready.lengths);
        drop(ready);
        ready = Bench::set_up(cell, around)?;
        ready.lengths = lengths;
        progress.cut = false;
    }
}

/// How late a program that is the links handed packets over.
fn late(bench: &Bench) -> Result<Vec<u64>> {
    let line = bench.network.line.as_ref();
    line.map_or_else(|| Ok(Vec::new()), Line::late)
}

/// How far a cell is.
#[derive(Default)]
struct Progress {
    /// Why a rehearsal did not complete, if one did not.
    incomplete: Option<String>,
    /// What is sent, once it is fitted and told of.
    fit: Option<Fit>,
    /// Transfers that were made.
    made: usize,
    /// How often one was repeated.
    repeated: u32,
    /// The last transfer on this bench did not complete, and may go on.
    cut: bool,
    /// How late packets were handed over on earlier benches, nanoseconds.
    late: Vec<u64>,
}

impl Progress {
    /// Whether the cell has all of its rows. If not, it goes on with another bench.
    fn go_on(&mut self, bench: &mut Bench, cell: &Cell, around: &Surroundings<'_>) -> Result<bool> {
        match &self.fit {
            None => self.fit = fit::fit(bench, cell, around, &mut self.incomplete)?,
            Some(fit) => fit.load.serve(bench)?,
        }
        let Some(fit) = &mut self.fit else {
            return Ok(false);
        };
        let of = cell.starts.len();
        while let Some(start) = cell.starts.get(self.made) {
            self.made += 1;
            around.doing(cell, &format!("transfer {} of {of}", self.made))?;
            let (complete, repeated) = repeat(bench, cell, start, fit, around)
                .with_context(|| format!("repetition {}", start.repetition))?;
            self.repeated += repeated;
            // Of other connections nothing is left in any case.
            self.cut = cell.by_response() && !complete;
            if self.cut && self.made < of {
                return Ok(false);
            }
        }
        self.late.extend(late(bench)?);
        let late = Lateness::new(std::mem::take(&mut self.late));
        let now = clock::now().as_nanos();
        let mut body = json!({"cell": cell.id, "virtual_ns": now, "repeated": self.repeated});
        // Where running costs no time, what is late is how its programs read the clock.
        if let Some(late) = late.filter(|_| real_time::here()) {
            body["late"] = json!(late);
        }
        around.report.event("cell-end", &body)?;
        Ok(true)
    }
}

/// Runs one repetition and reports its rows: whether it was complete, and how often it was repeated.
fn repeat(
    bench: &mut Bench,
    cell: &Cell,
    start: &Start,
    fit: &mut Fit,
    around: &Surroundings<'_>,
) -> Result<(bool, u32)> {
    let (sent, lossless, repeated) = as_rehearsed(bench, cell, fit, start.phase_ns)?;
    let Sent {
        mut seen,
        mut run,
        planned,
        head_bytes,
    } = sent;
    if let (Load::Page(page), Some(now)) = (fit.load, head_bytes) {
        let then = page.head_bytes;
        if now != then && cell.workload.is_encrypted() {
            // How many records a server writes depends on when its socket takes them.
            let note = format!("{now} bytes besides the page, {then} as rehearsed");
            run.notes.push(note);
        } else if now != then {
            bail!("the response head has {now} bytes now, the page was made for {then}");
        }
    }
    let complete = run.complete();
    let rows = Rows::new(cell, start, seen.watched, &run, &lossless);
    around.report.rows(&rows)?;
    if cell.packets {
        for packet in &mut seen.packets {
            packet.at_ns -= planned.as_nanos() as i64;
        }
        let body = Packets {
            cell: cell.id,
            repetition: start.repetition,
            packets: &seen.packets,
        };
        around.report.event("packets", &body)?;
    }
    bench.write_captures(cell, start, around.share)?;
    Ok((complete, repeated))
}

/// A transfer that shares its bursts out among the paths as a rehearsal did, so that positions from behind are what they
/// are meant to be; that rehearsal; and how many transfers before it did not.
///
/// A scheduler that compares what it has measured of the paths may decide otherwise at another phase, or where something
/// is random from one connection to the next. Where it did, the transfer is rehearsed at its own phase and repeated,
/// then repeated by what the most rehearsals have shown, and so on, some times at most.
fn as_rehearsed(
    bench: &mut Bench,
    cell: &Cell,
    Fit { load, rehearsals }: &mut Fit,
    phase_ns: u64,
) -> Result<(Sent, Totals, u32)> {
    let when = When::AtPhase(phase_ns);
    let mut rehearsal = rehearsals.likeliest().clone();
    let mut told = send(bench, cell, *load, Some(&rehearsal), when)?;
    let mut repeated = 0;
    while repeated + 1 < ROUNDS {
        let sent = told.seen.watched.packets();
        if !told.run.complete() || cell.differences(&sent, &rehearsal).is_empty() {
            break;
        }
        rehearsal = rehearsals.likeliest().clone();
        if repeated % EACH == 0 {
            let again = send(bench, cell, *load, None, when)?;
            let again = again.seen.watched.packets();
            if cell.check_lossless(&again).is_ok() {
                rehearsals.add(&again);
                rehearsal = again;
            }
        }
        bench.forget_packets();
        told = send(bench, cell, *load, Some(&rehearsal), when)?;
        repeated += 1;
    }
    Ok((told, rehearsal, repeated))
}
