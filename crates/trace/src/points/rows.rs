//! What is known of packets that came by at several points.

use rexmit_tcp::{words, Need};
use rexmit_wire::{FlowKey, SeqRange};

use super::MOST_POINTS;

words! {
    /// What a packet was.
    pub enum PacketKind ("kind of a packet") {
        /// It opened a connection.
        Syn = "syn",
        /// It carried data.
        Data = "data",
        /// It ended a direction, without data.
        Fin = "fin",
        /// An acknowledgement and nothing else.
        Ack = "ack",
        /// It reset the connection.
        Rst = "rst",
    }
}

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Before it came by at a point, the first on its way.
    Before(usize),
    /// From one point to the next.
    Between(usize, usize),
    /// Beyond the last point on its way.
    Beyond(usize),
}

/// A packet that was lost, or that carried something sent before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// Its direction, as the first point that it came by at has it.
    pub flow: FlowKey,
    /// The first and the last point that it came by at.
    pub points: (usize, usize),
    /// When it did, by the clocks of these points, nanoseconds.
    pub times: (u64, u64),
    /// The same by the clock of the first of all points.
    pub aligned: (i64, i64),
    /// What it carried, SYN and FIN counted.
    pub range: SeqRange,
    /// What it was.
    pub kind: PacketKind,
    /// Some of it had been sent before.
    pub again: bool,
    /// Whether that was needed, as far as the points tell. Known at the last point alone: what came by there arrived.
    pub need: Option<Need>,
    /// Where it was lost.
    pub lost: Option<Lost>,
    /// Of what was sent again: where the copy before was lost.
    pub previous: Option<Lost>,
}

/// One direction of a connection between two points that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The points.
    pub points: (usize, usize),
    /// Its flow at each of them.
    pub flows: (FlowKey, FlowKey),
    /// Its first and its last packet, by the clock of each of them, nanoseconds.
    pub firsts: (u64, u64),
    /// The point where it comes by first of all, and the last.
    pub ends: (usize, usize),
    /// Packets that came by at the first point.
    pub packets: u64,
    /// Of them, lost.
    pub lost: u64,
    /// Of them, with data.
    pub data_lost: u64,
    /// Of them, acknowledgements and nothing else.
    pub acks_lost: u64,
    /// Packets that must have come by at the second point and are not in its capture.
    pub missed: u64,
    /// Packets that came by at the second point and are not in the capture of the first.
    pub unseen: u64,
    /// Of what came by at both: time from the one to the other: least, median, 95th percentile, most, nanoseconds.
    pub delays: Option<[i64; 4]>,
}

/// Rows that are ready.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Packets.
    pub followed: Vec<Followed>,
    /// Directions of connections, once for each pair of points that follow each other.
    pub legs: Vec<Leg>,
}

/// One number a point.
pub(super) type Each<T> = [T; MOST_POINTS];
