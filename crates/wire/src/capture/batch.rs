//! Many captured packets in one piece.

use rexmit_time::Time;

use super::Frame;
use crate::link::LinkType;

/// Many captured packets in two allocations, cheap to hand to another thread and to use again.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The packets' bytes, back to back.
    pub bytes: Vec<u8>,
    /// One record a packet.
    pub records: Vec<Record>,
}

/// One packet of a [`Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time stamp, nanoseconds since the origin of the capture's clock.
    pub time: Time,
    /// Where the packet's bytes begin in [`Batch::bytes`].
    pub offset: u32,
    /// How many bytes it has there.
    pub len: u32,
    /// The packet's length on the wire, bytes.
    pub original_len: u32,
    /// What the first byte begins.
    pub link: LinkType,
    /// The interface's index in its file.
    pub interface: u16,
}

impl Batch {
    /// Copies a packet to the end, at most its first `keep` bytes.
    pub fn push(&mut self, frame: &Frame<'_>, keep: usize) {
        let data = frame.data.get(..keep).unwrap_or(frame.data);
        self.records.push(Record {
            time: frame.time,
            offset: self.bytes.len() as u32,
            len: data.len() as u32,
            original_len: frame.original_len,
            link: frame.link,
            interface: frame.interface,
        });
        self.bytes.extend_from_slice(data);
    }

    /// The packets in the order in which they came.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame<'_>> {
        self.records.iter().map(|record| {
            let start = record.offset as usize;
            Frame {
                time: record.time,
                link: record.link,
                interface: record.interface,
                original_len: record.original_len,
                data: self
                    .bytes
                    .get(start..start + record.len as usize)
                    .unwrap_or(&[]),
            }
        })
    }

    /// How many packets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets all packets and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }
}
