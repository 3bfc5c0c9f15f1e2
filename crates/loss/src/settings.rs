//! How a loss rule is set up, and what it counts.

use std::net::IpAddr;

use rexmit_tcp::words;
use rexmit_time::Duration;

use crate::pattern::Pattern;
use crate::Totals;

words! {
    /// How the tail is found.
    #[derive(Default)]
    pub enum Mode ("mode") {
        /// By sequence number, nothing is held: a segment is in the tail when its first byte lies at or after
        /// end − N·MSS, MSS being the largest payload seen. Exact when all segments but the last are full; else
        /// the row says what happened.
        #[default]
        Sequence = "sequence",
        /// As the paper does: possible members of the tail are held until the last byte and the FIN show, then
        /// exactly the last N are dropped.
        ///
        /// On today's kernels this stalls at low rates: a packet that waits for its verdict still counts against
        /// the socket's small-queue limit (`tcp_small_queue_check`: about 1 ms at the pacing rate), the
        /// sender stops after a few held segments, and the FIN never comes. [`Drops::Tail`]'s `hold_limit`
        /// bounds the wait.
        Hold = "hold",
    }
}

/// What is dropped of every transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drops {
    /// The last data segments, once: Algorithm 1 of the TLP measurement paper (its section 3.3).
    ///
    /// A bare FIN is dropped besides; a FIN with data counts as one of the segments. A packet with any byte that was sent
    /// before is a retransmission and passes. When the connection is kept, the last byte ends the transfer: `hold` decides
    /// there, since a FIN may be minutes away. A bare FIN that comes while the lost tail of a kept connection is still
    /// missing is dropped with it; one that comes later is a farewell of its own and passes.
    ///
    /// A segment with the end of one response and the head of the next belongs to both, and a drop counts in both; the
    /// second's row then says that it lost more than its tail.
    ///
    /// It differs from the paper's listing: bytes are counted by position, so what was transferred grows; the FIN's extra
    /// packet is not carried over to the next transfer; the comparison with the tail includes the packet itself; and the
    /// largest payload of any packet sent first, not the first one's, stands for the MSS.
    Tail {
        /// N, the data segments to drop; 0 drops nothing and still measures.
        segments: u32,
        /// How the tail is found.
        mode: Mode,
        /// `hold` only: how long packets are held while the connection sends nothing new.
        hold_limit: Duration,
    },
    /// Packets of the sender, and of the client that it serves, by position.
    Pattern(Pattern),
}

impl Drops {
    /// How many data segments of each transfer's tail are dropped.
    pub(crate) fn tail_segments(&self) -> u32 {
        match self {
            Drops::Tail { segments, .. } => *segments,
            Drops::Pattern(_) => 0,
        }
    }

    /// How long packets are held while the connection sends nothing new.
    pub(crate) fn hold_limit(&self) -> Duration {
        match self {
            Drops::Tail { hold_limit, .. } => *hold_limit,
            Drops::Pattern(_) => Duration::ZERO,
        }
    }
}

/// Which stretches of what is sent are transfers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stretches {
    /// HTTP responses, of any connection.
    ///
    /// Each begins with the status line (interim 1xx heads are not part of it) and ends behind head and Content-Length.
    /// When it announces the end of the connection the FIN belongs to it. Chunked bodies, bodies that end with the
    /// connection and whatever is not HTTP/1 pass untouched. After a chunked response (and in a connection first met in
    /// its middle) a response is found again where a packet begins with one. The request is not seen, so the answer to a
    /// HEAD request is taken to have a body.
    #[default]
    Found,
    /// What one connection is going to send, the first whose SYN-ACK is seen, on the subflows that join it.
    Told(Told),
    /// All that a connection sends, up to its FIN: what its server's socket was given, whatever that says.
    Whole(Whole),
}

/// What is known of a connection whose content is not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Data segments of the same case without loss: the last are the tail, however long they are. Without it nothing is
    /// dropped, only counted: a rehearsal.
    pub lossless: Option<u64>,
}

/// What is known of a connection before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Bytes of each stretch (burst), in the order in which they are written; the first byte of the first is the first
    /// that the server sends.
    pub bytes: Vec<u64>,
    /// The client's address on each path: the server's packets are those to one of them.
    pub clients: Vec<IpAddr>,
    /// Packets of new data by stretch and path, of the same case without loss. Without it nothing is dropped, only
    /// counted: a rehearsal.
    pub lossless: Option<Totals>,
}

/// How a loss rule is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is dropped.
    pub drops: Drops,
    /// What transfers are.
    pub stretches: Stretches,
    /// How long a complete transfer is watched for further retransmissions before its row is given. Zero gives
    /// the row at once; with [`Duration::MAX`] the row comes when the connection is reset or replaced, or at
    /// [`LossRule::finish`](crate::LossRule::finish). What is sent again after the row is neither counted nor told.
    pub linger: Duration,
    /// How many connections are remembered; the one idle longest is forgotten for a new one.
    pub max_flows: usize,
}

/// Responses are found, none is touched, and their rows come at once.
impl Default for Settings {
    fn default() -> Self {
        Settings {
            drops: Drops::Tail {
                segments: 0,
                mode: Mode::Sequence,
                hold_limit: Duration::from_secs(3),
            },
            stretches: Stretches::Found,
            linger: Duration::ZERO,
            max_flows: 16_384,
        }
    }
}

/// What a loss rule has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transfers begun.
    pub transfers: u64,
    /// Responses that passed untracked.
    pub untracked: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Times that packets held stalled a sender.
    pub stalls: u64,
    /// Connections forgotten to make room, idle or not.
    pub evicted_flows: u64,
    /// Transfers closed unfinished because their connection was forgotten.
    pub evicted_transfers: u64,
}
