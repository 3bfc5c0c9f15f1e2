//! The capture of one host and transfer.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use rexmit_time::Time;
use rexmit_wire::pcapng::Writer;

/// One packet, from its IP header on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When the host sent or received it.
    pub time: Time,
    /// The host's interface that it passed, from 0.
    pub interface: usize,
    /// All of it.
    pub bytes: Vec<u8>,
    /// What became of it ([`comment`](crate::comment)).
    pub comment: Option<String>,
}

/// Writes `packets` of a host's `interfaces` in the order of time (those that were held come in that of their fates) as
/// pcapng to `path`, in a folder of the caller's own, where it appears only when it is whole.
///
/// # Errors
/// When the file cannot be written, or a packet passed an interface that is none of these.
pub fn write_capture<S: AsRef<str>>(
    mut packets: Vec<Captured>,
    path: &Path,
    interfaces: &[S],
) -> Result<()> {
    packets.sort_by_key(|packet| packet.time);
    let partial = path.with_extension("partial");
    let write = || -> Result<()> {
        let mut writer = Writer::new(BufWriter::new(File::create_new(&partial)?))?;
        let ids = interfaces
            .iter()
            .map(|name| writer.add_interface(name.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        for packet in &packets {
            let interface = *ids
                .get(packet.interface)
                .ok_or_else(|| anyhow!("no interface {}", packet.interface))?;
            let length = u32::try_from(packet.bytes.len())?;
            let comment = packet.comment.as_deref();
            writer.packet(interface, packet.time, &packet.bytes, length, comment)?;
        }
        writer.flush()?;
        Ok(fs::rename(&partial, path)?)
    };
    write().with_context(|| path.display().to_string())
}
