//! What an operator asks of a connection beside its retransmissions: how it was opened, who reset it, whose window held it up, and
//! how long its round trips and its data took.

pub(crate) mod percentiles;
pub(crate) mod window;

use rexmit_tcp::words;
use rexmit_time::{Duration, Time};
use rexmit_wire::Flags;
use serde::{Deserialize, Serialize};

use crate::event::Direction;

words! {
    /// What became of a connection's handshake.
    pub enum Handshake ("handshake") {
        /// SYN, SYN-ACK, and the client's acknowledgement.
        Complete = "complete",
        /// SYN and SYN-ACK, and nothing from the client that acknowledges.
        HalfOpen = "half-open",
        /// A SYN was answered by an RST.
        Refused = "refused",
        /// SYNs, and nothing came back.
        Unanswered = "unanswered",
        /// SYNs, and ICMP said that they cannot be delivered.
        Unreachable = "unreachable",
        /// The capture does not show it, or only one side of it.
        Unseen = "unseen",
    }
}

words! {
    /// What state a connection was in (RFC 9293 §3.3.2, both sides taken together).
    pub enum ConnectionState ("state") {
        /// A SYN was not answered yet.
        SynSent = "syn-sent",
        /// A SYN-ACK was not acknowledged yet.
        SynReceived = "syn-received",
        /// Open in both directions.
        Established = "established",
        /// One side had sent its FIN.
        HalfClosed = "half-closed",
        /// Both had.
        Closed = "closed",
    }
}

/// The first reset of a connection whose numbers fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// Who sent it.
    pub by: Direction,
    /// What state the connection was in.
    pub state: ConnectionState,
    /// The packet before it.
    pub after: Before,
    /// How long before it that packet came by.
    pub silence: Duration,
}

/// The first fatal alert of TLS that was not encrypted: the handshake came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Who sent it.
    pub by: Direction,
    /// What it says (RFC 8446 §6).
    pub description: u8,
}

/// What a packet was, in a byte: whose, with which of SYN, FIN, RST and ACK, and whether it bore data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before(u8);

impl Before {
    /// Stands in the place of flags that say nothing here (PSH, URG).
    const DATA: u8 = 0x08;
    const BACKWARD: u8 = 0x20;
    const FLAGS: u8 = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0 | Flags::ACK.0;

    /// A packet.
    #[inline]
    #[must_use]
    pub fn of(direction: Direction, flags: Flags, payload_len: u32) -> Self {
        let data = if payload_len > 0 { Before::DATA } else { 0 };
        let whose = match direction {
            Direction::Forward => 0,
            Direction::Backward => Before::BACKWARD,
        };
        Before(flags.0 & Before::FLAGS | data | whose)
    }

    /// The words as they stand in tables, as in `client data`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        let words = match self.0 & !Before::BACKWARD {
            bits if bits & Flags::RST.0 != 0 => ["client RST", "server RST"],
            bits if bits & Flags::SYN.0 != 0 && bits & Flags::ACK.0 != 0 => {
                ["client SYN-ACK", "server SYN-ACK"]
            }
            bits if bits & Flags::SYN.0 != 0 => ["client SYN", "server SYN"],
            bits if bits & Flags::FIN.0 != 0 => ["client FIN", "server FIN"],
            bits if bits & Before::DATA != 0 => ["client data", "server data"],
            _ => ["client ACK", "server ACK"],
        };
        words[(self.0 & Before::BACKWARD != 0) as usize]
    }
}

/// What was measured of one direction of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// SYNs of the client, SYN-ACKs of the server, the first one counted.
    pub syns: u32,
    /// RSTs that this side sent.
    pub resets: u32,
    /// Probes of a closed window that this side sent.
    pub window_probes: u32,
    /// How often this side closed its window.
    pub zero_windows: u32,
    /// How long its window was closed in all: from the packet that closed it to the one that opened it, a reset, or the end.
    pub zero_window: Duration,
    /// How long this side, with more to send, had filled the window that its peer offered, closed ones left out; none where the
    /// scale of the window is not known.
    pub window_full: Option<Duration>,
    /// Payload bytes that this side sent again.
    pub bytes_retransmitted: u64,
    /// Median and 95th percentile of the round-trip time of this side, 2 % off at most.
    pub rtt: Option<[Duration; 2]>,
    /// From this side's first packet with data to its last.
    pub data: Option<Duration>,
    /// How often its peer told it of congestion marks, once for each flight (RFC 3168 §6.1.2).
    pub marks: u32,
    /// What of it was never acknowledged.
    pub unacked: Option<Unacked>,
}

/// The first byte of a sender that nothing had acknowledged when its connection ended, though it was sent more than once, to a
/// peer that acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unacked {
    /// How often it was sent.
    pub sends: u32,
    /// How often of those it was sent so late that no packet of the peer can be an answer, a reset that ends it apart.
    pub unanswered: u32,
    /// From the peer's last packet, a reset that ends it apart, to the last time that the byte was sent.
    pub silence: Duration,
    /// Payload of the smallest packet that carried it; 0 where the wire carried it in smaller packets than the capture shows.
    pub size: u32,
    /// Payload of the largest packet of the sender that was acknowledged.
    pub acked_size: u32,
    /// When it was sent last.
    pub last: Time,
    /// From the first to the last time that the byte was sent.
    pub tried: Duration,
    /// Every packet in flight with it is as large at least, and no less than seven eighths of a full one.
    pub all_full: bool,
}

/// From the first to the last of some times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent(Option<(Time, Time)>);

impl Extent {
    /// One more.
    pub fn note(&mut self, at: Time) {
        self.0 = Some(
            self.0
                .map_or((at, at), |(first, last)| (first, last.max(at))),
        );
    }

    /// The first and the last.
    pub const fn times(&self) -> Option<(Time, Time)> {
        self.0
    }

    /// How far they are apart; none without any.
    pub fn length(&self) -> Option<Duration> {
        self.0.map(|(first, last)| last - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_told_in_words() {
        let flags = |bits: &[Flags]| Flags(bits.iter().fold(0, |all, one| all | one.0));
        let of = |direction, bits: &[Flags], len| Before::of(direction, flags(bits), len).as_str();
        let (client, server) = (Direction::Forward, Direction::Backward);
        assert_eq!(of(client, &[Flags::SYN], 0), "client SYN");
        assert_eq!(of(server, &[Flags::SYN, Flags::ACK], 0), "server SYN-ACK");
        assert_eq!(of(client, &[Flags::ACK, Flags::PSH], 5), "client data");
        assert_eq!(of(client, &[Flags::ACK, Flags::PSH], 0), "client ACK");
        assert_eq!(of(server, &[Flags::ACK, Flags::FIN], 5), "server FIN");
        assert_eq!(of(server, &[Flags::ACK], 0), "server ACK");
        assert_eq!(of(server, &[Flags::RST, Flags::ACK], 0), "server RST");
    }
}
