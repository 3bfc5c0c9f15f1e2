//! The classic pcap format (draft-ietf-opsawg-pcap).

use rexmit_time::Time;

use super::record::{NextRecord, RecordAt};
use super::window::ByteWindow;
use super::{Error, MOST_CAPTURED};
use crate::link::LinkType;

/// How the records of one pcap file are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    big_endian: bool,
    /// Nanoseconds in a unit of the fraction of a second.
    unit: u32,
    /// Bytes of a record's header.
    header: usize,
    lengths: Lengths,
    link: LinkType,
}

/// The order of the two lengths of a record. Before version 2.3 the length on the wire came first; files of 2.3
/// have both orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    CapturedFirst,
    WireFirst,
    SmallerIsCaptured,
}

impl Pcap {
    /// Reads the file header when its magic number is one of pcap.
    pub fn recognise(window: &mut ByteWindow<'_>) -> Result<Option<Self>, Error> {
        window.need(24)?;
        let Some(head) = window.ahead().first_chunk::<24>() else {
            return Ok(None);
        };
        let magic = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let (big_endian, magic) = match magic {
            0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34 => (true, magic),
            _ => (false, magic.swap_bytes()),
        };
        let (unit, header) = match magic {
            0xa1b2_c3d4 => (1_000, 16),
            0xa1b2_3c4d => (1, 16),
            // Records with the interface, the protocol and the packet's type at their end.
            0xa1b2_cd34 => (1_000, 24),
            _ => return Ok(None),
        };
        let u16_at = |at: usize| {
            let bytes = [head[at], head[at + 1]];
            if big_endian {
                u16::from_be_bytes(bytes)
            } else {
                u16::from_le_bytes(bytes)
            }
        };
        let (major, minor) = (u16_at(4), u16_at(6));
        if major != 2 {
            let what = format!("pcap of version {major}.{minor}, of which only 2 is known");
            return Err(Error::broken(4, what));
        }
        let lengths = match minor {
            0..=2 => Lengths::WireFirst,
            3 => Lengths::SmallerIsCaptured,
            _ => Lengths::CapturedFirst,
        };
        // The upper bits tell of check sequences at the frames' ends.
        let link = LinkType(u16_at(if big_endian { 22 } else { 20 }));
        window.consume(24);
        Ok(Some(Pcap {
            big_endian,
            unit,
            header,
            lengths,
            link,
        }))
    }

    #[inline]
    pub fn next(&self, window: &mut ByteWindow<'_>) -> Result<NextRecord, Error> {
        if !window.need(self.header)? {
            return Ok(NextRecord::End);
        }
        // Both kinds of header begin alike.
        let Some(head) = window.ahead().first_chunk::<16>() else {
            return Ok(NextRecord::End);
        };
        let word = |at: usize| {
            let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            if self.big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let (seconds, fraction) = (word(0), word(4));
        let (mut captured, mut original_len) = (word(8), word(12));
        if self.lengths == Lengths::WireFirst
            || (self.lengths == Lengths::SmallerIsCaptured && captured > original_len)
        {
            core::mem::swap(&mut captured, &mut original_len);
        }
        if captured as usize > MOST_CAPTURED {
            let what = format!("a packet of {captured} bytes");
            return Err(Error::broken(window.offset(), what));
        }
        let len = captured as usize;
        if !window.need(self.header + len)? {
            return Ok(NextRecord::End);
        }
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * u64::from(self.unit);
        let from = window.position() + self.header;
        window.consume(self.header + len);
        Ok(NextRecord::Packet(RecordAt {
            time: Time::from_nanos(nanos),
            link: self.link,
            interface: 0,
            original_len,
            from,
            len,
            options: 0,
        }))
    }

    pub const fn link(&self) -> LinkType {
        self.link
    }
}
