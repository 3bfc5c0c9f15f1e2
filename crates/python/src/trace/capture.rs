//! Where a capture's bytes come from: a file, or an object of Python that reads it from elsewhere.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;

use super::pipe::{Pipe, Stop};
use crate::parts::{words, Input};

/// The name of standard input.
const STDIN: &str = "-";

/// A capture that can be opened.
pub enum Capture {
    /// A file, a pipe, or `-` for standard input.
    Path(PathBuf),
    /// What Python reads: `open()` gives an object whose `read(size)` gives at most `size` bytes, none at the end.
    /// `str()` of it is its name.
    Object { object: Py<PyAny>, name: String },
}

impl<'py> FromPyObject<'_, 'py> for Capture {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !object.hasattr("open")? || object.hasattr("__fspath__")? {
            return Ok(Capture::Path(object.extract()?));
        }
        Ok(Capture::Object {
            name: object.str()?.extract()?,
            object: object.to_owned().unbind(),
        })
    }
}

impl Clone for Capture {
    fn clone(&self) -> Self {
        match self {
            Capture::Path(path) => Capture::Path(path.clone()),
            Capture::Object { object, name } => Capture::Object {
                object: Python::attach(|py| object.clone_ref(py)),
                name: name.clone(),
            },
        }
    }
}

impl Capture {
    /// As messages name it.
    pub fn name(&self) -> String {
        match self {
            Capture::Path(path) => path.display().to_string(),
            Capture::Object { name, .. } => name.clone(),
        }
    }

    /// Whether it can be opened once only.
    pub fn is_pipe(&self) -> bool {
        match self {
            Capture::Path(path) => fs::metadata(path).map_or(true, |found| !found.is_file()),
            Capture::Object { .. } => false,
        }
    }

    /// Whether a file is there and may be read; what Python reads is looked at when it is opened.
    pub fn check(&self) -> io::Result<()> {
        let Capture::Path(path) = self else {
            return Ok(());
        };
        if path == Path::new(STDIN) {
            return Ok(());
        }
        // With the path, which the system's own word leaves out.
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        // A pipe is opened once only, later.
        if fs::metadata(path).map_err(named)?.is_file() {
            File::open(path).map_err(named)?;
        }
        Ok(())
    }

    /// Begins to read; a pipe ends early when `stop` is asked for.
    pub fn open(&self, stop: &Stop) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Capture::Path(path) if path == Path::new(STDIN) => Box::new(Pipe::stdin(stop)?),
            Capture::Path(path) if self.is_pipe() => Box::new(Pipe::open(path, stop)?),
            Capture::Path(path) => Box::new(File::open(path)?),
            Capture::Object { object, .. } => {
                let opened = Python::attach(|py| {
                    let opened = object.bind(py).call_method0("open")?;
                    Input::new(&opened)
                });
                Box::new(opened.map_err(|error| io::Error::other(words(&error)))?)
            }
        })
    }
}
