//! The capture of one host and transfer.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use rexmit_time::Time;
use rexmit_wire::pcapng::Writer;

/// One packet, from its IP header on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When the host sent or received it.
    pub time: Time,
    /// All of it.
    pub bytes: Vec<u8>,
    /// What became of it ([`comment`](crate::comment)).
    pub comment: Option<String>,
}

/// Writes `packets` of `interface` in the order of time (those that were held come in that of their fates) as pcapng to
/// `path`, which appears only when it is whole.
///
/// # Errors
/// When the file cannot be written.
pub fn write_capture(mut packets: Vec<Captured>, path: &Path, interface: &str) -> Result<()> {
    packets.sort_by_key(|packet| packet.time);
    let partial = path.with_extension("partial");
    let write = || -> Result<()> {
        let mut writer = Writer::new(BufWriter::new(File::create(&partial)?))?;
        let interface = writer.add_interface(interface)?;
        for packet in &packets {
            let length = u32::try_from(packet.bytes.len())?;
            let comment = packet.comment.as_deref();
            writer.packet(interface, packet.time, &packet.bytes, length, comment)?;
        }
        writer.flush()?;
        Ok(fs::rename(&partial, path)?)
    };
    write().with_context(|| path.display().to_string())
}
