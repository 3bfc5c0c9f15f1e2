//! The captures of a transfer, as the lab writes them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rexmit_plan::{write_capture, Cell, Layout};

use super::watch::Captures;

/// Writes the captures of both hosts of a transfer in `folder`; each file appears only when it is whole.
pub fn write(captures: Captures, folder: &Path, cell: &Cell, repetition: u32) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let clients = match &cell.network.layout {
        Layout::Links(_) => vec!["h2-eth0".to_owned()],
        Layout::Paths(paths) => (1..=paths.len()).map(|n| format!("h2-eth{n}")).collect(),
    };
    for (host, packets, devices) in [
        ("h1", captures.server, vec!["h1-eth0".to_owned()]),
        ("h2", captures.client, clients),
    ] {
        let path = folder.join(format!("{}-{repetition}.{host}.pcapng", cell.id));
        write_capture(packets, &path, &devices)?;
    }
    Ok(())
}
