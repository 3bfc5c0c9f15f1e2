//! Reading pcapng.

use std::io::{self, ErrorKind, Read};

use pcap_parser::pcapng::{Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{PcapBlockOwned, PcapError, PcapNGReader};
use rexmit_time::Time;

/// Room for the largest block: a packet of 256 KiB and its options.
const CAPACITY: usize = 1 << 19;

/// An interface that a capture declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, empty when the capture gives none.
    pub name: String,
    /// Its link type; 101 is RAW.
    pub linktype: i32,
    tsresol: u8,
    tsoffset_s: i64,
}

/// One packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Time stamp, nanoseconds since the clock's origin.
    pub time: Time,
    /// The interface's index in [`Reader::interfaces`].
    pub interface: usize,
    /// The bytes captured.
    pub data: Vec<u8>,
    /// The packet's length on the wire, bytes.
    pub original_len: u32,
    /// The first comment on the packet.
    pub comment: Option<String>,
}

/// Reads the packets of a pcapng file, section after section.
///
/// A capture that ends in the middle of a block gives an `UnexpectedEof` error after all whole packets.
pub struct Reader<R: Read> {
    blocks: PcapNGReader<Filling<R>>,
    interfaces: Vec<Interface>,
    /// Index of the current section's first interface.
    section: usize,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Opens a capture.
    ///
    /// # Errors
    /// Those of `input`; `InvalidData` when it is no pcapng.
    pub fn new(input: R) -> io::Result<Self> {
        let blocks = PcapNGReader::new(CAPACITY, Filling(input)).map_err(|e| error(&e))?;
        Ok(Reader {
            blocks,
            interfaces: Vec::new(),
            section: 0,
            ended: false,
        })
    }

    /// The interfaces declared so far, over all sections.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn read(&mut self) -> io::Result<Option<Captured>> {
        loop {
            let refill = match self.blocks.next() {
                Ok((used, block)) => {
                    let packet = match &block {
                        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                            self.section = self.interfaces.len();
                            Ok(None)
                        }
                        PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                            self.interfaces.push(interface(block));
                            Ok(None)
                        }
                        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
                            packet(block, &self.interfaces, self.section).map(Some)
                        }
                        _ => Ok(None),
                    };
                    self.blocks.consume(used);
                    match packet {
                        Ok(None) => continue,
                        done => return done,
                    }
                }
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::Incomplete(_)) => true,
                Err(other) => return Err(error(&other)),
            };
            if refill {
                if self.blocks.reader_exhausted() {
                    return Err(io::Error::new(
                        ErrorKind::UnexpectedEof,
                        "the capture ends inside a block",
                    ));
                }
                self.blocks.refill().map_err(|e| error(&e))?;
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Captured>;

    fn next(&mut self) -> Option<io::Result<Captured>> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

fn interface(block: &InterfaceDescriptionBlock<'_>) -> Interface {
    let name = block
        .if_name()
        .and_then(Result::ok)
        .unwrap_or_default()
        .to_owned();
    Interface {
        name,
        linktype: block.linktype.0,
        tsresol: block.if_tsresol,
        tsoffset_s: block.if_tsoffset,
    }
}

fn packet(
    block: &EnhancedPacketBlock<'_>,
    interfaces: &[Interface],
    section: usize,
) -> io::Result<Captured> {
    let invalid = |what: &str| io::Error::new(ErrorKind::InvalidData, what.to_owned());
    let index = section + block.if_id as usize;
    let interface = interfaces
        .get(index)
        .ok_or_else(|| invalid("a packet of an interface that is not declared"))?;
    // The block's data is padded to words; `packet_data` of the library would panic on a false length.
    let data = block
        .data
        .get(..block.caplen as usize)
        .ok_or_else(|| invalid("a packet longer than its block"))?;
    let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
    let comment = block
        .options
        .iter()
        .find(|option| option.code == OptionCode::Comment);
    Ok(Captured {
        time: time(ticks, interface).ok_or_else(|| invalid("a time stamp out of range"))?,
        interface: index,
        data: data.to_vec(),
        original_len: block.orig_len(),
        comment: comment
            .and_then(|o| o.as_bytes().ok())
            .map(|b| String::from_utf8_lossy(b).into_owned()),
    })
}

/// A time stamp in nanoseconds, rounded down. The resolution is a power of ten, or of two when its
/// top bit is set.
fn time(ticks: u64, interface: &Interface) -> Option<Time> {
    let exponent = u32::from(interface.tsresol & 0x7f);
    let base: u128 = if interface.tsresol & 0x80 == 0 { 10 } else { 2 };
    let nanos = u128::from(ticks) * 1_000_000_000 / base.checked_pow(exponent)?;
    let nanos = i128::try_from(nanos).ok()? + i128::from(interface.tsoffset_s) * 1_000_000_000;
    u64::try_from(nanos).ok().map(Time::from_nanos)
}

fn error(error: &PcapError<&[u8]>) -> io::Error {
    let kind = match error {
        PcapError::ReadError => ErrorKind::Other,
        PcapError::Incomplete(_) | PcapError::UnexpectedEof => ErrorKind::UnexpectedEof,
        _ => ErrorKind::InvalidData,
    };
    let what = match error {
        PcapError::ReadError => "the capture cannot be read",
        PcapError::BufferTooSmall => "a block of the capture is larger than 512 KiB",
        PcapError::Incomplete(_) | PcapError::UnexpectedEof => "the capture ends inside a block",
        _ => "no pcapng capture, or a broken one",
    };
    io::Error::new(kind, what)
}

/// Fills the caller's buffer as far as the input reaches: the parser takes a short first read for a
/// truncated file.
struct Filling<R>(R);

impl<R: Read> Read for Filling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(tsresol: u8, tsoffset_s: i64) -> Interface {
        Interface {
            name: String::new(),
            linktype: 101,
            tsresol,
            tsoffset_s,
        }
    }

    #[test]
    fn time_stamps_of_every_resolution_become_nanoseconds() {
        let nanos = |ticks, interface: &Interface| time(ticks, interface).map(Time::as_nanos);
        assert_eq!(nanos(7, &with(9, 0)), Some(7));
        assert_eq!(nanos(7, &with(6, 0)), Some(7_000));
        assert_eq!(nanos(7, &with(0, 2)), Some(9_000_000_000));
        assert_eq!(nanos(7, &with(12, 0)), Some(0));
        assert_eq!(
            nanos(3, &with(0x81, 0)),
            Some(1_500_000_000),
            "units of half a second"
        );
        assert_eq!(nanos(0, &with(6, -1)), None);
        assert_eq!(nanos(1, &with(127, 0)), None);
        assert_eq!(nanos(u64::MAX, &with(9, 0)), Some(u64::MAX));
        assert_eq!(nanos(u64::MAX, &with(0, 0)), None);
    }
}
