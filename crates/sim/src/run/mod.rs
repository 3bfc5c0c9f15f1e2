//! Runs a plan: the same plan, and the same events in answer, as the program inside a kernel.

mod bench;
mod captures;
mod page;
mod settings;
mod watch;

pub(crate) use bench::{link_settings, LOOK};
pub(crate) use settings::Prepared;
pub(crate) use watch::{Captures, Inspect};

use std::path::Path;

use anyhow::{bail, Context, Result};
use rexmit_plan::{line, Plan};
use serde_json::json;

use crate::paths;

/// Runs the plan in `text` and appends its events to `out`, a JSON object a line. Captures go below `share`.
///
/// A cell that cannot be run is an event too and does not keep the others from running.
///
/// # Errors
/// When the plan cannot be read, or has a command to execute.
pub fn run_plan(text: &str, share: Option<&Path>, out: &mut Vec<u8>) -> Result<()> {
    let plan = Plan::parse(text)?;
    if plan.exec.is_some() {
        bail!("the model runs transfers, no programs");
    }
    for cell in &plan.cells {
        let result = bench::run(cell, share, out);
        tell_failure(cell.id, result, out)?;
    }
    for cell in &plan.path_cells {
        let result = paths::run(cell, share, out);
        tell_failure(cell.id, result, out)?;
    }
    Ok(())
}

/// What was told of a cell before it failed stays: a reader knows what a failure does to it.
fn tell_failure(cell: u64, result: Result<()>, out: &mut Vec<u8>) -> Result<()> {
    let Err(error) = result else {
        return Ok(());
    };
    let told = out.len();
    let message = format!("{error:#}");
    line(
        out,
        "cell-error",
        &json!({"cell": cell, "message": message}),
    )
    .with_context(|| format!("after {told} bytes of events"))
}
