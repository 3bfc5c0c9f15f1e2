//! What an engine says of a run: its rows as columns.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_plan::Answer;
use rexmit_schema::values::Table;

use crate::arrow::Batch;
use crate::detached;
use crate::error::Error;

/// The rows that an engine tells as events, a JSON object each, as tables of a run.
#[pyclass(frozen, module = "rexmit._core")]
#[derive(Default)]
pub struct RunRows(Mutex<Answer>);

#[pymethods]
impl RunRows {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds the row of an event of this type.
    fn add(&self, kind: &str, event: &str) -> Result<(), Error> {
        let event: serde_json::Value = serde_json::from_str(event).map_err(Error::plan)?;
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !answer.row(kind, &event).map_err(Error::plan)? {
            return Err(Error::plan(format_args!("{kind} is the row of no table")));
        }
        Ok(())
    }

    /// The tables by name; there are no rows any more then.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches(py, std::mem::take(&mut *answer).finish())
    }
}

/// Tables by name.
fn batches(py: Python<'_>, tables: [Table; 4]) -> PyResult<Bound<'_, PyDict>> {
    let batches = PyDict::new(py);
    for table in tables {
        batches.set_item(table.name, Batch::new(table).map_err(Error::plan)?)?;
    }
    Ok(batches)
}

/// Runs a plan on the model: the events that are no rows, a JSON object a line, and the tables by name.
#[pyfunction]
#[pyo3(signature = (plan, share=None))]
pub fn run_model<'py>(
    py: Python<'py>,
    plan: &str,
    share: Option<PathBuf>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let (others, tables) = detached(py, || {
        let mut answer = Answer::default();
        rexmit_sim::run_plan(plan, share.as_deref(), &mut answer).map_err(Error::plan)?;
        let others = std::mem::take(&mut answer.others);
        let others = String::from_utf8(others).map_err(Error::plan)?;
        Ok::<_, Error>((others, answer.finish()))
    })?;
    Ok((others, batches(py, tables)?))
}
