//! Packets in, rows out: the connections of one capture, or of one shard of it.

mod counters;
mod failed;
mod ready;
mod room;
#[cfg(test)]
mod tests;

use rexmit_time::Time;
use rexmit_wire::message::Message;
use rexmit_wire::table::{Hashed, Slot, Table};
use rexmit_wire::{FlowKey, Headers};

use crate::connection::{Belongs, Common, Connection, Opening, Pair};
use crate::contain::contain;
use crate::fault::Moment;
use crate::multipath::{Multipath, Signal};
use crate::run::decode::Beside;
use crate::settings::Settings;
use crate::whatif::Totals;

use failed::{remains, AtWork, Remains};

pub use counters::Counters;
pub use failed::{Failure, Failures, MOST_NAMED};
pub use ready::{Of, Rows};
pub(crate) use room::{is_weighed, make_room, of_kept};
use room::{ConnectionSlot, Over};

/// No packet is longer, in bytes: super-segments have 512 KiB at most (`GSO_MAX_SIZE` of Linux). A capture that says so is
/// wrong.
const LONGEST: u32 = 1 << 24;

/// One in so many connections remembered may always be one that has only begun.
const OPENINGS: usize = 8;

/// With more than one in so many of the connections that may be remembered, quiet ones are kept small. Up to there a
/// connection takes about 2 KB, those of a run of default settings 250 MB: that time is not taken where memory is plenty.
const MANY: usize = 16;

/// What [`Analyzer::prefetch`] fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// Where the connection is looked up.
    Index,
    /// The connection.
    Connection,
    /// Where its packet will be logged.
    Log,
}

/// The connections of one capture, or of one shard of it.
#[derive(Debug)]
pub struct Analyzer {
    common: Common,
    /// Connections of which there is hardly more than the first packet.
    openings: Table<Opening>,
    table: Table<Connection>,
    /// How many both tables hold at most; of one of several shards, its share.
    capacity: usize,
    /// It has all connections, and makes room among them itself.
    is_alone: bool,
    multipath: Multipath,
    /// Connections that failed, whose further packets are left out.
    remains: Table<Remains>,
    rows: Rows,
    counters: Counters,
    over: Over,
    /// What is left when the capture has ended, once it has.
    rest: Option<Vec<(u64, ConnectionSlot)>>,
}

