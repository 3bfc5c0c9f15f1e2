//! The rows of the truth: of each connection one, and one of each of its retransmissions.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use serde::Serialize;

use super::connection::{ConnectionTruth, Direction};

/// A row of [`rexmit_schema::truth::RETRANSMISSIONS`].
#[derive(Clone, Debug, Serialize)]
pub struct RetransmissionRow {
    flow: String,
    seq_start: u32,
    seq_end: u32,
    mechanism: Mechanism,
    need: Need,
    dropped: bool,
    first_sent_ns: u64,
    sender_ns: Option<u64>,
    switch_ns: Option<u64>,
    receiver_ns: Option<u64>,
    bytes_outstanding: u32,
    cause: &'static str,
    direction: &'static str,
    home: &'static str,
}

/// A row of [`rexmit_schema::truth::CONNECTIONS`].
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionRow {
    flow: String,
    stack: &'static str,
    receiver_stack: &'static str,
    settings: String,
    network: String,
    workload: String,
    bytes: u64,
    segments: u64,
    lost_segments: u64,
    retransmissions: usize,
    spurious_retransmissions: usize,
    start_ns: u64,
    duration_ns: i64,
    direction: &'static str,
}

impl ConnectionRow {
    /// The row of a connection.
    pub(super) fn new(told: ConnectionTruth) -> Self {
        let most = &told.directions[0];
        let both = || {
            told.directions
                .iter()
                .flat_map(|way| &way.truth.retransmissions)
        };
        let spurious = both().filter(|retransmission| retransmission.need == Need::Spurious);
        Self {
            flow: most.flow.to_string(),
            stack: told.sender,
            receiver_stack: told.receiver,
            bytes: most.truth.bytes,
            segments: most.truth.segments,
            lost_segments: most.truth.lost_segments,
            retransmissions: both().count(),
            spurious_retransmissions: spurious.count(),
            start_ns: told.start.as_nanos(),
            duration_ns: told.end.since(told.start).as_nanos(),
            direction: word(most.forward),
            settings: told.settings,
            network: told.network,
            workload: told.workload,
        }
    }
}

/// The rows of a connection's retransmissions, captured at `points`.
pub(super) fn retransmissions(
    told: &ConnectionTruth,
    points: [bool; 3],
) -> impl Iterator<Item = RetransmissionRow> + '_ {
    told.directions
        .iter()
        .flat_map(move |way| of_direction(way, points))
}

fn of_direction(
    way: &Direction,
    points: [bool; 3],
) -> impl Iterator<Item = RetransmissionRow> + '_ {
    let pairs = way.truth.retransmissions.iter().zip(&way.packets);
    pairs.map(move |(retransmission, made)| {
        let at = |time: Time| (time + way.shift).as_nanos();
        let seen = |point: usize| made.seen[point].filter(|_| points[point]).map(at);
        RetransmissionRow {
            flow: way.flow.to_string(),
            seq_start: made.segment.seq.get(),
            seq_end: made.segment.end().get(),
            mechanism: retransmission.mechanism,
            need: retransmission.need,
            dropped: !made.arrived,
            first_sent_ns: at(retransmission.first_sent),
            sender_ns: seen(0),
            switch_ns: seen(1),
            receiver_ns: seen(2),
            bytes_outstanding: made.outstanding,
            cause: retransmission.cause,
            direction: word(way.forward),
            home: way.home.as_str(),
        }
    })
}

fn word(forward: bool) -> &'static str {
    if forward {
        "forward"
    } else {
        "backward"
    }
}
