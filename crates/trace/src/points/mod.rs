//! The same connections captured at several points of the network.
//!
//! Packets are the same wherever they pass: [`Mark`] names one by what no router changes. Reading goes over the captures twice.
//! The first time each gives a [`Sample`] of its packets; samples of two captures hold the same packets if the captures do, so
//! they show that two captures are of the same packets, which way each connection goes past them, and how the points' clocks
//! stand to each other ([`Alignment`]). The second time the captures are read side by side, in the order of one clock, and
//! each packet is [followed](Follow) from point to point: where it was lost, how long it took, and whether what it carried had
//! arrived before.

mod alignment;
mod clocks;
mod columns;
mod follow;
mod mark;
mod merged;
mod order;
mod passage;
mod rows;
mod sample;
#[cfg(test)]
mod tests;
mod way;

pub use alignment::{Alignment, Passage};
pub use clocks::{of_unlike_clocks, Clocks, PointClock};
pub use columns::tables;
pub use follow::Follow;
pub use mark::Mark;
pub use merged::Merged;
pub use rows::{Followed, Leg, Lost, PacketKind, Rows};
pub use sample::{Sample, Sampled};

/// Points at most.
pub const MOST_POINTS: usize = 4;
