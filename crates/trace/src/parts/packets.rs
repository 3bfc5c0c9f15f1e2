//! The packets of one file and one group of shards, packed.
//!
//! Of a packet only that is written in which it differs from what the last one of its flow leads to expect, as in RFC 1144: a
//! flow has a place in a table, and both who writes and who reads keep in it what its last packet said. Two flows that share a
//! place take turns; the first packet of each turn is written whole.

use std::io::{Read, Write};

use rexmit_time::Time;
use rexmit_wire::dns::Question;
use rexmit_wire::headers::{Notes, OptionLayout, Record, Sack, SynOptions, Timestamps};
use rexmit_wire::http::Request;
use rexmit_wire::message::Message;
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Mapping};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum, SeqRange};

use super::blocks::{Kind, Packer, Reader, Writer};
use super::exact::{exact_struct, number, signed, Broken, Exact, Input};
use super::Error;
use crate::multipath::Signal;
use crate::run::decode::{Beside, Packet};

/// Places for flows; as many as the cache nearest to the processor's core holds.
const PLACES: usize = 4_096;

/// What of a packet is written.
mod has {
    pub const PLACE: u16 = 1;
    pub const FLOW: u16 = 1 << 1;
    pub const SEQ: u16 = 1 << 2;
    pub const ACK: u16 = 1 << 3;
    pub const LENGTH: u16 = 1 << 4;
    pub const WINDOW: u16 = 1 << 5;
    pub const FLAGS: u16 = 1 << 6;
    /// There is a timestamps option.
    pub const STAMPS: u16 = 1 << 7;
    pub const VALUE: u16 = 1 << 8;
    pub const ECHO: u16 = 1 << 9;
    pub const ID: u16 = 1 << 10;
    pub const REST: u16 = 1 << 11;
    pub const SACK: u16 = 1 << 12;
    pub const SYN: u16 = 1 << 13;
    pub const BESIDE: u16 = 1 << 14;
    /// The file's latest time stamp is not the packet's own.
    pub const LATEST: u16 = 1 << 15;
}

/// What the last packet of a flow said.
#[derive(Clone, Copy)]
struct Last {
    flow: FlowKey,
    /// The number after its last.
    seq: u32,
    ack: u32,
    payload_len: u32,
    window: u16,
    flags: u8,
    stamps: (u32, u32),
    ip_id: Option<u16>,
    ttl: u8,
    dont_fragment: bool,
    ecn: u8,
    notes: u8,
    record: u8,
}

impl Last {
    const fn new(flow: FlowKey) -> Self {
        Last {
            flow,
            seq: 0,
            ack: 0,
            payload_len: 0,
            window: 0,
            flags: 0,
            stamps: (0, 0),
            ip_id: None,
            ttl: 0,
            dont_fragment: false,
            ecn: 0,
            notes: 0,
            record: 0,
        }
    }

    /// The number that the next packet of a host that counts will have.
    const fn next_id(&self) -> Option<u16> {
        match self.ip_id {
            Some(id) => Some(id.wrapping_add(1)),
            None => None,
        }
    }

    fn rest(&self) -> [u8; 5] {
        let dont_fragment = u8::from(self.dont_fragment);
        [self.ttl, dont_fragment, self.ecn, self.notes, self.record]
    }

    fn note(&mut self, headers: &Headers) {
        self.seq = headers.seq.get().wrapping_add(headers.seq_len());
        self.ack = headers.ack.get();
        self.payload_len = headers.payload_len;
        self.window = headers.window;
        self.flags = headers.flags.0;
        if let Some(stamps) = headers.timestamps {
            self.stamps = (stamps.value, stamps.echo);
        }
        self.ip_id = headers.ip_id;
        self.ttl = headers.ttl;
        self.dont_fragment = headers.dont_fragment;
        self.ecn = headers.ecn;
        self.notes = headers.notes.bits();
        self.record = headers.record.bits();
    }
}

/// What both sides know of the packets before.
struct State {
    places: Vec<Option<Last>>,
    place: usize,
    frame: u64,
    at: Time,
}

