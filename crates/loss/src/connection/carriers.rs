//! The subflows of Multipath TCP connections, so that a pattern can name paths.
//!
//! A connection's stream is that of its data sequence; the subflows carry pieces of it. Which connection a subflow has
//! joined is known by the data sequence numbers that it sends or acknowledges (64 random bits each): the server's side of
//! the handshake does not say (RFC 8684 §3.2). Paths count in the order in which this becomes known, the connection's first
//! subflow before all others. Where the client's addresses were told there is one connection, and an address is a path.

use std::collections::BTreeMap;
use std::net::IpAddr;

use rexmit_wire::mptcp::{self, DataNumber, Dss, Numbers};
use rexmit_wire::{FlowKey, TcpPacket};

use super::place::Place;
use super::segment::Carrier;
use crate::subflow::{self, Subflow, SynAck};
use crate::Span;

/// No two numbers of one connection's data lie further apart at one time: more than windows are large.
const NEAR: u64 = 1 << 28;

/// All subflows of a rule's connections.
#[derive(Debug)]
pub(crate) struct Subflows {
    most: usize,
    /// The client's address on each path, where they were told.
    clients: Vec<IpAddr>,
    /// Packets with data of a Multipath TCP connection that no mapping said anything of.
    pub unmapped: u64,
    subflows: BTreeMap<FlowKey, Member>,
    connections: BTreeMap<FlowKey, Connection>,
}

#[derive(Debug)]
struct Member {
    subflow: Subflow<Place>,
    /// The first subflow of its connection, once that is known.
    connection: Option<FlowKey>,
}

/// A connection, found by its first subflow.
#[derive(Debug)]
struct Connection {
    /// The server's data sequence numbers; `None` for plain TCP.
    numbers: Option<Numbers>,
    /// The highest of them so far, and the client's number that was acknowledged last.
    last: [Option<DataNumber>; 2],
    paths: u32,
}

/// What a packet of the server carries of its connection's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The first subflow of its connection.
    pub connection: FlowKey,
    /// Its first byte, from 0.
    pub data: u64,
    /// The stream ends behind it.
    pub fin: bool,
    /// Its connection is one of Multipath TCP.
    pub mptcp: bool,
    pub carrier: Carrier,
}

/// What subflows make of a packet.
pub(crate) enum Met {
    /// Nothing: it is of plain TCP, or its connection is not known.
    Stranger,
    /// Nothing of it is the rule's affair.
    Passes,
    /// It goes on as any other of its connection's, a SYN-ACK or a reset.
    Goes,
    /// It carries this.
    Carries(Piece),
    /// It is of the client of this connection, on this path.
    Client(FlowKey, u32),
}

impl Subflows {
    /// None yet, and `most` at most.
    pub fn new(most: usize, clients: Vec<IpAddr>) -> Self {
        Subflows {
            most: most.max(1),
            clients,
            unmapped: 0,
            subflows: BTreeMap::new(),
            connections: BTreeMap::new(),
        }
    }

    /// Takes a packet of either side in.
    pub fn meet(&mut self, packet: &TcpPacket<'_>) -> Met {
        let (key, flags) = (packet.flow(), packet.flags());
        if flags.syn() && flags.ack() {
            return if self.open(packet) {
                Met::Passes
            } else {
                Met::Goes
            };
        }
        let told = !self.clients.is_empty();
        if self.subflows.contains_key(&key) {
            if flags.rst() && !told {
                self.close(&key);
                return Met::Goes;
            }
            return self.piece(packet).map_or(Met::Passes, Met::Carries);
        }
        match self.path(&key.reversed()) {
            Some((connection, path)) => Met::Client(connection, path),
            None if told => Met::Passes,
            None => Met::Stranger,
        }
    }

    /// A SYN-ACK of the server's. Whether the subflow joins a connection that is there, and begins none.
    fn open(&mut self, packet: &TcpPacket<'_>) -> bool {
        let SynAck { joins, numbers } = SynAck::of(packet);
        let key = packet.flow();
        let known = self.subflows.get(&key);
        if known.is_some_and(|member| member.subflow.isn == packet.seq()) {
            return joins;
        }
        let first = self.connections.keys().next().copied();
        let client = self.clients.iter().position(|own| *own == key.dst);
        if !self.clients.is_empty() && (client.is_none() || joins != first.is_some()) {
            return true;
        }
        self.close(&key);
        if self.subflows.len() >= self.most {
            if let Some(first) = self.subflows.keys().next().copied() {
                self.close(&first);
            }
        }
        let path = client.map_or(u32::from(!joins), |place| place as u32 + 1);
        let member = Member {
            subflow: Subflow::new(path, packet.seq()),
            connection: if joins {
                first.filter(|_| client.is_some())
            } else {
                Some(key)
            },
        };
        self.subflows.insert(key, member);
        if let Some(connection) = first.and_then(|first| self.connections.get_mut(&first)) {
            connection.paths += u32::from(client.is_some());
        }
        if !joins {
            let connection = Connection {
                numbers,
                last: [None; 2],
                paths: 1,
            };
            self.connections.insert(key, connection);
        }
        joins
    }

