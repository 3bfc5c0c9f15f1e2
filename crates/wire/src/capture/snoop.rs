//! The snoop format of Solaris (RFC 1761).

use rexmit_time::Time;

use super::record::{NextRecord, RecordAt};
use super::window::ByteWindow;
use super::{Error, MOST_CAPTURED};
use crate::link::LinkType;

/// A snoop file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snoop {
    link: LinkType,
}

impl Snoop {
    /// Bytes of a record's header (§5).
    const HEADER: usize = 24;

    /// Reads the file header when it is one of snoop (§4).
    pub fn recognise(window: &mut ByteWindow<'_>) -> Result<Option<Self>, Error> {
        window.need(16)?;
        let Some(head) = window.ahead().first_chunk::<16>() else {
            return Ok(None);
        };
        if !head.starts_with(b"snoop\0\0\0") {
            return Ok(None);
        }
        let version = word(head, 8);
        if version != 2 {
            let what = format!("snoop of version {version}, of which only 2 is known");
            return Err(Error::broken(8, what));
        }
        let link = match word(head, 12) {
            0 | 4 => LinkType::ETHERNET,
            8 => LinkType::FDDI,
            18 => LinkType::SUNATM,
            other => {
                let what = format!("snoop of datalink type {other}, which is not known");
                return Err(Error::broken(12, what));
            }
        };
        window.consume(16);
        Ok(Some(Snoop { link }))
    }

    pub fn next(&self, window: &mut ByteWindow<'_>) -> Result<NextRecord, Error> {
        if !window.need(Self::HEADER)? {
            return Ok(NextRecord::End);
        }
        let head = window.ahead();
        let (original_len, captured, record) = (word(head, 0), word(head, 4), word(head, 8));
        let (seconds, micros) = (word(head, 16), word(head, 20));
        let (len, record) = (captured as usize, record as usize);
        if len > MOST_CAPTURED || record > MOST_CAPTURED + 4096 {
            let what = format!("a packet of {captured} bytes in a record of {record}");
            return Err(Error::broken(window.offset(), what));
        }
        if record < Self::HEADER + len {
            let what = format!("a record of {record} bytes with a packet of {captured}");
            return Err(Error::broken(window.offset(), what));
        }
        // Of the last record the padding may be missing.
        if !window.need(record)? && !window.need(Self::HEADER + len)? {
            return Ok(NextRecord::End);
        }
        let from = window.position() + Self::HEADER;
        window.consume(record);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(micros) * 1_000;
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

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
