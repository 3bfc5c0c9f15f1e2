//! One direction of a connection's data, over all its subflows.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::DataNumber;

use super::numbers::{Numbering, Placed};
use super::sent::{Copy, SentData};

/// Half a handshake does not tell the order of what was sent closer together.
const SURE: Duration = Duration::from_millis(1);

/// A re-injection: data that went at another place before. What it was for is known later.
#[derive(Clone, Debug)]
pub(super) struct Reinjection {
    /// Its packet, as it is among the copies of its data.
    pub copy: Copy,
    /// Which data of the packet were sent before.
    pub start: i64,
    /// The place after them.
    pub end: i64,
    /// Payload bytes of the packet.
    pub length: u32,
    /// The copies before it; none if what came before never came by.
    pub before: Vec<Copy>,
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
}

/// A packet's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Place of the first byte.
    pub start: i64,
    /// Place after the last.
    pub end: i64,
    /// The subflow's data came in order up to this packet, and end here: as far as is known, see [`Data::carried`].
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
                self.sent = SentData::default();
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

    /// Moves out the oldest of those not settled.
    pub(super) fn take_first(&mut self) -> Option<Reinjection> {
        self.recovered = self.recovered.saturating_sub(1);
        self.open.pop_front()
    }

    /// A packet carried data. How many bytes of them were never sent before.
    ///
    /// Data go to a subflow in the order in which they were written. So what is below the highest that the
    /// subflow had before (`top`) is a re-injection, even if the first copy never came by.
    pub(super) fn carried(&mut self, carried: &Carried, copy: &Copy) -> u64 {
        let added = self.sent.add(carried.start, carried.end, copy);
        let flight = self.sent.outstanding(self.high);
        let unseen = carried.top.is_some_and(|top| carried.end <= top);
        if let Some((start, end)) = added.again {
            let first = added.before.iter().min_by_key(|before| before.sent);
            match first.filter(|first| copy.sent + SURE < first.sent).copied() {
                // It was sent before the one that came by first.
                Some(late) => self.overtaken(carried, copy, &late, (start, end)),
                None => self.reinjected(carried, copy, added.before, (start, end), flight),
            }
        } else if unseen && added.new > 0 {
            let range = (carried.start, carried.end);
            self.reinjected(carried, copy, Vec::new(), range, flight);
        }
        self.high = self.high.max(carried.end);
        added.new
    }

    fn reinjected(
        &mut self,
        carried: &Carried,
        copy: &Copy,
        before: Vec<Copy>,
        (start, end): (i64, i64),
        flight: (u32, u32),
    ) {
        let begun = match self.episode_high {
            Some((high, begun)) if self.una < high => begun,
            before => {
                self.episode += u32::from(before.is_some());
                self.episode_high = Some((self.high, copy.at));
                copy.at
            }
        };
        self.open.push_back(Reinjection {
            copy: *copy,
            start,
            end,
            length: carried.length,
            before,
            high: self.high,
            recovered: None,
            una: self.una,
            covered: (self.una >= end).then_some(copy.at),
            flight,
            episode: self.episode,
            begun,
        });
    }

    /// The copy `late` of some data came by before `copy`, and was sent after it.
    fn overtaken(&mut self, carried: &Carried, copy: &Copy, late: &Copy, range: (i64, i64)) {
        let known = self.open.iter_mut().rev().find(|open| {
            let here = open.copy.subflow == late.subflow && open.copy.shift == late.shift;
            here && open.start < range.1 && range.0 < open.end
        });
        match known {
            Some(open) => open.before.push(*copy),
            None => {
                let flight = self.sent.outstanding(self.high);
                self.reinjected(carried, late, vec![*copy], range, flight);
            }
        }
    }

    /// The receiver has all data below `place`. `shared`: there are several subflows.
    pub(super) fn acknowledged(&mut self, place: i64, at: Time, shared: bool) {
        self.una = self.una.max(place);
        for open in self.open.iter_mut().skip(self.recovered) {
            if open.covered.is_none() && open.end <= self.una {
                open.covered = Some(at);
            }
        }
        while let Some(open) = self.open.get_mut(self.recovered) {
            if open.high > self.una {
                break;
            }
            open.recovered = Some(at);
            self.recovered += 1;
        }
        self.sent.advance(self.una, at, shared);
    }
}
