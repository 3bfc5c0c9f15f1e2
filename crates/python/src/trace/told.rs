//! Batches of rows and what was counted, for Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_time::Time;
use rexmit_trace::analyzer::{Failures, Rows};
use rexmit_trace::columns::{tables, Purpose};
use rexmit_trace::parts::broken;
use rexmit_trace::run::{Lookup, Summary};
use rexmit_wire::capture::Drops;

use crate::arrow::Batch;
use crate::detached;
use crate::error::Error;

/// Rows in one batch, more or less.
pub const BATCH: usize = 16_384;

/// Packets of a file, and the earliest and the latest time stamp in nanoseconds; none without packets.
pub type OfFile = (u64, Option<(u64, u64)>);

/// Rows by the table's name, of the tables that somebody has a purpose for.
pub fn batch<'py>(
    py: Python<'py>,
    rows: &Rows,
    capture: &str,
    names: &[String],
    purpose: impl Fn(&str) -> Purpose + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let all = detached(py, || {
        tables(rows, capture, names, purpose).map(|table| {
            let is_wanted = !table.columns.is_empty();
            (table.name, is_wanted.then(|| Batch::new(table)))
        })
    });
    let batch = PyDict::new(py);
    for (name, table) in all {
        if let Some(table) = table {
            batch.set_item(name, table.map_err(Error::plan)?)?;
        }
    }
    Ok(batch)
}

/// Connections that were left out: how many, their packets, and those that are named: when one began, its client's and its
/// server's address and port, and the defect.
pub fn failures(dict: &Bound<'_, PyDict>, failures: &Failures) -> PyResult<()> {
    let named = failures.named.iter().map(|one| {
        let (client, server) = (one.flow.src.to_string(), one.flow.dst.to_string());
        let start_s = one.start.as_nanos() as f64 / 1e9;
        let (from, to) = (one.flow.src_port, one.flow.dst_port);
        (start_s, client, from, server, to, one.defect.clone())
    });
    dict.set_item("failed", failures.count)?;
    dict.set_item("failed_packets", failures.packets)?;
    dict.set_item("failures", named.collect::<Vec<_>>())
}

/// Names that were looked up: who asked whom for which, when, how long that took, how many questions there were, and whether all
/// were answered.
fn lookups(dict: &Bound<'_, PyDict>, lookups: &[Lookup]) -> PyResult<()> {
    let all = lookups.iter().map(|one| {
        let (asker, server) = (one.asker.to_string(), one.server.to_string());
        let [start_s, waited_s] =
            [one.start.as_nanos() as i64, one.waited.as_nanos()].map(|ns| ns as f64 / 1e9);
        (
            asker,
            server,
            one.name.clone(),
            start_s,
            waited_s,
            one.questions,
            one.answered,
        )
    });
    dict.set_item("lookups", all.collect::<Vec<_>>())
}

/// What was counted. `error` is why not all could be read, `drops` what the captures themselves say was.
pub fn summary<'py>(
    py: Python<'py>,
    summary: &Summary,
    error: Option<&str>,
    names: &[String],
    stacks: &[&'static str],
    files: Vec<OfFile>,
    drops: Drops,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let counters = &summary.counters;
    dict.set_item("packets", summary.frames)?;
    dict.set_item("tcp_packets", counters.packets)?;
    dict.set_item("bytes", summary.bytes)?;
    dict.set_item("cut", summary.cut)?;
    dict.set_item("connections", counters.connections)?;
    dict.set_item("skipped", summary.skips.iter().collect::<BTreeMap<_, _>>())?;
    dict.set_item("evicted", counters.evicted)?;
    dict.set_item("evicted_openings", counters.evicted_openings)?;
    dict.set_item("strays", counters.strays)?;
    dict.set_item("stray_blocks", counters.stray_blocks)?;
    dict.set_item("stray_resets", counters.stray_resets)?;
    failures(&dict, &counters.failures)?;
    lookups(&dict, &summary.lookups)?;
    dict.set_item("steps_back", summary.steps_back)?;
    let seconds = |time: Time| time.as_nanos() as f64 / 1e9;
    dict.set_item("first_s", summary.first.map(seconds))?;
    dict.set_item("last_s", summary.latest.map(seconds))?;
    let told = error.iter().map(|error| broken(error, summary.frames));
    let warnings: Vec<String> = told.chain(summary.warnings.iter().cloned()).collect();
    dict.set_item("warnings", warnings)?;
    dict.set_item("settings", names)?;
    dict.set_item("stacks", stacks)?;
    dict.set_item("files", files)?;
    dict.set_item("interface_drops", drops.interface)?;
    dict.set_item("system_drops", drops.system)?;
    Ok(dict)
}
