//! Runs one cell on a bench that suits it.

use std::path::Path;

use anyhow::Result;
use rexmit_plan::{Cell, Packets, Programs, Rows, Run, Start, Told};
use rexmit_time::Time;

use crate::bench::Bench;
use crate::preflight::Kernel;
use crate::report::Report;
use crate::watch::Seen;
use crate::{connections, responses};

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
    /// What the kernel has.
    pub kernel: &'a Kernel,
}

/// Runs `cell` and reports its rows, on the bench that the last cell left where it suits, and leaves one for the next
/// where everything ended well.
pub fn run(cell: &Cell, bench: &mut Option<Bench>, around: &Surroundings<'_>) -> Result<()> {
    around
        .report
        .doing(Some(cell.id), format!("{}: setting up", cell.label));
    around.kernel.require(cell)?;
    let last = bench.take().filter(|bench| bench.suits(cell));
    let ready = match last {
        Some(bench) => bench.made_ready(cell, around.programs, around.series)?,
        None => Bench::set_up(cell, around.programs, around.series)?,
    };
    *bench = if cell.by_response() {
        responses::run(cell, ready, around)?
    } else {
        Some(connections::run(cell, ready, around)?)
    };
    Ok(())
}

/// Reports all of a transfer that was to begin at `planned`; packets are taken out of `seen`.
pub fn report(
    cell: &Cell,
    start: &Start,
    (told, run): (Told, &Run),
    seen: &mut Seen,
    planned: Time,
    bench: &Bench,
    around: &Surroundings<'_>,
) -> Result<()> {
    around.report.rows(&Rows::new(cell, start, told, run));
    if cell.packets {
        for packet in &mut seen.packets {
            packet.at_ns -= planned.as_nanos() as i64;
        }
        let body = Packets {
            cell: cell.id,
            repetition: start.repetition,
            packets: &seen.packets,
        };
        around.report.event("packets", &body);
    }
    bench.write_captures(cell, start, around.share)
}
