//! What a cell's connections send, made to fit by transfers without loss.

use anyhow::{bail, Result};
use rexmit_loss::Totals;
use rexmit_plan::{
    not_all_came, not_as_asked, Bursts, Cell, CellStart, PageStart, Rehearsed, Workload,
    REHEARSAL_NS,
};

use super::rehearsals::Rehearsals;
use super::send::{send, Load, Sent, When};
use crate::bench::Bench;
use crate::clock;
use crate::page::Shown;
use crate::surroundings::Surroundings;

/// What a cell's connections send, and what was sent of it without loss.
pub struct Fit {
    pub load: Load,
    pub rehearsals: Rehearsals,
}

/// Finds what makes the cell's transfers as long as they are to be, and tells of it. `None` where a rehearsal did not
/// complete and nothing more can be sent on this bench: then there is another try.
///
/// After one that did not complete, `incomplete` says why, and rehearsals are over links that lose nothing by chance, with
/// a client that waits: what the cell's transfers come to is for their rows to tell.
pub fn fit(
    bench: &mut Bench,
    cell: &Cell,
    around: &Surroundings<'_>,
    incomplete: &mut Option<String>,
) -> Result<Option<Fit>> {
    around.doing(cell, "rehearsing without loss")?;
    let mut warnings = bench.older.clone();
    let fit = loop {
        let calm = incomplete.as_ref().map(|why| {
            warnings.push(why.clone());
            without_chance(cell)
        });
        if let Some(calm) = &calm {
            bench.network.replace_links(&calm.network)?;
        }
        match rehearse(bench, calm.as_ref().unwrap_or(cell), &mut warnings) {
            Err(error) if error.is::<Incomplete>() && incomplete.is_none() => {
                *incomplete = Some(error.to_string());
                if cell.by_response() {
                    return Ok(None);
                }
            }
            tried => {
                let fit = tried?;
                bench.forget_packets();
                if calm.is_some() {
                    bench.network.replace_links(&cell.network)?;
                }
                break fit;
            }
        }
    };
    let lossless = fit.rehearsals.likeliest();
    cell.check_lossless(lossless)?;
    let (read_back, ignored) = &bench.settings;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: clock::now().as_nanos(),
        page: match fit.load {
            Load::Bursts(_) => None,
            Load::Page(page) => Some(PageStart::new(page.bytes as u64, page.head_bytes)),
        },
        rehearsed: (!cell.by_response()).then(|| Rehearsed {
            burst_bytes: fit.load.bytes(),
            path_packets: lossless.packets(),
        }),
        read_back,
        ignored,
        warnings: &warnings,
    };
    around.report.event("cell-start", &body)?;
    Ok(Some(fit))
}

/// The same cell over paths that lose nothing by chance, with a client that waits.
fn without_chance(cell: &Cell) -> Cell {
    let mut calm = cell.clone();
    for link in calm.network.links_mut() {
        link.lose_nothing();
    }
    calm.transfer_timeout_ns = calm.transfer_timeout_ns.max(REHEARSAL_NS);
    calm
}

/// A transfer without loss by rule that did not bring everything, and why.
#[derive(Debug)]
struct Incomplete(String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

fn rehearse(bench: &mut Bench, cell: &Cell, warnings: &mut Vec<String>) -> Result<Fit> {
    let (load, lossless) = match &cell.workload {
        Workload::Burst(bursts) => rehearse_bursts(bench, cell, bursts, warnings)?,
        Workload::Nginx(_) => rehearse_page(bench, cell, warnings)?,
    };
    Ok(Fit {
        load,
        rehearsals: Rehearsals::new(lossless),
    })
}

/// A transfer without loss by rule. The error is [`Incomplete`] where it shows nothing.
fn without_loss(bench: &mut Bench, cell: &Cell, load: Load) -> Result<Sent> {
    let when = match cell.starts.first() {
        Some(start) if cell.is_rehearsed() => When::AtPhase(start.phase_ns),
        _ => When::AtOnce,
    };
    let told = send(bench, cell, load, None, when)?;
    let watched = &told.seen.watched;
    if !told.run.complete() || cell.by_response() && watched.transfer.is_none() {
        bail!(Incomplete(not_all_came(cell, watched, &told.run)));
    }
    let (seen, mtu) = (watched.mss_bytes(), cell.network.mtu);
    if seen > mtu {
        bail!("a segment of {seen} bytes left the server on a path of MTU {mtu}: an offload is not switched off");
    }
    Ok(told)
}

/// How much a full segment holds is taken from the wire, where a burst is given in segments.
fn rehearse_bursts(
    bench: &mut Bench,
    cell: &Cell,
    bursts: &Bursts,
    warnings: &mut Vec<String>,
) -> Result<(Load, Totals)> {
    let mut segment_bytes = cell.network.mtu;
    loop {
        let load = Load::Bursts(bursts.bytes_each(segment_bytes));
        let sent = without_loss(bench, cell, load)?.seen.watched.sent;
        if bursts.segments.is_none() || sent.mss_bytes == segment_bytes {
            warnings.extend(not_as_asked(cell, &sent.packets, sent.mss_bytes));
            return Ok((load, sent.packets));
        }
        segment_bytes = sent.mss_bytes;
    }
}

/// The length of the page is known of an earlier cell, or found out.
fn rehearse_page(
    bench: &mut Bench,
    cell: &Cell,
    warnings: &mut Vec<String>,
) -> Result<(Load, Totals)> {
    let mut lossless = Totals::default();
    let known = bench.lengths.page(cell).filter(|_| !cell.is_rehearsed());
    if let Some(load) = known.map(Load::Page) {
        load.serve(bench)?;
        return Ok((load, lossless));
    }
    let mut lengths = std::mem::take(&mut bench.lengths);
    let fit = lengths.fit(cell, warnings, |page| {
        let told = without_loss(bench, cell, Load::Page(page))?;
        let Some(head_bytes) = told.head_bytes else {
            bail!("a page without a response head");
        };
        let watched = told.seen.watched;
        let shown = Shown {
            mss_bytes: watched.mss_bytes(),
            head_bytes,
            packets: watched.packets(),
        };
        lossless = shown.packets.clone();
        Ok(shown)
    });
    bench.lengths = lengths;
    Ok((Load::Page(fit?), lossless))
}
