//! Where the guest puts what its caller is to have: the shared folder, or where there is none, the machine's port.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::machine;

/// A file that the caller reads while the guest appends to it.
pub enum Stream {
    /// In the shared folder. hostfs writes through, so a line is on the host as soon as it is written, whatever becomes of
    /// the guest.
    File(File),
    /// Sent, by this name.
    Sent(&'static str),
}

impl Stream {
    /// Opens the stream `name` of the shared folder `share`.
    pub fn open(share: &Path, name: &'static str) -> Result<Self> {
        if machine::here() {
            return Ok(Self::Sent(name));
        }
        let path = share.join(name);
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self::File(file))
    }

    /// Whether nothing stands in it yet.
    pub fn is_fresh(&self) -> Result<bool> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len() == 0),
            // A machine that restarts ends its emulator.
            Self::Sent(_) => Ok(true),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Sent(name) => {
                machine::send(name, bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sees to it that the caller has the file at `path` in the shared folder, which is complete.
pub fn publish(share: &Path, path: &Path) -> Result<()> {
    if machine::here() {
        machine::hand_over(share, path)?;
    }
    Ok(())
}

/// Sees to it that the caller has all that is in the shared folder.
pub fn publish_all(share: &Path) -> Result<()> {
    if machine::here() {
        machine::hand_over_all(share)?;
    }
    Ok(())
}
