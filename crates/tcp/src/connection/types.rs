//! What a connection is made with and what it gives out.

use rexmit_wire::SeqNum;

use crate::segment::Segment;
use crate::words::Mechanism;

/// What an end brings into a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Initial sequence number: the SYN's.
    pub iss: SeqNum,
    /// Added to the clock in the timestamps option.
    pub timestamp_offset: u32,
    /// The interface's MTU, bytes.
    pub mtu: u32,
    /// Bytes of an IP header: 20 or 40.
    pub ip_header: u32,
    /// Bound of the offered window, bytes (RTAX_WINDOW of the route).
    pub window_clamp: Option<u32>,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The segment.
    pub segment: Segment,
    /// What made the sender send the bytes again; none for a first transmission.
    pub mechanism: Option<Mechanism>,
    /// A tail loss probe, of new data perhaps.
    pub probe: bool,
    /// What the packet counts against the sender's limit while it is in the host: to be given back by
    /// [`Connection::left_host`](super::Connection::left_host). Zero for packets that do not count.
    pub in_host_bytes: u32,
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Data came in order.
    Readable,
    /// The send buffer has room again.
    Writable,
    /// The peer's FIN came in order.
    PeerClosed,
    /// The peer reset the connection.
    Reset,
    /// Retransmissions went unanswered too often.
    TimedOut,
    /// Both directions are closed and acknowledged; TIME_WAIT may go on for a while.
    Closed,
}

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// FIN sent.
    FinWait1,
    /// FIN sent and acknowledged.
    FinWait2,
    /// FIN received.
    CloseWait,
    /// FINs crossed, ours not acknowledged.
    Closing,
    /// FIN received, then sent.
    LastAck,
    /// Both sides closed, waiting for stray segments.
    TimeWait,
    /// No connection.
    Closed,
}
