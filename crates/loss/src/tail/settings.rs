//! How a tail rule is set up, and what it counts.

use core::fmt;
use core::str::FromStr;

use rexmit_time::Duration;

/// How the tail is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// By sequence number, nothing is held: a segment is in the tail when its first byte lies at or after
    /// end − N·MSS, MSS being the largest payload seen. Exact when all segments but the last are full; else
    /// the row says what happened.
    #[default]
    Sequence,
    /// As the paper does: possible members of the tail are held until the last byte and the FIN show, then
    /// exactly the last N are dropped.
    ///
    /// On today's kernels this stalls at low rates: a packet that waits for its verdict still counts against
    /// the socket's small-queue limit (`tcp_small_queue_check`: about 1 ms at the pacing rate), the
    /// sender stops after a few held segments, and the FIN never comes. [`Settings::hold_limit`] bounds
    /// the wait.
    Hold,
}

impl Mode {
    /// The mode's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Sequence => "sequence",
            Mode::Hold => "hold",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Neither `sequence` nor `hold`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode(pub String);

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown mode {:?}: sequence or hold", self.0)
    }
}

impl std::error::Error for UnknownMode {}

impl FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        match word {
            "sequence" => Ok(Mode::Sequence),
            "hold" => Ok(Mode::Hold),
            _ => Err(UnknownMode(word.to_owned())),
        }
    }
}

/// How a tail rule is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// N, the data segments to drop at the end of every transfer; 0 drops nothing and still measures.
    pub segments: u32,
    /// How the tail is found.
    pub mode: Mode,
    /// `hold` only: how long packets are held while the connection sends nothing new.
    pub hold_limit: Duration,
    /// How long a complete transfer is watched for further retransmissions before its row is given. Zero gives
    /// the row at once; with [`Duration::MAX`] the row comes when the connection is reset or replaced, or at
    /// [`Rule::finish`](crate::Rule::finish). What is sent again after the row is neither counted nor told.
    pub linger: Duration,
    /// How many connections are remembered; the one idle longest is forgotten for a new one.
    pub max_flows: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            segments: 0,
            mode: Mode::Sequence,
            hold_limit: Duration::from_secs(3),
            linger: Duration::ZERO,
            max_flows: 16_384,
        }
    }
}

/// What a tail rule has counted since it was made.
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
