//! The analysis of captures as batches of rows.

pub mod asked;
mod capture;
mod files;
mod pipe;
pub mod told;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_trace::analyzer::Rows;
use rexmit_trace::columns::Purpose;
use rexmit_trace::fault::{Fault, Moment};
use rexmit_trace::run::{Background, Next, Promptly, Summary};
use rexmit_trace::whatif::Totals;
use rexmit_wire::table::Key;

use crate::filter::Filter;
use crate::{detached, give_back};
use asked::{seconds, settings};
pub use capture::Capture;
pub use files::Files;
use files::{Lost, Span};
pub use pipe::Stop;
use told::BATCH;

/// How long a call waits before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(100);

/// The analysis of captures, at work on threads of its own.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Trace {
    run: Background,
    capture: String,
    /// What each file holds.
    spans: Arc<[Span]>,
    lost: Arc<Lost>,
    /// Packets that the filter left out.
    left_out: Arc<AtomicU64>,
    stop: Stop,
    /// Of the settings that are replayed.
    names: Vec<String>,
    /// That are emulated.
    stacks: Vec<&'static str>,
    bytes: Arc<AtomicU64>,
    /// Rows are wanted before the end, which may not come: what sums up is given with them.
    endless: bool,
    state: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    rows: Rows,
    /// What sums up the whole capture, so far.
    totals: Totals,
    end: Option<(Summary, Option<String>)>,
    told: bool,
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (captures, *, jobs=None, stretch_s=None, wait_s=None, filter=None, fault=None, **asked))]
    fn new(
        captures: Vec<Capture>,
        jobs: Option<usize>,
        stretch_s: Option<f64>,
        wait_s: Option<f64>,
        filter: Option<&str>,
        fault: Option<(u16, u64)>,
        asked: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut settings = settings(asked, Key::of_process())?;
        settings.fault = fault.map(|(port, packet)| Fault {
            port,
            at: Moment::Packet(packet),
        });
        settings.promptly = stretch_s.map(|stretch| Promptly {
            stretch: seconds(stretch),
            wait: seconds(wait_s.unwrap_or(stretch)),
        });
        let jobs =
            jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
        let capture = captures.first().map_or_else(String::new, Capture::name);
        let bytes = Arc::new(AtomicU64::new(0));
        let filter = filter.map(Filter::new).transpose()?;
        let files = Files::new(captures, &bytes)?.filtered(filter);
        Ok(Trace {
            spans: files.spans(),
            lost: files.lost(),
            left_out: files.left_out(),
            stop: files.stop(),
            run: Background::new(move || files.start(), &settings, jobs),
            capture,
            names: asked::names(&settings),
            stacks: settings.stacks.pages(),
            bytes,
            endless: settings.promptly.is_some(),
            state: Mutex::default(),
        })
    }

    /// The next rows by the table's name, none when there are no more; with `within_s` after so long at most, those that
    /// there are. `tables` names the tables that are wanted: all where it is none, what a page reads where it names none.
    #[pyo3(signature = (within_s=None, *, tables=None))]
    fn next_batch<'py>(
        &self,
        py: Python<'py>,
        within_s: Option<f64>,
        tables: Option<Vec<String>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let until = within_s.map(|seconds| clock() + Duration::from_secs_f64(seconds));
        loop {
            let full = detached(py, || self.gather(until));
            py.check_signals()?;
            if full {
                break;
            }
            if until.is_some_and(|until| clock() >= until) {
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
            if state.end.is_none() {
                return Ok(Some(PyDict::new(py)));
            }
            drop(state);
            detached(py, give_back);
            return Ok(None);
        }
        drop(state);
        let purpose = |table: &str| match tables.as_deref() {
            None => Purpose::Tables,
            Some([]) => Purpose::Page,
            Some(names) if names.iter().any(|name| name == table) => Purpose::Tables,
            Some(_) => Purpose::Nothing,
        };
        told::batch(py, &rows, &self.capture, &self.names, purpose).map(Some)
    }

    /// Bytes and packets read so far, and the capture's clock in seconds.
    fn progress(&self) -> (u64, u64, f64) {
        let progress = self.run.progress();
        let clock = progress.clock.as_nanos() as f64 / 1e9;
        (self.bytes.load(Ordering::Relaxed), progress.frames, clock)
    }

    /// Ends the reading of pipes, once nothing waits in them or `now`. What was read is worked through.
    fn stop(&self, now: bool) {
        self.stop.ask(now);
    }

    /// What was counted so far, as `summary` has it at the end.
    fn so_far<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.told(py, &self.run.so_far(), None)
    }

    /// What was counted, after the last batch.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((summary, error)) = &state.end else {
            return Err(PyValueError::new_err("the analysis has not ended"));
        };
        self.told(py, summary, error.as_deref())
    }
}

impl Trace {
    fn told<'py>(
        &self,
        py: Python<'py>,
        summary: &Summary,
        error: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let files = self.spans.iter().map(Span::told).collect();
        let lost = self.lost.told();
        let told = told::summary(py, summary, error, &self.names, &self.stacks, files, lost)?;
        told.set_item("left_out", self.left_out.load(Ordering::Relaxed))?;
        Ok(told)
    }

    /// Takes what is ready; true when there is enough for a batch, or nothing more will come.
    fn gather(&self, until: Option<Instant>) -> bool {
        let patience = until.map_or(PATIENCE, |until| {
            PATIENCE.min(until.saturating_duration_since(clock()))
        });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.end.is_none() && state.rows.len() < BATCH {
            match self.run.next(patience) {
                Next::Rows(mut rows) => {
                    if !self.endless {
                        state.totals.append(&core::mem::take(&mut rows.totals));
                    }
                    state.rows.append(&mut rows);
                }
                Next::Wait => return false,
                Next::End(summary, error) => {
                    let totals = core::mem::take(&mut state.totals);
                    state.rows.totals.append(&totals);
                    state.end = Some((*summary, error));
                }
            }
        }
        true
    }
}

/// How long a caller has waited is told by the machine's clock; which rows there are does not depend on it.
#[expect(
    clippy::disallowed_methods,
    reason = "a caller's patience is of the world's time"
)]
fn clock() -> Instant {
    Instant::now()
}
