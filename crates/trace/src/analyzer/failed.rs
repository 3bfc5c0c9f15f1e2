//! Connections whose analysis failed: each is left out, and leaves nothing in what connections share.

use rexmit_time::Time;
use rexmit_wire::table::{Hashed, Keyed, Slot, Table};
use rexmit_wire::{FlowKey, Headers};
use serde::{Deserialize, Serialize};

use super::Analyzer;
use crate::connection::{Connection, Opening, Pair};
use crate::contain::contain;
use crate::multipath::SubflowOf;

/// Connections that are named: those that began last.
pub const MOST_NAMED: usize = 16;

/// Failed connections of a shard whose packets are known as such; of more, the one unused for longest is forgotten.
const MOST_REMAINS: usize = 4_096;

/// A connection that was left out, since its analysis failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// Its first packet.
    pub start: Time,
    /// Client to server.
    pub flow: FlowKey,
    /// Where in this program the defect is, and its message.
    pub defect: String,
}

/// Connections that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// How many there are.
    pub count: u64,
    /// Packets at which they failed, and that came of them later.
    pub packets: u64,
    /// Those that began last, in their order, [`MOST_NAMED`] at most.
    pub named: Vec<Failure>,
}

impl Failures {
    /// A further one.
    pub(crate) fn note(&mut self, failure: Failure) {
        self.count += 1;
        self.named.push(failure);
        self.limit();
    }

    /// Adds those of `other`.
    pub(crate) fn add(&mut self, other: &Failures) {
        self.count += other.count;
        self.packets += other.packets;
        if !other.named.is_empty() {
            self.named.extend_from_slice(&other.named);
            self.limit();
        }
    }

    /// The order does not depend on which shard failed first.
    fn limit(&mut self) {
        self.named.sort();
        let more = self.named.len().saturating_sub(MOST_NAMED);
        self.named.drain(..more);
    }
}

/// The addresses and ports of a connection that failed.
#[derive(Debug)]
pub(super) struct Remains {
    pair: Pair,
    last: Time,
}

impl Keyed for Remains {
    type Key = Pair;

    fn key(&self) -> &Pair {
        &self.pair
    }
}

/// What a connection at work is known by.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtWork {
    start: Time,
    last: Time,
    flow: FlowKey,
    /// Its number and place, which are not known of one that is written down: such a one has given no rows, and is no subflow.
    number: Option<u64>,
    place: Option<SubflowOf>,
}

impl AtWork {
    pub fn of(connection: &Connection) -> Self {
        let whole = !connection.is_frozen();
        AtWork {
            start: connection.start,
            last: connection.last,
            flow: connection.flow(),
            number: whole.then(|| connection.id()),
            place: whole.then(|| connection.subflow()).flatten(),
        }
    }

    fn of_opening(opening: &Opening) -> Self {
        let start = opening.start();
        AtWork {
            start,
            last: start,
            flow: opening.key().0,
            number: None,
            place: None,
        }
    }

    /// One of which there is nothing but this packet.
    fn begun_by(at: Time, headers: &Headers) -> Self {
        AtWork {
            start: at,
            last: at,
            flow: Pair::begun_by(headers).0,
            number: None,
            place: None,
        }
    }
}

pub(super) fn remains(capacity: usize) -> Table<Remains> {
    Table::new(capacity.min(MOST_REMAINS))
}

impl Analyzer {
    /// The analysis panicked at a packet, whose connection is left out.
    #[cold]
    pub(crate) fn fail_at(&mut self, at: Time, headers: &Headers, hash: Hashed, defect: &str) {
        self.counters.failures.packets += 1;
        let pair = Pair(headers.flow);
        let slot = self.table.find(hash, &pair);
        let connection = slot.and_then(|slot| self.table.remove(slot));
        let slot = self.openings.find(hash, &pair);
        let opening = slot.and_then(|slot| self.openings.remove(slot));
        let of = match (&connection, &opening) {
            (Some(connection), _) => AtWork::of(connection),
            (None, Some(opening)) => AtWork::of_opening(opening),
            (None, None) => AtWork::begun_by(at, headers),
        };
        self.failed(
            &AtWork {
                last: of.last.max(at),
                ..of
            },
            defect,
        );
    }

    /// A connection that was taken out of its table is left out. So are all subflows of its Multipath TCP connection: what
    /// these share it may have written to.
    #[cold]
    pub(super) fn failed(&mut self, of: &AtWork, defect: &str) {
        self.common.begin_anew();
        let mut all = vec![*of];
        for whose in of
            .place
            .iter()
            .flat_map(|place| self.multipath.fail(*place))
        {
            if Some(whose.connection) == of.number {
                continue;
            }
            let pair = Pair(whose.flow);
            let hash = Hashed::of(&pair);
            // A flow that joined this shard is found apart from others of its addresses.
            let slots = [hash, hash.other()].map(|hash| self.table.find(hash, &pair));
            let is_it = |slot: &Slot| {
                let there = self.table.peek(*slot);
                there.is_some_and(|there| AtWork::of(there).number == Some(whose.connection))
            };
            let slot = slots.into_iter().flatten().find(is_it);
            let connection = slot.and_then(|slot| self.table.remove(slot));
            all.push(connection.as_ref().map_or(
                AtWork {
                    start: whose.start,
                    last: whose.start,
                    flow: whose.flow,
                    number: Some(whose.connection),
                    place: None,
                },
                AtWork::of,
            ));
        }
        for of in all {
            if let Some(number) = of.number {
                self.rows.forget(number);
                self.rows.failed.push(number);
            }
            self.counters.failures.note(Failure {
                start: of.start,
                flow: of.flow,
                defect: defect.to_owned(),
            });
            self.remember(&of);
        }
    }

    fn remember(&mut self, of: &AtWork) {
        let pair = Pair(of.flow);
        let hash = Hashed::of(&pair);
        let last = of.last;
        if let Some(slot) = self.remains.find(hash, &pair) {
            self.remains.remove(slot);
        }
        while self.remains.is_full() {
            let Some(slot) = self.remains.unused() else {
                return;
            };
            self.remains.remove(slot);
        }
        self.remains.insert(hash, Remains { pair, last });
    }

    /// Whether a packet without a connection is of one that failed. A SYN opens another, and so does any packet after it was
    /// unused for long.
    #[cold]
    pub(super) fn is_of_failed(&mut self, at: Time, headers: &Headers) -> bool {
        let pair = Pair(headers.flow);
        let Some(slot) = self.remains.find(Hashed::of(&pair), &pair) else {
            return false;
        };
        let opens = headers.flags.syn() && !headers.flags.ack();
        if let Some(of) = self.remains.get(slot) {
            if !opens && at.since(of.last) <= self.common.settings.idle {
                of.last = of.last.max(at);
                self.counters.failures.packets += 1;
                return true;
            }
        }
        self.remains.remove(slot);
        false
    }

    /// The connection that an opening is which was taken out of its table, unless its analysis fails.
    pub(super) fn unfolded(&mut self, opening: &Opening) -> Option<Connection> {
        match contain(|| opening.unfold(&mut self.common)) {
            Ok(connection) => Some(connection),
            Err(defect) => {
                self.failed(&AtWork::of_opening(opening), &defect);
                None
            }
        }
    }
}
