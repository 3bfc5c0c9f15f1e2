//! The captures of a transfer, as the lab writes them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rexmit_plan::write_capture;

use super::watch::Captures;

/// Writes `NAME.h1.pcapng` and `NAME.h2.pcapng` in `folder`; each appears only when it is whole.
pub fn write(captures: Captures, folder: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (host, packets) in [("h1", captures.server), ("h2", captures.client)] {
        let path = folder.join(format!("{name}.{host}.pcapng"));
        write_capture(packets, &path, &[format!("{host}-eth0")])?;
    }
    Ok(())
}
