//! From frames to packets with their shard.

use rexmit_time::{Duration, Time};
use rexmit_wire::capture::Frame;
use rexmit_wire::table::Hashed;
use rexmit_wire::{Headers, Skips};

use crate::connection::Pair;

/// A packet on its way to its shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub at: Time,
    pub hash: Hashed,
    pub headers: Headers,
}

impl Packet {
    /// Which of `shards` it belongs to.
    #[inline]
    pub fn shard(&self, shards: usize) -> usize {
        (self.hash.get() >> 16) as usize % shards
    }
}

/// Decodes frames and keeps the capture's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    pub frames: u64,
    pub bytes: u64,
    pub skips: Skips,
    /// The first and the latest time stamp.
    pub first: Option<Time>,
    pub latest: Time,
    /// The time stamp of the frame before.
    before: Time,
    pub steps_back: u64,
    pub longest_step_back: Duration,
}

impl Decoder {
    /// The packet in a frame; none when it is no TCP packet, which is counted.
    #[inline]
    pub fn decode(&mut self, frame: &Frame<'_>) -> Option<Packet> {
        self.frames += 1;
        self.bytes += u64::from(frame.original_len);
        if frame.time < self.before {
            self.step_back(frame.time);
        }
        self.before = frame.time;
        self.latest = self.latest.max(frame.time);
        if self.first.is_none() {
            self.first = Some(frame.time);
        }
        match Headers::decode(frame.link, frame.data, frame.original_len) {
            Ok(headers) => Some(Packet {
                at: frame.time,
                hash: Hashed::of(&Pair(headers.flow)),
                headers,
            }),
            Err(skip) => {
                self.skips.count(skip);
                None
            }
        }
    }

    #[cold]
    fn step_back(&mut self, now: Time) {
        self.steps_back += 1;
        self.longest_step_back = self.longest_step_back.max(self.before.since(now));
    }
}
