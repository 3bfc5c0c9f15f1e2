//! What can be wrong with a capture.

use core::fmt;
use std::io;

use super::unknown::EMPTY;

/// Why a capture cannot be read (on).
#[derive(Debug)]
pub enum Error {
    /// The stream below fails, or what is compressed is broken.
    Input(io::Error),
    /// The bytes are no capture of a known format.
    Unknown {
        /// What they seem to be.
        what: &'static str,
    },
    /// The capture's structure is broken.
    Broken {
        /// Where, in bytes from its start (after decompression).
        offset: u64,
        /// What is wrong there.
        what: String,
    },
}

impl Error {
    pub(super) fn broken(offset: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        Error::Broken { offset, what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(error) => write!(f, "the capture cannot be read: {error}"),
            Error::Unknown { what } if *what == EMPTY => {
                write!(f, "no capture: it is empty (capture again, or wait until what writes it has written)")
            }
            Error::Unknown { what } => write!(
                f,
                "no capture of a known format: {what} (known are pcap, pcapng, ERF, snoop and TSH, and as text \
                 what tcpdump, tshark and Wireshark's list print of packets, packed by gzip, zstd, lz4 or xz)"
            ),
            Error::Broken { offset, what } => {
                write!(f, "the capture is broken at byte {offset}: {what}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Input(error) => Some(error),
            Error::Unknown { .. } | Error::Broken { .. } => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Input(error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }
}
