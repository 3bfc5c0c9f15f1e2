//! Pages over plain TCP: the page is made to fit, and the transfer repeated at each of the cell's phases.

use std::time;

use anyhow::{bail, Context, Result};
use rexmit_loss::tail::{Settings, TailRule};
use rexmit_plan::{Cell, CellStart, Fetched, PageStart, Run, Start, Told, REHEARSAL_NS};
use rexmit_time::{Duration, Time};

use crate::bench::Bench;
use crate::cell::{self, Surroundings};
use crate::clock;
use crate::net::in_thread;
use crate::page::{Page, Shown};

/// Runs `cell`, of a page over plain TCP, and reports its rows; leaves the bench for the next where everything ended well.
pub fn run(cell: &Cell, bench: Bench, around: &Surroundings<'_>) -> Result<Option<Bench>> {
    let mut ready = bench;
    let mut progress = Progress::default();
    loop {
        // The rest happens on the client's host.
        let done = in_thread(|| {
            ready.network.h2.namespace.enter()?;
            run_on(&mut ready, cell, around, &mut progress)
        })?;
        // What did not end may go on, and send in the time of the next transfer.
        if done == Done::All {
            return Ok((!progress.cut).then_some(ready));
        }
        let lengths = std::mem::take(&mut ready.lengths);
        drop(ready);
        ready = Bench::set_up(cell, around.programs, around.series)?;
        ready.lengths = lengths;
        progress.cut = false;
    }
}

/// How far a cell is.
#[derive(Default)]
struct Progress {
    /// A rehearsal did not complete: the next one is over links that lose nothing by chance, with a client that waits. What
    /// the cell's transfers come to is for their rows to tell.
    undisturbed: bool,
    /// The page, once it is fitted and told of.
    page: Option<Page>,
    /// Transfers that were made.
    made: usize,
    /// The last transfer on this bench did not complete.
    cut: bool,
}

/// What has become of a cell on a bench.
#[derive(PartialEq, Eq)]
enum Done {
    /// It has all of its rows.
    All,
    /// A transfer did not complete: it goes on with another bench.
    Part,
}

fn run_on(
    bench: &mut Bench,
    cell: &Cell,
    around: &Surroundings<'_>,
    progress: &mut Progress,
) -> Result<Done> {
    let report = around.report;
    let page = match progress.page {
        Some(page) => {
            bench.web()?.server.set_page(page.bytes)?;
            page
        }
        None => match fitted(bench, cell, around, progress)? {
            Some(page) => *progress.page.insert(page),
            None => return Ok(Done::Part),
        },
    };
    let of = cell.starts.len();
    while let Some(start) = cell.starts.get(progress.made) {
        progress.made += 1;
        let place = progress.made;
        report.doing(
            Some(cell.id),
            format!("{}: transfer {place} of {of}", cell.label),
        );
        let complete = repeat(bench, cell, start, page, around)
            .with_context(|| format!("repetition {}", start.repetition))?;
        progress.cut = !complete;
        if progress.cut && place < of {
            return Ok(Done::Part);
        }
    }
    report.event(
        "cell-end",
        &serde_json::json!({"cell": cell.id, "virtual_ns": clock::now().as_nanos()}),
    );
    Ok(Done::All)
}

