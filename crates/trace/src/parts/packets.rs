//! The packets of one file and one group, packed.
//!
//! Of a packet only that is written in which it differs from what the last one of its flow leads to expect, as in RFC 1144: a
//! flow has a place in a table, and both who writes and who reads keep in it what its last packet said. Two flows that share a
//! place take turns; the first packet of each turn is written whole.

use std::io::{Read, Write};

use rexmit_time::Time;
use rexmit_wire::headers::{Notes, Record, Sack, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};
use serde::{Deserialize, Serialize};

use super::blocks::{FileKind, Packer, Reader, Writer};
use super::exact::{write, Broken, Input};
use super::Error;
use crate::run::decode::{Beside, Decoded};

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
    rest: Rest,
}

/// What is mostly that of the packet before.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Rest {
    ttl: u8,
    dont_fragment: bool,
    ecn: u8,
    notes: Notes,
    record: Record,
}

impl Last {
    fn new(flow: FlowKey) -> Self {
        Last {
            flow,
            seq: 0,
            ack: 0,
            payload_len: 0,
            window: 0,
            flags: 0,
            stamps: (0, 0),
            ip_id: None,
            rest: Rest {
                ttl: 0,
                dont_fragment: false,
                ecn: 0,
                notes: Notes::default(),
                record: Record::None,
            },
        }
    }

    /// The number that the next packet of a host that counts will have.
    const fn next_id(&self) -> Option<u16> {
        match self.ip_id {
            Some(id) => Some(id.wrapping_add(1)),
            None => None,
        }
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
        self.rest = Rest {
            ttl: headers.ttl,
            dont_fragment: headers.dont_fragment,
            ecn: headers.ecn,
            notes: headers.notes,
            record: headers.record,
        };
    }
}

/// What both sides know of the packets before.
struct Previous {
    places: Vec<Option<Last>>,
    place: usize,
    frame: u64,
    at: Time,
}

impl Previous {
    fn new() -> Self {
        Previous {
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
    /// Of few packets, and larger than the rest.
    pub beside: Option<Box<Beside>>,
}

/// Writes packets.
pub(super) struct PacketWriter<W> {
    to: Writer<W>,
    state: Previous,
}

impl<W: Write> PacketWriter<W> {
    pub fn new(to: W) -> Result<Self, Error> {
        Ok(PacketWriter {
            to: Writer::new(to, FileKind::Packets)?,
            state: Previous::new(),
        })
    }

    /// Adds the packet of this frame; the latest time stamp of the file up to it is `latest`.
    pub fn add(
        &mut self,
        frame: u64,
        latest: Time,
        packet: &Decoded,
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
        set(has::REST, next.rest != last.rest);
        set(has::SACK, !headers.sack.is_empty());
        set(has::SYN, headers.syn.is_some());
        set(has::BESIDE, beside.is_some());
        set(has::LATEST, latest != packet.at);
        to.extend(mask.to_le_bytes());
        write(&(frame - state.frame), to);
        let later = packet.at.as_nanos().wrapping_sub(state.at.as_nanos()) as i64;
        write(&later, to);
        let has = |bit: u16| mask & bit != 0;
        if has(has::PLACE) {
            to.extend((place as u16).to_le_bytes());
        }
        if has(has::FLOW) {
            write(&headers.flow, to);
        }
        let difference = |one: u32, other: u32| i64::from(one.wrapping_sub(other) as i32);
        if has(has::SEQ) {
            write(&difference(headers.seq.get(), last.seq), to);
        }
        if has(has::ACK) {
            write(&difference(headers.ack.get(), last.ack), to);
        }
        if has(has::LENGTH) {
            write(&headers.payload_len, to);
        }
        if has(has::WINDOW) {
            to.extend(headers.window.to_le_bytes());
        }
        if has(has::FLAGS) {
            to.push(headers.flags.0);
        }
        if has(has::VALUE) {
            write(&difference(stamps.value, last.stamps.0), to);
        }
        if has(has::ECHO) {
            write(&difference(stamps.echo, last.stamps.1), to);
        }
        if has(has::ID) {
            write(&headers.ip_id, to);
        }
        if has(has::REST) {
            write(&next.rest, to);
        }
        if has(has::SACK) {
            write(headers.sack.blocks(), to);
        }
        if let Some(syn) = &headers.syn {
            write(syn, to);
        }
        if let Some(beside) = beside {
            write(beside, to);
        }
        if has(has::LATEST) {
            write(&latest, to);
        }
        state.places[place] = Some(next);
        state.place = place;
        state.frame = frame;
        state.at = packet.at;
        self.to.flush_full(packer)?;
        Ok(())
    }

    pub fn finish(self, packer: &mut Packer) -> Result<(), Error> {
        self.to.finish(packer)?;
        Ok(())
    }
}

/// Reads packets.
pub(super) struct PacketReader<R> {
    from: Reader<R>,
    /// Bytes of the block that are read.
    read: usize,
    state: Previous,
    /// The packet at which it stands; none at the end.
    pub packet: Option<Recorded>,
}

impl<R: Read> PacketReader<R> {
    /// Stands at the first packet. `name` is for errors.
    pub fn new(name: String, from: R) -> Result<Self, Error> {
        let mut reader = PacketReader {
            from: Reader::new(name, from, FileKind::Packets)?,
            read: 0,
            state: Previous::new(),
            packet: None,
        };
        reader.advance()?;
        Ok(reader)
    }

    /// Moves on to the next packet.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.read == self.from.block.len() {
            if !self.from.advance()? {
                self.packet = None;
                return Ok(());
            }
            self.read = 0;
        }
        let mut input = Input(&self.from.block[self.read..]);
        match self.state.read(&mut input) {
            Ok(packet) => self.packet = Some(packet),
            Err(Broken) => return Err(self.from.broken()),
        }
        self.read = self.from.block.len() - input.0.len();
        Ok(())
    }
}

