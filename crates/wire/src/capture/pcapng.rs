//! The pcapng format (draft-ietf-opsawg-pcapng): sections of blocks.

use pcap_parser::pcapng::{
    parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    InterfaceDescriptionBlock,
};
use rexmit_time::Time;

use super::interface::Interface;
use super::record::{NextRecord, RecordAt};
use super::statistics::Statistics;
use super::window::ByteWindow;
use super::{Error, MOST_CAPTURED};

/// Types of blocks.
pub(super) mod block {
    /// The same in both byte orders.
    pub const SECTION: u32 = 0x0a0d_0d0a;
    pub const INTERFACE: u32 = 1;
    /// Obsolete, §A.
    pub const PACKET: u32 = 2;
    pub const SIMPLE: u32 = 3;
    pub const STATISTICS: u32 = 5;
    pub const ENHANCED: u32 = 6;
}

const BYTE_ORDER: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// Interfaces that one file may declare over all sections.
const MOST_INTERFACES: usize = 1 << 16;

/// A pcapng file.
#[derive(Debug, Default)]
pub(super) struct Pcapng {
    pub interfaces: Vec<Interface>,
    pub big_endian: bool,
    /// Index of the current section's first interface.
    section: usize,
    /// Time stamp of the packet before, for packets without one.
    last: Time,
    /// Packets whose own cannot be told.
    pub undated: u64,
    /// What was lost.
    pub statistics: Statistics,
}

