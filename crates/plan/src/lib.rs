//! What an engine is told and what it answers: the plan of a run, and the events with its rows.
//!
//! Every engine reads the same [`Plan`] and writes the same events, so that whatever reads them need not know which
//! engine it was. [`Story`] makes the rows of a transfer out of what the loss rule tells and what the engine knows of
//! its sender.

mod aqm;
mod capture;
mod cell;
mod check;
mod columns;
mod ended;
mod events;
mod link;
mod log;
mod loss;
mod network;
mod packets;
mod part;
mod plan;
mod rate_trace;
mod row;
mod rows;
mod run;
mod story;
mod words;
mod workload;

pub use aqm::{Aqm, Codel, FqCodel, Pie, Red};
pub use capture::{write_capture, Captured};
pub use cell::{Cell, Offloads, Protocol, Qdisc, RouteMetrics, Stack, Start, Work, REHEARSAL_NS};
pub use columns::{Answer, Columns};
pub use ended::Ended;
pub use events::{line, CellStart, Events, Ignored, PageStart, Rehearsed};
pub use link::{Link, LossBursts, PathMtu, Policer, Stalls};
pub use log::PacketLog;
pub use loss::{Loss, PatternLoss, TailLoss};
pub use network::{Layout, NetworkPlan, Place};
pub use packets::{Carries, Direction, LoggedPacket, Packets};
pub use part::{
    Change, Conversation, Cut, End, Exchange, Pace, Part, Side, Stop, Tails, Way, Ways,
};
pub use plan::{Ask, Exec, Plan, Programs, VERSION};
pub use rate_trace::{Moment, RateTrace, OPPORTUNITY_BYTES};
pub use row::Row;
pub use rows::Rows;
pub use run::{BurstSeen, Counts, Fetched, Run, SubflowSeen, SubflowState};
pub use story::{
    comment, Again, Label, Retransmission, Route, Sender, Sent, SocketInfo, Story, Tally, Watched,
};
pub use words::{not_all_acknowledged, not_all_came, not_all_came_up, not_as_asked};
pub use workload::{Bursts, ClientKind, Http, Page, Request, Workload};

#[cfg(test)]
mod tests;
