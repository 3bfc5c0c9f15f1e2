//! Which connections make room for others, and in which order those that are over end.
//!
//! Nothing here follows from the slot or the shard of a connection, but from its packets: so rows, and their order, do not tell
//! by which key connections were spread over shards.

use rexmit_time::{Duration, Time};
use rexmit_wire::table::{Slot, Table};

use super::{Analyzer, OPENINGS};
use crate::connection::{Connection, Opening};
use crate::run::Span;

/// When a connection had its last packet, and its number: by this, those unused for longest come first.
type Use = (Time, u64);

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionSlot {
    /// Among those that have only begun.
    Opening(Slot),
    /// Among the others.
    Whole(Slot),
}

/// Connections that are over are looked for so often in the time after which a silent one is: for each, a look costs a fetch
/// from memory. A closed one is kept a little longer than need be.
const LOOKS: i64 = 64;

/// Those that are found end at as many ends of stretches as there were between the last two looks, but at so many at most: where
/// the clock leaps, the rows of all would fill memory.
const MOST_PARTS: u64 = 16;

/// Connections that were found to be over, and are to end in parts.
#[derive(Debug)]
pub(super) struct Over {
    /// The time between two looks.
    every: Span,
    /// Which, by their numbers.
    found: Vec<(u64, ConnectionSlot)>,
    /// In how many parts they end, and how many of these are left.
    parts: u64,
    left: u64,
    /// Ends of stretches since they were looked for.
    stretches: u64,
}

impl Over {
    /// None was found; a connection is over that was silent for `idle`.
    pub fn new(idle: Duration) -> Self {
        let mut every = Span::new(Some(idle / LOOKS));
        // At the first stretch's end it is over.
        every.begin(Time::ZERO);
        Over {
            every,
            found: Vec::new(),
            parts: 0,
            left: 0,
            stretches: 0,
        }
    }

    /// A stretch has ended: whether to look for more. Not while some are left of those that were found.
    fn is_due(&mut self, now: Time) -> bool {
        let due = self.left == 0 && self.every.is_over(now);
        self.stretches += u64::from(!due);
        due
    }

    /// These were found.
    fn note(&mut self, found: Vec<(u64, ConnectionSlot)>) {
        self.found = found;
        self.parts = self.stretches.clamp(1, MOST_PARTS);
        self.left = self.parts;
        self.stretches = 0;
    }

    /// A stretch has ended: the part that ends with it.
    fn part(&mut self) -> Vec<(u64, ConnectionSlot)> {
        let Some(left) = self.left.checked_sub(1) else {
            return Vec::new();
        };
        self.left = left;
        let is_of_part = |(number, _): &(u64, ConnectionSlot)| number % self.parts == left;
        let found = core::mem::take(&mut self.found).into_iter();
        let (part, others) = found.partition(is_of_part);
        self.found = others;
        part
    }
}