impl Pcapng {
    /// Whether the file begins with a section header.
    pub fn recognise(window: &mut ByteWindow<'_>) -> Result<Option<Self>, Error> {
        window.need(12)?;
        let Some(head) = window.ahead().first_chunk::<12>() else {
            return Ok(None);
        };
        let order = [head[8], head[9], head[10], head[11]];
        let mut reversed = order;
        reversed.reverse();
        let begins = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) == block::SECTION;
        let pcapng = begins && (order == BYTE_ORDER || reversed == BYTE_ORDER);
        Ok(pcapng.then(Pcapng::default))
    }

    #[inline]
    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }

    /// Type and length of the block at which the window stands; none at the stream's end.
    #[inline]
    pub fn head(&mut self, window: &mut ByteWindow<'_>) -> Result<Option<(u32, u32)>, Error> {
        if !window.need(12)? {
            return Ok(None);
        }
        let offset = window.offset();
        let kind = self.word(window.ahead(), 0);
        if kind == block::SECTION {
            self.begin_section(window.ahead(), offset)?;
        }
        let total = self.word(window.ahead(), 4);
        if total < 12 || total % 4 != 0 {
            let what = format!("a block of {total} bytes");
            return Err(Error::broken(offset, what));
        }
        Ok(Some((kind, total)))
    }

    #[inline]
    pub fn next(&mut self, window: &mut ByteWindow<'_>) -> Result<NextRecord, Error> {
        let Some((kind, total)) = self.head(window)? else {
            return Ok(NextRecord::End);
        };
        let offset = window.offset();
        let length = total as usize;
        let step = match kind {
            block::INTERFACE | block::PACKET | block::SIMPLE | block::ENHANCED => {
                if length > ByteWindow::CAPACITY {
                    let what = format!("a block of {total} bytes");
                    return Err(Error::broken(offset, what));
                }
                if !window.need(length)? {
                    return Ok(NextRecord::End);
                }
                let bytes = window.at(window.position(), length);
                if self.word(bytes, length - 4) != total {
                    let what = "a block whose two lengths differ";
                    return Err(Error::broken(offset, what));
                }
                let position = window.position();
                match kind {
                    block::INTERFACE => self.declare(bytes, offset)?,
                    block::SIMPLE => self.simple(bytes, position, offset)?,
                    kind => self.packet(kind, bytes, position, offset)?,
                }
            }
            block::STATISTICS if length <= ByteWindow::CAPACITY => {
                if !window.need(length)? {
                    return Ok(NextRecord::End);
                }
                let bytes = window.at(window.position(), length);
                self.count(bytes);
                NextRecord::Other
            }
            // Names, secrets and whatever else there is may be of any length.
            _ => {
                return Ok(if window.skip(u64::from(total))? {
                    NextRecord::Other
                } else {
                    NextRecord::End
                });
            }
        };
        window.consume(length);
        Ok(step)
    }

    /// §4.1: the byte order is the section's own.
    fn begin_section(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let mut order = [bytes[8], bytes[9], bytes[10], bytes[11]];
        self.big_endian = order == BYTE_ORDER;
        if !self.big_endian {
            order.reverse();
        }
        if order != BYTE_ORDER {
            let what = "a section without byte order";
            return Err(Error::broken(offset, what));
        }
        self.section = self.interfaces.len();
        Ok(())
    }

    /// §4.2.
    fn declare(&mut self, bytes: &[u8], offset: u64) -> Result<NextRecord, Error> {
        let parsed = if self.big_endian {
            parse_interfacedescriptionblock_be(bytes)
        } else {
            parse_interfacedescriptionblock_le(bytes)
        };
        let Ok((_, block)) = parsed else {
            let what = "a broken description of an interface";
            return Err(Error::broken(offset, what));
        };
        if self.interfaces.len() == MOST_INTERFACES {
            let what = "more than 65,536 interfaces";
            return Err(Error::broken(offset, what));
        }
        self.interfaces.push(interface(&block, self.big_endian));
        Ok(NextRecord::Other)
    }

    /// §4.6.
    fn count(&mut self, bytes: &[u8]) {
        let own = self.word(bytes, 8) as usize;
        let index = self.section.saturating_add(own);
        if index < self.interfaces.len() {
            let big_endian = self.big_endian;
            self.statistics.read(index as u32, bytes, big_endian);
        }
    }

    /// §4.3, and the obsolete packet block: it has 16 bits for the interface and 16 for a count of drops.
    #[inline]
    fn packet(
        &mut self,
        kind: u32,
        bytes: &[u8],
        position: usize,
        offset: u64,
    ) -> Result<NextRecord, Error> {
        const FIXED: usize = 28;
        if bytes.len() < FIXED + 4 {
            let what = format!("a packet in a block of {} bytes", bytes.len());
            return Err(Error::broken(offset, what));
        }
        let own = match self.word(bytes, 8) {
            id if kind == block::ENHANCED => id,
            id if self.big_endian => id >> 16,
            id => id & 0xffff,
        };
        let index = self.section + own as usize;
        let Some(interface) = self.interfaces.get(index) else {
            let what = format!("a packet of interface {own}, which is not declared");
            return Err(Error::broken(offset, what));
        };
        let ticks = u64::from(self.word(bytes, 12)) << 32 | u64::from(self.word(bytes, 16));
        let (captured, original_len) = (self.word(bytes, 20), self.word(bytes, 24));
        let len = captured as usize;
        let room = bytes.len() - FIXED - 4;
        if len > room || len > MOST_CAPTURED {
            let what = format!("a packet of {captured} bytes in a block of {}", bytes.len());
            return Err(Error::broken(offset, what));
        }
        let time = if let Some(time) = interface.time(ticks) {
            time
        } else {
            self.undated += 1;
            self.last
        };
        self.last = time;
        Ok(NextRecord::Packet(RecordAt {
            time,
            link: interface.link,
            interface: index as u16,
            original_len,
            from: position + FIXED,
            len,
            options: room.saturating_sub(len.next_multiple_of(4)),
        }))
    }

    /// §4.4: of the section's first interface, cut at its snap length, without time.
    fn simple(&mut self, bytes: &[u8], position: usize, offset: u64) -> Result<NextRecord, Error> {
        const FIXED: usize = 12;
        let Some(interface) = self.interfaces.get(self.section) else {
            let what = "a packet, but no interface is declared";
            return Err(Error::broken(offset, what));
        };
        let Some(room) = bytes.len().checked_sub(FIXED + 4) else {
            let what = format!("a packet in a block of {} bytes", bytes.len());
            return Err(Error::broken(offset, what));
        };
        let original_len = self.word(bytes, 8);
        let mut len = room.min(original_len as usize).min(MOST_CAPTURED);
        if interface.snap > 0 {
            len = len.min(interface.snap as usize);
        }
        Ok(NextRecord::Packet(RecordAt {
            time: self.last,
            link: interface.link,
            interface: self.section as u16,
            original_len,
            from: position + FIXED,
            len,
            options: 0,
        }))
    }
}

fn interface(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Interface {
    let name = block.if_name().and_then(Result::ok).unwrap_or_default();
    // pcap-parser takes the option as little-endian in every section.
    let offset_s = if big_endian {
        block.if_tsoffset.swap_bytes()
    } else {
        block.if_tsoffset
    };
    let link = block.linktype.0 as u16;
    Interface::new(name, link, block.snaplen, block.if_tsresol, offset_s)
}