impl Previous {
    #[inline]
    fn read(&mut self, from: &mut Input<'_>) -> Result<Recorded, Broken> {
        let mask = two(from)?;
        let has = |bit: u16| mask & bit != 0;
        self.frame = self.frame.checked_add(from.value()?).ok_or(Broken)?;
        let at = self.at.as_nanos().wrapping_add(from.value::<i64>()? as u64);
        self.at = Time::from_nanos(at);
        if has(has::PLACE) {
            self.place = usize::from(two(from)?);
        }
        let place = self.places.get_mut(self.place).ok_or(Broken)?;
        let mut last = if has(has::FLOW) {
            Last::new(from.value()?)
        } else {
            (*place).ok_or(Broken)?
        };
        let next_id = last.next_id();
        let apart = |from: &mut Input<'_>, own: u32| -> Result<u32, Broken> {
            Ok(own.wrapping_add(from.value::<i64>()? as u32))
        };
        if has(has::SEQ) {
            last.seq = apart(from, last.seq)?;
        }
        if has(has::ACK) {
            last.ack = apart(from, last.ack)?;
        }
        if has(has::LENGTH) {
            last.payload_len = from.value()?;
        }
        if has(has::WINDOW) {
            last.window = two(from)?;
        }
        if has(has::FLAGS) {
            last.flags = from.value()?;
        }
        if has(has::VALUE) {
            last.stamps.0 = apart(from, last.stamps.0)?;
        }
        if has(has::ECHO) {
            last.stamps.1 = apart(from, last.stamps.1)?;
        }
        let ip_id = if has(has::ID) { from.value()? } else { next_id };
        if has(has::REST) {
            last.rest = from.value()?;
        }
        let mut sack = Sack::default();
        if has(has::SACK) {
            for _ in 0..from.value::<usize>()?.min(4) {
                sack.push(from.value()?);
            }
        }
        let syn = has(has::SYN).then(|| from.value()).transpose()?;
        let beside = has(has::BESIDE).then(|| from.value().map(Box::new));
        let beside = beside.transpose()?;
        let latest = if has(has::LATEST) {
            from.value()?
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
            ttl: last.rest.ttl,
            ip_id,
            dont_fragment: last.rest.dont_fragment,
            ecn: last.rest.ecn,
            record: last.rest.record,
            notes: last.rest.notes,
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
    from.value().map(u16::from_le_bytes)
}

/// Where the packets of a flow may be found: a set of hashes that may say yes where it should say no, never the other way round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