/// The entries of a table that `choose` gives something for, with their places, in the order of what it gives.
fn chosen<V, T: Ord>(
    table: &Table<V>,
    place: impl Fn(Slot) -> ConnectionSlot,
    choose: impl Fn(&V) -> Option<T>,
) -> Vec<(T, ConnectionSlot)>
where
    V: rexmit_wire::table::Keyed,
{
    let slots = 0..table.slots();
    let found = slots.filter_map(|slot| Some((choose(table.peek(slot)?)?, place(slot))));
    let mut found: Vec<_> = found.collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

impl Analyzer {
    /// Ends a connection, wherever it is.
    pub(super) fn end(&mut self, place: ConnectionSlot, evicted: bool) {
        let ended = match place {
            ConnectionSlot::Opening(slot) => {
                let opening = self.openings.remove(slot);
                opening.and_then(|opening| self.unfolded(&opening))
            }
            ConnectionSlot::Whole(slot) => self.table.remove(slot),
        };
        let Some(connection) = ended else { return };
        if evicted {
            self.counters.evicted += 1;
            self.counters.evicted_openings +=
                u64::from(matches!(place, ConnectionSlot::Opening(_)));
        }
        self.ended(connection, evicted);
    }

    /// Puts out the connection unused for longest; false if there is none.
    ///
    /// Those that have only begun go first, whatever their age: a flood does not put out what others have sent. An eighth
    /// of the room is theirs nevertheless, or with many idle connections no new one would live until its answer comes.
    pub(super) fn make_room(&mut self) -> bool {
        let first = self.openings.len() > self.capacity / OPENINGS || self.table.is_empty();
        let unused = if first {
            self.openings.unused().map(ConnectionSlot::Opening)
        } else {
            self.table.unused().map(ConnectionSlot::Whole)
        };
        unused.inspect(|place| self.end(*place, true)).is_some()
    }

    /// Looks for the connections that are over at `now`, if that was done last some time ago, and ends a part of those that
    /// were found.
    pub(super) fn sweep(&mut self, now: Time) {
        if self.over.is_due(now) {
            let over = self.over(now);
            self.over.note(over);
        }
        for (number, place) in self.over.part() {
            // Another may have taken its place.
            match place {
                ConnectionSlot::Opening(slot) => {
                    let opening = self.openings.peek(slot);
                    if opening.is_some_and(|opening| opening.id() == number) {
                        self.end_opening(slot, now);
                    }
                }
                ConnectionSlot::Whole(slot) => {
                    let settings = &self.common.settings;
                    let is_over = |of: &Connection| of.id() == number && of.is_over(now, settings);
                    if self.table.peek(slot).is_some_and(is_over) {
                        self.end(place, false);
                    }
                }
            }
        }
    }

    /// The connections that are over at `now`, those that have only begun first, by their numbers.
    fn over(&self, now: Time) -> Vec<(u64, ConnectionSlot)> {
        let settings = &self.common.settings;
        let over = |opening: &Opening| opening.may_be_over(now, settings).then(|| opening.id());
        let mut found = chosen(&self.openings, ConnectionSlot::Opening, over);
        let over =
            |connection: &Connection| connection.is_over(now, settings).then(|| connection.id());
        found.append(&mut chosen(&self.table, ConnectionSlot::Whole, over));
        found
    }

    /// The numbers of the connections that are left when the capture has ended, in order.
    pub(crate) fn left(&mut self) -> impl Iterator<Item = u64> + '_ {
        self.rest().iter().rev().map(|(number, _)| *number)
    }

    /// Those that are left when the capture has ended, the one of the lowest number last.
    fn rest(&mut self) -> &mut Vec<(u64, ConnectionSlot)> {
        self.rest.get_or_insert_with(|| {
            let mut all = chosen(&self.openings, ConnectionSlot::Opening, |opening| {
                Some(opening.id())
            });
            all.append(&mut chosen(&self.table, ConnectionSlot::Whole, |of| {
                Some(of.id())
            }));
            all.sort_unstable_by_key(|(number, _)| core::cmp::Reverse(*number));
            all
        })
    }

    /// Ends the connections with numbers below this when the capture has ended; whether any are left.
    pub fn finish(&mut self, below: u64) -> bool {
        while let Some((number, place)) = self.rest().last().copied() {
            if number >= below {
                return true;
            }
            self.rest().pop();
            self.end(place, false);
        }
        false
    }

    /// What its connections keep for their senders.
    pub(crate) fn kept(&self) -> usize {
        self.keeping().map(|(kept, _)| kept).sum()
    }

    /// Connections that keep something: how much, and their numbers.
    fn keeping(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = (0..self.table.slots()).filter_map(|slot| self.table.peek(slot));
        let kept = all.map(|connection| (connection.kept(), connection));
        let some = kept.filter(|(kept, _)| *kept > 0);
        some.map(|(kept, connection)| (kept, connection.id()))
    }

    /// Puts out the connections that keep as much as this or more.
    fn put_out_keeping(&mut self, least: (usize, u64)) {
        let much = |connection: &Connection| {
            let of = (connection.kept(), connection.id());
            (of >= least).then_some(of)
        };
        let all = chosen(&self.table, ConnectionSlot::Whole, much);
        for (_, place) in all {
            self.end(place, true);
        }
    }

    /// Notes when each connection was used last, of those that have only begun or of the others.
    fn uses(&self, openings: bool, uses: &mut Vec<Use>) {
        if openings {
            let all = (0..self.openings.slots()).filter_map(|slot| self.openings.peek(slot));
            uses.extend(all.map(|opening| (opening.last(), opening.id())));
        } else {
            let all = (0..self.table.slots()).filter_map(|slot| self.table.peek(slot));
            uses.extend(all.map(|connection| (connection.last, connection.id())));
        }
    }

    /// Puts out the connections that were not used after this.
    fn put_out(&mut self, openings: bool, last: Use) {
        let unused = |of: Use| (of <= last).then_some(of);
        let all = if openings {
            let of = |opening: &Opening| unused((opening.last(), opening.id()));
            chosen(&self.openings, ConnectionSlot::Opening, of)
        } else {
            let of = |connection: &Connection| unused((connection.last, connection.id()));
            chosen(&self.table, ConnectionSlot::Whole, of)
        };
        for (_, place) in all {
            self.end(place, true);
        }
    }
}

