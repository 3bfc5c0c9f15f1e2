//! What the packets show of one retransmission.

use rexmit_tcp::words;
use rexmit_time::{Duration, Time};
use rexmit_wire::Flags;
use serde::{Deserialize, Serialize};

use super::table::SHORTEST;
use super::Shown;

/// A tick of the slowest clock that timers of a stack here run by but those of old hosts (`HZ` of 100). A timer may run out so
/// much before its time, as a monitor with a clock of its own sees it.
pub(super) const TICK: Duration = Duration::from_millis(10);

words! {
    /// By what the time at which a packet left is known.
    #[derive(Default)]
    pub enum Timed ("time") {
        /// A monitor beside the sender.
        Sender = "sender",
        /// The sender's own stamps (RFC 7323).
        Stamps = "stamps",
        /// Nothing: it is when the packet came by.
        #[default]
        Arrival = "arrival",
    }
}

words! {
    /// What a packet is that was sent again.
    #[derive(Default)]
    pub enum SegmentKind ("packet") {
        /// It has payload.
        #[default]
        Data = "data",
        /// A SYN, without ACK.
        Syn = "syn",
        /// A SYN with ACK.
        SynAck = "syn-ack",
        /// A FIN without payload.
        Fin = "fin",
    }
}

impl SegmentKind {
    /// What a packet with these flags and so much payload is.
    #[must_use]
    pub fn of(flags: Flags, payload_len: u32) -> Self {
        match (flags.syn(), flags.ack()) {
            (true, false) => SegmentKind::Syn,
            (true, true) => SegmentKind::SynAck,
            _ if payload_len == 0 => SegmentKind::Fin,
            _ => SegmentKind::Data,
        }
    }
}

/// What the packets show of one retransmission: what its sender had sent and heard when it sent it. What is said of *it* is said
/// of its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// By what times are known.
    pub timed: Timed,
    /// How far they may be off.
    pub slack: Duration,
    /// Since it was sent last, at least and at most: the two differ where nobody saw that.
    pub since_sent: (Duration, Duration),
    /// Since it came by last, by the monitor's clock, if that was seen.
    pub since_seen: Option<Duration>,
    /// Since the sender sent anything, or heard anything that it had not heard before; none where it had heard nothing.
    pub since_news: Option<Duration>,
    /// The least round-trip time so far.
    pub least_rtt: Option<Duration>,
    /// What the packet is.
    pub packet: SegmentKind,
    /// SACK was agreed upon, or blocks came by.
    pub sack: bool,
    /// Duplicate acknowledgements since it was sent last.
    pub duplicates: u32,
    /// When the last of them came by.
    pub duplicate_at: Option<Time>,
    /// Segments above it that were SACKed.
    pub sacked: u32,
    /// How far up they reach, in segments.
    pub reach: u32,
    /// When a block came by last that said something new.
    pub sacked_at: Option<Time>,
    /// When an acknowledgement came by of something that was sent after it was sent last.
    pub later_at: Option<Time>,
    /// When a part was acknowledged in a recovery that duplicates began.
    pub partial_at: Option<Time>,
    /// The recovery had sent nothing beyond the highest byte SACKed but this.
    pub rescue: bool,
    /// When something was sent again, before it, that a timer can have made, when it had been sent by then.
    pub timeout_at: Option<Time>,
    /// It was sent once before, which was seen, and nothing else was sent again since all was acknowledged.
    pub first: bool,
    /// What the sender had learned of reordering may have raised that.
    pub raised: bool,
    /// Segments outstanding.
    pub out: u32,
    /// It is the last that had been sent.
    pub tail: bool,
    /// The tail was sent again before, and nothing was acknowledged since.
    pub probed: bool,
    /// Another timer of its sender was as short, or this one doubled.
    pub twice: bool,
    /// The SYN of its sender names a system of today.
    pub of_today: bool,
    /// It is the same as the last copy, which came by just now: nothing tells a double of that from a retransmission.
    pub alike: bool,
    /// What it was sent again for, though no loss was found, and when that came by.
    pub prompted: Option<Shown>,
}

impl Witness {
    /// Packets that show all that any mechanism but a re-injection needs: where something else than packets tells the sender's
    /// events.
    #[must_use]
    pub fn of_all() -> Self {
        let at = Some(Time::ZERO);
        Witness {
            since_sent: (Duration::from_secs(1), Duration::from_secs(1)),
            sack: true,
            duplicates: 3,
            duplicate_at: at,
            sacked: 3,
            reach: 3,
            sacked_at: at,
            later_at: at,
            partial_at: at,
            timeout_at: at,
            out: 1,
            tail: true,
            ..Witness::default()
        }
    }

    /// Whether a timer of this length can have run out: it was set when the sender sent or heard something last, or before, and not
    /// before it was sent last.
    #[must_use]
    pub fn fits(&self, timer: Duration) -> bool {
        let off = self.slack + TICK + timer / 16;
        let since = self.since_news.unwrap_or(Duration::ZERO);
        timer >= SHORTEST && since <= timer + off && timer <= self.since_sent.0 + off
    }
}