impl State {
    fn new() -> Self {
        State {
            places: vec![None; PLACES],
            place: 0,
            frame: 0,
            at: Time::ZERO,
        }
    }
}

/// A packet of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    /// The number of its frame in the file, from 0.
    pub frame: u64,
    /// The latest time stamp of the file up to it.
    pub latest: Time,
    pub at: Time,
    pub headers: Headers,
    pub beside: Option<Beside>,
}

/// Writes packets.
pub(super) struct PacketWriter<W> {
    to: Writer<W>,
    state: State,
}

impl<W: Write> PacketWriter<W> {
    pub fn new(to: W) -> Result<Self, Error> {
        Ok(PacketWriter {
            to: Writer::new(to, Kind::Packets)?,
            state: State::new(),
        })
    }

    /// Adds the packet of this frame; the latest time stamp of the file up to it is `latest`.
    pub fn add(
        &mut self,
        frame: u64,
        latest: Time,
        packet: &Packet,
        beside: Option<&Beside>,
        packer: &mut Packer,
    ) -> Result<(), Error> {
        let headers = &packet.headers;
        let state = &mut self.state;
        let to = &mut self.to.block;
        // Both directions of a connection have one hash; each has a place of its own.
        let own = headers.flow.src_port > headers.flow.dst_port;
        let place = (packet.hash.get() as usize * 2 + usize::from(own)) % PLACES;
        let mut mask = 0;
        let mut set = |bit: u16, is: bool| mask |= if is { bit } else { 0 };
        set(has::PLACE, place != state.place);
        let known = state.places[place].filter(|last| last.flow == headers.flow);
        set(has::FLOW, known.is_none());
        let last = known.unwrap_or(Last::new(headers.flow));
        set(has::SEQ, headers.seq.get() != last.seq);
        set(has::ACK, headers.ack.get() != last.ack);
        set(has::LENGTH, headers.payload_len != last.payload_len);
        set(has::WINDOW, headers.window != last.window);
        set(has::FLAGS, headers.flags.0 != last.flags);
        let stamps = headers.timestamps.unwrap_or(Timestamps {
            value: last.stamps.0,
            echo: last.stamps.1,
        });
        set(has::STAMPS, headers.timestamps.is_some());
        set(has::VALUE, stamps.value != last.stamps.0);
        set(has::ECHO, stamps.echo != last.stamps.1);
        set(has::ID, headers.ip_id != last.next_id());
        let mut next = last;
        next.note(headers);
        set(has::REST, next.rest() != last.rest());
        set(has::SACK, !headers.sack.is_empty());
        set(has::SYN, headers.syn.is_some());
        set(has::BESIDE, beside.is_some());
        set(has::LATEST, latest != packet.at);
        to.extend(mask.to_le_bytes());
        number(to, frame - state.frame);
        signed(
            to,
            packet.at.as_nanos().wrapping_sub(state.at.as_nanos()) as i64,
        );
        let has = |bit: u16| mask & bit != 0;
        if has(has::PLACE) {
            to.extend((place as u16).to_le_bytes());
        }
        if has(has::FLOW) {
            headers.flow.write(to);
        }
        let difference = |one: u32, other: u32| i64::from(one.wrapping_sub(other) as i32);
        if has(has::SEQ) {
            signed(to, difference(headers.seq.get(), last.seq));
        }
        if has(has::ACK) {
            signed(to, difference(headers.ack.get(), last.ack));
        }
        if has(has::LENGTH) {
            number(to, u64::from(headers.payload_len));
        }
        if has(has::WINDOW) {
            to.extend(headers.window.to_le_bytes());
        }
        if has(has::FLAGS) {
            to.push(headers.flags.0);
        }
        if has(has::VALUE) {
            signed(to, difference(stamps.value, last.stamps.0));
        }
        if has(has::ECHO) {
            signed(to, difference(stamps.echo, last.stamps.1));
        }
        if has(has::ID) {
            headers.ip_id.write(to);
        }
        if has(has::REST) {
            to.extend(next.rest());
        }
        if has(has::SACK) {
            headers.sack.blocks().len().write(to);
            headers
                .sack
                .blocks()
                .iter()
                .for_each(|block| block.write(to));
        }
        if let Some(syn) = &headers.syn {
            syn.write(to);
        }
        if let Some(beside) = beside {
            beside.write(to);
        }
        if has(has::LATEST) {
            latest.write(to);
        }
        state.places[place] = Some(next);
        state.place = place;
        state.frame = frame;
        state.at = packet.at;
        self.to.flush_full(packer)?;
        Ok(())
    }

