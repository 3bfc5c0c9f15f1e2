//! The kernel's record of why it sent what it sent again (`kernel/patches/*/0003-*`).

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::kernel::causes::RECORD as LOG;

/// Makes room for so many records and starts the log; with none leaves it as it is, off.
pub fn switch(records: u32) -> Result<()> {
    if records == 0 {
        return Ok(());
    }
    fs::write(LOG, records.to_string()).context(LOG)
}

/// Keeps the log in a file.
pub fn keep(path: &Path) -> Result<()> {
    let text = fs::read_to_string(LOG).context(LOG)?;
    fs::write(path, text).with_context(|| path.display().to_string())
}
