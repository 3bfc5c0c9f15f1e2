//! Packets in, rows out: the connections of one capture, or of one shard of it.

use rexmit_time::{Duration, Time};
use rexmit_wire::table::{Hashed, Slot, Table};
use rexmit_wire::{FlowKey, Headers};

use crate::connection::{Belongs, Common, Connection, Pair};
use crate::multipath::{Multipath, Signal};
use crate::rows;
use crate::settings::Settings;
use crate::whatif::Totals;

/// No packet is longer, in bytes: super-segments have 512 KiB at most (`GSO_MAX_SIZE` of Linux). A capture that says so is wrong.
const LONGEST: u32 = 1 << 24;

/// A row and the connection that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Of<T> {
    /// The connection's number.
    pub connection: u64,
    /// Its first packet.
    pub start: Time,
    /// Client to server.
    pub flow: FlowKey,
    /// The row.
    pub row: T,
}

/// Rows that are ready.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Connections that have ended.
    pub connections: Vec<Of<rows::Connection>>,
    /// Resends, most with their connection, those of long ones before.
    pub retransmissions: Vec<Of<rows::Retransmission>>,
    /// What other settings would have done.
    pub whatif: Vec<Of<rows::WhatIf>>,
    /// What the settings of a grid would have done, summed up; sums of several pieces of rows add up.
    pub totals: Totals,
}

impl Rows {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        let rows = self.connections.len() + self.retransmissions.len() + self.whatif.len();
        rows + usize::from(!self.totals.is_empty())
    }

    /// Adds those of `other`.
    pub fn append(&mut self, other: &mut Rows) {
        self.connections.append(&mut other.connections);
        self.retransmissions.append(&mut other.retransmissions);
        self.whatif.append(&mut other.whatif);
        self.totals.append(&core::mem::take(&mut other.totals));
    }

    /// Orders rows by their connections: start, flow, number; those of one connection stay as they are.
    pub fn sort(&mut self) {
        fn sort<T>(rows: &mut [Of<T>]) {
            // Rows are large: each is moved once.
            rows.sort_by_cached_key(|of| (of.start, of.flow, of.connection));
        }
        sort(&mut self.connections);
        sort(&mut self.retransmissions);
        sort(&mut self.whatif);
    }
}

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

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets taken.
    pub packets: u64,
    /// Connections begun.
    pub connections: u64,
    /// Connections put out to make room for others.
    pub evicted: u64,
    /// Packets with numbers that fit nothing of the open connection whose addresses they bear.
    pub strays: u64,
    /// RSTs without a connection.
    pub stray_resets: u64,
    /// Packets whose time stamp was before that of the packet before.
    pub steps_back: u64,
    /// The longest such step.
    pub longest_step_back: Duration,
}

impl Counters {
    /// Adds those of `other`.
    pub fn add(&mut self, other: &Counters) {
        self.packets += other.packets;
        self.connections += other.connections;
        self.evicted += other.evicted;
        self.strays += other.strays;
        self.stray_resets += other.stray_resets;
        self.steps_back += other.steps_back;
        self.longest_step_back = self.longest_step_back.max(other.longest_step_back);
    }
}

/// The connections of one capture, or of one shard of it.
#[derive(Debug)]
pub struct Analyzer {
    common: Common,
    table: Table<Connection>,
    multipath: Multipath,
    rows: Rows,
    counters: Counters,
    /// The next connection's number, and how far they are apart.
    next: u64,
    stride: u64,
    /// Up to where connections have been ended by [`Analyzer::finish`].
    finished: Slot,
}

