//! Python bindings, nothing else.

use pyo3::prelude::*;

/// The private module `rexmit._core`.
#[pymodule]
mod _core {
    use super::*;

    /// The version of rexmit.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
