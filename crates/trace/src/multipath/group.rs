//! One Multipath TCP connection: its subflows, and the data of both directions.

use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Mapping, Version};
use rexmit_wire::{Headers, SeqNum, SeqRange};

use super::data::{Carried, Data};
use super::sent::Copy;
use super::subflow::{Retransmitted, Subflow, Whose};
use super::Signal;
use crate::analyzer::{Of, Rows};
use crate::event::Direction;
use crate::rows::{self, Retransmission, Role};

/// Subflows of one connection; those beyond are of another.
const MOST_SUBFLOWS: usize = 4_096;
/// The same where all connections of a shard have many together.
const FEW_SUBFLOWS: usize = 8;

/// Rows of ended subflows that wait for the others.
const MOST_ROWS: usize = 64;

/// Re-injections of one direction that wait, and retransmissions that they wait for.
const MOST_OPEN: usize = 1_024;

/// A packet of a subflow, and what is known of who sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowPacket<'p> {
    /// The monitor's clock.
    pub at: Time,
    /// Which way it went, of the subflow.
    pub direction: Direction,
    /// The packet.
    pub headers: &'p Headers,
    /// What its options say.
    pub signal: &'p Signal,
    /// The sender's initial sequence number.
    pub isn: Option<SeqNum>,
    /// From the monitor to the sender and back.
    pub delay: Duration,
}

/// One Multipath TCP connection.
#[derive(Debug)]
pub(super) struct Group {
    /// The number of its first subflow's connection.
    pub id: u64,
    pub version: Option<u8>,
    pub subflows: Vec<Subflow>,
    /// Subflows that have not ended.
    pub alive: usize,
    /// What the two sides send.
    pub data: [Data; 2],
    /// Retransmissions of subflows that decide on re-injections.
    pub retransmitted: Vec<Retransmitted>,
    rows: usize,
    /// Its pieces of data, as they were counted last.
    pub counted: usize,
    /// Tokens that name it.
    pub tokens: Vec<u32>,
}

impl Group {
    pub(super) fn new(id: u64) -> Self {
        Group {
            id,
            version: None,
            subflows: Vec::new(),
            alive: 0,
            data: [Data::default(), Data::default()],
            retransmitted: Vec::new(),
            rows: 0,
            counted: 0,
            tokens: Vec::new(),
        }
    }

    /// Whether another subflow may join, of one where there are `many` together.
    pub(super) fn has_room(&self, many: bool) -> bool {
        self.subflows.len() < if many { FEW_SUBFLOWS } else { MOST_SUBFLOWS }
    }

    /// Takes a subflow in; its number.
    pub(super) fn add(&mut self, whose: Whose, role: Option<Role>, flipped: bool) -> u32 {
        self.subflows.push(Subflow::new(whose, role, flipped));
        self.alive += 1;
        (self.subflows.len() - 1) as u32
    }

    /// Learns keys; the tokens that they stand for, with the sides that they name.
    pub(super) fn learn(
        &mut self,
        subflow: u32,
        direction: Direction,
        capable: &Capable,
    ) -> [Option<(u32, usize)>; 2] {
        let side = self.subflows.get(subflow as usize);
        let (Some(side), Some(version)) = (
            side.map(|subflow| subflow.side(direction)),
            Version::of(capable.version),
        ) else {
            return [None; 2];
        };
        self.version = Some(capable.version);
        let keys = [(capable.sender_key, side), (capable.receiver_key, 1 - side)];
        keys.map(|(key, side)| {
            let identity = Identity::of(key?, version);
            if self.tokens.contains(&identity.token) || self.tokens.len() >= 2 {
                return None;
            }
            self.data[side].begin(identity.idsn);
            self.tokens.push(identity.token);
            Some((identity.token, side))
        })
    }

    /// A packet of one of its subflows, with options.
    pub(super) fn packet(&mut self, number: u32, seen: &SubflowPacket<'_>, out: &mut Rows) {
        let shared = self.subflows.len() > 1;
        let Some(subflow) = self.subflows.get_mut(number as usize) else {
            return;
        };
        let side = subflow.side(seen.direction);
        let headers = seen.headers;
        let [me, peer] = [seen.direction, seen.direction.reversed()].map(|way| way as usize);
        if let Some(isn) = seen.isn {
            subflow.directions[me].begins(isn);
        }
        if headers.flags.ack() && !headers.flags.rst() {
            subflow.directions[peer].acknowledged(headers.ack);
        }
        if seen.signal.failed {
            subflow
                .directions
                .iter_mut()
                .for_each(|flow| flow.forget_mapping());
            return;
        }
        let dss = seen.signal.dss;
        if let Some(number) = dss.and_then(|dss| dss.data_ack) {
            if let Some(place) = self.data[1 - side].place(number) {
                self.data[1 - side].acknowledged(place, seen.at, shared);
            }
        }
        if headers.payload_len > 0 && !headers.flags.syn() {
            let mapping = mapping(seen.signal, dss.as_ref());
            self.payload(number, side, seen, mapping.as_ref());
            if self.data[side].open().len() > MOST_OPEN {
                self.settle_half(side, out);
            }
        }
    }