    pub fn finish(self, packer: &mut Packer) -> Result<(), Error> {
        self.to.finish(packer)
    }
}

/// Reads packets.
pub(super) struct PacketReader<R> {
    from: Reader<R>,
    /// Bytes of the block that are read.
    read: usize,
    state: State,
}

impl<R: Read> PacketReader<R> {
    /// `name` is for errors.
    pub fn new(name: String, from: R) -> Result<Self, Error> {
        Ok(PacketReader {
            from: Reader::new(name, from, Kind::Packets)?,
            read: 0,
            state: State::new(),
        })
    }

    /// The next packet; none at the end.
    pub fn next(&mut self) -> Result<Option<Recorded>, Error> {
        if self.read == self.from.block.len() {
            if !self.from.advance()? {
                return Ok(None);
            }
            self.read = 0;
        }
        let mut input = Input(&self.from.block[self.read..]);
        let Ok(packet) = self.state.read(&mut input) else {
            return Err(self.from.broken());
        };
        self.read = self.from.block.len() - input.0.len();
        Ok(Some(packet))
    }
}

impl State {
    #[inline]
    fn read(&mut self, from: &mut Input<'_>) -> Result<Recorded, Broken> {
        let mask = two(from)?;
        let has = |bit: u16| mask & bit != 0;
        self.frame = self.frame.checked_add(from.number()?).ok_or(Broken)?;
        let at = self.at.as_nanos().wrapping_add(from.signed()? as u64);
        self.at = Time::from_nanos(at);
        if has(has::PLACE) {
            self.place = usize::from(two(from)?);
        }
        let place = self.places.get_mut(self.place).ok_or(Broken)?;
        let mut last = if has(has::FLOW) {
            Last::new(FlowKey::read(from)?)
        } else {
            (*place).ok_or(Broken)?
        };
        let next_id = last.next_id();
        let apart = |from: &mut Input<'_>, own: u32| -> Result<u32, Broken> {
            Ok(own.wrapping_add(from.signed()? as u32))
        };
        if has(has::SEQ) {
            last.seq = apart(from, last.seq)?;
        }
        if has(has::ACK) {
            last.ack = apart(from, last.ack)?;
        }
        if has(has::LENGTH) {
            last.payload_len = u32::read(from)?;
        }
        if has(has::WINDOW) {
            last.window = two(from)?;
        }
        if has(has::FLAGS) {
            last.flags = from.byte()?;
        }
        if has(has::VALUE) {
            last.stamps.0 = apart(from, last.stamps.0)?;
        }
        if has(has::ECHO) {
            last.stamps.1 = apart(from, last.stamps.1)?;
        }
        let ip_id = if has(has::ID) {
            Option::read(from)?
        } else {
            next_id
        };
        if has(has::REST) {
            last.ttl = from.byte()?;
            last.dont_fragment = bool::read(from)?;
            last.ecn = from.byte()?;
            last.notes = from.byte()?;
            last.record = from.byte()?;
        }
        let mut sack = Sack::default();
        if has(has::SACK) {
            for _ in 0..usize::read(from)?.min(4) {
                sack.push(SeqRange::read(from)?);
            }
        }
        let syn = has(has::SYN).then(|| SynOptions::read(from)).transpose()?;
        let beside = has(has::BESIDE).then(|| Beside::read(from)).transpose()?;
        let latest = if has(has::LATEST) {
            Time::read(from)?
        } else {
            self.at
        };
        let headers = Headers {
            flow: last.flow,
            seq: SeqNum::new(last.seq),
            ack: SeqNum::new(last.ack),
            payload_len: last.payload_len,
            window: last.window,
            flags: Flags(last.flags),
            ttl: last.ttl,
            ip_id,
            dont_fragment: last.dont_fragment,
            ecn: last.ecn,
            record: Record::of_bits(last.record),
            notes: Notes::from_bits(last.notes),
            timestamps: has(has::STAMPS).then_some(Timestamps {
                value: last.stamps.0,
                echo: last.stamps.1,
            }),
            sack,
            syn,
        };
        last.note(&headers);
        *place = Some(last);
        Ok(Recorded {
            frame: self.frame,
            latest,
            at: self.at,
            headers,
            beside,
        })
    }
}

