//! A packet on its way.

use rexmit_loss::PacketId;
use rexmit_tcp::connection::Sent;
use rexmit_tcp::Segment;

use crate::link::Frame;

/// The end of a connection, counted over all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndId(pub(crate) u32);

impl EndId {
    /// The other end of the connection.
    #[must_use]
    pub const fn peer(self) -> Self {
        // Ends are made in pairs.
        EndId(self.0 ^ 1)
    }

    /// Whether this end opened the connection.
    #[must_use]
    pub const fn is_client(self) -> bool {
        self.0 & 1 == 0
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet<O = ()> {
    /// Its number in the simulation; copies that the network makes of it have the same.
    pub id: PacketId,
    /// Who sent it.
    pub from: EndId,
    /// The path that it goes, from 0 among those of its connection.
    pub path: u8,
    /// The segment and why it was sent.
    pub sent: Sent,
    /// What it carries besides.
    pub options: O,
    /// Bytes of the frame on a link.
    pub(crate) frame_bytes: u32,
}

impl<O> Packet<O> {
    /// The segment.
    #[must_use]
    pub const fn segment(&self) -> &Segment {
        &self.sent.segment
    }

    /// As a link sees it.
    pub(crate) fn frame(&self) -> Frame {
        Frame {
            bytes: self.frame_bytes,
            flow: u64::from(self.from.0) << 8 | u64::from(self.path),
            ect: self.sent.segment.ect,
        }
    }
}
