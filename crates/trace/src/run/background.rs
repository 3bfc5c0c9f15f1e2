//! A run on threads of its own.
//!
//! Its queues are ours, not those of rayon or crossbeam-channel: a shard gets its work in order, whoever is free takes
//! all that waits for the fullest shard, and the thread that reads helps.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice::from_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rexmit_time::Time;

use super::decode::{give, Beside, Counted, Decoded};
use super::hosts::Hosts;
use super::promptly::Span;
use super::stream::Stream;
use super::{collect, finish, shards, spread, steps, Inline, Progress, Source, Summary, TOGETHER};
use crate::analyzer::{is_weighed, make_room, Analyzer, Counters, Prefetch, Rows};
use crate::settings::Settings;

/// Frames that are decoded before their packets go to the shards.
const DECODED_AT_ONCE: u64 = 4_096;

/// Pieces of work that may wait; with more, the thread that reads helps.
const MOST_WAITING: usize = 64;

/// Pieces of rows that may wait for the caller; with more, reading stops.
const MOST_READY: usize = 4;

/// What [`Background::next`] found.
#[derive(Debug)]
pub enum Next {
    /// A piece of rows.
    Rows(Rows),
    /// Nothing is ready yet.
    Wait,
    /// There are no more rows. The text says why not all of the capture could be read, if so.
    End(Box<Summary>, Option<String>),
}

/// A run on threads of its own, so that the caller can do other things.
///
/// Dropped early, its threads stop at the next piece of work; none is waited for, as one may be waiting for
/// input.
#[derive(Debug)]
pub struct Background {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<Queues>,
    /// Something is to be done, or nothing ever again.
    work: Condvar,
    /// Something was done.
    done: Condvar,
    /// Rows are ready, or there are no more.
    ready: Condvar,
    shards: Vec<Mutex<Analyzer>>,
}

#[derive(Debug)]
enum Work {
    Packets(Batch),
    /// The end of a stretch, its number, the capture's clock, and how many packets this shard had.
    Collect(u64, Time, usize),
    /// A step of the capture's end, as the number of a stretch, and which one it is.
    Finish(u64, u64),
}

/// Packets of a shard, and what goes with some of them, in order.
#[derive(Debug, Default)]
struct Batch {
    packets: Vec<Decoded>,
    besides: Vec<Beside>,
}

impl Batch {
    /// Gives the packets to the shard, and is empty again.
    fn give(&mut self, analyzer: &mut Analyzer) {
        let mut besides = self.besides.drain(..);
        for some in self.packets.chunks(TOGETHER as usize) {
            for step in [Prefetch::Index, Prefetch::Connection, Prefetch::Log] {
                for packet in some {
                    analyzer.prefetch(packet.hash, step);
                }
            }
            give(some, &mut besides, from_mut(analyzer), |_| 0);
        }
        drop(besides);
        self.packets.clear();
    }
}

#[derive(Debug, Default)]
struct Queues {
    queues: Vec<VecDeque<Work>>,
    busy: Vec<bool>,
    waiting: usize,
    /// Rows of stretches that not every shard has given, and how many shards have.
    collected: BTreeMap<u64, (Rows, usize)>,
    hosts: Hosts,
    /// So long rows wait for their hosts.
    wait: Option<Span>,
    /// What was read, and what each shard counted, so far.
    counted: Counted,
    counters: Vec<Counters>,
    ready: VecDeque<Rows>,
    spare: Vec<Batch>,
    progress: Progress,
    /// The caller is gone.
    stop: bool,
    /// Everything was read and worked through.
    ended: Option<(Box<Summary>, Option<String>)>,
    panicked: bool,
}