impl Analyzer {
    /// An analyzer that knows no connection yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Analyzer::shard(settings, 1)
    }

    /// One of `of` analyzers that share the connections of a capture. Only one that is alone makes room among them itself.
    #[must_use]
    pub fn shard(settings: Settings, of: usize) -> Self {
        let capacity = settings.most_connections / of.max(1);
        let capacity = capacity.clamp(1, Slot::MAX as usize);
        let over = Over::new(settings.idle);
        Analyzer {
            openings: Table::new(capacity),
            table: Table::new(capacity),
            capacity,
            is_alone: of <= 1,
            multipath: Multipath::default(),
            remains: remains(capacity),
            common: Common::new(settings),
            rows: Rows::default(),
            counters: Counters::default(),
            over,
            rest: None,
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters {
            stray_blocks: self.common.stray_blocks,
            late: self.common.late.0,
            latest: self.common.late.1,
            moved: self.common.moved.0,
            farthest_moved: self.common.moved.1,
            set: self.common.set.0,
            farthest_set: self.common.set.1,
            ..self.counters.clone()
        }
    }

    /// Connections remembered now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.table.len() + self.openings.len()
    }

    /// The next packet, in the capture's order, which is its number. A panic at it is the caller's to contain
    /// ([`Analyzer::fail_at`]); one at the end of a connection is contained.
    #[inline]
    pub fn packet(&mut self, at: Time, headers: &Headers) {
        let which = (Hashed::of(&Pair(headers.flow)), self.counters.packets);
        self.known_packet(at, headers, which);
    }

    /// As [`Analyzer::packet`], for a packet with Multipath TCP options.
    pub fn packet_with(&mut self, at: Time, headers: &Headers, signal: &Signal) {
        let which = (Hashed::of(&Pair(headers.flow)), self.counters.packets);
        self.signalled_packet(at, headers, which, signal);
    }

    /// As [`Analyzer::packet`], for a packet whose payload begins with a [message](rexmit_wire::headers::Record::tells).
    pub fn packet_saying(&mut self, at: Time, headers: &Headers, message: Message) {
        let beside = Beside {
            signal: None,
            message: Some(message),
        };
        let which = (Hashed::of(&Pair(headers.flow)), self.counters.packets);
        self.packet_beside(at, headers, which, beside);
    }

    /// As [`Analyzer::known_packet`], for a packet beside which there is this.
    pub(crate) fn packet_beside(
        &mut self,
        at: Time,
        headers: &Headers,
        which: (Hashed, u64),
        beside: Beside,
    ) {
        self.common.message = if self.common.settings.names {
            beside.message
        } else {
            beside.message.and_then(Message::unnamed)
        };
        match beside.signal {
            Some(signal) => self.signalled_packet(at, headers, which, &signal),
            None => self.known_packet(at, headers, which),
        }
        self.common.message = None;
    }

    /// As [`Analyzer::packet_with`], for a packet whose connection's hash, and whose number, are known. Packets of all
    /// subflows of a connection belong to one analyzer.
    pub fn signalled_packet(
        &mut self,
        at: Time,
        headers: &Headers,
        (hash, number): (Hashed, u64),
        signal: &Signal,
    ) {
        let strays = self.counters.strays;
        self.known_packet(at, headers, (hash, number));
        if self.counters.strays != strays {
            return;
        }
        let pair = Pair(headers.flow);
        let mut slot = self.table.find(hash, &pair);
        if slot.is_none() && Multipath::is_told_by(headers, signal) {
            let opening = self.openings.find(hash, &pair);
            slot = opening.and_then(|opening| self.unfold(opening, hash));
        }
        let Some(connection) = slot.and_then(|slot| self.table.get(slot)) else {
            return;
        };
        let seen = connection.seen(at, headers, signal);
        let place = connection
            .subflow()
            .or_else(|| self.multipath.join(&connection.whose(), &seen));
        // Known before its Multipath TCP connection is written to.
        connection.is_subflow(place);
        if let Some(place) = place {
            self.multipath.packet(place, &seen, &mut self.rows);
            if let Some(fault) = &self.common.settings.fault {
                fault.happen(&headers.flow, Moment::Multipath);
            }
        }
    }

    /// As [`Analyzer::packet`], for a packet whose connection's hash, and whose number, are known. A connection has the
    /// number of its first packet.
    #[inline]
    pub fn known_packet(&mut self, at: Time, headers: &Headers, (hash, number): (Hashed, u64)) {
        self.counters.packets += 1;
        if headers.payload_len > LONGEST {
            self.counters.strays += 1;
            return;
        }
        let pair = Pair(headers.flow);
        let mut found = self.table.find(hash, &pair);
        if found.is_none() {
            if let Some(slot) = self.openings.find(hash, &pair) {
                let opening = self.openings.get(slot);
                if opening.is_some_and(|opening| opening.keep(at, headers, &self.common.settings)) {
                    return;
                }
                found = self.unfold(slot, hash);
            }
        }
        if let Some(slot) = found {
            if let Some(connection) = self.table.get(slot) {
                if !connection.is_over(at, &self.common.settings) {
                    if connection.is_frozen() {
                        connection.thaw(&mut self.common);
                    }
                    match connection.belongs(at, headers) {
                        Belongs::Here => {
                            connection.packet(at, headers, &mut self.common);
                            let common = &self.common;
                            if !common.retransmissions.is_empty() || !common.requests.is_empty() {
                                self.give(slot);
                            }
                            return;
                        }
                        Belongs::Stray => {
                            self.counters.strays += 1;
                            return;
                        }
                        Belongs::Next => {
                            if let Some(syn) =
                                connection.stray_syn(at, headers, &self.common.settings)
                            {
                                self.end(ConnectionSlot::Whole(slot), false);
                                self.begin(syn.at, &syn.headers(headers.flow), hash, number);
                                self.counters.strays = self.counters.strays.saturating_sub(1);
                                self.counters.packets -= 1;
                                return self.known_packet(at, headers, (hash, number));
                            }
                        }
                    }
                }
            }
            self.end(ConnectionSlot::Whole(slot), false);
        }
        self.begin(at, headers, hash, number);
    }

    /// A router returned a packet of this flow, of which these are the headers: it belongs to a connection that is known, or to none.
    pub fn returned_packet(&mut self, at: Time, headers: &Headers, hash: Hashed) {
        let pair = Pair(headers.flow);
        let slot = self.table.find(hash, &pair).or_else(|| {
            let opening = self.openings.find(hash, &pair)?;
            self.unfold(opening, hash)
        });
        if let Some(connection) = slot.and_then(|slot| self.table.get(slot)) {
            if !connection.is_over(at, &self.common.settings) {
                if connection.is_frozen() {
                    connection.thaw(&mut self.common);
                }
                connection.returned(at, headers);
            }
        }
    }

    /// Has the memory on its way that packets with this hash will look at. In three steps, as each needs what the one
    /// before has fetched; between them, there is time for those of other packets.
    #[inline]
    pub fn prefetch(&self, hash: Hashed, step: Prefetch) {
        match step {
            Prefetch::Index => {
                self.table.prefetch(hash);
                self.openings.prefetch(hash);
            }
            Prefetch::Connection => {
                if let Some(connection) = self.table.likely(hash) {
                    connection.prefetch();
                } else if let Some(opening) = self.openings.likely(hash) {
                    opening.prefetch();
                }
            }
            Prefetch::Log => {
                if let Some(connection) = self.table.likely(hash) {
                    connection.prefetch_log();
                }
            }
        }
    }

    /// The first packet of a connection.
    fn begin(&mut self, at: Time, headers: &Headers, hash: Hashed, id: u64) {
        if !self.remains.is_empty() && self.is_of_failed(at, headers) {
            return;
        }
        if headers.flags.rst() {
            self.counters.stray_resets += 1;
            return;
        }
        while self.is_alone && self.connections() >= self.capacity && self.make_room() {}
        self.counters.connections += 1;
        if let Some(opening) = Opening::new(id, at, headers) {
            self.openings.insert(hash, opening);
        } else {
            let mut connection = Connection::new(id, at, headers);
            connection.packet(at, headers, &mut self.common);
            self.table.insert(hash, connection);
        }
    }

    /// Has a connection that goes on where those are of which there is more than the first packet.
    fn unfold(&mut self, slot: Slot, hash: Hashed) -> Option<Slot> {
        let opening = self.openings.remove(slot)?;
        let connection = self.unfolded(&opening)?;
        Some(self.table.insert(hash, connection))
    }

    /// Ends some of the connections that are over at `now`. Of many, keeps those small that are quiet: looks for them, in
    /// turn, as often as there were `packets` since it was called last.
    pub fn expire(&mut self, now: Time, packets: u32) {
        self.sweep(now);
        if self.table.len() <= self.capacity / MANY {
            return;
        }
        for _ in 0..packets.saturating_add(64).min(self.table.slots()) {
            let slot = self.table.step();
            let is_quiet = |connection: &Connection| connection.is_quiet(now);
            if self.table.peek(slot).is_some_and(is_quiet) {
                self.freeze(slot);
            }
        }
    }

    #[cold]
    fn freeze(&mut self, slot: Slot) {
        let Some(connection) = self.table.peek_mut(slot) else {
            return;
        };
        let common = &mut self.common;
        let freeze = || connection.freeze(&mut common.offers, &mut common.spare);
        if let Err(defect) = contain(freeze) {
            if let Some(connection) = self.table.remove(slot) {
                self.failed(&AtWork::of(&connection), &defect);
            }
        }
    }

    /// Moves out the rows that are ready.
    pub fn drain(&mut self, out: &mut Rows) {
        out.append(&mut self.rows);
    }

    /// Ends a connection that has only begun, if it is over at `now`.
    fn end_opening(&mut self, slot: Slot, now: Time) {
        let hash = self.openings.hash_of(slot);
        let (Some(hash), Some(opening)) = (hash, self.openings.remove(slot)) else {
            return;
        };
        let Some(connection) = self.unfolded(&opening) else {
            return;
        };
        if connection.is_over(now, &self.common.settings) {
            self.ended(connection, false);
        } else {
            self.table.insert(hash, connection);
        }
    }

    fn ended(&mut self, connection: Connection, evicted: bool) {
        let of = AtWork::of(&connection);
        if let Err(defect) = contain(|| self.close(connection, evicted)) {
            self.failed(&of, &defect);
        }
    }

    fn close(&mut self, mut connection: Connection, evicted: bool) {
        connection.thaw(&mut self.common);
        let (id, start, flow) = (connection.id(), connection.start, connection.flow());
        let subflow = connection.subflow();
        let row = connection.finish(evicted, &mut self.common);
        // What sums up is added last, when nothing can fail any more.
        let mut totals = Totals::default();
        if let Some(plan) = &self.common.settings.whatif {
            totals.take(&mut self.common.whatif, plan.detailed(), &row);
        }
        if let Some(place) = subflow {
            self.multipath
                .retransmitted(place, &mut self.common.retransmissions);
        }
        self.take(id, start, flow);
        let row = Of {
            connection: id,
            start,
            flow,
            row,
        };
        match subflow {
            Some(place) => self.multipath.end(place, row, &mut self.rows),
            None => self.rows.connections.push(row),
        }
        self.rows.totals.append(&totals);
    }

    #[cold]
    fn give(&mut self, slot: Slot) {
        if let Some(connection) = self.table.peek(slot) {
            if let Some(place) = connection.subflow() {
                self.multipath
                    .retransmitted(place, &mut self.common.retransmissions);
            }
            self.take(connection.id(), connection.start, connection.flow());
        }
    }

    fn take(&mut self, connection: u64, start: Time, flow: FlowKey) {
        fn owned<T>(connection: u64, start: Time, flow: FlowKey) -> impl Fn(T) -> Of<T> {
            move |row| Of {
                connection,
                start,
                flow,
                row,
            }
        }
        let (rows, common) = (&mut self.rows, &mut self.common);
        let retransmissions = common.retransmissions.drain(..);
        rows.retransmissions
            .extend(retransmissions.map(owned(connection, start, flow)));
        let whatif = common.whatif.drain(..);
        rows.whatif
            .extend(whatif.map(owned(connection, start, flow)));
        let requests = common.requests.drain(..);
        rows.requests
            .extend(requests.map(owned(connection, start, flow)));
    }
}
