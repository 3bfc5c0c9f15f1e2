//! A whole capture: frames in, rows in ordered pieces out, on one thread or on several.
//!
//! Connections are spread over a fixed number of shards by a hash that both directions share, and each shard has its
//! packets in the capture's order. The capture is cut into stretches; at the end of each, every shard gives the rows that are
//! ready. A stretch ends before the first frame of each file, and after each fixed number of frames of a file, so that where it
//! ends does not depend on who has read the files before; where rows are wanted [promptly](Promptly), after a time, too. Which
//! connections are over, or make room for others, follows from their packets alone. So the pieces, the rows in them and their
//! order are the same however many threads there are, and by whatever key connections are spread over shards.
//!
//! What is learned of a file alone ([`Decoder`](decode::Decoder)) and what earlier files say of later ones ([`Carry`](carry::Carry))
//! are apart, so that files can also be read apart ([`crate::parts`]).

mod background;
pub(crate) mod carry;
pub(crate) mod decode;
pub(crate) mod hosts;
mod inline;
mod lookups;
mod names;
mod numbering;
mod places;
mod promptly;
mod stream;
mod summary;
mod warnings;

use core::fmt;
use std::collections::BTreeSet;

use rexmit_time::Time;
use rexmit_wire::capture::{self, End, Frame, Reader};

pub use background::{Background, Next};
pub use inline::Inline;
pub use lookups::Lookup;
pub use promptly::Promptly;
pub(crate) use promptly::Span;
pub use summary::{Progress, Summary};
pub use warnings::{cut, misdated, undated};

use crate::analyzer::{Analyzer, Rows};
use crate::settings::Settings;
use decode::Spread;
pub(crate) use hosts::waits;

/// Where frames come from.
pub trait Source: Send {
    /// What can go wrong.
    type Error: fmt::Display + Send;

    /// Moves on to the next frame, which [`Source::frame`] then lends; false at the end.
    ///
    /// # Errors
    /// When there can be no further frames.
    fn advance(&mut self) -> Result<bool, Self::Error>;

    /// The frame at which it stands.
    fn frame(&self) -> Option<Frame<'_>>;

    /// The next frame, none at the end.
    ///
    /// # Errors
    /// As [`Source::advance`].
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Self::Error> {
        Ok(if self.advance()? { self.frame() } else { None })
    }

    /// Of several files, the one of the frame at which it stands.
    fn file(&self) -> usize {
        0
    }

    /// Of several files, the one that was the `nth` to end, from 0; none where so many are not known to have ended.
    fn ended(&self, nth: usize) -> Option<usize> {
        let _ = nth;
        None
    }

    /// What is to be said of the capture, once it has ended: that it is cut off, and where.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    type Error = S::Error;

    #[inline]
    fn advance(&mut self) -> Result<bool, Self::Error> {
        S::advance(self)
    }

    #[inline]
    fn frame(&self) -> Option<Frame<'_>> {
        S::frame(self)
    }

    #[inline]
    fn file(&self) -> usize {
        S::file(self)
    }

    fn ended(&self, nth: usize) -> Option<usize> {
        S::ended(self, nth)
    }

    fn warnings(&self) -> Vec<String> {
        S::warnings(self)
    }
}

impl Source for Reader<'_> {
    type Error = capture::Error;

    #[inline]
    fn advance(&mut self) -> Result<bool, Self::Error> {
        Reader::advance(self)
    }

    #[inline]
    fn frame(&self) -> Option<Frame<'_>> {
        Reader::frame(self)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(End::Truncated { offset }) = self.end() {
            warnings.push(cut(offset));
        }
        if self.undated() > 0 {
            warnings.push(undated(self.undated()));
        }
        if self.misdated().packets > 0 {
            warnings.push(misdated(self.misdated()));
        }
        warnings.extend(self.missing());
        warnings
    }
}

/// Frames of a file between two collections of rows.
pub(crate) const STRETCH: u64 = 32_768;

/// Frames that are decoded before their packets are looked at.
pub(crate) const TOGETHER: u64 = 32;

/// With fewer connections than this to remember, all are in one shard, which never has more.
const FEW: usize = 4_096;

/// When the capture is over, connections end by the numbers of their first packets, those of so many numbers at a time.
pub(crate) const ENDED_AT_ONCE: u64 = 1_024;

/// How many shards there are; the same for any number of threads.
pub(crate) fn shard_count(settings: &Settings) -> usize {
    if settings.most_connections < FEW {
        1
    } else {
        16
    }
}

/// How flows are spread over them.
pub(crate) fn spread(settings: &Settings) -> Spread {
    Spread::new(settings.key, shard_count(settings) as u16)
}

fn shards(settings: &Settings) -> Vec<Analyzer> {
    let of = shard_count(settings);
    (0..of)
        .map(|_| Analyzer::shard(settings.clone(), of))
        .collect()
}

/// The end of a stretch in which a shard had `packets`: ends connections that are over, and moves out the rows that are
/// ready.
pub(crate) fn collect(shard: &mut Analyzer, now: Time, packets: usize) -> Rows {
    shard.expire(now, u32::try_from(packets).unwrap_or(u32::MAX));
    let mut rows = Rows::default();
    shard.drain(&mut rows);
    rows
}

/// The steps in which the connections that are left end when the capture has.
pub(crate) fn steps<'s>(shards: impl IntoIterator<Item = &'s mut Analyzer>) -> BTreeSet<u64> {
    let mut steps = BTreeSet::new();
    for shard in shards {
        steps.extend(shard.left().map(|number| number / ENDED_AT_ONCE));
    }
    steps
}

/// One of these steps, after those before it.
pub(crate) fn finish(shard: &mut Analyzer, step: u64) -> Rows {
    shard.finish((step + 1) * ENDED_AT_ONCE);
    let mut rows = Rows::default();
    shard.drain(&mut rows);
    rows
}