impl Background {
    /// Starts a run over what `open` gives, on `jobs` threads.
    ///
    /// `open` is called on the thread that reads, so it may wait.
    #[must_use]
    pub fn new<S, E, F>(open: F, settings: &Settings, jobs: usize) -> Self
    where
        S: Source,
        E: ToString,
        F: FnOnce() -> Result<S, E> + Send + 'static,
    {
        let shards = shards(settings);
        let promptly = settings.promptly;
        let shared = Arc::new(Shared {
            state: Mutex::new(Queues {
                queues: shards.iter().map(|_| VecDeque::new()).collect(),
                busy: vec![false; shards.len()],
                hosts: Hosts::new(settings),
                wait: promptly.map(|promptly| Span::new(Some(promptly.wait))),
                counters: vec![Counters::default(); shards.len()],
                ..Queues::default()
            }),
            work: Condvar::new(),
            done: Condvar::new(),
            ready: Condvar::new(),
            shards: shards.into_iter().map(Mutex::new).collect(),
        });
        let settings = settings.clone();
        let reader = Arc::clone(&shared);
        guarded(&shared, move || match open() {
            Ok(source) if jobs <= 1 => reader.inline(Inline::new(source, &settings)),
            Ok(source) => reader.read(source, &settings),
            Err(error) => reader.end(Summary::default(), Some(error.to_string())),
        });
        for _ in 1..jobs {
            let worker = Arc::clone(&shared);
            guarded(&shared, move || worker.work());
        }
        Background { shared }
    }

    /// The next piece of rows, for which it waits up to `patience`.
    pub fn next(&self, patience: core::time::Duration) -> Next {
        let state = self.shared.lock();
        let (mut state, _) = self
            .shared
            .ready
            .wait_timeout_while(state, patience, |state| {
                state.ready.is_empty() && state.ended.is_none() && !state.panicked
            })
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = state.ready.pop_front() {
            self.shared.done.notify_all();
            return Next::Rows(rows);
        }
        if let Some((summary, error)) = &state.ended {
            return Next::End(summary.clone(), error.clone());
        }
        if state.panicked {
            // What was read and given before it stays.
            let summary = Box::new(state.so_far());
            return Next::End(summary, Some("the analysis failed: a defect".to_owned()));
        }
        Next::Wait
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.shared.lock().progress
    }

    /// What was counted so far. What the shards have not come to is read, and not counted.
    #[must_use]
    pub fn so_far(&self) -> Summary {
        let state = self.shared.lock();
        if let Some((summary, _)) = &state.ended {
            return (**summary).clone();
        }
        state.so_far()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        self.shared.done.notify_all();
    }
}

