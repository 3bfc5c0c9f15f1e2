//! Step 2: the packets of one group, in all files, to rows.

use core::hash::BuildHasher;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use rexmit_time::Time;
use rexmit_wire::table::Key as HashKey;
use serde::{Deserialize, Serialize};

use super::blocks::{FileKind, Packer, Writer};
use super::exact;
use super::extra::Extra;
use super::order::{Happening, OpenFile};
use super::part::{Detail, Key, Part};
use super::pieces::Pieces;
use super::rows::{RowsHeader, Tag};
use super::split::Split;
use super::{group_of, identity, spread, Error};
use crate::analyzer::{is_weighed, make_room, of_kept, Analyzer, Counters, Prefetch, Rows};
use crate::run::carry::Carry;
use crate::run::decode::{file_and_frame, give, number_of, Beside, Decoded, Spread};
use crate::run::{collect, finish, steps, Progress, ENDED_AT_ONCE, TOGETHER};
use crate::settings::Settings;
use crate::whatif::Totals;

/// What an analysis of one group says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysed {
    /// What its shards counted.
    pub counters: Counters,
    /// Rows that were written.
    pub rows: u64,
    /// Where each of the pieces begins in which they were, bytes, and where the last one ends.
    pub pieces: Vec<u64>,
    /// Connections that there were at the end of each stretch.
    pub(super) connections: Vec<usize>,
    /// What the settings of a grid would have done, over all stretches.
    pub(super) totals: Totals,
}

/// Where an analysis reads. What is opened has a name for errors.
pub struct Source<O, D> {
    /// Opens the packets of a part, by its number, and a group.
    pub packets: O,
    /// Opens the detail of a part.
    pub detail: D,
}

/// Where an analysis writes.
pub struct Sink<W> {
    /// What other connections of a host may change: for the step [`judge`](super::judge()).
    pub waiting: W,
    /// All other rows, in pieces.
    pub rows: W,
}

/// Analyses the packets of `group` in all `parts`, which come in the order in which one run would be given their files, and
/// writes the rows. `report` hears at each end of a stretch how
/// far it is; when it says false, the analysis stops with an error.
///
/// # Errors
/// Those of what is opened and written, and for parts that do not go together, or not with the settings. [`Error::Full`]
/// where the groups have too many connections between them: which make room for others, no group knows alone.
pub fn analyse<R, W, O, D>(
    parts: &[Part],
    group: u16,
    settings: &Settings,
    mut from: Source<O, D>,
    to: Sink<W>,
    report: impl FnMut(Progress) -> bool,
) -> Result<Analysed, Error>
where
    R: Read,
    W: Write,
    O: FnMut(usize, u16) -> io::Result<(String, R)>,
    D: FnMut(usize) -> io::Result<(String, R)>,
{
    let head = RowsHeader::of(parts, group, settings)?;
    let mut group = GroupShards::new(&head, settings, to, report)?;
    let extra = Extra::new(parts, head.group, group.spread);
    let mut waiting: Vec<Key> = parts
        .iter()
        .enumerate()
        .filter_map(|(file, part)| part.begin(file))
        .collect();
    // The next one last.
    waiting.sort_unstable_by(|one, other| other.cmp(one));
    // As one run numbers them.
    let mut numbers = vec![0; parts.len()];
    let in_order = || waiting.iter().rev().map(|(_, file)| *file);
    for (number, file) in in_order().enumerate() {
        numbers[file] = number;
    }
    let last_stretches = Ends::of(in_order().map(|file| &parts[file]));
    let mut ends: Vec<Key> = parts
        .iter()
        .enumerate()
        .filter_map(|(file, part)| part.end(file))
        .collect();
    ends.sort_unstable();
    let last = ends.last().copied();
    let mut ended = ends.into_iter().peekable();
    let mut opened: Vec<OpenFile<'_, R>> = Vec::new();
    // Of files of which this group has read all, until the next one begins.
    let mut verdicts = BTreeMap::new();
    loop {
        while let Some(place) = opened.iter().position(|one| one.key().is_none()) {
            let over = opened.swap_remove(place);
            verdicts.insert(over.file, over.detail.verdicts);
        }
        let first = opened.iter().filter_map(OpenFile::key).min();
        if let Some(next) = waiting.last().copied() {
            if first.is_none_or(|first| next < first) {
                waiting.pop();
                while let Some((_, file)) = ended.next_if(|end| *end < next) {
                    let verdicts = verdicts.remove(&file).unwrap_or_default();
                    group.carry.verdicts.add(verdicts);
                }
                let (_, file) = next;
                let (name, detail) = (from.detail)(file)?;
                let detail = Detail::read(name, detail)?;
                let mut packets = vec![(from.packets)(file, head.group)?];
                for other in extra.groups(&parts[file], &detail, file) {
                    packets.push((from.packets)(file, other)?);
                }
                opened.push(OpenFile::new(file, &parts[file], detail, packets)?);
                continue;
            }
        }
        let Some(place) =
            first.and_then(|first| opened.iter().position(|one| one.key() == Some(first)))
        else {
            break;
        };
        // It goes on until another file comes first.
        let others = opened
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let others = others.filter_map(|(_, one)| one.key());
        let until = others.chain(waiting.last().copied()).min();
        let one = &mut opened[place];
        let file = one.file;
        while let Some(happening) = one.next() {
            group.happens(numbers[file], happening)?;
            one.advance()?;
            let goes_on = one
                .key()
                .is_some_and(|key| until.is_none_or(|until| key < until));
            if !goes_on {
                break;
            }
        }
    }
    let now = last.map_or(Time::ZERO, |(_, file)| parts[file].now);
    group.finish(now, &last_stretches)
}

