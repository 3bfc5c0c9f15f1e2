//! A run on the caller's thread.

use std::collections::BTreeSet;

use rexmit_time::Time;

use super::decode::{give, Beside, Counted, Decoded};
use super::hosts::Hosts;
use super::promptly::Span;
use super::stream::Stream;
use super::{collect, finish, shards, spread, steps, Progress, Source, Summary, TOGETHER};
use crate::analyzer::{make_room, Analyzer, Counters, Prefetch, Rows};
use crate::settings::Settings;

/// A run on the caller's thread, a stretch of the capture at a time.
pub struct Inline<S: Source> {
    source: S,
    shards: Vec<Analyzer>,
    /// Packets that each shard had in this stretch.
    packets: Vec<usize>,
    stream: Stream,
    /// Stretches that have ended.
    stretch: u64,
    /// The source stands at a frame before which a stretch has ended at this time.
    held: Option<Time>,
    hosts: Hosts,
    /// So long rows wait for their hosts.
    wait: Span,
    waiting: Vec<Decoded>,
    besides: Vec<Beside>,
    error: Option<S::Error>,
    ended: bool,
    /// What is left to do when the capture has ended, once it has.
    left: Option<BTreeSet<u64>>,
    over: bool,
    most_connections: usize,
}

impl<S: Source> Inline<S> {
    /// A run over what `source` gives.
    #[must_use]
    pub fn new(source: S, settings: &Settings) -> Self {
        let shards = shards(settings);
        Inline {
            source,
            packets: vec![0; shards.len()],
            stream: Stream::new(spread(settings), settings.promptly),
            held: None,
            stretch: 0,
            shards,
            hosts: Hosts::new(settings),
            wait: Span::new(settings.promptly.map(|promptly| promptly.wait)),
            waiting: Vec::new(),
            besides: Vec::new(),
            error: None,
            ended: false,
            left: None,
            over: false,
            most_connections: settings.most_connections,
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
        let end = loop {
            self.some();
            if self.ended {
                break self.stream.now;
            }
            if let Some(end) = self.held {
                break end;
            }
        };
        let mut rows = Rows::default();
        for (shard, packets) in self.shards.iter_mut().zip(&mut self.packets) {
            rows.append(&mut collect(shard, end, core::mem::take(packets)));
        }
        let mut all: Vec<&mut Analyzer> = self.shards.iter_mut().collect();
        make_room(&mut all, self.most_connections, self.stretch);
        self.stretch += 1;
        rows.sort();
        self.hosts.pass(&mut rows);
        if self.wait.is_over(end) {
            self.hosts.settle(&mut rows);
        }
        Some(rows)
    }

    /// Decodes some frames, then gives their packets to the shards: by then what they look at is on its way from memory.
    fn some(&mut self) {
        self.waiting.clear();
        for _ in 0..TOGETHER {
            if self.held.take().is_none() {
                match self.source.advance() {
                    Ok(true) => {}
                    Ok(false) => {
                        self.ended = true;
                        break;
                    }
                    Err(error) => {
                        self.error = Some(error);
                        self.ended = true;
                        break;
                    }
                }
                self.held = self.stream.stretch_ends(&self.source);
                if self.held.is_some() {
                    break;
                }
            }
            let (packets, besides) = (&mut self.waiting, &mut self.besides);
            if let Some(packet) = self.stream.decode(&self.source, packets, besides) {
                self.shards[packet.shard()].prefetch(packet.hash, Prefetch::Index);
            }
        }
        for step in [Prefetch::Connection, Prefetch::Log] {
            for packet in &self.waiting {
                self.shards[packet.shard()].prefetch(packet.hash, step);
            }
        }
        for packet in &self.waiting {
            self.packets[packet.shard()] += 1;
        }
        let besides = &mut self.besides.drain(..);
        give(&self.waiting, besides, &mut self.shards, Decoded::shard);
    }

    fn finish(&mut self) -> Option<Rows> {
        let mut rows = Rows::default();
        let shards = &mut self.shards;
        let left = self.left.get_or_insert_with(|| steps(shards));
        let Some(step) = left.pop_first() else {
            self.over = true;
            return Some(self.hosts.end()).filter(|rows| !rows.is_empty());
        };
        for shard in &mut self.shards {
            rows.append(&mut finish(shard, step));
        }
        rows.sort();
        self.hosts.pass(&mut rows);
        Some(rows)
    }

    /// Why the source ended before its end, if it did. The rows are those of what was read.
    #[must_use]
    pub fn error(&self) -> Option<&S::Error> {
        self.error.as_ref()
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.stream.progress()
    }

    /// What was counted so far.
    pub(super) fn counted(&self) -> (Counted, Counters) {
        let mut counters = Counters::default();
        self.shards
            .iter()
            .for_each(|shard| counters.add(&shard.counters()));
        counters.failures.add(self.hosts.failures());
        (self.stream.counted(), counters)
    }

    /// What was counted.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let (counted, counters) = self.counted();
        Summary::new(&counted, counters, self.source.warnings())
    }
}
