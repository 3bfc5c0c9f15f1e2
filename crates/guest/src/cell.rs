//! Runs one cell: gets a bench ready, makes the page fit, and repeats the transfer at each of the cell's phases.

use std::fs;
use std::path::Path;
use std::time;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::tail::{Settings, TailRule};
use rexmit_plan::{
    Cell, CellStart, Fetched, Packets, Programs, ResendRow, Row, Start, REHEARSAL_NS,
};
use rexmit_time::{Duration, Time};

use crate::bench::Bench;
use crate::clock;
use crate::net::in_thread;
use crate::page::{Page, Shown};
use crate::report::Report;

/// What all cells of a boot have in common.
pub struct Surroundings<'a> {
    /// Programs of the host.
    pub programs: &'a Programs,
    /// The shared folder.
    pub share: &'a Path,
    /// Where rows go.
    pub report: &'a Report,
    /// Major and minor version of the kernel.
    pub series: (u32, u32),
}

/// Runs `cell` and reports its rows, on the bench that the last cell left where it suits, and leaves one for the next
/// where everything ended well.
pub fn run(cell: &Cell, bench: &mut Option<Bench>, around: &Surroundings<'_>) -> Result<()> {
    let report = around.report;
    report.doing(Some(cell.id), format!("{}: setting up", cell.label));
    let last = bench.take().filter(|bench| bench.suits(cell));
    let mut ready = match last {
        Some(mut bench) => {
            bench.make_ready(cell, around.programs, around.series)?;
            bench
        }
        None => Bench::set_up(cell, around.programs, around.series)?,
    };
    // The rest happens on the client's host.
    let complete = in_thread(|| {
        ready.network.h2.namespace.enter()?;
        run_on(&mut ready, cell, around)
    })?;
    // What did not end may go on.
    *bench = complete.then_some(ready);
    Ok(())
}

/// Whether all transfers were complete.
fn run_on(bench: &mut Bench, cell: &Cell, around: &Surroundings<'_>) -> Result<bool> {
    let report = around.report;
    report.doing(Some(cell.id), format!("{}: fitting the page", cell.label));
    let mut warnings = Vec::new();
    let page = match bench.lengths.page(cell) {
        Some(page) => {
            bench.server.set_page(page.bytes)?;
            page
        }
        None => {
            let mut lengths = std::mem::take(&mut bench.lengths);
            let mut said = Vec::new();
            let page = lengths.fit(cell, &mut warnings, |page| {
                rehearse(bench, cell, page, around.programs, &mut said)
            })?;
            bench.lengths = lengths;
            warnings.append(&mut said);
            page
        }
    };
    let (read_back, ignored) = &bench.settings;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: clock::now().as_nanos(),
        page_bytes: page.bytes,
        head_bytes: page.head_bytes,
        transfer_bytes: page.head_bytes + page.bytes as u64,
        read_back,
        ignored,
        warnings: &warnings,
    };
    report.event("cell-start", &body);
    let mut complete = true;
    for (index, start) in cell.starts.iter().enumerate() {
        let (place, of) = (index + 1, cell.starts.len());
        report.doing(
            Some(cell.id),
            format!("{}: transfer {place} of {of}", cell.label),
        );
        complete &= repeat(bench, cell, start, page, around)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    report.event(
        "cell-end",
        &serde_json::json!({"cell": cell.id, "virtual_ns": clock::now().as_nanos()}),
    );
    Ok(complete)
}

/// One transfer without loss by rule.
///
/// Where it does not complete there is another, over links that lose nothing by chance and with a client that waits: what
/// the cell's transfers come to is for their rows to tell.
fn rehearse(
    bench: &Bench,
    cell: &Cell,
    page: Page,
    programs: &Programs,
    warnings: &mut Vec<String>,
) -> Result<Shown> {
    bench.server.set_page(page.bytes)?;
    if let Ok(shown) = show(bench, cell, page, cell.transfer_timeout_ns)? {
        return Ok(shown);
    }
    if warnings.is_empty() {
        warnings.push(format!(
            "a transfer from which the rule took nothing did not complete in {} s either",
            cell.transfer_timeout_ns as f64 / 1e9
        ));
    }
    let mut lossless = cell.network.clone();
    for link in &mut lossless.links {
        link.loss = 0.0;
    }
    bench.network.replace_links(&lossless, programs)?;
    let shown = show(
        bench,
        cell,
        page,
        cell.transfer_timeout_ns.max(REHEARSAL_NS),
    )?;
    bench.network.replace_links(&cell.network, programs)?;
    shown.map_err(|why| anyhow!("a transfer without loss did not complete: {why}"))
}

