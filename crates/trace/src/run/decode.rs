//! From the frames of one file to packets with their shard.

use core::hash::BuildHasher;

use rexmit_time::{Duration, Time};
use rexmit_wire::capture::Frame;
use rexmit_wire::dns::Datagram;
use rexmit_wire::headers::{Heads, Notes, Record};
use rexmit_wire::message::Message;
use rexmit_wire::table::{Hashed, Key};
use rexmit_wire::{FlowKey, Headers, Skip, Skips, TcpPacket};
use serde::{Deserialize, Serialize};

use crate::analyzer::Analyzer;
use crate::connection::Pair;
use crate::contain::contain_each;
use crate::multipath::Signal;

use super::lookups::{Longest, Lookups};
use super::names::Names;
use super::numbering::Numbering;
use super::Progress;

/// IANA's number of UDP.
const UDP: u8 = 17;

/// How flows are spread over shards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    key: Key,
    /// The key is that of the process's tables, too.
    is_of_process: bool,
    pub shards: u16,
}

impl Spread {
    /// Over so many shards, one at least.
    pub fn new(key: Key, shards: u16) -> Self {
        Spread {
            key,
            is_of_process: key == Key::of_process(),
            shards: shards.max(1),
        }
    }

    /// A hash of a flow that is the same in all processes of the analysis.
    #[inline]
    pub fn hash(self, flow: &FlowKey) -> u64 {
        self.key.hash_one(Pair(*flow))
    }

    /// The shard of a flow that is no subflow of another's connection.
    #[inline]
    pub fn own(self, flow: &FlowKey) -> u16 {
        self.shard(self.hash(flow))
    }

    /// By the upper half of its hash: tables use the lower one.
    #[inline]
    fn shard(self, hash: u64) -> u16 {
        (((hash >> 32) * u64::from(self.shards)) >> 32) as u16
    }

    /// Where tables have a flow, and its own shard.
    #[inline]
    fn place(self, flow: &FlowKey) -> (Hashed, u16) {
        let hash = self.hash(flow);
        let hashed = if self.is_of_process {
            Hashed::of_hash(hash)
        } else {
            Hashed::of(&Pair(*flow))
        };
        (hashed, self.shard(hash))
    }
}

/// Bits of a packet's number that are its frame's number in its file; the file's number is above them, up to where numbers are
/// exact as floating-point ones.
const FRAME_BITS: u32 = 34;

/// The number of the packet in a frame, of a file: no two have the same, whatever order the files come in.
#[inline]
pub(crate) const fn number_of(file: usize, frame: u64) -> u64 {
    ((file as u64) << FRAME_BITS) + frame
}

/// The file of a number, and its frame there.
pub(crate) const fn file_and_frame(number: u64) -> (usize, u64) {
    let file = number >> FRAME_BITS;
    (file as usize, number - (file << FRAME_BITS))
}

/// What there is beside a packet's headers: of few packets, and larger than them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// What its Multipath TCP options say.
    pub signal: Option<Signal>,
    /// What its payload begins with.
    pub message: Option<Message>,
}

impl Beside {
    /// What a frame has beside these headers.
    #[cold]
    fn of(frame: &Frame<'_>, headers: &Headers) -> Self {
        let whole = TcpPacket::in_frame(frame.link, frame.data, frame.original_len);
        let signalled = headers.notes.contains(Notes::MPTCP);
        let told = headers.record.tells();
        Beside {
            signal: signalled.then(|| whole.as_ref().map(Signal::of).unwrap_or_default()),
            message: whole
                .ok()
                .filter(|_| told)
                .and_then(|whole| Message::of(headers.record, whole.payload())),
        }
    }
}

/// A packet on its way to its shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub at: Time,
    pub hash: Hashed,
    pub headers: Headers,
    /// Its number in the capture.
    pub number: u64,
    /// The shard that it goes to.
    shard: u16,
}

impl Decoded {
    /// A packet that goes to its flow's own shard.
    #[inline]
    pub fn new(at: Time, headers: &Headers, number: u64, spread: Spread) -> Self {
        let (hash, shard) = spread.place(&headers.flow);
        Decoded {
            at,
            hash,
            headers: *headers,
            number,
            shard,
        }
    }

    /// Sends it to the shard of the connection that its flow has joined, where what came of the flow before is not found:
    /// not even if it was there by chance.
    #[inline]
    pub fn redirect(&mut self, shard: u16) {
        self.shard = shard;
        self.hash = self.hash.other();
    }

    /// The shard that it goes to.
    #[inline]
    pub fn shard(&self) -> usize {
        usize::from(self.shard)
    }

    /// Gives it to its shard's analyzer; `besides` are of this and later packets.
    // A part of the loop that gives packets: a call for each would be the larger part of what containing costs.
    #[inline(always)]
    fn give(&self, analyzer: &mut Analyzer, besides: &mut impl Iterator<Item = Beside>) {
        let which = (self.hash, self.number);
        if self.headers.notes.contains(Notes::RETURNED) {
            analyzer.returned_packet(self.at, &self.headers, self.hash);
        } else if self.has_beside() {
            let beside = besides.next().unwrap_or_default();
            analyzer.packet_beside(self.at, &self.headers, which, beside);
        } else {
            analyzer.known_packet(self.at, &self.headers, which);
        }
    }

    /// Whether there is something [`Beside`] it.
    #[inline]
    pub fn has_beside(&self) -> bool {
        self.headers.notes.contains(Notes::MPTCP) || self.headers.record.tells()
    }
}

