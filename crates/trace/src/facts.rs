//! What the handshake says of a sender.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::event::{Direction, Event};
use crate::fingerprint::Hint;
use crate::sender_view::{cut, OwnCount};

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
    /// What each packet bears of those that came by merged into one; 0 if as many as `mss`.
    pub cut: u32,
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
    /// Other packets of its host show that it does.
    pub counts_apart: bool,
    /// Its own packets show that it does not, or for how many some stand is not known.
    pub count_refuted: bool,
    /// So does its peer.
    pub peer_counts_own: bool,
    /// SYN (or SYN-ACK) to the answer, as the sender saw it, if it was not sent twice.
    pub handshake_rtt: Option<Duration>,
    /// By how much the packets of each direction are recorded late.
    pub late: [Duration; 2],
}

impl SenderFacts {
    /// Learns from the packets of both directions, as far as they have come, what those of the sender, in direction `of`, were cut
    /// into, and whether they are counted apart.
    pub fn look_through(&mut self, of: Direction, packets: impl Iterator<Item = Event> + Clone) {
        let sizes = packets.clone().filter(|event| event.direction == of);
        let sizes = sizes.map(|event| event.payload_len);
        let agreed = if self.agreed { self.mss } else { 0 };
        let Some(cut) = cut(sizes, agreed) else {
            // How many numbers a merged packet took is not known.
            self.count_refuted = true;
            return;
        };
        self.cut = if self.agreed { cut } else { cut.min(self.mss) };
        if !self.agreed {
            self.mss = self.cut;
        }
        let mut count = OwnCount::new(self.cut, false);
        for event in packets {
            if event.direction == of {
                count.sent(&event);
            } else {
                count.answered(&event);
            }
        }
        self.count_refuted = count.is_refuted();
    }
}
