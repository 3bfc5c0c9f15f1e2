//! What the handshake says of a sender.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::fingerprint::Hint;

/// What is known of a sender before its first data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderFacts {
    /// Its initial sequence number; none when the capture begins later.
    pub isn: Option<SeqNum>,
    /// It opened the connection.
    pub client: bool,
    /// Largest payload it may send: the smaller of what both sides offer less options; a guess from its packets without
    /// a handshake.
    pub mss: u32,
    /// SACK was negotiated; without a handshake, blocks were seen.
    pub sack: bool,
    /// Timestamps were negotiated; without a handshake, they were seen.
    pub timestamps: bool,
    /// How many bits the receiver's window is shifted to the left.
    pub window_shift: u8,
    /// When the connection's first packet came by, on the clock of the capture.
    pub begun: Option<Time>,
    /// Both SYNs were seen: what they say was agreed on.
    pub agreed: bool,
    /// What its first SYN or SYN-ACK says of its system.
    pub system: Hint,
    /// How often its SYN or SYN-ACK was sent.
    pub syns: u32,
    /// It numbers the packets of each connection apart (IP identification), as far as its SYN tells.
    pub counts_own: bool,
    /// So does its peer.
    pub peer_counts_own: bool,
    /// SYN (or SYN-ACK) to the answer, as the sender saw it, if it was not sent twice.
    pub handshake_rtt: Option<Duration>,
}
