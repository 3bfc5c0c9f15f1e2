//! A capture from a file, or from any Python object that is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;

use super::folder::named;
use crate::error::Error;

/// A capture from a file, or from any Python object that is read.
pub struct Input {
    from: From,
    failed: Failed,
}

enum From {
    File(File),
    /// Its method `read`.
    Object(Py<PyAny>),
}

/// Why an input failed: what was read of it is not the whole capture.
#[derive(Clone, Default)]
pub struct Failed(Arc<Mutex<Option<PyErr>>>);

impl Failed {
    pub fn is_some(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Whether it gave no more, and was not interrupted.
    pub fn is_os_error(&self) -> bool {
        let failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Python::attach(|py| {
            failed
                .as_ref()
                .is_some_and(|error| error.is_instance_of::<PyOSError>(py))
        })
    }

    pub fn take(&self) -> Option<Why> {
        let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed.take().map(Why)
    }
}

/// Why an input failed.
pub struct Why(PyErr);

impl Why {
    /// The error of the input called `name`.
    pub fn raise(self, name: &str) -> PyErr {
        Python::attach(|py| {
            let error = PyOSError::new_err(format!("{name}: {}", self.0.value(py)));
            error.set_cause(py, Some(self.0));
            error
        })
    }
}

impl Input {
    /// `source` is a path or has a method `read`.
    pub fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let from = if let Ok(path) = source.extract::<PathBuf>() {
            let file = File::open(&path).map_err(|error| Error::Io(named(&path, &error)))?;
            From::File(file)
        } else if source.hasattr("read")? {
            From::Object(source.getattr("read")?.unbind())
        } else {
            return Err(PyTypeError::new_err(
                "a capture is a path, or an object with a method `read` that gives bytes",
            ));
        };
        Ok(Input {
            from,
            failed: Failed::default(),
        })
    }

    /// Where it says why it failed, if it does.
    pub fn failed(&self) -> Failed {
        self.failed.clone()
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.from {
            From::File(file) => file.read(buffer).map_err(PyErr::from),
            From::Object(read) => from_object(read, buffer),
        };
        read.map_err(|error| {
            let told = words(&error);
            let mut failed = self.failed.0.lock().unwrap_or_else(PoisonError::into_inner);
            *failed = Some(error);
            io::Error::other(told)
        })
    }
}

fn from_object(read: &Py<PyAny>, buffer: &mut [u8]) -> PyResult<usize> {
    Python::attach(|py| {
        py.check_signals()?;
        let given = read.bind(py).call1((buffer.len(),))?;
        let bytes: PyBuffer<u8> = PyBuffer::get(&given)?;
        let count = bytes.item_count();
        let Some(room) = buffer.get_mut(..count) else {
            return Err(PyOSError::new_err(format!(
                "`read` gave {count} bytes where at most {} were asked for",
                buffer.len()
            )));
        };
        bytes.copy_to_slice(py, room)?;
        Ok(count)
    })
}

/// The words of an exception, without its class.
pub fn words(error: &PyErr) -> String {
    Python::attach(|py| error.value(py).to_string())
}