/// Runs `body` on a thread; whoever waits hears of its panic.
fn guarded(shared: &Arc<Shared>, body: impl FnOnce() + Send + 'static) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        if catch_unwind(AssertUnwindSafe(body)).is_err() {
            let mut state = shared.lock();
            state.panicked = true;
            state.stop = true;
            drop(state);
            shared.ready.notify_all();
            shared.work.notify_all();
            shared.done.notify_all();
        }
    });
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All shards, while nobody works on any.
    fn all(&self) -> Vec<MutexGuard<'_, Analyzer>> {
        let shards = self.shards.iter().map(Mutex::lock);
        shards
            .map(|shard| shard.unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    fn end(&self, summary: Summary, error: Option<String>) {
        let mut state = self.lock();
        state.ended = Some((Box::new(summary), error));
        state.stop = true;
        drop(state);
        self.ready.notify_all();
        self.work.notify_all();
    }

    /// Hands a piece of rows to the caller, after those before were taken. False when the caller is gone.
    fn hand_over(&self, rows: Rows, progress: Progress) -> bool {
        let mut state = self.lock();
        state.progress = progress;
        if !rows.is_empty() {
            state.ready.push_back(rows);
            self.ready.notify_all();
        }
        let state = self
            .done
            .wait_while(state, |state| {
                !state.stop && state.ready.len() >= MOST_READY
            })
            .unwrap_or_else(PoisonError::into_inner);
        !state.stop
    }

    /// Everything on this one thread.
    fn inline<S: Source>(&self, mut run: Inline<S>) {
        while let Some(rows) = run.next_rows() {
            let (counted, counters) = run.counted();
            let mut state = self.lock();
            state.counted = counted;
            state.counters = vec![counters];
            drop(state);
            if !self.hand_over(rows, run.progress()) {
                return;
            }
        }
        let error = run.error().map(ToString::to_string);
        self.end(run.summary(), error);
    }

    /// Reads and decodes, and helps when too much waits.
    fn read<S: Source>(&self, mut source: S, settings: &Settings) {
        let mut stream = Stream::new(spread(settings), settings.promptly);
        // So many packets may come before there can be too many connections.
        let mut room = settings.most_connections;
        let mut parts: Vec<Batch> = self.shards.iter().map(|_| Batch::default()).collect();
        // The one that is being decoded.
        let (mut packet, mut besides) = (Vec::with_capacity(1), Vec::new());
        let mut counts = vec![0; self.shards.len()];
        let mut error = None;
        let mut stretch = 0;
        let mut more = true;
        // The source stands at a frame before which a stretch has ended.
        let mut held = false;
        while more {
            let mut collect = None;
            for _ in 0..DECODED_AT_ONCE {
                if !core::mem::take(&mut held) {
                    match source.advance() {
                        Ok(true) => {}
                        Ok(false) => more = false,
                        Err(why) => {
                            error = Some(why.to_string());
                            more = false;
                        }
                    }
                    if !more {
                        collect = Some(stream.now);
                        break;
                    }
                    collect = stream.stretch_ends(&source);
                    held = collect.is_some();
                    if held {
                        break;
                    }
                }
                let decoded = stream.decode(&source, &mut packet, &mut besides);
                if let Some(shard) = decoded.map(Decoded::shard) {
                    if let Some(part) = parts.get_mut(shard) {
                        part.packets.append(&mut packet);
                        if !besides.is_empty() {
                            part.besides.append(&mut besides);
                        }
                    }
                }
            }
            let mut state = self.lock();
            state.progress = stream.progress();
            state.counted = stream.counted();
            for (shard, part) in parts.iter_mut().enumerate() {
                counts[shard] += part.packets.len();
                if !part.packets.is_empty() {
                    let spare = state.spare.pop().unwrap_or_default();
                    state.push(shard, Work::Packets(core::mem::replace(part, spare)));
                }
                if let Some(end) = collect {
                    let packets = core::mem::take(&mut counts[shard]);
                    room = room.saturating_sub(packets);
                    state.push(shard, Work::Collect(stretch, end, packets));
                }
            }
            stretch += u64::from(collect.is_some());
            drop(state);
            self.work.notify_all();
            let is_awaited = collect.is_some() && (room == 0 || is_weighed(stretch - 1));
            if !self.help(if is_awaited { 0 } else { MOST_WAITING }) {
                return;
            }
            if is_awaited {
                let mut shards = self.all();
                let mut all: Vec<&mut Analyzer> = shards.iter_mut().map(|one| &mut **one).collect();
                make_room(&mut all, settings.most_connections, stretch - 1);
                let connections = all.iter().map(|one| one.connections()).sum();
                room = settings.most_connections.saturating_sub(connections);
            }
        }
        if !self.help(0) {
            return;
        }
        // The shards are let go of before any of them is to finish.
        let steps = {
            let mut shards = self.all();
            steps(shards.iter_mut().map(|one| &mut **one))
        };
        for step in steps {
            let mut state = self.lock();
            for shard in 0..self.shards.len() {
                state.push(shard, Work::Finish(stretch, step));
            }
            stretch += 1;
            drop(state);
            self.work.notify_all();
            if !self.help(MOST_WAITING) {
                return;
            }
        }
        if !self.help(0) {
            return;
        }
        let mut state = self.lock();
        let rows = state.hosts.end();
        let mut counters = Counters::default();
        counters.failures.add(state.hosts.failures());
        if !rows.is_empty() {
            state.ready.push_back(rows);
        }
        drop(state);
        let shards = self.all();
        shards.iter().for_each(|one| counters.add(&one.counters()));
        drop(shards);
        let summary = Summary::new(&stream.counted(), counters, source.warnings());
        self.end(summary, error);
    }

    /// Works until no more than `most` pieces wait and the caller keeps up. False when the caller is gone.
    fn help(&self, most: usize) -> bool {
        let mut state = self.lock();
        while !state.stop {
            if state.waiting > most {
                if let Some(shard) = state.next_shard() {
                    state = self.one(state, shard);
                    continue;
                }
            } else if state.ready.len() < MOST_READY {
                return true;
            }
            state = self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        false
    }

    /// Works until there is nothing left ever.
    fn work(&self) {
        let mut state = self.lock();
        while !state.stop {
            state = match state.next_shard() {
                Some(shard) => self.one(state, shard),
                None => self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Works through what waits for a shard.
    fn one<'s>(
        &'s self,
        mut state: MutexGuard<'s, Queues>,
        shard: usize,
    ) -> MutexGuard<'s, Queues> {
        let work = core::mem::take(&mut state.queues[shard]);
        let count = work.len();
        state.busy[shard] = true;
        drop(state);
        let mut spare = Vec::new();
        let mut given = Vec::new();
        let counters;
        {
            let mut analyzer = self.shards[shard]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            for work in work {
                match work {
                    Work::Packets(mut packets) => {
                        packets.give(&mut analyzer);
                        spare.push(packets);
                    }
                    Work::Collect(stretch, now, packets) => {
                        given.push((stretch, Some(now), collect(&mut analyzer, now, packets)));
                    }
                    Work::Finish(stretch, step) => {
                        given.push((stretch, None, finish(&mut analyzer, step)));
                    }
                }
            }
            counters = analyzer.counters();
        }
        let mut state = self.lock();
        state.busy[shard] = false;
        state.waiting -= count;
        state.counters[shard] = counters;
        state.spare.append(&mut spare);
        for (stretch, end, rows) in given {
            if state.collect(stretch, end, rows, self.shards.len()) {
                self.ready.notify_all();
            }
        }
        self.done.notify_all();
        if !state.queues[shard].is_empty() {
            self.work.notify_one();
        }
        state
    }
}

impl Queues {
    fn so_far(&self) -> Summary {
        let mut counters = Counters::default();
        self.counters.iter().for_each(|one| counters.add(one));
        counters.failures.add(self.hosts.failures());
        Summary::new(&self.counted, counters, Vec::new())
    }

    fn push(&mut self, shard: usize, work: Work) {
        self.queues[shard].push_back(work);
        self.waiting += 1;
    }

    /// The shard with the most work that nobody is at.
    fn next_shard(&self) -> Option<usize> {
        let idle = (0..self.queues.len()).filter(|shard| !self.busy[*shard]);
        let longest = idle.max_by_key(|shard| self.queues[*shard].len())?;
        (!self.queues[longest].is_empty()).then_some(longest)
    }

    /// Takes a shard's rows of a stretch that ended at a time, unless the capture did; true when the caller has something to
    /// take.
    fn collect(&mut self, stretch: u64, end: Option<Time>, mut rows: Rows, shards: usize) -> bool {
        let (all, count) = self.collected.entry(stretch).or_default();
        all.append(&mut rows);
        *count += 1;
        if *count < shards {
            return false;
        }
        // Every shard has its work in order, so the stretches become whole in order.
        let (mut rows, _) = self.collected.remove(&stretch).unwrap_or_default();
        rows.sort();
        self.hosts.pass(&mut rows);
        if let (Some(wait), Some(end)) = (&mut self.wait, end) {
            if wait.is_over(end) {
                self.hosts.settle(&mut rows);
            }
        }
        let any = !rows.is_empty();
        if any {
            self.ready.push_back(rows);
        }
        any
    }
}