#[inline]
fn two(from: &mut Input<'_>) -> Result<u16, Broken> {
    Ok(u16::from_le_bytes([from.byte()?, from.byte()?]))
}

/// Where the packets of a flow may be found: a set of hashes that may say yes where it should say no, never the other way round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flows {
    bits: Vec<u64>,
}

impl Flows {
    /// Bits: files of a hundred thousand connections fill a tenth.
    const BITS: usize = 1 << 20;

    pub fn new() -> Self {
        Flows {
            bits: vec![0; Flows::BITS / 64],
        }
    }

    #[inline]
    pub fn add(&mut self, hash: u64) {
        let place = hash as usize % Flows::BITS;
        self.bits[place / 64] |= 1 << (place % 64);
    }

    pub fn may_have(&self, hash: u64) -> bool {
        let place = hash as usize % Flows::BITS;
        let word = self.bits.get(place / 64).copied().unwrap_or(u64::MAX);
        word & 1 << (place % 64) != 0
    }
}

exact_struct!(Flows { bits });
exact_struct!(SynOptions {
    mss,
    window_scale,
    sack_permitted,
    timestamps,
    mptcp,
    fast_open,
    malformed,
    cut,
    padding_used,
    layout,
    urgent,
    ip_header_len,
});

impl Exact for OptionLayout {
    fn write(&self, to: &mut Vec<u8>) {
        self.options().len().write(to);
        self.options().iter().for_each(|option| option.write(to));
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        let mut layout = OptionLayout::default();
        for (kind, length) in Vec::<(u8, u8)>::read(from)? {
            layout.push(kind, length);
        }
        Ok(layout)
    }
}

exact_struct!(Beside { signal, message });
exact_struct!(Request {
    method,
    path,
    host,
    count,
});
exact_struct!(Question { name, kind });

impl Exact for Message {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Message::Request(request) => {
                to.push(0);
                request.write(to);
            }
            Message::Response(status) => {
                to.push(1);
                status.write(to);
            }
            Message::Hello(name) => {
                to.push(2);
                name.write(to);
            }
            Message::Query(question) => {
                to.push(3);
                question.write(to);
            }
            Message::Named(name) => {
                to.push(4);
                name.write(to);
            }
        }
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        match from.byte()? {
            0 => Request::read(from).map(Message::Request),
            1 => u16::read(from).map(Message::Response),
            2 => Option::read(from).map(Message::Hello),
            3 => Question::read(from).map(Message::Query),
            4 => String::read(from).map(Message::Named),
            _ => Err(Broken),
        }
    }
}

exact_struct!(Signal {
    capable,
    joins,
    token,
    dss,
    failed,
});
exact_struct!(Capable {
    version,
    flags,
    sender_key,
    receiver_key,
    data_len,
    checksum,
});
exact_struct!(Dss {
    fin,
    data_ack,
    mapping,
});
exact_struct!(Mapping {
    data_seq,
    subflow_seq,
    len,
    checksum,
});

impl Exact for DataNumber {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            DataNumber::Low(low) => (false, u64::from(*low)).write(to),
            DataNumber::Full(full) => (true, *full).write(to),
        }
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        match <(bool, u64)>::read(from)? {
            (true, full) => Ok(DataNumber::Full(full)),
            (false, low) => low.try_into().map(DataNumber::Low).map_err(|_| Broken),
        }
    }
}