/// One in so many connections more than need be is put out at a time: all are looked at for that.
const MORE: usize = 16;

/// What connections keep for their senders together, in [packets and pieces](Connection::kept), for each that may be
/// remembered: most keep nothing.
const KEPT_EACH: usize = 2;

/// They may keep so much in any case.
const KEPT: usize = 1 << 16;

/// Stretches from one look at what they keep to the next.
const WEIGHED: u64 = 32;

/// Whether it is looked at, at the end of this stretch, what connections keep.
pub(crate) const fn is_weighed(stretch: u64) -> bool {
    stretch % WEIGHED == WEIGHED - 1
}

/// So many connections may keep so much.
pub(crate) const fn of_kept(kept: usize) -> usize {
    kept.div_ceil(KEPT_EACH)
}

/// Puts out connections of all shards where they keep more than `most` may: those that keep most, as whoever floods an
/// analysis does.
pub(super) fn lighten(shards: &mut [&mut Analyzer], most: usize) {
    let most = most.saturating_mul(KEPT_EACH).max(KEPT);
    let mut all: Vec<_> = shards.iter().flat_map(|shard| shard.keeping()).collect();
    let mut kept: usize = all.iter().map(|(kept, _)| kept).sum();
    if kept <= most {
        return;
    }
    all.sort_unstable_by(|one, other| other.cmp(one));
    let last = all.into_iter().find(|(less, _)| {
        kept -= less;
        kept <= most - most / MORE
    });
    if let Some(last) = last {
        let each = shards.iter_mut();
        each.for_each(|shard| shard.put_out_keeping(last));
    }
}

/// Puts out connections of all shards of a capture at the end of a stretch, the one of this number: those unused for longest in
/// all of them where they are more than `most`, and now and then those that keep too much. Between two such ends there may be as
/// many more as there are packets.
pub(crate) fn make_room(shards: &mut [&mut Analyzer], most: usize, stretch: u64) {
    put_out_unused(shards, most.max(1));
    if is_weighed(stretch) {
        lighten(shards, most);
    }
}

fn put_out_unused(shards: &mut [&mut Analyzer], most: usize) {
    let count =
        |of: fn(&Analyzer) -> usize| -> usize { shards.iter().map(|shard| of(shard)).sum() };
    let (openings, others) = (count(|of| of.openings.len()), count(|of| of.table.len()));
    if openings + others <= most {
        return;
    }
    let excess = openings + others - (most - most / MORE);
    // As with `Analyzer::make_room`.
    let of_openings = excess.min(openings.saturating_sub(most / OPENINGS));
    for (are_openings, less) in [(true, of_openings), (false, excess - of_openings)] {
        let Some(last) = less.checked_sub(1) else {
            continue;
        };
        let mut uses = Vec::new();
        shards
            .iter()
            .for_each(|shard| shard.uses(are_openings, &mut uses));
        if uses.is_empty() {
            continue;
        }
        let last = last.min(uses.len() - 1);
        let (_, last, _) = uses.select_nth_unstable(last);
        for shard in shards.iter_mut() {
            shard.put_out(are_openings, *last);
        }
    }
}
