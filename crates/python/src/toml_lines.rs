//! Where the keys of a TOML document stand: the reader of Python's standard library does not tell.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// The line, from 1, of every table, key and entry of a list in a valid TOML document, by path.
#[pyfunction]
pub fn toml_lines<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut lines = Lines {
        ends: text.match_indices('\n').map(|(at, _)| at).collect(),
        found: PyDict::new(py),
    };
    lines.table(&PyTuple::empty(py), table.get_ref())?;
    Ok(lines.found)
}

struct Lines<'py> {
    /// Where the document's lines end.
    ends: Vec<usize>,
    found: Bound<'py, PyDict>,
}

impl<'py> Lines<'py> {
    fn table(&mut self, at: &Bound<'py, PyTuple>, table: &DeTable<'_>) -> PyResult<()> {
        for (key, value) in table {
            self.note(at, key.get_ref().as_ref(), key.span().start, value)?;
        }
        Ok(())
    }

    fn note(
        &mut self,
        at: &Bound<'py, PyTuple>,
        step: impl IntoPyObject<'py>,
        start: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> PyResult<()> {
        let path = at.add((step,))?.cast_into::<PyTuple>()?;
        let line = self.ends.partition_point(|end| *end < start) + 1;
        self.found.set_item(&path, line)?;
        match value.get_ref() {
            DeValue::Table(table) => self.table(&path, table),
            DeValue::Array(entries) => entries
                .iter()
                .enumerate()
                .try_for_each(|(index, entry)| self.note(&path, index, entry.span().start, entry)),
            _ => Ok(()),
        }
    }
}
