//! What an engine is told and what it answers: the plan of a run, and the events with its rows.
//!
//! Every engine reads the same [`Plan`] and writes the same events, so that whatever reads them need not know which
//! engine it was. [`Story`] makes the rows of a transfer out of what the loss rule tells and what the engine knows of
//! its sender.

mod capture;
mod check;
mod ended;
mod events;
mod log;
mod packets;
mod part;
mod paths;
mod plan;
mod row;
mod story;

pub use capture::{write_capture, Captured};
pub use ended::Ended;
pub use events::{line, CellStart, Ignored};
pub use log::PacketLog;
pub use packets::{Direction, LoggedPacket, Packets};
pub use part::{
    Change, Conversation, Cut, End, Exchange, Pace, Part, Side, Stop, Tails, Way, Ways,
};
pub use paths::{
    not_all_acknowledged, not_all_came, not_all_came_up, BurstRow, BurstSeen, Bursts, PathCell,
    PathCellStart, PathLog, PathPacket, PathPackets, PathRetransmission, PathRetransmissionRow,
    PathRow, PathRows, PathRun, PathSender, PathStory, PathTally, PathWatched, Protocol,
    SubflowRow, SubflowSeen, SubflowState,
};
pub use plan::{
    Cell, ClientKind, Exec, Link, Loss, Mode, NetworkPlan, PatternLoss, Place, Plan, Programs,
    Server, Stack, Start, TailLoss, Workload, REHEARSAL_NS, VERSION,
};
pub use row::{Counts, Fetched, RetransmissionRow, Row};
pub use story::{comment, Label, Retransmission, Sender, SocketInfo, Story, Watched};
