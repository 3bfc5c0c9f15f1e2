//! Bursts over one or several paths: the cell, and what is told of it.

mod cell;
mod log;
mod packets;
mod rows;
mod story;
mod words;

pub use cell::{Bursts, PathCell, Protocol};
pub use log::PathLog;
pub use packets::{PathPacket, PathPackets};
pub use rows::{
    BurstRow, BurstSeen, PathCellStart, PathRetransmissionRow, PathRow, PathRows, PathRun,
    SubflowRow, SubflowSeen, SubflowState,
};
pub use story::{PathRetransmission, PathSender, PathStory, PathTally, PathWatched};
pub use words::{not_all_acknowledged, not_all_came, not_all_came_up};

#[cfg(test)]
mod tests;
