//! What a rule tells.

use core::fmt;
use core::ops::Range;

use rexmit_tcp::Need;
use rexmit_time::Time;
use rexmit_wire::http::HeadError;
use rexmit_wire::{FlowKey, SeqNum};

use crate::Transfer;

/// The number of a transfer, counted by the rule from 0 in the order of their heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u64);

/// Something the rule saw or did.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A packet was dropped.
    Dropped(Dropped),
    /// A packet that carries nothing of a response was dropped.
    BareDropped(BareDropped),
    /// A packet carried bytes that had been sent before; of stretches that were told, any packet with data.
    Carried(Box<Carried>),
    /// Nothing new came while packets were held; all were let go.
    Stalled(Stalled),
    /// A response cannot be tracked and passes untouched.
    Untracked(Untracked),
    /// A transfer is over.
    Finished(Box<Transfer>),
}

/// Which part of the stream a packet covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Sequence number of its first byte, as on the wire.
    pub seq: SeqNum,
    /// The same relative to the connection's initial sequence number: the first data byte is 1, and a long
    /// connection counts on past 2³². When the handshake was not seen, the first byte seen is 1.
    pub relative: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether the packet carries the FIN.
    pub fin: bool,
}

/// See [`Event::Dropped`]. Told when the drop is decided, which in `hold` is after `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The connection, or the subflow.
    pub flow: FlowKey,
    /// The transfer in whose tail the packet lies.
    pub transfer: TransferId,
    /// What was lost.
    pub span: Span,
    /// Some of its bytes were sent before.
    pub again: bool,
    /// When the packet was sent.
    pub at: Time,
}

/// See [`Event::BareDropped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareDropped {
    /// From its sender to its receiver.
    pub flow: FlowKey,
    /// Which it was.
    pub packet: Bare,
    /// When it was sent.
    pub at: Time,
}

/// A packet that carries nothing of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// The client's acknowledgement with this number behind the request, from 1.
    Ack(u64),
    /// The client's SYN, at this transmission, from 1.
    Syn(u32),
    /// The server's SYN-ACK, the same.
    SynAck(u32),
    /// The client's request, the same.
    Request(u32),
}

/// See [`Event::Stalled`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// The connection.
    pub flow: FlowKey,
    /// The transfer whose packets were held; `None` when its head was not complete yet.
    pub transfer: Option<TransferId>,
    /// How many packets were let go.
    pub released: usize,
    /// When they were let go.
    pub at: Time,
}

/// See [`Event::Carried`]. One event a packet, when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The connection, or the subflow, from server to client.
    pub flow: FlowKey,
    /// The first transfer that the packet touches; of stretches that were told the one in which its first byte lies.
    pub transfer: TransferId,
    /// That transfer's number among those of its connection, from 1.
    pub stretch: u32,
    /// The path that it goes, from 1.
    pub path: u32,
    /// Of stretches that were told: which packet of new data it is on this path within its stretch, from 1; of a
    /// retransmission, which packet its first byte went in. `None` for data that other sequence numbers carried first.
    pub position: Option<u64>,
    /// Which bytes it carries: places in the connection's stream, from 0.
    pub data: Range<u64>,
    /// Where it stands in its flow.
    pub span: Span,
    /// When the first of these bytes to be sent was sent first, on any path; `None` when all are new, or that is no longer
    /// known.
    pub first_sent: Option<Time>,
    /// On which path that was.
    pub first_path: Option<u32>,
    /// Its first byte was sent before, under other sequence numbers: on another path, or anew on the same.
    pub reinjected: bool,
    /// The rule dropped some of its bytes before, sent again since or not.
    pub was_dropped: bool,
    /// Of what is sent again, whether the receiver lacked it. [`Need::Needed`] when every earlier copy of some of its
    /// bytes, on whichever path, was dropped by the rule; [`Need::Unknown`] when an earlier copy is held at this moment;
    /// else [`Need::Spurious`], as far as the rule can tell: it does not know what is lost further on. `None` when its
    /// first byte is new.
    pub need: Option<Need>,
    /// Whether it carries the highest sequence number that its flow has sent so far, FIN included.
    pub highest: bool,
    /// The rule drops it.
    pub dropped: bool,
    /// When it was sent.
    pub at: Time,
}

/// See [`Event::Untracked`]. Told once a connection; [`Counters`](crate::Counters) counts all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untracked {
    /// The connection.
    pub flow: FlowKey,
    /// Why.
    pub why: Why,
    /// When this became clear.
    pub at: Time,
}

/// Why a response cannot be tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The body is chunked.
    Chunked,
    /// The head has no Content-Length and the body ends with the connection.
    NoLength,
    /// The bytes are no usable response head.
    Head(HeadError),
    /// The head lies in packets that were captured only in part.
    CutShort,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Chunked => f.write_str("the body is chunked"),
            Why::NoLength => f.write_str("no Content-Length"),
            Why::Head(error) => error.fmt(f),
            Why::CutShort => f.write_str("the head was captured only in part"),
        }
    }
}
