//! What an analysis counts.

use rexmit_time::Duration;
use serde::{Deserialize, Serialize};

use super::Failures;

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets taken.
    pub packets: u64,
    /// Connections begun.
    pub connections: u64,
    /// Connections put out to make room for others.
    pub evicted: u64,
    /// Of those, such as had only begun: no data, no complete handshake.
    pub evicted_openings: u64,
    /// Packets with numbers that fit nothing of the open connection whose addresses they bear.
    pub strays: u64,
    /// SACK blocks of numbers that fit nothing of what they report on.
    pub stray_blocks: u64,
    /// Connections of which one direction is recorded late.
    pub late: u64,
    /// By how much at most.
    pub latest: Duration,
    /// Connections of which one direction was moved, as it is recorded late by the same time always.
    pub moved: u64,
    /// By how much at most.
    pub farthest_moved: Duration,
    /// Connections within which the capture's clock was set.
    pub set: u64,
    /// By how much at most.
    pub farthest_set: Duration,
    /// RSTs without a connection.
    pub stray_resets: u64,
    /// Connections that were left out, since their analysis failed.
    pub failures: Failures,
}

impl Counters {
    /// Adds those of `other`.
    pub fn add(&mut self, other: &Counters) {
        self.packets += other.packets;
        self.connections += other.connections;
        self.evicted += other.evicted;
        self.evicted_openings += other.evicted_openings;
        self.strays += other.strays;
        self.stray_blocks += other.stray_blocks;
        self.late += other.late;
        self.latest = self.latest.max(other.latest);
        self.moved += other.moved;
        self.farthest_moved = self.farthest_moved.max(other.farthest_moved);
        self.set += other.set;
        self.farthest_set = self.farthest_set.max(other.farthest_set);
        self.stray_resets += other.stray_resets;
        self.failures.add(&other.failures);
    }
}
