//! What waits in all groups, judged; and the rows of all groups as one run gives them.

use std::collections::VecDeque;
use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_trace::analyzer::Rows;
use rexmit_trace::columns::Purpose;
use rexmit_trace::parts::{judge, Judged, Part, PieceRows};
use rexmit_wire::capture::Drops;
use rexmit_wire::table::Key;

use super::folder::{self, atomically, judged, named, opened, rows as rows_of, waiting, Opened};
use super::full;
use crate::detached;
use crate::error::Error;
use crate::trace::asked::settings;
use crate::trace::told::{self, OfFile, BATCH};

/// Judges the rows that wait for what other connections of their host say, of all groups, and writes them into the folder `out`.
#[pyfunction]
#[pyo3(signature = (parts, rows, out, **asked))]
pub fn judge_parts<'py>(
    py: Python<'py>,
    parts: Vec<PathBuf>,
    rows: Vec<PathBuf>,
    out: PathBuf,
    asked: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings(asked, Key::FIXED)?;
    let judged = detached(py, || -> Result<_, Error> {
        let all = folder::parts(&parts)?;
        if let Some(nothing) = nothing(&all) {
            return Err(Error::Plan(nothing));
        }
        let said = atomically(&out, |to| {
            fs::create_dir(to)?;
            let waits: Vec<_> = rows
                .iter()
                .map(|folder| opened(&waiting(folder)))
                .collect::<Result<_, _>>()?;
            let said = judge(&all, &settings, waits, folder::written(&rows_of(to))?)?;
            said.write(folder::written(&judged(to))?)?;
            Ok(said)
        })?;
        Ok((all, said))
    });
    let (all, said) = match judged {
        Err(Error::Full) => return full(PyDict::new(py)),
        judged => judged?,
    };
    let files = all.iter().map(of_file).collect();
    let stacks = settings.stacks.pages();
    let mut drops = Drops::default();
    all.iter().for_each(|part| drops.add(&part.drops));
    let summary = said.summary();
    let dict = told::summary(py, &summary, None, &said.settings, &stacks, files, drops)?;
    // Parts are read without a capture filter.
    dict.set_item("left_out", 0)?;
    dict.set_item("pieces", said.sizes())?;
    Ok(dict)
}

fn of_file(part: &Part) -> OfFile {
    let times = part.times();
    let times = times.map(|(first, last)| (first.as_nanos(), last.as_nanos()));
    (part.frames(), times)
}

/// Why nothing could be read, if nothing could.
fn nothing(parts: &[Part]) -> Option<String> {
    let none = parts.iter().all(|part| part.frames() == 0);
    let mut errors = parts
        .iter()
        .filter_map(|part| Some(format!("{}: {}", part.name, part.error()?)));
    errors.next().filter(|_| none)
}

/// The rows of all groups as one run gives them.
#[pyclass(frozen, module = "rexmit._core")]
pub struct MergeParts {
    rows: Vec<PathBuf>,
    folder: PathBuf,
    judged: Judged,
    state: Mutex<Unmerged>,
}

struct Unmerged {
    /// Pieces that are still to be opened.
    pieces: VecDeque<usize>,
    piece: Option<PieceRows<Opened>>,
}

#[pymethods]
impl MergeParts {
    #[new]
    #[pyo3(signature = (rows, judged, *, pieces=None))]
    fn new(
        rows: Vec<PathBuf>,
        judged: PathBuf,
        pieces: Option<(usize, usize)>,
    ) -> Result<Self, Error> {
        let folder = judged;
        let (name, file) = opened(&folder::judged(&folder))?;
        let judged = Judged::read(&name, file)?;
        if rows.len() != usize::from(judged.groups()) {
            return Err(Error::plan(format_args!(
                "{} folders of rows where those of {} groups are needed",
                rows.len(),
                judged.groups()
            )));
        }
        let all = judged.pieces();
        let (first, end) = pieces.unwrap_or((0, all));
        if first >= end || end > all {
            return Err(Error::plan(format_args!(
                "there are no pieces from {first} to before {end}: there are {all}, from 0 on"
            )));
        }
        Ok(MergeParts {
            rows,
            folder,
            judged,
            state: Mutex::new(Unmerged {
                pieces: (first..end).collect(),
                piece: None,
            }),
        })
    }

    /// The next rows by the table's name, none when there are no more.
    fn next_batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let rows = detached(py, || self.gather())?;
        py.check_signals()?;
        if rows.is_empty() {
            return Ok(None);
        }
        told::batch(
            py,
            &rows,
            &self.judged.capture,
            &self.judged.settings,
            |_| Purpose::Tables,
        )
        .map(Some)
    }
}

impl MergeParts {
    /// Enough for a batch, or all that is left.
    fn gather(&self) -> Result<Rows, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = Rows::default();
        while rows.len() < BATCH {
            if let Some(piece) = &mut state.piece {
                match piece.next_rows()? {
                    Some(mut some) => rows.append(&mut some),
                    None => state.piece = None,
                }
            } else if let Some(next) = state.pieces.pop_front() {
                state.piece = Some(self.open(next)?);
            } else {
                break;
            }
        }
        Ok(rows)
    }

    /// A piece of those groups that have it, and of what was judged.
    fn open(&self, number: usize) -> Result<PieceRows<Opened>, Error> {
        let mut files = Vec::new();
        let judged = (self.judged.groups(), &self.folder);
        for (group, folder) in [judged].into_iter().chain((0..).zip(&self.rows)) {
            if let Some(begin) = self.judged.begin(group, number) {
                let (name, mut file) = opened(&rows_of(folder))?;
                file.seek(SeekFrom::Start(begin))
                    .map_err(|error| named(Path::new(&name), &error))?;
                files.push((name, file));
            }
        }
        Ok(PieceRows::new(&self.judged, files)?)
    }
}
