//! The extensible record format of Endace's cards. Files have no header: the records tell.

use rexmit_time::Time;

use super::record::{NextRecord, RecordAt};
use super::window::ByteWindow;
use super::{Error, MOST_CAPTURED};
use crate::link::LinkType;

/// An ERF file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erf;

/// Bytes of a record's header: time, type, flags, lengths, a counter.
const HEADER: usize = 16;

/// A type of record; only the lower bits of the byte tell it.
mod kind {
    pub const META: u8 = 27;
    pub const LAST_KNOWN: u8 = META;
    pub const PAD: u8 = 48;
    pub const EXTENSION: u8 = 0x80;
}

/// ERF's own number among the link types, for records that are not understood: the whole record is the packet.
const LINKTYPE_ERF: LinkType = LinkType(197);

#[derive(Clone, Copy)]
struct Head {
    /// Seconds since 1970 with a binary fraction of 32 bits.
    time: u64,
    kind: u8,
    interface: u8,
    record: usize,
    wire: u32,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, _) = bytes.split_first_chunk::<HEADER>()?;
        let (time, _) = head.split_first_chunk::<8>()?;
        Some(Head {
            time: u64::from_le_bytes(*time),
            kind: head[8],
            interface: head[9] & 3,
            record: usize::from(u16::from_be_bytes([head[10], head[11]])),
            wire: u32::from(u16::from_be_bytes([head[14], head[15]])),
        })
    }

    fn is_plausible(self) -> bool {
        /// 1990, in seconds.
        const EARLIEST: u64 = 631_152_000;
        let kind = self.kind & !kind::EXTENSION;
        self.time >> 32 >= EARLIEST
            && (matches!(kind, 1..=kind::LAST_KNOWN) || kind == kind::PAD)
            && self.record >= HEADER
            && (self.wire > 0 || kind == kind::PAD || kind == kind::META)
    }
}

impl Erf {
    /// Records looked at to tell whether a file is one of this format.
    const JUDGED: usize = 8;

    /// Whether the file begins with plausible records, the first one whole, a day apart at most.
    pub fn recognise(window: &mut ByteWindow<'_>) -> Result<Option<Self>, Error> {
        const DAY: u64 = 86_400 << 32;
        window.need(HEADER + (1 << 16))?;
        let mut rest = window.ahead();
        let mut before = None;
        for judged in 0..Self::JUDGED {
            let Some(head) = Head::read(rest) else {
                return Ok((judged > 0).then_some(Erf));
            };
            let near = before.is_none_or(|time: u64| time.abs_diff(head.time) < DAY);
            if !head.is_plausible() || !near {
                return Ok(None);
            }
            if judged == 0 && rest.len() < head.record {
                return Ok(None);
            }
            before = Some(head.time);
            rest = rest.get(head.record..).unwrap_or(&[]);
        }
        Ok(Some(Erf))
    }

    pub fn next(self, window: &mut ByteWindow<'_>) -> Result<NextRecord, Error> {
        window.need(HEADER)?;
        let Some(head) = Head::read(window.ahead()) else {
            return Ok(NextRecord::End);
        };
        if head.record < HEADER || head.record > MOST_CAPTURED {
            let what = format!("a record of {} bytes", head.record);
            return Err(Error::broken(window.offset(), what));
        }
        if !window.need(head.record)? {
            return Ok(NextRecord::End);
        }
        let kind = head.kind & !kind::EXTENSION;
        if kind == kind::PAD || kind == kind::META {
            window.consume(head.record);
            return Ok(NextRecord::Other);
        }
        let record = window.at(window.position(), head.record);
        let mut at = HEADER;
        let mut more = head.kind & kind::EXTENSION != 0;
        while more {
            // Each extension header says in its first bit whether another follows.
            more = record.get(at).is_some_and(|first| first & 0x80 != 0);
            at += 8;
        }
        let (from, len, original_len, link) = match link(kind) {
            Some((link, own)) => {
                let from = (at + own).min(head.record);
                // Records are padded to eight bytes; the length on the wire tells where the packet ends.
                let len = (head.record - from).min(head.wire as usize);
                (from, len, head.wire, link)
            }
            None => (0, head.record, head.wire + HEADER as u32, LINKTYPE_ERF),
        };
        let fraction = (head.time & 0xffff_ffff) * 1_000_000_000;
        let nanos = (head.time >> 32) * 1_000_000_000 + ((fraction + (1 << 31)) >> 32);
        let from = window.position() + from;
        window.consume(head.record);
        Ok(NextRecord::Packet(RecordAt {
            time: Time::from_nanos(nanos),
            link,
            interface: u16::from(head.interface),
            original_len,
            from,
            len,
            options: 0,
        }))
    }
}

/// What a type of record carries, and the bytes of its own in front of that; none where it is not understood.
const fn link(kind: u8) -> Option<(LinkType, usize)> {
    Some(match kind {
        // Packets over SONET, in PPP or Cisco framing; those of channels bear four bytes more.
        1 | 10 | 15 | 19 => (LinkType::PPP_HDLC, 0),
        5 | 17 => (LinkType::PPP_HDLC, 4),
        // Ethernet behind an offset and a byte of padding.
        2 | 11 | 16 | 20 => (LinkType::ETHERNET, 2),
        // The first cell of a packet, or all of it, behind the cell's header.
        3 | 4 => (LinkType::ATM_RFC1483, 4),
        7 | 9 => (LinkType::ATM_RFC1483, 8),
        22 => (LinkType::IPV4, 0),
        23 => (LinkType::IPV6, 0),
        _ => return None,
    })
}
