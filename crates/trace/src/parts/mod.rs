//! A capture of many files, analysed in parts: the same rows as those of one run over all of them, bit for bit.
//!
//! Four steps, each a pure function of files, so that any of them can run anywhere and again:
//!
//! 1. [`read()`]: one file of the capture. Its packets are written to one file for each group of connections ([`packets`]), and what
//!    the file says of itself and of later ones to a [`Part`], which is small, and a [`Detail`].
//! 2. [`analyse()`]: one group over all files. It has its packets in the order in which one run would have
//!    had them, and writes the rows by the stretch in which they were ready, in pieces of many stretches. Rows that wait for
//!    what other connections say of their host ([`Hosts`](crate::run::hosts::Hosts)) are apart.
//! 3. [`judge()`]: the rows that wait, of all groups. It does not divide, but such rows are few.
//! 4. [`PieceRows`]: the rows of all groups and what was judged, one piece, as one run gives them. Pieces are apart, too: whoever
//!    merges one needs no other. What sums up the whole capture is in the last.
//!
//! A connection that goes on in the next file needs no state of its own written down: its packets are there. What one run
//! learns from earlier files for later ones ([`Carry`](crate::run::carry::Carry)) follows from the [`Part`]s, which are small.
//!
//! No step opens a file: readers and writers are handed in. What is written is of one version of this program; another is told
//! so ([`Error::Format`]). Nothing here reads a clock or chance.

mod analyse;
mod blocks;
mod exact;
mod extra;
mod judge;
mod merge;
mod order;
mod packets;
mod part;
mod pieces;
mod read;
mod rows;
mod split;

use core::fmt;
use std::io;

pub use analyse::{analyse, Analysed, Sink, Source};
pub(crate) use exact::{any_word, word, words, write, Input, Known};
pub use judge::{judge, Judged};
pub use merge::PieceRows;
pub use part::{broken, Detail, Part};
pub use read::read;

use crate::run::decode::Spread;
use crate::run::shard_count;
use crate::settings::Settings;

/// The version of all that is written. A change of what packets or rows hold changes it.
const FORMAT: u16 = 8;

/// Why a step cannot be done.
#[derive(Debug)]
pub enum Error {
    /// What is read or written fails.
    Io(io::Error),
    /// What is read was not written by the step before, or by another version of it, or not to its end.
    Format(String),
    /// The groups have more connections between them than are remembered: files must be read as one group.
    Full,
}

impl Error {
    fn format(what: impl Into<String>) -> Self {
        Error::Format(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Format(what) => f.write_str(what),
            Error::Full => {
                f.write_str("more connections than are remembered: read the files as one group")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

/// With more groups than this the step [`read()`] would have more files open, and memory for them, than is its due.
const MOST_GROUPS: u16 = 256;

/// How many groups there can be; one where so few connections are remembered that all are in one shard.
#[must_use]
pub fn most_groups(settings: &Settings) -> u16 {
    if shard_count(settings) == 1 {
        1
    } else {
        MOST_GROUPS
    }
}

/// How flows are spread: each group is a shard, but for one of all connections, which has the shards of one run and makes room
/// in them as that does.
fn spread(settings: &Settings, groups: u16) -> Spread {
    let shards = if groups == 1 {
        shard_count(settings) as u16
    } else {
        groups
    };
    Spread::new(settings.key, shards)
}

/// The group of a shard.
const fn group_of(shard: u16, groups: u16) -> u16 {
    shard % groups
}

/// What of settings decides on rows, as text.
fn identity(settings: &Settings) -> String {
    let names = settings.whatif.as_ref().map(|plan| plan.names().to_vec());
    let others = Settings {
        whatif: None,
        ..settings.clone()
    };
    // Of the key its mark: parts of different keys do not go together.
    format!("{others:?} {names:?} {}", settings.key.mark())
}
