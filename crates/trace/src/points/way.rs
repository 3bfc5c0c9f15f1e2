//! One direction of a connection, as several points see it.

use std::collections::VecDeque;

use rexmit_time::Duration;
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{FlowKey, Intervals, SeqNum};

use super::order::Precedence;
use super::rows::{Each, Lost, PacketKind};
use super::Mark;
use crate::measures::percentiles::Percentiles;
use crate::sender_view::SeqSpace;
use crate::window::{is_place_near, MOST_STRAYS};

/// Copies that were lost and are remembered.
const REMEMBERED: usize = 4_096;
/// Matches without choice that show whether a packet keeps its identification on its way.
const SHOWN: u32 = 4;

/// Whether a packet's number is none of a direction's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Astray {
    No,
    LeftOut,
    /// It is the first of what the direction has become.
    Moved,
}

/// When a packet came by at a point: by the point's clock, and by that of the first of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    pub raw: u64,
    pub at: i64,
}

/// A packet whose way is not yet known to its end.
#[derive(Clone, Debug)]
pub(super) struct PendingPacket {
    pub way: u32,
    pub mark: Mark,
    /// The next ones with the same mark, older and newer than this one.
    pub older: Option<u32>,
    pub newer: Option<u32>,
    pub sights: Each<Option<Sight>>,
    pub kind: PacketKind,
    pub ip_id: Option<u16>,
    pub stamps: Option<Timestamps>,
    /// Places of what it carries, SYN and FIN counted.
    pub start: i64,
    pub end: i64,
}

impl PendingPacket {
    /// Whether it may be the packet with these time stamps, as far as both captures have them.
    pub fn may_be(&self, stamps: Option<Timestamps>) -> bool {
        !matches!((self.stamps, stamps), (Some(one), Some(other)) if one != other)
    }

    /// When it was first seen anywhere.
    pub fn first(&self) -> i64 {
        let seen = self.sights.iter().flatten().map(|sight| sight.at);
        seen.min().unwrap_or(i64::MIN)
    }
}

/// What a direction of a connection did between two points.
#[derive(Clone, Debug, Default)]
pub(super) struct Between {
    pub packets: u64,
    pub lost: u64,
    pub data_lost: u64,
    pub acks_lost: u64,
    pub missed: u64,
    pub unseen: u64,
    pub delays: Percentiles,
    pub least: Option<i64>,
    pub most: i64,
}

impl Between {
    /// A packet took so long.
    pub fn took(&mut self, nanos: i64) {
        self.delays.add(Duration::from_nanos(nanos));
        self.least = Some(self.least.map_or(nanos, |least| least.min(nanos)));
        self.most = if self.delays.is_one() {
            nanos
        } else {
            self.most.max(nanos)
        };
    }

    /// Least, median, 95th percentile and most, nanoseconds.
    pub fn summary(&self) -> Option<[i64; 4]> {
        let least = self.least?;
        let [median, late] = self
            .delays
            .summary(Duration::from_nanos(least), Duration::from_nanos(self.most))?
            .map(Duration::as_nanos);
        Some([least, median, late, self.most])
    }
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub flows: Each<Option<FlowKey>>,
    pub reverse: Option<u32>,
    /// Points that it, or the other direction, came by at.
    pub there: Each<bool>,
    pub order: Precedence,
    /// Packets in the order in which they came by at the first point.
    pub queue: VecDeque<u32>,
    /// Matches without choice whose identification stayed, and others.
    pub kept_ids: u32,
    pub other_ids: u32,
    /// The least time from one point to another.
    pub least: Each<Each<Option<i64>>>,
    /// When its first packet came by anywhere, and its latest.
    pub begun: i64,
    pub latest: i64,
    pub firsts: Each<Option<u64>>,
    pub line: Option<SeqSpace>,
    pub near: i64,
    /// Packets in a row whose numbers are not near.
    strays: u8,
    pub isn: Option<SeqNum>,
    /// What came by at each point.
    pub passed: Each<Intervals<i64>>,
    /// The other direction acknowledged what lies below.
    pub acked: i64,
    /// What packets settled so far brought to the first point, and to the last.
    pub sent: Intervals<i64>,
    pub arrived: Intervals<i64>,
    /// Lost copies, newest last, and where.
    pub lost: VecDeque<(i64, i64, Lost)>,
    pub between: Each<Each<Between>>,
}

impl Way {
    /// A way that no packet has come yet of.
    pub fn new() -> Self {
        Way {
            acked: i64::MIN,
            ..Way::default()
        }
    }

    /// Forgets the connection, of which another one has the addresses and ports now. What is known of the route stays.
    pub fn begin_anew(&mut self) -> Self {
        let fresh = Way {
            flows: self.flows,
            reverse: self.reverse,
            there: self.there,
            order: self.order,
            kept_ids: self.kept_ids,
            other_ids: self.other_ids,
            latest: self.latest,
            ..Way::new()
        };
        core::mem::replace(self, fresh)
    }

    /// The place of a sequence number.
    pub fn place(&mut self, seq: SeqNum) -> i64 {
        let line = *self.line.get_or_insert(SeqSpace::new(seq));
        line.place(seq, self.near)
    }

    /// The same, of one that is [near](crate::window).
    pub fn near_place(&mut self, seq: SeqNum) -> Option<i64> {
        let place = self.place(seq);
        is_place_near(place, self.near).then_some(place)
    }

    /// A packet with this number is left out; or so many in a row were that the connection is another, or has moved.
    pub fn is_astray(&mut self, seq: SeqNum) -> Astray {
        if self.near_place(seq).is_some() {
            self.strays = 0;
            return Astray::No;
        }
        self.strays = self.strays.saturating_add(1);
        if self.strays > MOST_STRAYS {
            Astray::Moved
        } else {
            Astray::LeftOut
        }
    }

    /// Whether a packet's identification stays the same on its way.
    pub fn keeps_ids(&self) -> bool {
        self.kept_ids >= SHOWN && self.kept_ids / 8 >= self.other_ids
    }

    /// Two identifications of one packet.
    pub fn note_ids(&mut self, one: Option<u16>, other: Option<u16>) {
        if let (Some(one), Some(other)) = (one, other) {
            if one == other {
                self.kept_ids += u32::from(one != 0);
            } else {
                self.other_ids += 1;
            }
        }
    }

    /// A copy was lost there.
    pub fn lose(&mut self, start: i64, end: i64, place: Lost) {
        if self.lost.len() == REMEMBERED {
            self.lost.pop_front();
        }
        self.lost.push_back((start, end, place));
    }

    /// Where the newest lost copy of any of this was lost.
    pub fn lost_before(&self, start: i64, end: i64) -> Option<Lost> {
        let mut newest = self.lost.iter().rev();
        let of = newest.find(|&&(from, to, _)| from < end && start < to);
        of.map(|&(_, _, place)| place)
    }
}