/// Gives packets to their shards' analyzers, where `shard` says which of `analyzers` it is; `besides` are theirs. A connection at
/// whose packet the analysis panics is left out.
#[inline]
pub(crate) fn give(
    packets: &[Decoded],
    besides: &mut impl Iterator<Item = Beside>,
    analyzers: &mut [Analyzer],
    shard: impl Fn(&Decoded) -> usize,
) {
    contain_each(
        packets.len(),
        &mut (analyzers, besides),
        |(analyzers, besides), number| {
            let packet = &packets[number];
            packet.give(&mut analyzers[shard(packet)], besides);
        },
        |(analyzers, _), number, defect| {
            let packet = &packets[number];
            let analyzer = &mut analyzers[shard(packet)];
            analyzer.fail_at(packet.at, &packet.headers, packet.hash, &defect);
        },
    );
}

/// What was counted of the frames of a file, or of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub frames: u64,
    pub bytes: u64,
    /// Frames of which the capture has not all.
    pub cut: u64,
    pub skips: Skips,
    /// The first time stamp.
    pub first: Option<Time>,
    /// The latest time stamp.
    pub latest: Time,
    pub steps_back: u64,
    pub longest_step_back: Duration,
    pub lookups: Longest,
}

impl Counted {
    /// Adds what was counted of another file.
    pub fn add(&mut self, other: &Counted) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.cut += other.cut;
        self.skips.add(&other.skips);
        // Files come in the order of their first frames.
        self.first = match (self.first, other.first) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.latest = self.latest.max(other.latest);
        self.steps_back += other.steps_back;
        self.longest_step_back = self.longest_step_back.max(other.longest_step_back);
        self.lookups.add(&other.lookups);
    }
}

/// Decodes the frames of one file and keeps its clock. It knows of no other file.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The file's number.
    file: usize,
    spread: Spread,
    pub numbering: Numbering,
    names: Names,
    lookups: Lookups,
    /// Of SYNs that were cut off.
    heads: Heads,
    counted: Counted,
    /// The clock as the last frame has it: a clock that was set back is behind the latest time stamp from there on.
    pub now: Time,
}

impl Decoder {
    /// A decoder for the file of this number.
    pub fn new(file: usize, spread: Spread) -> Self {
        Decoder {
            file,
            spread,
            numbering: Numbering::new(),
            names: Names::default(),
            lookups: Lookups::default(),
            heads: Heads::default(),
            counted: Counted::default(),
            now: Time::default(),
        }
    }

    /// How many frames there were, and the latest time stamp.
    #[inline]
    pub fn progress(&self) -> Progress {
        Progress {
            frames: self.counted.frames,
            clock: self.counted.latest,
        }
    }

    /// What was counted so far.
    pub fn counted(&self) -> Counted {
        Counted {
            lookups: self.lookups.longest(self.now),
            ..self.counted.clone()
        }
    }

    /// A frame that may be of DNS.
    #[cold]
    fn datagram(&mut self, frame: &Frame<'_>) {
        if let Some(datagram) = Datagram::in_frame(frame.link, frame.data, frame.original_len) {
            self.names.learn(&datagram);
            self.lookups.learn(frame.time, &datagram);
        }
    }

    /// The packet in a frame, or the one that an ICMP message in it returns; none when it is no TCP packet, which is counted.
    /// It is put at the end of `packets`, and what there is beside it at that of `besides`.
    #[inline]
    pub fn decode<'p>(
        &mut self,
        frame: &Frame<'_>,
        packets: &'p mut Vec<Decoded>,
        besides: &mut Vec<Beside>,
    ) -> Option<&'p mut Decoded> {
        let counted = &mut self.counted;
        counted.frames += 1;
        counted.bytes += u64::from(frame.original_len);
        counted.cut += u64::from(frame.data.len() < frame.original_len as usize);
        if frame.time < self.now {
            counted.steps_back += 1;
            counted.longest_step_back = counted.longest_step_back.max(self.now.since(frame.time));
        }
        self.now = frame.time;
        counted.latest = counted.latest.max(frame.time);
        if counted.first.is_none() {
            counted.first = Some(frame.time);
        }
        match &Headers::decode(frame.link, frame.data, frame.original_len) {
            Ok(headers) => {
                if headers.flags.syn() && frame.data.len() < frame.original_len as usize {
                    self.heads.remember(frame.link, frame.data);
                }
                let number = number_of(self.file, counted.frames - 1);
                packets.push(Decoded::new(frame.time, headers, number, self.spread));
                let packet = packets.last_mut()?;
                self.numbering.packet(&mut packet.headers);
                let name = self.names.name(&packet.headers);
                if name.is_some() {
                    packet.headers.record = Record::Named;
                }
                if packet.has_beside() {
                    let mut beside = Beside::of(frame, &packet.headers);
                    beside.message = name.map(Message::Named).or(beside.message);
                    besides.push(beside);
                }
                Some(packet)
            }
            Err(skip) => {
                counted.skips.count(*skip);
                let number = number_of(self.file, counted.frames - 1);
                self.numbering
                    .other(frame.link, frame.data, frame.original_len);
                if matches!(skip, Skip::NotTcp { protocol: UDP }) {
                    self.datagram(frame);
                }
                let returned =
                    Headers::returned(frame.link, frame.data, frame.original_len, &self.heads)?;
                packets.push(Decoded::new(frame.time, &returned, number, self.spread));
                packets.last_mut()
            }
        }
    }
}
