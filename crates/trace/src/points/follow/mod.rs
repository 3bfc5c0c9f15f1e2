//! Packets followed from point to point.

mod alike;
mod failed;
mod fate;
mod flows;
mod legs;
mod parts;
mod route;
mod seen;

use core::net::IpAddr;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use rexmit_wire::table::Key;
use rexmit_wire::{FlowKey, Headers};

use super::rows::{Each, PacketKind, Rows};
use super::sample::ByMark;
use super::way::{PendingPacket, Sight, Way};
use super::{Mark, MOST_POINTS};
use crate::analyzer::Failures;
use crate::contain::contain;

use alike::Alike;
use failed::FailedWay;
use route::Route;
use seen::{Found, SETTLED};

/// Things by what packets say. It is never walked: its order is of this process alone.
type Map<K, V> = HashMap<K, V, Key>;

/// A packet that has not come by at the next point after so long is lost, nanoseconds. Segments live no longer (RFC 9293
/// §3.4.2 says two minutes; Linux closes a connection a minute after its end).
const LONGEST: i64 = 30_000_000_000;
/// A connection of which nothing came for so long is over.
const IDLE: i64 = 900_000_000_000;
/// Packets that may wait; with more they wait less long.
const MOST_WAITING: usize = 1 << 20;
/// Packets between two looks at all connections.
const LOOK: u64 = 1 << 16;

/// Follows packets that come in the order of the first point's clock, whatever point they came by at.
#[derive(Debug)]
pub struct Follow {
    points: usize,
    /// When each point's capture begins and ends, by the first point's clock.
    spans: Vec<(i64, i64)>,
    /// Packets show that the capture of a point had not begun, or was over.
    late: Each<bool>,
    early: Each<bool>,
    ways: Vec<Option<Box<Way>>>,
    free_ways: Vec<u32>,
    by_flow: Each<Map<FlowKey, u32>>,
    /// By the hosts of each point's flows: where their packets come by, and in which order.
    routes: Each<Map<(IpAddr, IpAddr), Route>>,
    /// What names packets that were settled lately, by its lower bits.
    settled: Box<[u64]>,
    entries: Vec<PendingPacket>,
    free: Vec<u32>,
    by_mark: ByMark<Alike>,
    longest: i64,
    now: i64,
    packets: u64,
    rows: Rows,
    /// Ways that failed, and whether anything of failed ones is to be swept out.
    failed: BTreeMap<u32, FailedWay>,
    unswept: bool,
    failures: Failures,
    /// What comes by from this port panics.
    #[cfg(test)]
    pub(super) fault: Option<u16>,
}

impl Follow {
    /// Follows packets over points whose captures begin and end then, by the first point's clock, nanoseconds.
    #[must_use]
    pub fn new(spans: Vec<(i64, i64)>) -> Self {
        Follow {
            points: spans.len().min(MOST_POINTS),
            spans,
            late: Each::default(),
            early: Each::default(),
            ways: Vec::new(),
            free_ways: Vec::new(),
            by_flow: Each::default(),
            routes: Each::default(),
            settled: vec![0; SETTLED].into_boxed_slice(),
            entries: Vec::new(),
            free: Vec::new(),
            by_mark: ByMark::default(),
            longest: LONGEST,
            now: i64::MIN,
            packets: 0,
            rows: Rows::default(),
            failed: BTreeMap::new(),
            unswept: false,
            failures: Failures::default(),
            #[cfg(test)]
            fault: None,
        }
    }

    /// A packet came by at a point, at `at` by the first point's clock and `raw` by its own.
    pub fn packet(&mut self, point: usize, at: i64, raw: u64, headers: &Headers) {
        if point >= self.points {
            return;
        }
        self.now = self.now.max(at);
        self.packets += 1;
        let sight = Sight { raw, at };
        if !self.is_of_failed(point, headers) {
            if let Err(defect) = contain(|| self.follow(point, sight, headers)) {
                self.fail(point, raw, headers.flow, &defect);
            }
        }
        if self.packets % LOOK == 0 {
            self.look();
        }
    }

    fn follow(&mut self, point: usize, sight: Sight, headers: &Headers) {
        let mark = Mark::of(headers);
        let at = sight.at;
        let way = match self.find(mark, point, at, headers) {
            Found::Again => return,
            Found::Entry(entry) => self.seen_again(entry, point, sight, headers, true),
            Found::None => match self.in_parts(point, sight, headers) {
                Some(way) => way,
                None => self.seen_first(mark, point, sight, headers),
            },
        };
        self.acknowledge(way, headers);
        self.settle(way, false);
    }

    /// The captures are over.
    pub fn finish(&mut self) {
        for way in 0..self.ways.len() as u32 {
            self.end(way);
        }
    }

    /// Moves out the rows that are ready.
    pub fn drain(&mut self) -> Rows {
        core::mem::take(&mut self.rows)
    }

    /// Connections that could not be followed, and are left out.
    #[must_use]
    pub const fn failures(&self) -> &Failures {
        &self.failures
    }

    /// What the other direction has acknowledged.
    fn acknowledge(&mut self, way: u32, headers: &Headers) {
        if !headers.flags.ack() || headers.flags.rst() {
            return;
        }
        let reverse = self.ways[way as usize].as_ref().and_then(|way| way.reverse);
        let Some(reverse) = reverse.and_then(|reverse| self.ways[reverse as usize].as_mut()) else {
            return;
        };
        if reverse.line.is_some() {
            let acked = reverse.near_place(headers.ack).unwrap_or(i64::MIN);
            reverse.acked = reverse.acked.max(acked);
        }
    }

    /// Looks at all connections: settles what has waited long enough, forgets those that are over.
    fn look(&mut self) {
        self.sweep();
        let waiting = self.entries.len() - self.free.len();
        if waiting > MOST_WAITING {
            self.longest /= 2;
        } else if waiting < MOST_WAITING / 2 {
            self.longest = (self.longest * 2).min(LONGEST);
        }
        for way in 0..self.ways.len() as u32 {
            let Some(of) = self.ways[way as usize].as_ref() else {
                continue;
            };
            if self.now.saturating_sub(of.latest) > IDLE {
                self.end(way);
            } else if !of.queue.is_empty() {
                self.settle(way, false);
            }
        }
    }
}

fn kind_of(headers: &Headers) -> PacketKind {
    let flags = headers.flags;
    if flags.rst() {
        PacketKind::Rst
    } else if flags.syn() {
        PacketKind::Syn
    } else if headers.payload_len > 0 {
        PacketKind::Data
    } else if flags.fin() {
        PacketKind::Fin
    } else {
        PacketKind::Ack
    }
}
