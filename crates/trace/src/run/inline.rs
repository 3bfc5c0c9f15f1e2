//! A run on the caller's thread.

use rexmit_wire::capture::Frame;

use super::decode::Decoder;
use super::{collect, finish, shards, Progress, Source, Summary, STRETCH};
use crate::analyzer::{Analyzer, Counters, Rows};
use crate::settings::Settings;

/// A run on the caller's thread, a stretch of the capture at a time.
pub struct Inline<S: Source> {
    source: S,
    shards: Vec<Analyzer>,
    /// Packets that each shard had in this stretch.
    packets: Vec<usize>,
    decoder: Decoder,
    error: Option<S::Error>,
    ended: bool,
    over: bool,
}

impl<S: Source> Inline<S> {
    /// A run over what `source` gives.
    #[must_use]
    pub fn new(source: S, settings: &Settings) -> Self {
        let shards = shards(settings);
        Inline {
            source,
            packets: vec![0; shards.len()],
            shards,
            decoder: Decoder::default(),
            error: None,
            ended: false,
            over: false,
        }
    }

    /// The next piece of rows, which may be empty; none when there are no more.
    pub fn next_rows(&mut self) -> Option<Rows> {
        if self.over {
            return None;
        }
        if self.ended {
            return self.finish();
        }
        for _ in 0..STRETCH {
            match self.source.next_frame() {
                Ok(Some(frame)) => one(
                    &mut self.decoder,
                    &mut self.shards,
                    &mut self.packets,
                    &frame,
                ),
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                    break;
                }
            }
        }
        let mut rows = Rows::default();
        for (shard, packets) in self.shards.iter_mut().zip(&mut self.packets) {
            rows.append(&mut collect(
                shard,
                self.decoder.latest,
                core::mem::take(packets),
            ));
        }
        rows.sort();
        Some(rows)
    }

    fn finish(&mut self) -> Option<Rows> {
        let mut rows = Rows::default();
        let mut any = false;
        for shard in &mut self.shards {
            let (mut ready, more) = finish(shard);
            rows.append(&mut ready);
            any |= more;
        }
        self.over = !any;
        rows.sort();
        (any || !rows.is_empty()).then_some(rows)
    }

    /// Why the source ended before its end, if it did. The rows are those of what was read.
    #[must_use]
    pub fn error(&self) -> Option<&S::Error> {
        self.error.as_ref()
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            frames: self.decoder.frames,
            clock: self.decoder.latest,
        }
    }

    /// What was counted.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut counters = Counters::default();
        self.shards
            .iter()
            .for_each(|shard| counters.add(&shard.counters()));
        Summary::new(&self.decoder, counters, self.source.warnings())
    }
}

#[inline]
fn one(decoder: &mut Decoder, shards: &mut [Analyzer], packets: &mut [usize], frame: &Frame<'_>) {
    if let Some(packet) = decoder.decode(frame) {
        let shard = packet.shard(shards.len());
        if let (Some(analyzer), Some(count)) = (shards.get_mut(shard), packets.get_mut(shard)) {
            *count += 1;
            analyzer.hashed_packet(packet.at, &packet.headers, packet.hash);
        }
    }
}