/// What a transfer from which the rule takes nothing shows, or why it shows nothing.
fn show(
    bench: &Bench,
    cell: &Cell,
    page: Page,
    timeout_ns: u64,
) -> Result<std::result::Result<Shown, String>> {
    let rule = TailRule::new(Settings {
        segments: 0,
        linger: Duration::MAX,
        ..Settings::default()
    });
    bench.watch.begin(Box::new(rule), bench.reading)?;
    let fetched = fetch(bench, cell, page, timeout_ns)?;
    let seen = bench.watch.finish()?.transfers.into_iter().next();
    bench.captures.iter().for_each(|(h1, h2)| {
        h1.clear();
        h2.clear();
    });
    Ok(match seen.map(|watched| watched.transfer) {
        Some(transfer) if fetched.complete() => Ok(Shown {
            mss_bytes: transfer.mss_bytes,
            head_bytes: transfer.head_bytes,
            segments: transfer.segments,
        }),
        Some(transfer) => Err(fetched.said.or(transfer.note()).unwrap_or_default()),
        None => Err(fetched
            .said
            .unwrap_or_else(|| "the filter saw no transfer".into())),
    })
}

fn fetch(bench: &Bench, cell: &Cell, page: Page, timeout_ns: u64) -> Result<Fetched> {
    let limit = time::Duration::from_nanos(timeout_ns);
    let fetched = bench.client.fetch(bench.server.address, page.bytes, limit);
    let fetched = fetched.with_context(|| format!("nginx said: {:?}", bench.server.said()))?;
    std::thread::sleep(time::Duration::from_nanos(cell.settling_ns()));
    Ok(fetched)
}

/// Whether the transfer was complete.
fn repeat(
    bench: &Bench,
    cell: &Cell,
    start: &Start,
    page: Page,
    around: &Surroundings<'_>,
) -> Result<bool> {
    let report = around.report;
    bench.watch.begin(cell.loss.rule()?, bench.reading)?;
    let period = cell.phase_period_ns.max(1);
    let boundary = clock::now().as_nanos().next_multiple_of(period);
    let begin = Time::from_nanos(boundary + start.phase_ns);
    clock::sleep_until(begin);
    let fetched = fetch(bench, cell, page, cell.transfer_timeout_ns)?;
    let seen = bench.watch.finish()?;
    let (counts, mut packets) = (seen.counts, seen.packets);
    let watched = seen.transfers.first();
    let head_bytes = watched.map(|watched| watched.transfer.head_bytes);
    if head_bytes.is_some_and(|bytes| bytes != page.head_bytes) {
        bail!(
            "the response head has {} bytes now, the page was made for {}",
            head_bytes.unwrap_or(0),
            page.head_bytes
        );
    }
    let size = page.head_bytes + page.bytes as u64;
    report.event(
        "transfer",
        &Row::new(cell, start, size, &seen.transfers, counts, &fetched),
    );
    for resend in watched.map_or(&[][..], |watched| &watched.resends) {
        let row = ResendRow {
            cell: cell.id,
            repetition: start.repetition,
            resend,
        };
        report.event("retransmission", &row);
    }
    if cell.packets {
        for packet in &mut packets {
            packet.at_ns -= begin.as_nanos() as i64;
        }
        let body = Packets {
            cell: cell.id,
            repetition: start.repetition,
            packets: &packets,
        };
        report.event("packets", &body);
    }
    if let Some((h1, h2)) = &bench.captures {
        let folder = around.share.join("captures");
        fs::create_dir_all(&folder)?;
        let path =
            |host: &str| folder.join(format!("{}-{}.{host}.pcapng", cell.id, start.repetition));
        h1.write(&path("h1"), &[bench.network.h1.device])?;
        h2.write(&path("h2"), &[bench.network.h2.device])?;
    }
    Ok(fetched.complete())
}