impl Analyzer {
    /// An analyzer that knows no connection yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Analyzer::shard(settings, 0, 1)
    }

    /// One of `of` analyzers that share the connections of a capture; numbers of connections differ.
    #[must_use]
    pub fn shard(settings: Settings, number: u64, of: u64) -> Self {
        let of = of.max(1);
        Analyzer {
            table: Table::new(settings.most_connections / usize::try_from(of).unwrap_or(1)),
            multipath: Multipath::default(),
            common: Common::new(settings),
            rows: Rows::default(),
            counters: Counters::default(),
            next: number,
            stride: of,
            finished: 0,
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Connections remembered now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.table.len()
    }

    /// The next packet, in the capture's order.
    #[inline]
    pub fn packet(&mut self, at: Time, headers: &Headers) {
        self.hashed_packet(at, headers, Hashed::of(&Pair(headers.flow)));
    }

    /// As [`Analyzer::packet`], for a packet with Multipath TCP options.
    pub fn packet_with(&mut self, at: Time, headers: &Headers, signal: &Signal) {
        self.signalled_packet(at, headers, Hashed::of(&Pair(headers.flow)), signal);
    }

    /// As [`Analyzer::packet_with`], for a packet whose connection's hash is known. Packets of all subflows of a connection belong to one analyzer.
    pub fn signalled_packet(&mut self, at: Time, headers: &Headers, hash: Hashed, signal: &Signal) {
        let strays = self.counters.strays;
        self.hashed_packet(at, headers, hash);
        if self.counters.strays != strays {
            return;
        }
        let slot = self.table.find(hash, &Pair(headers.flow));
        let Some(connection) = slot.and_then(|slot| self.table.get(slot)) else {
            return;
        };
        let seen = connection.seen(at, headers, signal);
        let place = connection.subflow();
        let place = self
            .multipath
            .packet(place, &connection.whose(), &seen, &mut self.rows);
        connection.is_subflow(place);
    }

    /// As [`Analyzer::packet`], for a packet whose connection's hash is known.
    #[inline]
    pub fn hashed_packet(&mut self, at: Time, headers: &Headers, hash: Hashed) {
        self.counters.packets += 1;
        if headers.payload_len > LONGEST {
            self.counters.strays += 1;
            return;
        }
        if let Some(slot) = self.table.find(hash, &Pair(headers.flow)) {
            if let Some(connection) = self.table.get(slot) {
                if !connection.is_over(at, &self.common.settings) {
                    match connection.belongs(headers) {
                        Belongs::Here => {
                            connection.packet(at, headers, &mut self.common);
                            if !self.common.resends.is_empty() {
                                self.give(slot);
                            }
                            return;
                        }
                        Belongs::Stray => {
                            self.counters.strays += 1;
                            return;
                        }
                        Belongs::Next => {}
                    }
                }
            }
            self.end(slot, false);
        }
        self.begin(at, headers, hash);
    }

    /// Has the memory on its way that packets with this hash will look at. In three steps, as each needs what the one
    /// before has fetched; between them, there is time for those of other packets.
    #[inline]
    pub fn prefetch(&self, hash: Hashed, step: Prefetch) {
        match step {
            Prefetch::Index => self.table.prefetch(hash),
            Prefetch::Connection => {
                if let Some(connection) = self.table.likely(hash) {
                    connection.prefetch();
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
    fn begin(&mut self, at: Time, headers: &Headers, hash: Hashed) {
        if headers.flags.rst() {
            self.counters.stray_resets += 1;
            return;
        }
        while self.table.is_full() {
            let Some(slot) = self.table.unused() else {
                break;
            };
            self.counters.evicted += 1;
            self.end(slot, true);
        }
        let mut connection = Connection::new(self.next, at, headers);
        self.next += self.stride;
        self.counters.connections += 1;
        connection.packet(at, headers, &mut self.common);
        self.table.insert(hash, connection);
    }

    /// Looks at some `visits` connections, in turn, and ends those that are over at `now`.
    pub fn expire(&mut self, now: Time, visits: u32) {
        for _ in 0..visits.min(self.table.slots()) {
            let slot = self.table.step();
            let over = |connection: &Connection| connection.is_over(now, &self.common.settings);
            if self.table.peek(slot).is_some_and(over) {
                self.end(slot, false);
            }
        }
    }

    /// Ends some `most` of the connections that are left when the capture has ended; false when none is.
    pub fn finish(&mut self, most: usize) -> bool {
        let mut ended = 0;
        while ended < most && self.finished < self.table.slots() {
            let slot = self.finished;
            self.finished += 1;
            if self.table.peek(slot).is_some() {
                self.end(slot, false);
                ended += 1;
            }
        }
        ended > 0
    }

    /// Moves out the rows that are ready.
    pub fn drain(&mut self, out: &mut Rows) {
        out.append(&mut self.rows);
    }

    fn end(&mut self, slot: Slot, evicted: bool) {
        if let Some(connection) = self.table.remove(slot) {
            let (id, start, flow) = (connection.id(), connection.start, connection.flow());
            let subflow = connection.subflow();
            let row = connection.finish(evicted, &mut self.common);
            if let Some(plan) = &self.common.settings.whatif {
                let rows = &mut self.common.whatif;
                self.rows.totals.take(rows, plan.detailed(), &row);
            }
            if let Some(place) = subflow {
                self.multipath.resent(place, &mut self.common.resends);
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
        }
    }

    #[cold]
    fn give(&mut self, slot: Slot) {
        if let Some(connection) = self.table.peek(slot) {
            if let Some(place) = connection.subflow() {
                self.multipath.resent(place, &mut self.common.resends);
            }
            self.take(connection.id(), connection.start, connection.flow());
        }
    }

    fn take(&mut self, connection: u64, start: Time, flow: FlowKey) {
        let of = |row| Of {
            connection,
            start,
            flow,
            row,
        };
        self.rows
            .retransmissions
            .extend(self.common.resends.drain(..).map(of));
        let of = |row| Of {
            connection,
            start,
            flow,
            row,
        };
        self.rows
            .whatif
            .extend(self.common.whatif.drain(..).map(of));
    }
}
