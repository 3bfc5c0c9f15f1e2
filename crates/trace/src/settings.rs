//! What an analysis is asked for, and its bounds.

use std::sync::Arc;

use rexmit_time::Duration;
use rexmit_wire::table::Key;

use crate::emulate::Chosen;
use crate::fault::Fault;
use crate::run::Promptly;
use crate::whatif::Plan;

/// What an analysis is asked for, and its bounds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections remembered at a time; the one unused for longest makes room.
    pub most_connections: usize,
    /// Events that a connection keeps before they are worked through.
    pub most_events: usize,
    /// Retransmissions of one direction that wait for their connection to end before the oldest is given out.
    pub most_retransmissions: usize,
    /// A connection unused for so long has ended.
    pub idle: Duration,
    /// A closed connection in which all is acknowledged is kept so long for late packets: a FIN whose acknowledgement was lost
    /// behind the monitor comes again when a timeout has doubled six times (RFC 6298 §5.5, from 0.2 s). One in which something
    /// is not is kept as an open one is.
    pub linger: Duration,
    /// A direction whose round-trip times spread so far is worked through even without a retransmission: a lower timeout
    /// might have run out, or a loss before the monitor have been repaired unseen. The smallest deviation term of UNC
    /// 2007's grid.
    pub spread: Duration,
    /// Rows keep the emulations' shares, and are as certain as that their bytes came by before: no probabilities. For
    /// fitting what makes them such.
    pub uncalibrated: bool,
    /// The rows of the account are stretches of time, one after the other, not sums. For judging it.
    pub timeline: bool,
    /// Requests have the names of their servers, and their paths.
    pub names: bool,
    /// The stacks that are emulated.
    pub stacks: Chosen,
    /// The settings to replay over each sender that retransmits; none for no replay.
    pub whatif: Option<Arc<Plan>>,
    /// By this, connections are spread over shards. All that read or analyse parts of a capture need the same one; nothing
    /// in the rows, or in their order, follows from it.
    pub key: Key,
    /// Rows come out in bounded time; none: when there are many, or at the end.
    pub promptly: Option<Promptly>,
    /// A defect that tests plant.
    pub fault: Option<Fault>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            most_connections: 2_000_000,
            most_events: 512,
            most_retransmissions: 4096,
            idle: Duration::from_secs(900),
            linger: Duration::from_secs(20),
            spread: Duration::from_millis(100),
            uncalibrated: false,
            timeline: false,
            names: true,
            stacks: Chosen::default(),
            whatif: Some(Arc::default()),
            key: Key::FIXED,
            promptly: None,
            fault: None,
        }
    }
}