    /// The subflow is gone, and the connection if it was the first of one.
    fn close(&mut self, key: &FlowKey) {
        self.subflows.remove(key);
        self.connections.remove(key);
    }

    /// The path of the client's packets that answer the subflow `key`, and its connection.
    fn path(&self, key: &FlowKey) -> Option<(FlowKey, u32)> {
        let member = self.subflows.get(key)?;
        Some((member.connection?, member.subflow.path))
    }

    /// What the packet carries; `None` where it is nothing, or cannot be told.
    fn piece(&mut self, packet: &TcpPacket<'_>) -> Option<Piece> {
        let dss = mptcp::dss(packet);
        self.assign(&packet.flow(), dss.as_ref());
        let member = self.subflows.get_mut(&packet.flow())?;
        let key = member.connection?;
        let connection = self.connections.get_mut(&key)?;
        let subflow = &mut member.subflow;
        let start = subflow.relative(packet.seq())?;
        let len = u64::from(packet.payload_len());
        let top = start + len + u64::from(packet.flags().fin());
        let highest = subflow.is_highest(top);
        if len == 0 {
            subflow.reach(top);
        }
        let (mut data, mut fin) = (None, false);
        if let Some(numbers) = &mut connection.numbers {
            if let Some(dss) = dss {
                connection.last[1] = dss.data_ack.or(connection.last[1]);
                let place = subflow.announce(start, &dss, numbers);
                if let Some((mapping, place)) = dss.mapping.zip(place) {
                    connection.last[0] = Some(mapping.data_seq);
                    // The number of the end is the mapping's last (RFC 8684 §3.3.3).
                    let end = place.wrapping_add(i64::from(mapping.len) - 1);
                    if len == 0 && dss.fin {
                        (data, fin) = (Some(end), true);
                    }
                    if len > 0 && dss.fin {
                        let behind = subflow
                            .mapped(start)
                            .map(|at| at.wrapping_add_unsigned(len));
                        fin = behind == Some(end);
                    }
                }
            }
            if len > 0 {
                data = subflow.data(start, connection.paths == 1);
                self.unmapped += u64::from(data.is_none());
            }
        } else {
            (data, fin) = (Some(subflow::plain(start)), packet.flags().fin());
        }
        Some(Piece {
            connection: key,
            data: u64::try_from(data?).ok()?,
            // Stretches that were told have no end of their own.
            fin: fin && self.clients.is_empty(),
            mptcp: connection.numbers.is_some(),
            carrier: Carrier {
                flow: packet.flow(),
                path: subflow.path,
                span: Span {
                    seq: packet.seq(),
                    relative: start,
                    len: packet.payload_len(),
                    fin: packet.flags().fin(),
                },
                highest,
                before: subflow.sent(start).filter(|_| len > 0),
            },
        })
    }

    /// The packet with this piece was sent, and stands at `place`.
    pub fn sent(&mut self, piece: &Piece, place: Option<Place>) {
        let Carrier { flow, span, .. } = piece.carrier;
        if let Some(member) = self.subflows.get_mut(&flow) {
            let end = span.relative + u64::from(span.len);
            let top = end + u64::from(span.fin);
            member.subflow.send(span.relative, end, top, place);
        }
    }

    /// Finds the connection of a subflow that has none yet.
    fn assign(&mut self, key: &FlowKey, dss: Option<&Dss>) {
        let (Some(member), Some(dss)) = (self.subflows.get_mut(key), dss) else {
            return;
        };
        if member.connection.is_some() {
            return;
        }
        let says = [dss.mapping.map(|mapping| mapping.data_seq), dss.data_ack];
        let distance = |connection: &Connection| -> Option<u64> {
            let pairs = says.iter().zip(&connection.last);
            let apart = pairs.filter_map(|(own, last)| Some(apart((*own)?, (*last)?)));
            apart.min()
        };
        let nearest = self
            .connections
            .iter()
            .filter_map(|(first, connection)| Some((distance(connection)?, *first)))
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, _)| *distance < NEAR);
        if let Some((_, first)) = nearest {
            member.connection = Some(first);
            if let Some(connection) = self.connections.get_mut(&first) {
                connection.paths += 1;
                member.subflow.path = connection.paths;
            }
        }
    }
}

/// How far two numbers lie apart, as far as can be told.
fn apart(one: DataNumber, other: DataNumber) -> u64 {
    match (one, other) {
        (DataNumber::Low(low), other) | (other, DataNumber::Low(low)) => {
            let other = match other {
                DataNumber::Low(other) => other,
                DataNumber::Full(other) => other as u32,
            };
            u64::from((low.wrapping_sub(other) as i32).unsigned_abs())
        }
        (DataNumber::Full(one), DataNumber::Full(other)) => {
            (one.wrapping_sub(other) as i64).unsigned_abs()
        }
    }
}