    fn payload(
        &mut self,
        number: u32,
        side: usize,
        seen: &SubflowPacket<'_>,
        mapping: Option<&Mapping>,
    ) {
        // Of a connection that is there as a whole, what never came by was never sent.
        let first = self.subflows.first().and_then(|first| first.role);
        let part = self.subflows.len() == 1 || first != Some(Role::Initial);
        let Some(subflow) = self.subflows.get_mut(number as usize) else {
            return;
        };
        let data = &mut self.data[side];
        let flow = &mut subflow.directions[seen.direction as usize];
        if mapping.is_some_and(|mapping| mapping.len == 0) {
            // From here on it is plain TCP (RFC 8684 §3.7).
            flow.forget_mapping();
            return;
        }
        let mapped = match mapping {
            Some(mapping) => match data.place(mapping.data_seq) {
                Some(place) => Some((place, mapping)),
                None => return,
            },
            None => None,
        };
        let payload = SeqRange::new(seen.headers.seq, seen.headers.payload_len);
        let Some((seq, start, len)) = flow.locate(payload, mapped) else {
            return;
        };
        let end = start + i64::from(len);
        let copy = Copy {
            at: seen.at,
            sent: seen.at - seen.delay / 2,
            last: seen.at,
            subflow: number,
            shift: seq.get().wrapping_sub(start as u32),
            times: 1,
        };
        let carried = Carried {
            start,
            end,
            top: flow.advance(SeqRange::new(seq, len), end).filter(|_| part),
            length: seen.headers.payload_len,
        };
        flow.data_bytes += data.carried(&carried, &copy);
    }

    /// A subflow's own retransmission is settled.
    pub(super) fn retransmitted(&mut self, number: u32, row: &Retransmission) {
        let Some(subflow) = self.subflows.get(number as usize) else {
            return;
        };
        let open = self.data[subflow.side(row.direction)].open();
        if !open.is_empty() && self.retransmitted.len() < MOST_OPEN {
            self.retransmitted.push(Retransmitted {
                subflow: number,
                direction: row.direction,
                at: row.time,
                range: row.range,
                need: row.need,
                evidence: row.evidence,
                first_sent: row.first_sent,
            });
        }
    }

    /// A subflow has ended. Gives out the rows when all have, or where there are `many` together.
    pub(super) fn end(
        &mut self,
        number: u32,
        row: Of<Box<rows::Connection>>,
        many: bool,
        out: &mut Rows,
    ) {
        let Some(subflow) = self.subflows.get_mut(number as usize) else {
            out.connections.push(row);
            return;
        };
        subflow.ended = true;
        subflow.row = Some(row);
        self.alive -= 1;
        self.rows += 1;
        if self.alive == 0 || many || self.rows > MOST_ROWS {
            for side in [0, 1] {
                self.turn(side);
                while !self.data[side].open().is_empty() {
                    self.settle_first(side, out);
                }
            }
            self.give(out);
        }
    }

    /// Settles half of the re-injections that wait, as they stand.
    #[cold]
    fn settle_half(&mut self, side: usize, out: &mut Rows) {
        self.turn(side);
        for _ in 0..MOST_OPEN / 2 {
            self.settle_first(side, out);
        }
        let fronts = self.data.iter().filter_map(|data| data.open().front());
        let first = fronts.map(|open| open.copy.at).min();
        self.retransmitted
            .retain(|retransmitted| first.is_some_and(|first| retransmitted.at >= first));
    }

    /// Gives out the rows of subflows that have ended.
    fn give(&mut self, out: &mut Rows) {
        let (id, version) = (self.id, self.version);
        for (number, subflow) in (1..).zip(&mut self.subflows) {
            let Some(mut of) = subflow.row.take() else {
                continue;
            };
            let mut left = of.row.end.since(of.row.start) - of.row.waited();
            of.row.multipath = Some(rows::Subflow {
                connection: id,
                number,
                role: subflow.role,
                version,
            });
            for (flow, row) in subflow
                .directions
                .iter()
                .zip([&mut of.row.forward, &mut of.row.backward])
            {
                row.data_bytes = Some(flow.data_bytes);
                let reinject =
                    crate::sender_view::position_of(rexmit_tcp::Mechanism::MptcpReinject);
                row.retransmissions[reinject] = flow.reinjections;
                row.waited[reinject] = flow.waited.min(left);
                left = left - row.waited[reinject];
            }
            out.connections.push(of);
        }
        self.rows = 0;
    }

    /// Forgets the oldest data of more than `most` pieces a direction.
    pub(super) fn limit(&mut self, most: usize) {
        self.data.iter_mut().for_each(|data| data.limit(most));
    }

    /// Pieces of data that are kept.
    pub(super) fn pieces(&self) -> usize {
        self.data.iter().map(Data::len).sum()
    }
}

/// The mapping of a packet's bytes: that of the DSS, or the one that an MP_CAPABLE stands for (RFC 8684 §3.1).
fn mapping(signal: &Signal, dss: Option<&Dss>) -> Option<Mapping> {
    let capable = signal.capable.as_ref().and_then(|capable| {
        let version = Version::of(capable.version)?;
        let idsn = Identity::of(capable.sender_key?, version).idsn;
        Some(Mapping {
            data_seq: DataNumber::Full(idsn.wrapping_add(1)),
            subflow_seq: 1,
            len: capable.data_len?,
            checksum: capable.checksum,
        })
    });
    dss.and_then(|dss| dss.mapping).or(capable)
}
