//! A capture of many files, analysed in parts that can run anywhere and again.

mod folder;
mod input;
mod merge;

use std::fs;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_trace::parts::{self, Part, Sink, Source};
use rexmit_trace::run::Progress;
use rexmit_wire::capture::Reader;
use rexmit_wire::table::Key;

use crate::detached;
use crate::error::Error;
use crate::trace::asked::settings;
use folder::{atomically, detail, opened, packets, part, rows, waiting, Written};
pub use input::{words, Input};
pub use merge::{judge_parts, MergeParts};

impl From<parts::Error> for Error {
    fn from(error: parts::Error) -> Self {
        match error {
            parts::Error::Io(error) => Error::Io(error),
            parts::Error::Format(what) => Error::Plan(what),
            parts::Error::Full => Error::Full,
        }
    }
}

/// Tells Python now and then how far it is; what it raises ends the work.
struct Report {
    callable: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Report {
    fn tell(&mut self, progress: Progress) -> bool {
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callable) = &self.callable {
                let clock = progress.clock.as_nanos() as f64 / 1e9;
                callable.call1(py, (progress.frames, clock))?;
            }
            Ok(())
        });
        self.raised = told.err();
        self.raised.is_none()
    }
}

/// How many groups the connections of a capture can be divided into.
#[pyfunction]
#[pyo3(signature = (**asked))]
pub fn most_groups(asked: Option<&Bound<'_, PyDict>>) -> PyResult<u16> {
    Ok(parts::most_groups(&settings(asked, Key::FIXED)?))
}

/// Reads one file of a capture and writes its packets, by groups, into the folder `out`. Where the source fails after some
/// packets they are the part if `keep_broken`, as `trace` has them.
#[pyfunction]
#[pyo3(signature = (source, name, out, *, groups, keep_broken=false, report=None, **asked))]
#[expect(
    clippy::too_many_arguments,
    reason = "each is an argument of its own in Python, by name"
)]
pub fn read_part<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    name: &str,
    out: PathBuf,
    groups: u16,
    keep_broken: bool,
    report: Option<Py<PyAny>>,
    asked: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings(asked, Key::FIXED)?;
    let input = Input::new(source)?;
    let failed = input.failed();
    let mut report = Report {
        callable: report,
        raised: None,
    };
    let read = detached(py, || {
        atomically(&out, |folder| {
            let capture =
                Reader::new(input).map_err(|error| Error::plan(format_args!("{name}: {error}")))?;
            fs::create_dir(folder)?;
            let writers: Vec<Written> = (0..groups)
                .map(|group| folder::written(&packets(folder, group)))
                .collect::<Result<_, _>>()?;
            let tell = |progress| report.tell(progress);
            let (read, of_it) = parts::read(capture, name, &settings, writers, tell)?;
            // It is to be read again.
            let broken =
                failed.is_some() && !(keep_broken && failed.is_os_error() && read.frames() > 0);
            if report.raised.is_some() || broken {
                return Err(Error::plan(format_args!("{name}: reading was stopped")));
            }
            of_it.write(folder::written(&detail(folder))?)?;
            read.write(folder::written(&part(folder))?)?;
            Ok(read)
        })
    });
    if let Some(raised) = report.raised {
        return Err(raised);
    }
    match (read, failed.take()) {
        (Err(_), Some(error)) => Err(error.raise(name)),
        (read, _) => told(py, &read?),
    }
}

/// What is said where the groups have more connections between them than are remembered: nothing was written.
fn full(dict: Bound<'_, PyDict>) -> PyResult<Bound<'_, PyDict>> {
    dict.set_item("full", true)?;
    Ok(dict)
}

/// What a part says of itself.
fn told<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &part.name)?;
    dict.set_item("packets", part.frames())?;
    dict.set_item("tcp_packets", part.packets())?;
    dict.set_item("bytes", part.bytes())?;
    let times = part.times();
    dict.set_item("first_ns", times.map(|(first, _)| first.as_nanos()))?;
    dict.set_item("last_ns", times.map(|(_, last)| last.as_nanos()))?;
    dict.set_item("error", part.error())?;
    let warnings: Vec<String> = part.warnings().into_iter().flatten().collect();
    dict.set_item("warnings", warnings)?;
    Ok(dict)
}

/// Analyses one group of the packets that `read_part` wrote into `parts`, and writes its rows into the folder `out`.
#[pyfunction]
#[pyo3(signature = (parts, group, out, *, report=None, **asked))]
pub fn analyse_part<'py>(
    py: Python<'py>,
    parts: Vec<PathBuf>,
    group: u16,
    out: PathBuf,
    report: Option<Py<PyAny>>,
    asked: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings(asked, Key::FIXED)?;
    if parts.is_empty() {
        return Err(PyValueError::new_err("there are no parts to analyse"));
    }
    let mut report = Report {
        callable: report,
        raised: None,
    };
    let analysed = detached(py, || {
        let all = folder::parts(&parts)?;
        atomically(&out, |to| {
            fs::create_dir(to)?;
            let from = Source {
                packets: |file: usize, group: u16| opened(&packets(&parts[file], group)),
                detail: |file: usize| opened(&detail(&parts[file])),
            };
            let to = Sink {
                waiting: folder::written(&waiting(to))?,
                rows: folder::written(&rows(to))?,
            };
            let tell = |progress| report.tell(progress);
            Ok(parts::analyse(&all, group, &settings, from, to, tell)?)
        })
    });
    if let Some(raised) = report.raised {
        return Err(raised);
    }
    let dict = PyDict::new(py);
    let analysed = match analysed {
        Err(Error::Full) => return full(dict),
        analysed => analysed?,
    };
    dict.set_item("group", group)?;
    dict.set_item("tcp_packets", analysed.counters.packets)?;
    dict.set_item("connections", analysed.counters.connections)?;
    dict.set_item("rows", analysed.rows)?;
    dict.set_item("pieces", analysed.pieces.len().saturating_sub(1))?;
    Ok(dict)
}
