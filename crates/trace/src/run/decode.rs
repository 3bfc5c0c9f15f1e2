//! From frames to packets with their shard.

use rexmit_time::{Duration, Time};
use rexmit_wire::capture::Frame;
use rexmit_wire::headers::Notes;
use rexmit_wire::table::Hashed;
use rexmit_wire::{Headers, Skips, TcpPacket};

use crate::analyzer::Analyzer;
use crate::connection::Pair;
use crate::multipath::{Routes, Signal};

use super::numbering::Numbering;

/// A packet on its way to its shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub at: Time,
    pub hash: Hashed,
    pub headers: Headers,
    /// The shard that it goes to.
    shard: u16,
}

impl Packet {
    /// The shard that it goes to.
    #[inline]
    pub fn shard(&self) -> usize {
        usize::from(self.shard)
    }

    /// Gives it to its shard's analyzer; `signals` are those of this and later packets.
    #[inline]
    pub fn give(&self, analyzer: &mut Analyzer, signals: &mut impl Iterator<Item = Signal>) {
        if self.is_signalled() {
            let signal = signals.next().unwrap_or_default();
            analyzer.signalled_packet(self.at, &self.headers, self.hash, &signal);
        } else {
            analyzer.hashed_packet(self.at, &self.headers, self.hash);
        }
    }

    /// Whether there is a [`Signal`] with it.
    #[inline]
    pub fn is_signalled(&self) -> bool {
        self.headers.notes.contains(Notes::MPTCP)
    }
}

/// Decodes frames and keeps the capture's clock.
#[derive(Debug)]
pub(super) struct Decoder {
    shards: u32,
    routes: Routes,
    numbering: Numbering,
    pub frames: u64,
    pub bytes: u64,
    pub skips: Skips,
    /// The first and the latest time stamp.
    pub first: Option<Time>,
    pub latest: Time,
    /// The clock as the last frame has it: a clock that was set back is behind the latest time stamp from there on.
    pub now: Time,
    pub steps_back: u64,
    pub longest_step_back: Duration,
}

impl Decoder {
    /// A decoder for packets that go to so many shards.
    pub fn new(shards: u16) -> Self {
        Decoder {
            shards: u32::from(shards.max(1)),
            routes: Routes::default(),
            numbering: Numbering::new(),
            frames: 0,
            bytes: 0,
            skips: Skips::default(),
            first: None,
            latest: Time::default(),
            now: Time::default(),
            steps_back: 0,
            longest_step_back: Duration::default(),
        }
    }

    /// The packet in a frame; none when it is no TCP packet, which is counted. What its Multipath TCP options say, if there
    /// are any, goes to the end of `signals`.
    #[inline]
    pub fn decode(&mut self, frame: &Frame<'_>, signals: &mut Vec<Signal>) -> Option<Packet> {
        self.frames += 1;
        self.bytes += u64::from(frame.original_len);
        if frame.time < self.now {
            self.step_back(frame.time);
        }
        self.now = frame.time;
        self.latest = self.latest.max(frame.time);
        if self.first.is_none() {
            self.first = Some(frame.time);
        }
        match Headers::decode(frame.link, frame.data, frame.original_len) {
            Ok(mut headers) => {
                self.numbering.packet(&mut headers);
                let hash = Hashed::of(&Pair(headers.flow));
                let mut packet = Packet {
                    at: frame.time,
                    hash,
                    headers,
                    shard: ((hash.get() >> 16) % self.shards) as u16,
                };
                if packet.is_signalled() {
                    self.signal(frame, &mut packet, signals);
                } else {
                    packet.shard = self.routes.shard(hash, &headers.flow, packet.shard);
                }
                Some(packet)
            }
            Err(skip) => {
                self.skips.count(skip);
                self.numbering
                    .other(frame.link, frame.data, frame.original_len);
                None
            }
        }
    }

    #[cold]
    fn signal(&mut self, frame: &Frame<'_>, packet: &mut Packet, signals: &mut Vec<Signal>) {
        let whole = TcpPacket::in_frame(frame.link, frame.data, frame.original_len);
        let signal = whole.map_or_else(|_| Signal::default(), |whole| Signal::of(&whole));
        let flow = &packet.headers.flow;
        packet.shard = self.routes.learn(packet.hash, flow, packet.shard, &signal);
        signals.push(signal);
    }

    #[cold]
    fn step_back(&mut self, to: Time) {
        self.steps_back += 1;
        self.longest_step_back = self.longest_step_back.max(self.now.since(to));
    }
}
