//! Runs a plan: the same plan, and the same events in answer, as the program inside a kernel.

mod bench;
mod bursts;
mod captures;
mod inspect;
mod options;
mod page;
mod settings;
mod text;
mod transfers;
mod watch;

use std::path::Path;

use anyhow::{bail, Result};
use rexmit_plan::{Cell, Events, Plan, Protocol};
use rexmit_tcp::connection::Connection;
use serde_json::json;

use crate::subflows::Subflows;
use bench::Bench;
use inspect::Inspect;

/// Runs the plan in `text` and tells its events to `out`. Captures go below `share`.
///
/// A cell that cannot be run is an event too and does not keep the others from running.
///
/// # Errors
/// When the plan cannot be read, or has a command to execute.
pub fn run_plan(text: &str, share: Option<&Path>, out: &mut impl Events) -> Result<()> {
    let plan = Plan::parse(text)?;
    if plan.exec.is_some() {
        bail!("the model runs transfers, no programs");
    }
    for cell in &plan.cells {
        let result = match cell.protocol {
            Protocol::Tcp => run::<Connection>(cell, share, out),
            Protocol::Mptcp => run::<Subflows>(cell, share, out),
        };
        tell_failure(cell.id, result, out)?;
    }
    Ok(())
}

/// Runs `cell` and tells its events to `out`; captures go below `share`.
fn run<M: Inspect>(cell: &Cell, share: Option<&Path>, out: &mut impl Events) -> Result<()> {
    let mut bench = Bench::<M>::new(cell)?;
    transfers::run(&mut bench, share, out)?;
    let end = json!({"cell": cell.id, "virtual_ns": bench.free.as_nanos()});
    out.event("cell-end", &end)?;
    Ok(())
}

/// What was told of a cell before it failed stays: a reader knows what a failure does to it.
fn tell_failure(cell: u64, result: Result<()>, out: &mut impl Events) -> Result<()> {
    let Err(error) = result else {
        return Ok(());
    };
    let message = format!("{error:#}");
    out.event("cell-error", &json!({"cell": cell, "message": message}))
}
