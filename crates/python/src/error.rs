//! The one error of the bindings.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::{
    PyFileNotFoundError, PyImportError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::PyErr;
use rexmit_loss::pattern::PatternError;
use rexmit_tcp::stacks::StackError;
use rexmit_trace::emulate::ChosenError;
use rexmit_trace::whatif::SettingError;
use rexmit_wire::{capture, LinkType};

/// Why a call failed.
#[derive(Debug)]
pub enum Error {
    /// A file could not be opened or read, or is no whole capture: Python's OSError, or the
    /// subclass that fits.
    Io(io::Error),
    /// What the system says where this cannot be written, by its number: Python's OSError with that number and the path.
    Unwritable(PathBuf, i32, io::Error),
    /// A capture that cannot be read, and why: Python's OSError.
    Capture(String),
    /// A capture with packets of another link type than RAW: Python's ValueError.
    LinkType(LinkType),
    /// A plan that cannot be read or run: Python's ValueError.
    Plan(String),
    /// More connections than are remembered, of several groups: Python's ValueError, where the caller knows nothing better.
    Full,
    /// A library that is not there: Python's ImportError.
    Library(&'static str),
    /// A text that is no loss pattern: Python's ValueError.
    Pattern(PatternError),
    /// A stack that cannot be made: Python's ValueError.
    Stack(StackError),
    /// A setting to replay that there is not: Python's ValueError.
    Setting(SettingError),
    /// Emulations that there are not: Python's ValueError.
    Chosen(ChosenError),
}

impl Error {
    /// A plan that cannot be run, for this reason.
    pub fn plan(reason: impl std::fmt::Display) -> Self {
        // With its causes, where it has some.
        Error::Plan(format!("{reason:#}"))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

impl From<capture::Error> for Error {
    fn from(error: capture::Error) -> Self {
        Error::Io(error.into())
    }
}

impl From<PatternError> for Error {
    fn from(error: PatternError) -> Self {
        Error::Pattern(error)
    }
}

impl From<SettingError> for Error {
    fn from(error: SettingError) -> Self {
        Error::Setting(error)
    }
}

impl From<ChosenError> for Error {
    fn from(error: ChosenError) -> Self {
        Error::Chosen(error)
    }
}

impl From<StackError> for Error {
    fn from(error: StackError) -> Self {
        Error::Stack(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) if error.raw_os_error().is_some() => error.into(),
            Error::Io(error) => {
                let text = error.to_string();
                match error.kind() {
                    io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
                    io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
                    _ => PyOSError::new_err(text),
                }
            }
            Error::Unwritable(path, number, error) => {
                let text = error.to_string();
                let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
                PyOSError::new_err((number, reason, path))
            }
            Error::Library(what) => PyImportError::new_err(what),
            Error::Capture(why) => PyOSError::new_err(why),
            Error::Pattern(error) => PyValueError::new_err(error.to_string()),
            Error::LinkType(other) => PyValueError::new_err(format!(
                "the capture has link type {other}; only RAW (101) is read"
            )),
            Error::Full => PyValueError::new_err("more connections than are remembered"),
            Error::Plan(reason) => PyValueError::new_err(reason),
            Error::Stack(error) => PyValueError::new_err(error.to_string()),
            Error::Setting(error) => PyValueError::new_err(error.to_string()),
            Error::Chosen(error) => PyValueError::new_err(error.to_string()),
        }
    }
}
