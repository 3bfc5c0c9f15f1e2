//! Which packets a rule wants dropped, and how long it watches.

use rexmit_time::Duration;

use crate::pattern::Pattern;
use crate::tail::Mode;

/// Which packets are dropped.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The last data segments of every transfer, once.
    Tail {
        segments: u32,
        mode: Mode,
        hold_limit: Duration,
    },
    /// Packets by position.
    Pattern(Pattern),
}

impl Choice {
    /// How many data segments of each transfer's tail are dropped.
    pub fn tail_segments(&self) -> u32 {
        match self {
            Choice::Tail { segments, .. } => *segments,
            Choice::Pattern(_) => 0,
        }
    }

    /// How long packets are held while the connection sends nothing new.
    pub fn hold_limit(&self) -> Duration {
        match self {
            Choice::Tail { hold_limit, .. } => *hold_limit,
            Choice::Pattern(_) => Duration::ZERO,
        }
    }
}

/// What an open transfer's row is held against when it is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// This many data segments, the last.
    Tail(u64),
    /// This many data segments, wherever they stand.
    Segments(u64),
}