/// The stretches as which the rows of connections count that end with the capture: those behind its last, a fixed one for
/// each [step](steps) that there may be.
struct Ends {
    /// Of each file, how many steps there are before its own.
    before: Vec<u64>,
}

impl Ends {
    fn of<'p>(parts: impl Iterator<Item = &'p Part>) -> Self {
        let before = parts.scan(0, |all, part| {
            let before = *all;
            *all += part.frames() / ENDED_AT_ONCE + 1;
            Some(before)
        });
        Ends {
            before: before.collect(),
        }
    }

    fn place(&self, step: u64) -> u64 {
        let (file, frame) = file_and_frame(step * ENDED_AT_ONCE);
        self.before.get(file).copied().unwrap_or_default() + frame / ENDED_AT_ONCE
    }
}

/// The shards of a group at work.
struct GroupShards<W, F> {
    spread: Spread,
    groups: u16,
    group: u16,
    analyzers: Vec<Analyzer>,
    /// Packets that each had in this stretch.
    counts: Vec<usize>,
    carry: Carry,
    waiting: Vec<Decoded>,
    besides: Vec<Beside>,
    begun: bool,
    stretch: u64,
    connections: Vec<usize>,
    most_connections: usize,
    rows: u64,
    totals: Totals,
    packets: u64,
    split: Split,
    settled: Pieces<W>,
    waiting_rows: Writer<W>,
    packer: Packer,
    report: F,
}

impl<W: Write, F: FnMut(Progress) -> bool> GroupShards<W, F> {
    fn new(head: &RowsHeader, settings: &Settings, to: Sink<W>, report: F) -> Result<Self, Error> {
        let (groups, group) = (head.groups, head.group);
        let spread = spread(settings, groups);
        let shard = |_| Analyzer::shard(settings.clone(), usize::from(spread.shards));
        let analyzers: Vec<Analyzer> = (0..spread.shards / groups).map(shard).collect();
        let mut waiting_rows = Writer::new(to.waiting, FileKind::Waiting)?;
        exact::write(&head, &mut waiting_rows.block);
        Ok(GroupShards {
            spread,
            groups,
            group,
            counts: vec![0; analyzers.len()],
            analyzers,
            carry: Carry::default(),
            waiting: Vec::new(),
            besides: Vec::new(),
            begun: false,
            stretch: 0,
            connections: Vec::new(),
            most_connections: settings.most_connections,
            rows: 0,
            totals: Totals::default(),
            packets: 0,
            split: Split::default(),
            settled: Pieces::new(*head, to.rows)?,
            waiting_rows,
            packer: Packer::new()?,
            report,
        })
    }