/// The page that makes the cell's transfers as long as they are to be, and tells of it. `None` when a transfer that was to
/// show that did not complete: then there is another try.
fn fitted(
    bench: &mut Bench,
    cell: &Cell,
    around: &Surroundings<'_>,
    progress: &mut Progress,
) -> Result<Option<Page>> {
    let report = around.report;
    report.doing(Some(cell.id), format!("{}: fitting the page", cell.label));
    let mut warnings = bench.older.clone();
    let mut timeout_ns = cell.transfer_timeout_ns;
    if progress.undisturbed {
        warnings.push(format!(
            "a transfer from which the rule took nothing did not complete in {} s either",
            timeout_ns as f64 / 1e9
        ));
        timeout_ns = timeout_ns.max(REHEARSAL_NS);
        let mut lossless = cell.network.clone();
        lossless
            .links_mut()
            .iter_mut()
            .for_each(|link| link.loss = 0.0);
        bench.network.replace_links(&lossless, around.programs)?;
    }
    let page = match bench.lengths.page(cell) {
        Some(page) => {
            bench.web()?.server.set_page(page.bytes)?;
            page
        }
        None => {
            let mut lengths = std::mem::take(&mut bench.lengths);
            let fit = lengths.fit(cell, &mut warnings, |page| {
                rehearse(bench, cell, page, timeout_ns)
            });
            bench.lengths = lengths;
            match fit {
                Ok(page) => page,
                Err(error) if error.is::<Incomplete>() && !progress.undisturbed => {
                    progress.undisturbed = true;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    };
    if progress.undisturbed {
        bench
            .network
            .replace_links(&cell.network, around.programs)?;
    }
    let (read_back, ignored) = &bench.settings;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: clock::now().as_nanos(),
        page: Some(PageStart::new(page.bytes as u64, page.head_bytes)),
        rehearsed: None,
        read_back,
        ignored,
        warnings: &warnings,
    };
    report.event("cell-start", &body);
    Ok(Some(page))
}

/// A transfer without loss by rule that did not complete, and why.
#[derive(Debug)]
struct Incomplete(String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a transfer without loss did not complete: {}", self.0)
    }
}

impl std::error::Error for Incomplete {}

/// One transfer without loss by rule. The error is [`Incomplete`] where it shows nothing.
fn rehearse(bench: &Bench, cell: &Cell, page: Page, timeout_ns: u64) -> Result<Shown> {
    bench.web()?.server.set_page(page.bytes)?;
    let rule = TailRule::new(Settings {
        segments: 0,
        linger: Duration::MAX,
        ..Settings::default()
    });
    bench.watch.begin(Box::new(rule), bench.reading)?;
    let fetched = fetch(bench, cell, page, timeout_ns)?;
    let seen = bench.watch.finish()?.transfers.into_iter().next();
    bench.forget_packets();
    let why = match seen.and_then(|watched| watched.transfer) {
        Some(transfer) if fetched.complete() => {
            return Ok(Shown {
                mss_bytes: transfer.mss_bytes,
                head_bytes: transfer.head_bytes,
                segments: transfer.segments,
            })
        }
        Some(transfer) => fetched.said.or(transfer.note()).unwrap_or_default(),
        None => fetched
            .said
            .unwrap_or_else(|| "the filter saw no transfer".into()),
    };
    bail!(Incomplete(why))
}

fn fetch(bench: &Bench, cell: &Cell, page: Page, timeout_ns: u64) -> Result<Fetched> {
    let limit = time::Duration::from_nanos(timeout_ns);
    let web = bench.web()?;
    let fetched = web.client.fetch(web.server.address, page.bytes, limit);
    let fetched = fetched.with_context(|| format!("nginx said: {:?}", web.server.said()))?;
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
    bench.watch.begin(cell.loss.rule()?, bench.reading)?;
    let boundary = clock::boundary(clock::now().as_nanos(), cell.phase_period_ns);
    let begin = Time::from_nanos(boundary + start.phase_ns);
    clock::sleep_until(begin);
    let fetched = fetch(bench, cell, page, cell.transfer_timeout_ns)?;
    let mut seen = bench.watch.finish()?;
    let transfers = std::mem::take(&mut seen.transfers);
    let transfer = transfers.first().and_then(|one| one.transfer.as_ref());
    let head_bytes = transfer.map(|transfer| transfer.head_bytes);
    if head_bytes.is_some_and(|bytes| bytes != page.head_bytes) {
        bail!(
            "the response head has {} bytes now, the page was made for {}",
            head_bytes.unwrap_or(0),
            page.head_bytes
        );
    }
    let complete = fetched.complete();
    let size = page.head_bytes + page.bytes as u64;
    let run = Run::of_page(fetched, seen.counts);
    let told = (Told::Responses(transfers, size), &run);
    cell::report(cell, start, told, &mut seen, begin, bench, around)?;
    Ok(complete)
}
