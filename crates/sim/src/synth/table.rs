//! The truth as tables: comma-separated values with a head, which Python makes columns of.

use std::io::{self, Write};

use rexmit_schema::truth;
use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};

use super::connection::Told;

/// Writes the head of both tables.
pub(super) fn heads(
    retransmissions: &mut dyn Write,
    connections: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        retransmissions,
        "{}",
        truth::RETRANSMISSIONS.fields().join(",")
    )?;
    writeln!(connections, "{}", truth::CONNECTIONS.fields().join(","))
}

/// Writes the rows of one connection.
pub(super) fn rows(
    told: &Told,
    points: [bool; 3],
    retransmissions: &mut dyn Write,
    connections: &mut dyn Write,
) -> io::Result<u64> {
    let most = &told.directions[0];
    let both = || {
        told.directions
            .iter()
            .flat_map(|way| &way.truth.retransmissions)
    };
    let spurious = both().filter(|retransmission| retransmission.need == Need::Spurious);
    writeln!(
        connections,
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
        most.flow,
        told.sender,
        told.receiver,
        Quoted(&told.settings),
        Quoted(&told.network),
        Quoted(&told.workload),
        most.truth.bytes,
        most.truth.segments,
        most.truth.lost_segments,
        both().count(),
        spurious.count(),
        told.start.as_nanos(),
        told.end.since(told.start).as_nanos(),
        direction(most.forward),
    )?;
    let mut rows = 0;
    for way in &told.directions {
        for (retransmission, made) in way.truth.retransmissions.iter().zip(&way.packets) {
            let mut seen = made.seen.map(|at| Cell(at, way.shift));
            for (seen, wanted) in seen.iter_mut().zip(points) {
                if !wanted {
                    seen.0 = None;
                }
            }
            let segment = &made.segment;
            writeln!(
                retransmissions,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                way.flow,
                segment.seq,
                segment.end(),
                retransmission.mechanism,
                retransmission.need,
                !made.arrived,
                Cell(Some(retransmission.first_sent), way.shift),
                seen[0],
                seen[1],
                seen[2],
                made.outstanding,
                retransmission.cause,
                direction(way.forward),
                way.home.as_str(),
            )?;
            rows += 1;
        }
    }
    Ok(rows)
}

fn direction(forward: bool) -> &'static str {
    if forward {
        "forward"
    } else {
        "backward"
    }
}

/// A time, nothing where there is none.
#[derive(Clone, Copy)]
struct Cell(Option<Time>, Duration);

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(time) => (time + self.1).as_nanos().fmt(f),
            None => Ok(()),
        }
    }
}

/// A text in quotes, those in it doubled (RFC 4180 §2).
struct Quoted<'a>(&'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}
