//! The analysis of captures as batches of rows.

mod files;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_trace::analyzer::Rows;
use rexmit_trace::columns::tables;
use rexmit_trace::emulate::Chosen;
use rexmit_trace::run::{Background, Next, Summary};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;

use crate::arrow::Batch;
use crate::detached;
use crate::error::Error;
pub use files::Files;
use files::Span;

/// Rows in one batch, more or less.
const BATCH: usize = 16_384;

/// How long a call waits before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(100);

/// The analysis of captures, at work on threads of its own.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Trace {
    run: Background,
    capture: String,
    /// What each file holds.
    spans: Arc<[Span]>,
    /// Of the settings that are replayed.
    names: Vec<String>,
    /// That are emulated.
    stacks: Vec<&'static str>,
    bytes: Arc<AtomicU64>,
    state: Mutex<State>,
}

/// Which other settings are replayed: the usual ones, none, or those named.
#[derive(FromPyObject)]
enum WhatIf {
    Asked(bool),
    Settings(Vec<String>),
}

#[derive(Default)]
struct State {
    rows: Rows,
    end: Option<(Summary, Option<String>)>,
    told: bool,
}

#[pymethods]
impl Trace {
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "each is an argument of its own in Python, by name"
    )]
    #[pyo3(signature = (paths, *, jobs=None, whatif=None, most_connections=None, idle_s=None, linger_s=None, uncalibrated=false, stacks=None))]
    fn new(
        paths: Vec<PathBuf>,
        jobs: Option<usize>,
        whatif: Option<WhatIf>,
        most_connections: Option<usize>,
        idle_s: Option<f64>,
        linger_s: Option<f64>,
        uncalibrated: bool,
        stacks: Option<Vec<String>>,
    ) -> Result<Self, Error> {
        let stacks = Chosen::parse(&stacks.unwrap_or_default())?;
        let plan = match whatif {
            None | Some(WhatIf::Asked(true)) => Some(Plan::default()),
            Some(WhatIf::Asked(false)) => None,
            Some(WhatIf::Settings(words)) => Some(Plan::parse(&words)?),
        };
        let names = plan
            .as_ref()
            .map_or_else(Vec::new, |plan| plan.names().to_vec());
        let mut settings = Settings {
            uncalibrated,
            stacks,
            whatif: plan.map(Arc::new),
            ..Settings::default()
        };
        if let Some(most) = most_connections {
            settings.most_connections = most;
        }
        for (given, setting) in [
            (idle_s, &mut settings.idle),
            (linger_s, &mut settings.linger),
        ] {
            if let Some(seconds) = given {
                *setting = rexmit_time::Duration::from_nanos((seconds * 1e9) as i64);
            }
        }
        let jobs =
            jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
        let capture = paths
            .first()
            .map_or_else(String::new, |path| path.display().to_string());
        let bytes = Arc::new(AtomicU64::new(0));
        let files = Files::new(paths, &bytes)?;
        Ok(Trace {
            spans: files.spans(),
            run: Background::new(move || files.start(), &settings, jobs),
            capture,
            names,
            stacks: stacks.pages(),
            bytes,
            state: Mutex::default(),
        })
    }

    /// The next rows by the table's name, none when there are no more.
    fn next_batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            let full = detached(py, || self.gather());
            py.check_signals()?;
            if full {
                break;
            }
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = core::mem::take(&mut state.rows);
        if rows.is_empty() {
            if let Some((summary, Some(error))) = &state.end {
                // What was read before the error was given; without any, there is nothing but the error.
                if summary.frames == 0 && !state.told {
                    let error = PyValueError::new_err(error.clone());
                    state.told = true;
                    return Err(error);
                }
            }
            return Ok(None);
        }
        drop(state);
        let all = detached(py, || {
            tables(&rows, &self.capture, &self.names).map(|table| (table.name, Batch::new(table)))
        });
        let batch = PyDict::new(py);
        for (name, table) in all {
            batch.set_item(name, table.map_err(Error::plan)?)?;
        }
        Ok(Some(batch))
    }

    /// Bytes and packets read so far, and the capture's clock in seconds.
    fn progress(&self) -> (u64, u64, f64) {
        let progress = self.run.progress();
        let clock = progress.clock.as_nanos() as f64 / 1e9;
        (self.bytes.load(Ordering::Relaxed), progress.frames, clock)
    }

    /// What was counted, after the last batch.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((summary, error)) = &state.end else {
            return Err(PyValueError::new_err("the analysis has not ended"));
        };
        let dict = PyDict::new(py);
        let counters = &summary.counters;
        dict.set_item("packets", summary.frames)?;
        dict.set_item("tcp_packets", counters.packets)?;
        dict.set_item("bytes", summary.bytes)?;
        dict.set_item("connections", counters.connections)?;
        dict.set_item("skipped", summary.skips.iter().collect::<BTreeMap<_, _>>())?;
        dict.set_item("evicted", counters.evicted)?;
        dict.set_item("evicted_openings", counters.evicted_openings)?;
        dict.set_item("strays", counters.strays)?;
        dict.set_item("stray_resets", counters.stray_resets)?;
        dict.set_item("steps_back", summary.steps_back)?;
        let seconds = |time: rexmit_time::Time| time.as_nanos() as f64 / 1e9;
        dict.set_item("first_s", summary.first.map(seconds))?;
        dict.set_item("last_s", summary.latest.map(seconds))?;
        let told = error
            .iter()
            .map(|error| format!("{error}; what follows it is left out"));
        let warnings: Vec<String> = told.chain(summary.warnings.iter().cloned()).collect();
        dict.set_item("warnings", warnings)?;
        dict.set_item("settings", &self.names)?;
        dict.set_item("stacks", &self.stacks)?;
        let spans: Vec<_> = self.spans.iter().map(Span::told).collect();
        dict.set_item("files", spans)?;
        Ok(dict)
    }
}

impl Trace {
    /// Takes what is ready; true when there is enough for a batch, or nothing more will come.
    fn gather(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.end.is_none() && state.rows.len() < BATCH {
            match self.run.next(PATIENCE) {
                Next::Rows(mut rows) => state.rows.append(&mut rows),
                Next::Wait => return false,
                Next::End(summary, error) => state.end = Some((*summary, error)),
            }
        }
        true
    }
}
