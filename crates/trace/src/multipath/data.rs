//! One direction of a connection's data, over all its subflows.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::DataNumber;

use super::numbers::{Numbering, Placed};
use super::sent::{Copy, Resent, SentData};

/// Packets of two subflows that were sent closer together have no order: their delays are known from a part of the
/// handshakes alone.
const SURE: Duration = Duration::from_millis(1);

/// A re-injection: data that went at another place before. What it was for is known later.
#[derive(Clone, Debug)]
pub(super) struct Reinjection {
    /// Its packet, as it is among the copies of its data.
    pub copy: Copy,
    /// Which data of the packet were sent before, at least one, and the copies before it; none if those never came by.
    pub parts: Vec<Resent>,
    /// Payload bytes of the packet.
    pub length: u32,
    /// The place after the highest sent before it.
    pub high: i64,
    /// When that was acknowledged.
    pub recovered: Option<Time>,
    /// What the receiver had acknowledged when it was sent.
    pub una: i64,
    /// When its data were acknowledged.
    pub covered: Option<Time>,
    /// Pieces and bytes not acknowledged when it was sent.
    pub flight: (u32, u32),
    /// From a first re-injection until all sent before it is acknowledged.
    pub episode: u32,
    /// When that first one came by.
    pub begun: Time,
    /// When data of this side went before it on any subflow.
    pub since: Option<Time>,
}

impl Reinjection {
    /// The first place that was sent before.
    pub(super) fn start(&self) -> i64 {
        self.parts.first().map_or(0, |part| part.start)
    }

    /// The place after the last.
    pub(super) fn end(&self) -> i64 {
        self.parts.last().map_or(0, |part| part.end)
    }

    /// The copy that was sent first.
    pub(super) fn first(&self) -> Option<&Copy> {
        let all = self.parts.iter().flat_map(|part| &part.before);
        all.min_by_key(|before| before.sent)
    }

    /// A further part of it was sent before.
    pub(super) fn add(&mut self, part: Resent) {
        let there = |known: &Resent| known.start < part.end && part.start < known.end;
        if !self.parts.iter().any(there) {
            self.parts.push(part);
            self.parts.sort_by_key(|part| part.start);
        }
    }

    /// Whether it is the packet that `copy` is of, with some of `start..end`.
    pub(super) fn is_packet_of(&self, copy: &Copy, start: i64, end: i64) -> bool {
        let here = self.copy.subflow == copy.subflow && self.copy.shift == copy.shift;
        here && self.start() < end && start < self.end()
    }
}

/// A packet's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Place of the first byte.
    pub start: i64,
    /// Place after the last.
    pub end: i64,
    /// The highest place that the subflow had before it, if only a part of the connection is seen.
    pub top: Option<i64>,
    /// Payload bytes of the packet.
    pub length: u32,
}

/// One direction's data.
#[derive(Debug, Default)]
pub(super) struct Data {
    numbering: Numbering,
    sent: SentData,
    high: i64,
    una: i64,
    open: VecDeque<Reinjection>,
    /// How many of them, from the front, have `recovered`.
    recovered: usize,
    episode: u32,
    /// Its end, and when it began.
    episode_high: Option<(i64, Time)>,
    /// When the newest data went.
    last: Option<Time>,
    /// When those before them did.
    before: Option<Time>,
}

impl Data {
    /// The key of the sending side is known.
    pub(super) fn begin(&mut self, idsn: u64) {
        self.numbering.begin(idsn);
    }

    /// The place of a number; none of one that cannot be the connection's.
    pub(super) fn place(&mut self, number: DataNumber) -> Option<i64> {
        match self.numbering.place(number) {
            Placed::At(place) => Some(place),
            Placed::Anew(place) => {
                // Places of before mean nothing on the new line.
                self.sent = SentData::default();
                self.open.clear();
                (self.recovered, self.episode_high) = (0, None);
                (self.high, self.una) = (place, place);
                Some(place)
            }
            Placed::Far => None,
        }
    }

    /// How many pieces are kept.
    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// Forgets the oldest of more than `most` pieces.
    pub(super) fn limit(&mut self, most: usize) {
        self.sent.limit(most);
    }

