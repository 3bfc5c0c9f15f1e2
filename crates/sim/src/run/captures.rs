//! The captures of a transfer, as the lab writes them.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use rexmit_wire::pcapng::Writer;

use super::watch::{Captured, Captures};

/// Writes `NAME.h1.pcapng` and `NAME.h2.pcapng` in `folder`; each appears only when it is whole.
pub fn write(captures: &Captures, folder: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (host, packets) in [("h1", &captures.server), ("h2", &captures.client)] {
        let path = folder.join(format!("{name}.{host}.pcapng"));
        one(packets, &path, &format!("{host}-eth0")).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn one(packets: &[Captured], path: &Path, interface: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    let mut writer = Writer::new(BufWriter::new(File::create(&partial)?))?;
    let interface = writer.add_interface(interface)?;
    // Packets that were held come in the order of their fates.
    let mut packets: Vec<&Captured> = packets.iter().collect();
    packets.sort_by_key(|packet| packet.time);
    for packet in packets {
        let length = u32::try_from(packet.bytes.len())?;
        writer.packet(
            interface,
            packet.time,
            &packet.bytes,
            length,
            packet.comment.as_deref(),
        )?;
    }
    writer.flush()?;
    Ok(fs::rename(&partial, path)?)
}
