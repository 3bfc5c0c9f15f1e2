//! What one file of a capture says of itself, and of the files after it.

use core::net::Ipv4Addr;
use std::io::{Read, Write};

use rexmit_time::Time;
use rexmit_wire::capture::{Drops, Misdated};
use rexmit_wire::headers::Notes;
use rexmit_wire::table::Hashed;
use rexmit_wire::FlowKey;
use serde::{Deserialize, Serialize};

use super::blocks::{read_one, write_one, FileKind};
use super::packets::Flows;
use super::Error;
use crate::connection::Pair;
use crate::multipath::Lesson;
use crate::run::decode::Counted;
use crate::run::{cut, misdated, undated};

/// Where something stands among the frames of all files: the latest time stamp of its file up to there, and the file. Of one
/// file, the frame's number orders.
///
/// A capture's files are read as one in the order of their times, and each in its own order
/// ([`Rotation`](rexmit_wire::capture::Rotation)): that is this order.
pub(super) type Key = (Time, usize);

/// What one file of a capture says of itself, and of the files after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name, for warnings.
    pub name: String,
    /// The mark of the key by which flows were spread over them.
    pub(super) key: u64,
    pub(super) groups: u16,
    pub(super) counted: Counted,
    /// The earliest time stamp.
    pub(super) earliest: Option<Time>,
    /// Packets that were written.
    pub(super) packets: u64,
    pub(super) lessons: Vec<Taught>,
    /// The clock as the last frame has it.
    pub(super) now: Time,
    /// Why it could not be read to its end.
    pub(super) error: Option<String>,
    /// Where it ends in the middle of a packet, bytes.
    pub(super) cut: Option<u64>,
    pub(super) undated: u64,
    pub(super) misdated: Misdated,
    pub(super) missing: Option<String>,
    /// Packets that its own statistics say were dropped.
    pub drops: Drops,
}

/// What is needed of a file while its packets are read, and is not small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    pub(super) stretches: Vec<Stretch>,
    /// How hosts were numbering packets at its end.
    pub(super) verdicts: Vec<(Ipv4Addr, Notes)>,
    pub(super) flows: Flows,
}

impl Detail {
    /// Writes it.
    ///
    /// # Errors
    /// As `to` has them.
    pub fn write(&self, to: impl Write) -> Result<(), Error> {
        write_one(self, to, FileKind::Detail)
    }

    pub(super) fn read(name: String, from: impl Read) -> Result<Self, Error> {
        read_one(name, from, FileKind::Detail)
    }
}

/// A frame before which a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stretch {
    pub frame: u64,
    /// The file's latest time stamp up to the frame.
    pub latest: Time,
    /// The clock at the end.
    pub now: Time,
}

/// A packet that says something of subflows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Taught {
    pub frame: u64,
    /// The file's latest time stamp up to the packet.
    pub latest: Time,
    pub flow: FlowKey,
    pub lesson: Lesson,
}

impl Taught {
    pub fn hash(&self) -> Hashed {
        Hashed::of(&Pair(self.flow))
    }
}

impl Part {
    /// Frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.counted.frames
    }

    /// TCP packets.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Their bytes on the wire.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.counted.bytes
    }

    /// The earliest and the latest time stamp; none without frames.
    #[must_use]
    pub fn times(&self) -> Option<(Time, Time)> {
        Some((self.earliest?, self.counted.latest))
    }

    /// Why it could not be read to its end, if so.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The groups into which it was divided.
    #[must_use]
    pub const fn groups(&self) -> u16 {
        self.groups
    }

    /// Sentences on it, in an order of kinds: why it could not be read on, that it is cut off, wrong times, what
    /// a list does not tell.
    #[must_use]
    pub fn warnings(&self) -> [Option<String>; 5] {
        let named = |text: String| format!("{}: {text}", self.name);
        [
            self.error
                .as_ref()
                .map(|error| named(broken(error, self.frames()))),
            self.cut.map(|offset| named(cut(offset))),
            (self.undated > 0).then(|| named(undated(self.undated))),
            (self.misdated.packets > 0).then(|| named(misdated(self.misdated))),
            self.missing.clone().map(named),
        ]
    }

    /// Where its first frame stands, when it is number `file`; none without frames.
    pub(super) fn begin(&self, file: usize) -> Option<Key> {
        Some((self.counted.first?, file))
    }

    /// Where its last frame stands; none without frames.
    pub(super) fn end(&self, file: usize) -> Option<Key> {
        self.counted.first.map(|_| (self.counted.latest, file))
    }

    /// Writes it.
    ///
    /// # Errors
    /// As `to` has them.
    pub fn write(&self, to: impl Write) -> Result<(), Error> {
        write_one(self, to, FileKind::Part)
    }

    /// Reads it from a file of this name.
    ///
    /// # Errors
    /// As `from` has them, and for what is none or not whole.
    pub fn read(name: &str, from: impl Read) -> Result<Self, Error> {
        let part: Self = read_one(name.to_owned(), from, FileKind::Part)?;
        if part.groups == 0 {
            return Err(Error::format(format!("{name}: a part of no groups")));
        }
        Ok(part)
    }
}

/// What is said of a capture that could not be read to its end.
#[must_use]
pub fn broken(error: &str, packets: u64) -> String {
    format!("{error}; packets that came before: {packets}; what follows it is left out")
}
