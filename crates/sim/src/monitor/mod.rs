//! What captures of the world have and those of a laboratory have not: headers of other hosts, packets doubled, cut, merged
//! or missed by the capture, clocks that are set.
//!
//! The captures of one part of a corpus, whoever made it, are read into memory, changed by a [`Kind`], and written again.
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

use rexmit_time::{Streams, Time};
use rexmit_wire::LinkType;

use crate::synth::Point;

pub use packet::Packet;

/// What one point of a part captured.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where.
    pub point: Point,
    /// What its packets begin with: Ethernet or IP.
    pub link: LinkType,
    /// The packets, in the order in which they were captured.
    pub packets: Vec<Packet>,
}

/// The captures of one part, each point at most once.
pub type Captures = Vec<Seen>;

/// What is done to the captures of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Hosts count the IP identifications of all they send with one counter.
    IdsHost,
    /// The same, in the other byte order.
    IdsSwapped,
    /// Identifications are drawn.
    IdsRandom,
    /// Identifications are 0.
    IdsZero,
    /// A host's counter gives a burst its first identification, its network card the others.
    IdsStepped,
    /// A router's packets are captured on both of its interfaces.
    DoublesRouter,
    /// A mirror port gives what enters and what leaves.
    DoublesMirror,
    /// Few bytes of each packet are kept.
    Snapped,
    /// The capture misses packets, single ones and rows of them.
    MonitorLosses,
    /// The capture's clock is set forward and back.
    ClockSteps,
    /// Network cards cut and merge segments between the host and the wire.
    Offload,
    /// Silent connections are kept alive.
    KeepAlives,
    /// A flood of half-open connections, and some that are refused or not answered.
    Floods,
    /// All of it: each host counts in a way of its own, each capture is good or bad in its own way.
    World,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 14] = [
        Kind::IdsHost,
        Kind::IdsSwapped,
        Kind::IdsRandom,
        Kind::IdsZero,
        Kind::IdsStepped,
        Kind::DoublesRouter,
        Kind::DoublesMirror,
        Kind::Snapped,
        Kind::MonitorLosses,
        Kind::ClockSteps,
        Kind::Offload,
        Kind::KeepAlives,
        Kind::Floods,
        Kind::World,
    ];

    /// Its name, and what it is in a line.
    #[must_use]
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::IdsHost => (
                "ids-host",
                "IP identifications counted per host, with cross traffic",
            ),
            Kind::IdsSwapped => ("ids-swapped", "the same in the other byte order"),
            Kind::IdsRandom => ("ids-random", "random IP identifications"),
            Kind::IdsZero => ("ids-zero", "IP identifications of 0"),
            Kind::IdsStepped => (
                "ids-stepped",
                "IP identifications 1 or 256 apart in segments cut by a network card",
            ),
            Kind::DoublesRouter => (
                "doubles-router",
                "packets captured before and behind a router",
            ),
            Kind::DoublesMirror => ("doubles-mirror", "packets captured twice at a mirror port"),
            Kind::Snapped => ("snapped", "60 to 120 bytes of each packet"),
            Kind::MonitorLosses => ("monitor-losses", "packets that the capture missed"),
            Kind::ClockSteps => (
                "clock-steps",
                "a capture whose clock is set, forward and back",
            ),
            Kind::Offload => ("offload", "segments merged at the hosts' network cards"),
            Kind::KeepAlives => ("keep-alives", "keep-alives in silent connections"),
            Kind::Floods => (
                "floods",
                "half-open, refused and unanswered connections besides",
            ),
            Kind::World => ("world", "hosts and captures of all these kinds"),
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.words().0 == name)
    }
}

/// Changes the captures of a part as `kind` says; `seed` is the source of all chance.
pub fn rewrite(captures: &mut Captures, kind: Kind, seed: u64) {
    let streams = Streams::new(seed);
    let mut stream = streams.stream("what", 0);
    match kind {
        Kind::IdsHost | Kind::IdsSwapped | Kind::IdsRandom | Kind::IdsZero | Kind::IdsStepped => {
            identify(captures, kind, &streams);
        }
        Kind::DoublesRouter => doubles::router(captures, &streams),
        Kind::DoublesMirror => doubles::mirror(captures, &streams),
        Kind::Snapped => snap::cut(captures, &streams),
        Kind::MonitorLosses => losses::miss(captures, &streams),
        Kind::ClockSteps => clock::step(captures, &streams),
        Kind::Offload => offload::merge(captures, &streams),
        Kind::KeepAlives => {
            keepalive::add(captures, &streams);
            ids::assign(captures, kind, &streams);
        }
        Kind::Floods => {
            openings::add(captures, &streams);
            ids::assign(captures, kind, &streams);
        }
        Kind::World => {
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
fn identify(captures: &mut Captures, kind: Kind, streams: &Streams) {
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
pub fn times(seen: &Seen) -> BTreeMap<u32, Time> {
    let mut times = BTreeMap::new();
    for packet in &seen.packets {
        for &row in &packet.rows {
            times.entry(row).or_insert(packet.time);
        }
    }
    times
}
