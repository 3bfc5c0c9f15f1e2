//! What captures of the world have and those of a laboratory have not: headers of other hosts, packets doubled, cut, merged
//! or missed by the capture, clocks that are set.
//!
//! The captures of one part of a corpus, whoever made it, are read into memory, changed by a [`Rewriting`], and written again.
//! A packet carries the rows of the truth that tell of it, so the truth keeps its times. One idea is one module; all is
//! drawn from one seed.

mod clock;
mod cross;
mod doubles;
mod follow;
mod ids;
mod inject;
mod keepalive;
mod losses;
mod offload;
mod openings;
mod packet;
mod snap;

use std::collections::BTreeMap;

use rexmit_tcp::words;
use rexmit_time::{Streams, Time};
use rexmit_wire::LinkType;

use crate::synth::Point;

pub use packet::CapturedPacket;

/// What one point of a part captured.
#[derive(Clone, Debug)]
pub struct PointCapture {
    /// Where.
    pub point: Point,
    /// What its packets begin with: Ethernet or IP.
    pub link: LinkType,
    /// The packets, in the order in which they were captured.
    pub packets: Vec<CapturedPacket>,
}

/// The captures of one part, each point at most once.
pub type Captures = Vec<PointCapture>;

words! {
    /// What is done to the captures of a part.
    pub enum Rewriting ("kind") {
        IdsHost = "ids-host": "IP identifications counted per host, with cross traffic",
        IdsSwapped = "ids-swapped": "the same in the other byte order",
        IdsRandom = "ids-random": "random IP identifications",
        IdsZero = "ids-zero": "IP identifications of 0",
        IdsStepped = "ids-stepped": "IP identifications 1 or 256 apart in segments cut by a network card",
        DoublesRouter = "doubles-router": "packets captured before and behind a router",
        DoublesMirror = "doubles-mirror": "packets captured twice at a mirror port",
        Snapped = "snapped": "60 to 120 bytes of each packet",
        MonitorLosses = "monitor-losses": "packets that the capture missed",
        ClockSteps = "clock-steps": "a capture whose clock is set, forward and back",
        Offload = "offload": "segments merged at the hosts' network cards",
        KeepAlives = "keep-alives": "keep-alives in silent connections",
        Floods = "floods": "half-open, refused and unanswered connections besides",
        World = "world": "hosts and captures of all these kinds",
    }
}

/// Changes the captures of a part as `kind` says; `seed` is the source of all chance.
pub fn rewrite(captures: &mut Captures, kind: Rewriting, seed: u64) {
    let streams = Streams::new(seed);
    let mut stream = streams.stream("what", 0);
    match kind {
        Rewriting::IdsHost
        | Rewriting::IdsSwapped
        | Rewriting::IdsRandom
        | Rewriting::IdsZero
        | Rewriting::IdsStepped => {
            identify(captures, kind, &streams);
        }
        Rewriting::DoublesRouter => doubles::router(captures, &streams),
        Rewriting::DoublesMirror => doubles::mirror(captures, &streams),
        Rewriting::Snapped => snap::cut(captures, &streams),
        Rewriting::MonitorLosses => losses::miss(captures, &streams),
        Rewriting::ClockSteps => clock::step(captures, &streams),
        Rewriting::Offload => offload::merge(captures, &streams),
        Rewriting::KeepAlives => {
            keepalive::add(captures, &streams);
            ids::assign(captures, kind, &streams);
        }
        Rewriting::Floods => {
            openings::add(captures, &streams);
            ids::assign(captures, kind, &streams);
        }
        Rewriting::World => {
            if packet::chance(&mut stream, 0.3) {
                keepalive::add(captures, &streams);
            }
            if packet::chance(&mut stream, 0.2) {
                openings::add(captures, &streams);
            }
            identify(captures, kind, &streams);
            if packet::chance(&mut stream, 0.4) {
                offload::merge(captures, &streams);
            }
            // A capture is bad in one way, or in none.
            match stream.below(8) {
                0 => losses::miss(captures, &streams),
                1 => doubles::router(captures, &streams),
                2 => doubles::mirror(captures, &streams),
                3 => clock::step(captures, &streams),
                _ => {}
            }
            if packet::chance(&mut stream, 0.5) {
                snap::cut(captures, &streams);
            }
        }
    }
}

/// Gives all packets new identifications, with cross traffic that advances the hosts' counters.
fn identify(captures: &mut Captures, kind: Rewriting, streams: &Streams) {
    let mut stream = streams.stream("capture filter", 0);
    let filtered = packet::chance(&mut stream, 0.5);
    cross::add(captures, streams);
    ids::assign(captures, kind, streams);
    if filtered {
        cross::remove(captures);
    }
}

/// When each row of the truth is seen in a capture; none for those that it does not show.
#[must_use]
pub fn times(seen: &PointCapture) -> BTreeMap<u32, Time> {
    let mut times = BTreeMap::new();
    for packet in &seen.packets {
        for &row in &packet.rows {
            times.entry(row).or_insert(packet.time);
        }
    }
    times
}
