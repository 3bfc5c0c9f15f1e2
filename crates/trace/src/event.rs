//! What is kept of a packet, and the events that a sender saw.

use rexmit_tcp::SackList;
use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Record;
use rexmit_wire::{Flags, SeqNum, SeqRange};
use serde::{Deserialize, Serialize};

/// Which way a packet went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// From the client, who opened the connection (or whose packet came first), to the server.
    Forward,
    /// From the server to the client.
    Backward,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

/// Payload of a full packet on Ethernet, about; larger ones are several.
pub(crate) const ETHERNET: u32 = 1460;

/// For how many packets one stands that bears so many bytes, where a full one bears `full`: a network card cuts it up.
#[inline]
pub(crate) fn packets_of(payload_len: u32, full: u32) -> u32 {
    payload_len.div_ceil(full).max(1)
}

/// What a connection keeps of one packet, as the monitor saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The monitor's clock.
    pub at: Time,
    /// Which way it went.
    pub direction: Direction,
    /// First sequence number.
    pub seq: SeqNum,
    /// Acknowledgement number; without meaning unless [`Flags::ACK`] is set.
    pub ack: SeqNum,
    /// Payload bytes.
    pub payload_len: u32,
    /// Flags.
    pub flags: Flags,
    /// The window field, not scaled.
    pub window: u16,
    /// What record of TLS its payload begins with.
    pub record: Record,
    /// IP identification; none in IPv6.
    pub ip_id: Option<u16>,
    /// Timestamps option, value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// Where its SACK blocks begin in the connection's list of them, and how many they are.
    pub sacks: (u32, u8),
}

impl Event {
    /// Sequence numbers that the packet takes up, SYN and FIN counted.
    #[must_use]
    pub fn range(&self) -> SeqRange {
        let len = self.payload_len + u32::from(self.flags.syn()) + u32::from(self.flags.fin());
        SeqRange::new(self.seq, len)
    }
}

/// Something that a sender did or learned, in its own order and on its own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SenderEvent {
    /// It put a packet with sequence numbers of its own on the wire.
    Sent(Sent),
    /// An acknowledgement reached it.
    Acked(Acked),
}

/// A packet that a sender put on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// The sender's clock: the monitor's less the delay between them.
    pub at: Time,
    /// What it carried, SYN and FIN counted.
    pub range: SeqRange,
    /// What it is.
    pub kind: SentKind,
    /// Flags; of an unseen packet, none.
    pub flags: Flags,
    /// Value of its timestamps option.
    pub stamp: Option<u32>,
    /// Echo in its timestamps option: the newest stamp of its peer that the sender had seen.
    pub echo: Option<u32>,
    /// How far the time may be off either way.
    pub slack: Duration,
    /// A monitor beside the sender, or the sender's own stamp, says when it was: no queue on the way can have delayed it.
    pub own_time: bool,
    /// Never seen, and the sender's count of its packets says where it was sent.
    pub counted: bool,
    /// Packets that left right before it and were never seen, nothing new; none if the sender does not count its packets.
    pub missing: Option<u32>,
}

/// What a packet that a sender put on the wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentKind {
    /// Sequence numbers never sent before.
    New,
    /// As new, but the monitor never saw it: lost before it came by, or by the capture.
    Unseen,
    /// Some of its sequence numbers had been sent before: retransmission number so and so of its direction, from 0.
    Retransmission(u32),
    /// One byte or none below or at the window's edge: a zero-window probe.
    WindowProbe,
    /// A keep-alive.
    KeepAlive,
}

/// An acknowledgement that reached a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// The sender's clock: the monitor's and the delay between them.
    pub at: Time,
    /// Acknowledgement number.
    pub ack: SeqNum,
    /// Bytes offered, scaled.
    pub window: u32,
    /// SACK blocks that report data beyond `ack`.
    pub sacks: SackList,
    /// A duplicate reported (RFC 2883).
    pub dsack: Option<SeqRange>,
    /// The receiver's stamp.
    pub stamp: Option<u32>,
    /// The echo: the sender's stamp that the receiver gives back.
    pub echo: Option<u32>,
    /// Sequence numbers that came along, SYN and FIN counted; none of a pure acknowledgement, whose own number is its
    /// start.
    pub carried: SeqRange,
    /// How far the time may be off either way.
    pub slack: Duration,
}
