//! Runs a plan: the same plan, and the same events in answer, as the program inside a kernel.

mod bench;
mod captures;
mod page;
mod settings;
mod watch;

use std::path::Path;

use anyhow::{bail, Context, Result};
use rexmit_plan::{line, Plan};
use serde_json::json;

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
        let told = out.len();
        if let Err(error) = bench::run(cell, share, out) {
            // What was told of it before stays: a reader knows what a failure does to it.
            let message = format!("{error:#}");
            line(
                out,
                "cell-error",
                &json!({"cell": cell.id, "message": message}),
            )
            .with_context(|| format!("after {} bytes of events", out.len() - told))?;
        }
    }
    Ok(())
}
