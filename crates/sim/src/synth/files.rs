//! Captures in the formats of files.

use std::io::{self, Write};

use rexmit_time::Time;
use rexmit_wire::{pcap, pcapng};

use super::merge::Capture;
use super::record::Point;

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// A format of capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pcapng with one interface.
    Pcapng,
    /// pcap with time stamps in nanoseconds.
    Pcap,
}

/// A capture in a file, over Ethernet.
pub enum FileCapture<W: Write> {
    /// pcapng.
    Pcapng(pcapng::Writer<W>),
    /// pcap.
    Pcap(pcap::Writer<W>),
}

impl<W: Write> FileCapture<W> {
    /// Begins the capture of `point`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, format: Format, point: Point, snaplen: u32) -> io::Result<Self> {
        Ok(match format {
            Format::Pcapng => {
                let mut writer = pcapng::Writer::new(out)?;
                writer.add_interface_of(point.as_str(), ETHERNET, snaplen)?;
                FileCapture::Pcapng(writer)
            }
            Format::Pcap => FileCapture::Pcap(pcap::Writer::new(out, ETHERNET, snaplen)?),
        })
    }
}

impl<W: Write> Capture for FileCapture<W> {
    fn packet(&mut self, time: Time, bytes: &[u8], original: u32) -> io::Result<()> {
        match self {
            FileCapture::Pcapng(writer) => writer.packet(0, time, bytes, original, None),
            FileCapture::Pcap(writer) => writer.packet(time, bytes, original),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            FileCapture::Pcapng(writer) => writer.flush(),
            FileCapture::Pcap(writer) => writer.flush(),
        }
    }
}
