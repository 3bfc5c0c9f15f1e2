//! What an engine says of one transfer, or of one connection of bursts.

use rexmit_time::Time;

use crate::ended::Ended;

/// What the client saw of one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// From before the connection is opened to the end of the file, or to where the client gave up.
    pub duration_ns: u64,
    /// How it ended.
    pub ended: Ended,
    /// What the client's program said of an end that was none of its transfer's.
    pub said: Option<String>,
}

impl Fetched {
    /// The whole page came.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.ended == Ended::Finished
    }
}

/// What the server's host counted during one transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent again, those of the handshake left out.
    pub retransmissions: u64,
    /// Retransmission timers that fired.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// DSACK blocks received.
    pub dsacks: u64,
    /// Retransmissions refused because the original was still in the host.
    pub host_queue: u64,
}

/// What an engine says of one transfer, or of one connection of bursts.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The bursts, in order; of a page the response.
    pub bursts: Vec<BurstSeen>,
    /// The subflows that were confirmed, the first path first; of plain TCP over paths its one connection.
    pub subflows: Vec<SubflowSeen>,
    /// What the server's host counted.
    pub counts: Counts,
    /// From before the connection is opened to the end of the page or of the last burst, at the client.
    pub client_ns: u64,
    /// How it ended, for its client.
    pub ended: Ended,
    /// The packet scheduler, as the engine names it; `None` for plain TCP.
    pub scheduler: Option<String>,
    /// Packets that the connection sent again at its own level (MPTCPRetrans); `None` for plain TCP.
    pub mptcp_retransmissions: Option<u64>,
    /// Re-injections that tail loss probes caused; `None` where nothing counts them.
    pub probe_reinjections: Option<u64>,
    /// What a reader of the row should know besides.
    pub notes: Vec<String>,
}

impl Run {
    /// The client read every byte.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.ended == Ended::Finished
    }
}

/// One burst, seen from both ends on one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstSeen {
    /// Its first write at the server, or the write of the request for it; of a response, its first packet.
    pub t_start: Time,
    /// The client's read of its last byte; `None` when that never came.
    pub t_end: Option<Time>,
    /// Its bytes.
    pub bytes: u64,
}

impl BurstSeen {
    pub(crate) fn completion_ns(&self) -> Option<i64> {
        self.t_end.map(|end| end.since(self.t_start).as_nanos())
    }
}

/// One subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowSeen {
    /// Its path, from 1.
    pub path: u32,
    /// The client's port.
    pub client_port: u16,
    /// When it could be used by both ends; `None` when that was not seen.
    pub t_confirmed: Option<Time>,
    /// The server's socket at the end of the page or of the last burst.
    pub at_end: Option<SubflowState>,
}

/// The state of a subflow's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowState {
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// Retransmission timeout, µs, back-off included.
    pub rto_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
}