    /// Re-injections that are not settled, oldest first.
    pub(super) fn open(&self) -> &VecDeque<Reinjection> {
        &self.open
    }

    /// Moves out all that are not settled.
    pub(super) fn take_all(&mut self) -> VecDeque<Reinjection> {
        self.recovered = 0;
        core::mem::take(&mut self.open)
    }

    /// Takes them back, oldest first.
    pub(super) fn put_back(&mut self, open: Vec<Reinjection>) {
        self.open = open.into();
    }

    /// Moves out the oldest of those not settled.
    pub(super) fn take_first(&mut self) -> Option<Reinjection> {
        self.recovered = self.recovered.saturating_sub(1);
        self.open.pop_front()
    }

    /// A packet carried data. How many bytes of them were never sent before.
    ///
    /// Data are given to a subflow in the order in which they were written. So what is below the highest that the
    /// subflow had before (`top`) is a re-injection of what went first on a subflow that is not seen.
    pub(super) fn carried(&mut self, carried: &Carried, copy: &Copy) -> u64 {
        let added = self.sent.add(carried.start, carried.end, copy);
        self.before = self.last;
        self.last = self.last.max(Some(copy.at));
        let flight = self.sent.outstanding(self.high);
        let unseen = carried.top.is_some_and(|top| carried.end <= top);
        if !added.again.is_empty() {
            self.again(carried, copy, added.again, flight);
        } else if unseen && added.new > 0 {
            let unseen = Resent {
                start: carried.start,
                end: carried.end,
                before: Vec::new(),
            };
            self.reinjected(carried, copy, vec![unseen], flight);
        }
        self.high = self.high.max(carried.end);
        added.new
    }

    fn again(&mut self, carried: &Carried, copy: &Copy, parts: Vec<Resent>, flight: (u32, u32)) {
        let all = parts.iter().flat_map(|part| &part.before);
        let first = all.min_by_key(|before| before.sent);
        let late = first.filter(|first| copy.sent + SURE < first.sent).copied();
        let Some(late) = late else {
            self.reinjected(carried, copy, parts, flight);
            return;
        };
        // It was sent before what came by first.
        let [mut start, mut end] = [carried.start, carried.end];
        if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
            (start, end) = (first.start, last.end);
        }
        let mut open = self.open.iter_mut().rev();
        if let Some(open) = open.find(|open| open.is_packet_of(&late, start, end)) {
            for part in &mut open.parts {
                part.before.push(*copy);
            }
            return;
        }
        let overtaken = Resent {
            start,
            end,
            before: vec![*copy],
        };
        self.reinjected(carried, &late, vec![overtaken], flight);
    }

    fn reinjected(
        &mut self,
        carried: &Carried,
        copy: &Copy,
        parts: Vec<Resent>,
        flight: (u32, u32),
    ) {
        // Data that have arrived begin nothing anew.
        let acknowledged = parts.iter().all(|part| part.end <= self.una);
        let begun = match self.episode_high {
            Some((high, begun)) if self.una < high || acknowledged => begun,
            before => {
                self.episode += u32::from(before.is_some());
                self.episode_high = Some((self.high, copy.at));
                copy.at
            }
        };
        self.open.push_back(Reinjection {
            copy: *copy,
            covered: (self.una >= parts.last().map_or(0, |part| part.end)).then_some(copy.at),
            parts,
            length: carried.length,
            high: self.high,
            recovered: None,
            una: self.una,
            flight,
            episode: self.episode,
            begun,
            since: self.before,
        });
    }

    /// The receiver has all data below `place`. `shared`: there are several subflows.
    pub(super) fn acknowledged(&mut self, place: i64, at: Time, shared: bool) {
        self.una = self.una.max(place);
        for open in self.open.iter_mut().skip(self.recovered) {
            if open.covered.is_none() && open.end() <= self.una {
                open.covered = Some(at);
            }
        }
        while let Some(open) = self.open.get_mut(self.recovered) {
            if open.high > self.una {
                break;
            }
            open.recovered.get_or_insert(at);
            self.recovered += 1;
        }
        self.sent.advance(self.una, at, shared);
    }
}