    #[inline]
    fn happens(&mut self, file: usize, happening: Happening<'_>) -> Result<(), Error> {
        match happening {
            Happening::Stretch(stretch) => {
                // Before the first frame of all none ends.
                if core::mem::replace(&mut self.begun, true) {
                    self.end(stretch.now)?;
                }
            }
            Happening::Taught(taught) => {
                let (hash, flow) = (taught.hash(), &taught.flow);
                let own = self.spread.own(flow);
                self.carry.routes.learn(hash, flow, own, &taught.lesson);
            }
            Happening::Packet(recorded) => {
                let number = number_of(file, recorded.frame);
                let mut packet = Decoded::new(recorded.at, &recorded.headers, number, self.spread);
                self.carry.tell(&mut packet);
                if group_of(packet.shard() as u16, self.groups) == self.group {
                    self.packets += 1;
                    self.analyzers[packet.shard() / usize::from(self.groups)]
                        .prefetch(packet.hash, Prefetch::Index);
                    self.waiting.push(packet);
                    if packet.has_beside() {
                        let beside = recorded.beside.as_deref().cloned();
                        self.besides.push(beside.unwrap_or_default());
                    }
                    if self.waiting.len() >= TOGETHER as usize {
                        self.give();
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the shards the packets that wait: by now what they look at is on its way from memory.
    fn give(&mut self) {
        let groups = usize::from(self.groups);
        for step in [Prefetch::Connection, Prefetch::Log] {
            for packet in &self.waiting {
                self.analyzers[packet.shard() / groups].prefetch(packet.hash, step);
            }
        }
        for packet in &self.waiting {
            self.counts[packet.shard() / groups] += 1;
        }
        let besides = &mut self.besides.drain(..);
        let place = |packet: &Decoded| packet.shard() / groups;
        give(&self.waiting, besides, &mut self.analyzers, place);
        self.waiting.clear();
    }

    /// The end of a stretch.
    fn end(&mut self, now: Time) -> Result<(), Error> {
        self.give();
        let mut rows = Rows::default();
        for (shard, packets) in self.analyzers.iter_mut().zip(&mut self.counts) {
            rows.append(&mut collect(shard, now, core::mem::take(packets)));
        }
        self.write(rows)?;
        self.make_room()?;
        let progress = Progress {
            frames: self.packets,
            clock: now,
        };
        if (self.report)(progress) {
            Ok(())
        } else {
            Err(Error::format("stopped"))
        }
    }

    /// Makes room if this is the only group; if not, there must be enough.
    fn make_room(&mut self) -> Result<(), Error> {
        let stretch = self.stretch - 1;
        if self.groups == 1 {
            let mut all: Vec<&mut Analyzer> = self.analyzers.iter_mut().collect();
            make_room(&mut all, self.most_connections, stretch);
            return Ok(());
        }
        let mut connections: usize = self.analyzers.iter().map(Analyzer::connections).sum();
        if is_weighed(stretch) {
            let kept = self.analyzers.iter().map(Analyzer::kept).sum();
            connections = connections.max(of_kept(kept));
        }
        self.connections.push(connections);
        // With twice a group's share in one, they are too many together, or nearly: that takes no more memory than need be.
        if connections > self.most_connections / usize::from(self.groups) * 2 {
            return Err(Error::Full);
        }
        Ok(())
    }

    /// The rows of the next stretch.
    fn write(&mut self, mut rows: Rows) -> Result<(), Error> {
        // Sums add up over all of the capture: whoever merges a piece needs none of another.
        self.totals.append(&core::mem::take(&mut rows.totals));
        self.rows += rows.len() as u64;
        let waiting = self.split.divide(&mut rows);
        if !waiting.is_empty() {
            let block = &mut self.waiting_rows.block;
            exact::write(&Tag::Stretch(self.stretch), block);
            exact::write(&waiting, block);
            self.waiting_rows.flush_full(&mut self.packer)?;
        }
        self.settled.write(self.stretch, &rows, &mut self.packer)?;
        self.stretch += 1;
        Ok(())
    }

    fn finish(mut self, now: Time, ends: &Ends) -> Result<Analysed, Error> {
        self.end(now)?;
        let last = self.stretch;
        for step in steps(&mut self.analyzers) {
            let mut rows = Rows::default();
            for shard in &mut self.analyzers {
                rows.append(&mut finish(shard, step));
            }
            self.stretch = last + ends.place(step);
            self.write(rows)?;
        }
        let mut counters = Counters::default();
        self.analyzers
            .iter()
            .for_each(|shard| counters.add(&shard.counters()));
        let analysed = Analysed {
            counters,
            rows: self.rows,
            pieces: self.settled.finish(&mut self.packer)?,
            connections: self.connections,
            totals: self.totals,
        };
        exact::write(&Tag::End, &mut self.waiting_rows.block);
        exact::write(&analysed, &mut self.waiting_rows.block);
        self.waiting_rows.finish(&mut self.packer)?;
        Ok(analysed)
    }
}

impl RowsHeader {
    /// Of the rows of `group`.
    fn of(parts: &[Part], group: u16, settings: &Settings) -> Result<Self, Error> {
        let groups = parts.first().map_or(1, |part| part.groups);
        let key = settings.key.mark();
        let other = parts
            .iter()
            .find(|part| part.groups != groups || part.key != key);
        if let Some(other) = other {
            return Err(Error::format(format!(
                "{} was read for other groups than {groups} of this key: all files must be read with the same groups and the \
                 same key",
                other.name,
            )));
        }
        if group >= groups {
            return Err(Error::format(format!(
                "there is no group {group}: the files were read for {groups}, from 0 on"
            )));
        }
        Ok(RowsHeader {
            groups,
            group,
            settings: hash(&identity(settings)),
            files: files(parts),
        })
    }
}

/// A hash of the names of files and their numbers of frames.
pub(super) fn files(parts: &[Part]) -> u64 {
    let mut all = Vec::new();
    for part in parts {
        exact::write(&part.name, &mut all);
        exact::write(&part.counted.frames, &mut all);
    }
    hash(&all)
}

/// A hash that is the same in every run of every program.
pub(super) fn hash(value: &impl core::hash::Hash) -> u64 {
    HashKey::FIXED.hash_one(value)
}
