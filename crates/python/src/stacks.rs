//! The model's stacks as Python objects.

use pyo3::prelude::*;
use rexmit_tcp::settings::Settings;
use rexmit_tcp::stacks;

/// A stack's page: every setting with its source.
#[pyclass(frozen, get_all, module = "rexmit._core")]
pub struct StackPage {
    /// The stack's name.
    name: String,
    /// What it is, in a line.
    about: String,
    /// Its settings, in order.
    settings: Vec<Py<StackSetting>>,
}

/// A setting of a stack.
#[pyclass(frozen, get_all, module = "rexmit._core")]
pub struct StackSetting {
    /// The name, as in `stack.min_rto`.
    name: String,
    /// The value as text.
    value: String,
    /// Where the value comes from.
    source: String,
    /// What it sets.
    about: String,
    /// What may stand there.
    allowed: String,
}

/// The pages of all stacks.
pub fn pages(py: Python<'_>) -> PyResult<Vec<StackPage>> {
    let fields = Settings::fields();
    stacks::all()
        .map(|page| {
            let settings = fields.iter().map(|field| {
                let setting = StackSetting {
                    name: field.name.to_owned(),
                    value: page.settings.get(field.name).unwrap_or_default(),
                    source: page.source(field).to_owned(),
                    about: field.about.clone(),
                    allowed: field.allowed.clone(),
                };
                Py::new(py, setting)
            });
            Ok(StackPage {
                name: page.name.to_owned(),
                about: page.about.to_owned(),
                settings: settings.collect::<PyResult<_>>()?,
            })
        })
        .collect()
}
