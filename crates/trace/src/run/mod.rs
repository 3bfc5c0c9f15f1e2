//! A whole capture: frames in, rows in ordered pieces out, on one thread or on several.
//!
//! Connections are spread over a fixed number of shards by a hash that both directions share, and each shard has its
//! packets in the capture's order. The capture is cut into stretches of a fixed number of frames; at the end of each, every shard
//! gives the rows that are ready. So the pieces, the rows in them and their order are the same however many threads
//! there are.

mod background;
mod decode;
mod hosts;
mod inline;
mod numbering;
mod summary;
mod warnings;

use core::fmt;

use rexmit_time::Time;
use rexmit_wire::capture::{self, End, Frame, Reader};

pub use background::{Background, Next};
pub use inline::Inline;
pub use summary::{Progress, Summary};
pub use warnings::{misdated, undated};

use crate::analyzer::{Analyzer, Rows};
use crate::settings::Settings;

/// Where frames come from.
pub trait Source: Send {
    /// What can go wrong.
    type Error: fmt::Display + Send;

    /// The next frame, none at the end.
    ///
    /// # Errors
    /// When there can be no further frames.
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Self::Error>;

    /// What is to be said of the capture, once it has ended: that it is cut off, and where.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    type Error = S::Error;

    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Self::Error> {
        S::next_frame(self)
    }

    fn warnings(&self) -> Vec<String> {
        S::warnings(self)
    }
}

impl Source for Reader<'_> {
    type Error = capture::Error;

    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Self::Error> {
        Reader::next_frame(self)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(End::Truncated { offset }) = self.end() {
            warnings.push(format!(
                "the capture ends in the middle of a packet, at byte {offset}"
            ));
        }
        if self.undated() > 0 {
            warnings.push(undated(self.undated()));
        }
        if self.misdated().packets > 0 {
            warnings.push(misdated(self.misdated()));
        }
        warnings
    }
}

/// Frames between two collections of rows.
const STRETCH: u64 = 32_768;

/// Frames that are decoded before their packets are looked at.
const TOGETHER: u64 = 32;

/// Connections that a shard ends at a time when the capture is over.
const ENDED_AT_ONCE: usize = 256;

/// With fewer connections than this to remember, all are in one shard.
const FEW: usize = 4_096;

/// How many shards there are; the same for any number of threads.
fn shard_count(settings: &Settings) -> usize {
    if settings.most_connections < FEW {
        1
    } else {
        16
    }
}

fn shards(settings: &Settings) -> Vec<Analyzer> {
    let of = shard_count(settings) as u64;
    (0..of)
        .map(|number| Analyzer::shard(settings.clone(), number, of))
        .collect()
}

/// The end of a stretch in which a shard had `packets`: ends connections that are over, and moves out the rows that are
/// ready.
fn collect(shard: &mut Analyzer, now: Time, packets: usize) -> Rows {
    // Connections have four packets or more; those of a flood with less are put out when the table is full.
    shard.expire(
        now,
        u32::try_from(packets)
            .unwrap_or(u32::MAX)
            .saturating_add(64),
    );
    let mut rows = Rows::default();
    shard.drain(&mut rows);
    rows
}

/// A step of the capture's end; whether there may be more.
fn finish(shard: &mut Analyzer) -> (Rows, bool) {
    let more = shard.finish(ENDED_AT_ONCE);
    let mut rows = Rows::default();
    shard.drain(&mut rows);
    (rows, more)
}
