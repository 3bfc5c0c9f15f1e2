//! What a sender takes in and gives out.

use rexmit_wire::{SeqNum, SeqRange};

use super::Metrics;
use crate::segment::Segment;
use crate::words::Mechanism;

/// What the handshake told of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its receive window after the handshake, in bytes.
    pub window: u32,
    /// The sequence number of the segment that ended the handshake: a window is believed from newer ones.
    pub seq: SeqNum,
    /// SACK was negotiated.
    pub sack: bool,
    /// ECN was.
    pub ecn: bool,
    /// Retransmissions of our SYN or SYN-ACK, where a timeout was needed: after two the window begins with one segment
    /// (`tcp_init_transfer`).
    pub handshake_retransmissions: u32,
    /// What is remembered of it.
    pub metrics: Metrics,
}

/// An acknowledgement as it came in.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// The segment that carries it.
    pub segment: &'a Segment,
    /// Its window in bytes: the field, scaled.
    pub window: u32,
    /// The timestamp it echoes, in this sender's own clock ([`Timing::timestamp`](super::Timing::timestamp)): the offset
    /// of the connection is taken off. None without the option and when the field is zero (`rcv_tsecr`).
    pub echo: Option<u32>,
}

/// A packet to send. Acknowledgement number, window and options are the connection's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The payload. Empty with [`Transmit::fin`] for a FIN alone; empty without it for a window probe, which lies one byte
    /// before what is not acknowledged (`tcp_xmit_probe_skb`).
    pub range: SeqRange,
    /// The packet ends the stream.
    pub fin: bool,
    /// The PSH flag.
    pub psh: bool,
    /// What made the sender send the bytes again; none for a first transmission.
    pub mechanism: Option<Mechanism>,
    /// A tail loss probe, of new data perhaps.
    pub probe: bool,
    /// Data that may be marked: they are sent for the first time, and both ends take marks (`tcp_ecn_send`).
    pub ect: bool,
    /// It tells the peer that the window was reduced (CWR, RFC 3168 §6.1.2).
    pub cwr: bool,
    /// What the packet counts against the limit of bytes in the host, to be given back by
    /// [`Sender::left_host`](super::Sender::left_host); zero for packets that do not count.
    pub in_host_bytes: u32,
    /// What the buffer costs that the payload lies in, and how much of it does; none where it lies in pages.
    pub buffer: Option<(u32, u32)>,
}

/// What a sender did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Timeouts.
    pub timeouts: u32,
    /// Tail loss probes sent.
    pub probes: u32,
    /// Recoveries entered.
    pub recoveries: u32,
    /// Packets sent again (`RetransSegs`).
    pub retransmissions: u32,
    /// D-SACKs that were believed.
    pub dsacks: u32,
    /// Window reductions undone.
    pub undos: u32,
    /// Timeouts that F-RTO found spurious.
    pub spurious_timeouts: u32,
    /// Retransmissions held back because the packet was still in the host (`TCPSpuriousRtxHostQueues`).
    pub held_in_host: u32,
}
