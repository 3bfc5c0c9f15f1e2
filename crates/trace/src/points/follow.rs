//! Packets followed from point to point.

use core::hash::BuildHasherDefault;
use core::net::IpAddr;

use hashbrown::HashMap;
use rexmit_tcp::Need;
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{FlowKey, Headers};
use rustc_hash::FxHasher;

use super::order::{Line, Order};
use super::rows::{Each, Followed, Kind, Leg, Lost, Rows};
use super::sample::ByMark;
use super::way::{Entry, Sight, Way};
use super::{Mark, MOST_POINTS};
use crate::sender_view::Spans;

/// Numbers by what hashes to many, in an order that is the same in each run.
type Map<K, V> = HashMap<K, V, BuildHasherDefault<FxHasher>>;

/// A packet that has not come by at the next point after so long is lost, nanoseconds. Segments live no longer (RFC 9293
/// §3.4.2 says two minutes; Linux closes a connection a minute after its end).
const LONGEST: i64 = 30_000_000_000;
/// The same where no packet of the connection has ever come by at another point.
const ALONE: i64 = 2_000_000_000;
/// A connection of which nothing came for so long is over.
const IDLE: i64 = 900_000_000_000;
/// Packets that may wait; with more they wait less long.
const MOST_WAITING: usize = 1 << 20;
/// Packets between two looks at all connections.
const LOOK: u64 = 1 << 16;
/// Pairs of hosts whose route is remembered.
const MOST_ROUTES: usize = 1 << 16;
/// Packets that are remembered after they were settled, so that what the network or a capture doubled is known.
const SETTLED: usize = 1 << 16;
/// Packets of a connection among which parts of others are looked for, the newest ones.
const LATELY: usize = 1_024;

/// Follows packets that come in the order of the first point's clock, whatever point they came by at.
#[derive(Debug)]
pub struct Follow {
    points: usize,
    /// When each point's capture begins and ends, by the first point's clock.
    spans: Vec<(i64, i64)>,
    /// Packets show that the capture of a point had not begun, or was over.
    late: Each<bool>,
    early: Each<bool>,
    ways: Vec<Option<Box<Way>>>,
    free_ways: Vec<u32>,
    by_flow: Each<Map<FlowKey, u32>>,
    /// By the hosts of each point's flows: where their packets come by, and in which order.
    routes: Each<Map<(IpAddr, IpAddr), Route>>,
    /// What names packets that were settled lately, by its lower bits.
    settled: Box<[u64]>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    by_mark: ByMark<u32>,
    longest: i64,
    now: i64,
    packets: u64,
    rows: Rows,
}

impl Follow {
    /// Follows packets over points whose captures begin and end then, by the first point's clock, nanoseconds.
    #[must_use]
    pub fn new(spans: Vec<(i64, i64)>) -> Self {
        Follow {
            points: spans.len().min(MOST_POINTS),
            spans,
            late: Each::default(),
            early: Each::default(),
            ways: Vec::new(),
            free_ways: Vec::new(),
            by_flow: Each::default(),
            routes: Each::default(),
            settled: vec![0; SETTLED].into_boxed_slice(),
            entries: Vec::new(),
            free: Vec::new(),
            by_mark: ByMark::default(),
            longest: LONGEST,
            now: i64::MIN,
            packets: 0,
            rows: Rows::default(),
        }
    }

    /// A packet came by at a point, at `at` by the first point's clock and `raw` by its own.
    pub fn packet(&mut self, point: usize, at: i64, raw: u64, headers: &Headers) {
        if point >= self.points {
            return;
        }
        self.now = self.now.max(at);
        self.packets += 1;
        let mark = Mark::of(headers);
        let sight = Sight { raw, at };
        let way = match self.find(mark, point, at, headers) {
            Found::Again => return,
            Found::Entry(entry) => self.seen_again(entry, point, sight, headers, true),
            Found::None => match self.in_parts(point, sight, headers) {
                Some(way) => way,
                None => self.seen_first(mark, point, sight, headers),
            },
        };
        self.acknowledge(way, headers);
        self.settle(way, false);
        if self.packets % LOOK == 0 {
            self.look();
        }
    }

    /// The captures are over.
    pub fn finish(&mut self) {
        for way in 0..self.ways.len() as u32 {
            self.end(way);
        }
    }

    /// Moves out the rows that are ready.
    pub fn drain(&mut self) -> Rows {
        core::mem::take(&mut self.rows)
    }

    /// The packet of another point that this is.
    fn find(&self, mark: Mark, point: usize, at: i64, headers: &Headers) -> Found {
        let mut next = self.by_mark.get(&mark.bits()).copied();
        let mut best: Option<(u32, bool, bool)> = None;
        while let Some(number) = next {
            let entry = &self.entries[number as usize];
            next = entry.older;
            let Some(way) = self.ways[entry.way as usize].as_ref() else {
                continue;
            };
            let same_id = match (entry.ip_id, headers.ip_id) {
                (Some(one), Some(other)) if one != 0 || other != 0 => Some(one == other),
                _ => None,
            };
            let flow = way.flows[point];
            if flow.is_some_and(|flow| flow != headers.flow) || !entry.may_be(headers.timestamps) {
                continue;
            }
            if entry.sights[point].is_some() {
                if same_id == Some(true) {
                    return Found::Again;
                }
                continue;
            }
            if same_id == Some(false) && way.keeps_ids() {
                continue;
            }
            let in_time = entry.sights.iter().enumerate().all(|(other, sight)| {
                sight.is_none_or(|sight| {
                    way.least[other][point].is_none_or(|least| sight.at + least <= at)
                })
            });
            // With the same identification the oldest; else the newest that was early enough.
            let (same, early) = (same_id == Some(true), in_time);
            let better = match best {
                None => true,
                Some((_, had_same, had_early)) => {
                    (same && (had_early <= early || !had_same))
                        || (!had_same && early && !had_early)
                }
            };
            if better {
                best = Some((number, same, early));
            }
        }
        match best {
            Some((number, ..)) => Found::Entry(number),
            None if self.was_settled(mark, headers) => Found::Again,
            None => Found::None,
        }
    }

    /// Whether a packet of this mark and identification was settled lately.
    fn was_settled(&self, mark: Mark, headers: &Headers) -> bool {
        named(mark, headers.ip_id, headers.timestamps)
            .is_some_and(|name| self.settled[name as usize % SETTLED] == name)
    }

    /// The packet of an entry came by at a further point.
    fn seen_again(
        &mut self,
        number: u32,
        point: usize,
        sight: Sight,
        headers: &Headers,
        whole: bool,
    ) -> u32 {
        let entry = &mut self.entries[number as usize];
        let (way, start, end, ip_id) = (entry.way, entry.start, entry.end, entry.ip_id);
        let others = entry.sights;
        entry.sights[point] = Some(sight);
        let newest = self.by_mark.get(&entry.mark.bits());
        let is_only = whole && entry.older.is_none() && newest == Some(&number);
        let is_new = |of: &Way| of.order.is_empty() || of.flows[point].is_none();
        let is_new = self.ways[way as usize].as_deref().is_some_and(is_new);
        self.belongs(way, point, headers.flow);
        let Some(of) = self.ways[way as usize].as_mut() else {
            return way;
        };
        if is_only {
            of.note_ids(ip_id, headers.ip_id);
        }
        for (other, seen) in others.iter().enumerate() {
            let Some(seen) = seen else { continue };
            let (one, next, took) = if seen.at <= sight.at {
                (other, point, sight.at - seen.at)
            } else {
                (point, other, seen.at - sight.at)
            };
            of.order.note(one, next);
            let least = &mut of.least[one][next];
            *least = Some(least.map_or(took, |least| least.min(took)));
        }
        if is_new {
            let here = Route {
                there: of.there,
                order: of.order,
            };
            for (routes, flow) in self.routes.iter_mut().zip(of.flows) {
                if let Some(flow) = flow.filter(|_| routes.len() < MOST_ROUTES) {
                    routes.entry((flow.src, flow.dst)).or_default().add(&here);
                }
            }
        }
        of.passed[point].add(start, end);
        of.latest = self.now;
        of.firsts[point].get_or_insert(sight.raw);
        // What came by first elsewhere has its place in the first point's order.
        let first_here = others
            .iter()
            .enumerate()
            .all(|(other, seen)| seen.is_none() || of.order.is_before(point, other));
        if first_here && of.queue.back() != Some(&number) {
            of.queue.retain(|&one| one != number);
            of.queue.push_back(number);
        }
        way
    }

    /// A packet came by that no other point has shown.
    fn seen_first(&mut self, mark: Mark, point: usize, sight: Sight, headers: &Headers) -> u32 {
        let way = self.way_of(point, headers.flow);
        if headers.flags.syn() && !headers.flags.rst() {
            let isn = self.ways[way as usize].as_ref().and_then(|way| way.isn);
            if isn.is_some_and(|isn| isn != headers.seq) {
                self.end_connection(way);
            }
        }
        let Some(of) = self.ways[way as usize].as_mut() else {
            return way;
        };
        if headers.flags.syn() && !headers.flags.rst() {
            of.isn = Some(headers.seq);
        }
        let kind = kind_of(headers);
        let length = if kind == Kind::Rst {
            0
        } else {
            headers.seq_len()
        };
        let start = if kind == Kind::Rst {
            of.near
        } else {
            of.place(headers.seq)
        };
        let end = start + i64::from(length);
        if length > 0 && start > of.near {
            of.near = start;
        }
        of.passed[point].add(start, end);
        if of.firsts.iter().all(Option::is_none) {
            of.begun = self.now;
        }
        of.latest = self.now;
        of.firsts[point].get_or_insert(sight.raw);
        let mut sights = Each::default();
        sights[point] = Some(sight);
        let entry = Entry {
            way,
            mark,
            older: None,
            sights,
            kind,
            ip_id: headers.ip_id,
            stamps: headers.timestamps,
            start,
            end,
        };
        let number = self.keep(entry);
        if let Some(of) = self.ways[way as usize].as_mut() {
            of.queue.push_back(number);
        }
        way
    }

    /// Takes an entry in where it is found by its mark.
    fn keep(&mut self, mut entry: Entry) -> u32 {
        let mark = entry.mark.bits();
        entry.older = self.by_mark.get(&mark).copied();
        let number = if let Some(number) = self.free.pop() {
            self.entries[number as usize] = entry;
            number
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.by_mark.insert(mark, number);
        number
    }

    /// A packet with data that is parts of packets of another point, or of which those are parts: network cards cut large
    /// packets up behind the one point and put packets together before the other. None if none has any of its bytes.
    fn in_parts(&mut self, point: usize, sight: Sight, headers: &Headers) -> Option<u32> {
        if kind_of(headers) != Kind::Data {
            return None;
        }
        let maps = core::iter::once(&self.by_flow[point]).chain(&self.by_flow);
        let way = maps
            .filter_map(|map| map.get(&headers.flow).copied())
            .next()?;
        let of = self.ways[way as usize].as_mut()?;
        if of.flows[point].is_some_and(|flow| flow != headers.flow) {
            return None;
        }
        let start = of.place(headers.seq);
        let end = start + i64::from(headers.payload_len);
        // What is not found yet, from the newest packet on.
        let mut left = Spans::default();
        left.add(start, end);
        let mut found = Vec::new();
        for &number in of.queue.iter().rev().take(LATELY) {
            let entry = &self.entries[number as usize];
            let (from, to) = (entry.start.max(start), entry.end.min(end));
            let fits = entry.kind == Kind::Data
                && entry.sights[point].is_none()
                && entry.may_be(headers.timestamps);
            if fits && from < to && left.covers(from, to) {
                left.remove(from, to);
                found.push((number, from, to));
                if left.is_empty() {
                    break;
                }
            }
        }
        for &(number, from, to) in found.iter().rev() {
            self.cut(number, from, to);
            self.seen_again(number, point, sight, headers, false);
        }
        (!found.is_empty()).then_some(way)
    }

    /// Leaves an entry these places, and makes entries of what it has before and behind them.
    fn cut(&mut self, number: u32, from: i64, to: i64) {
        let whole = self.entries[number as usize].clone();
        if (whole.start, whole.end) == (from, to) {
            return;
        }
        self.take_out(number);
        let of_part = |start: i64, end: i64| Entry {
            mark: whole.mark.part(start),
            older: None,
            start,
            end,
            ..whole.clone()
        };
        let before = (whole.start < from).then(|| self.keep(of_part(whole.start, from)));
        let behind = (to < whole.end).then(|| self.keep(of_part(to, whole.end)));
        let mut this = of_part(from, to);
        let mark = this.mark.bits();
        this.older = self.by_mark.get(&mark).copied();
        self.entries[number as usize] = this;
        self.by_mark.insert(mark, number);
        let Some(of) = self.ways[whole.way as usize].as_mut() else {
            return;
        };
        let Some(place) = of.queue.iter().position(|&one| one == number) else {
            return;
        };
        if let Some(behind) = behind {
            of.queue.insert(place + 1, behind);
        }
        if let Some(before) = before {
            of.queue.insert(place, before);
        }
    }

    /// What the other direction has acknowledged.
    fn acknowledge(&mut self, way: u32, headers: &Headers) {
        if !headers.flags.ack() || headers.flags.rst() {
            return;
        }
        let reverse = self.ways[way as usize].as_ref().and_then(|way| way.reverse);
        let Some(reverse) = reverse.and_then(|reverse| self.ways[reverse as usize].as_mut()) else {
            return;
        };
        if reverse.line.is_some() {
            reverse.acked = reverse.acked.max(reverse.place(headers.ack));
        }
    }

    /// The way of a flow at a point.
    fn way_of(&mut self, point: usize, flow: FlowKey) -> u32 {
        if let Some(&way) = self.by_flow[point].get(&flow) {
            return way;
        }
        let elsewhere = self.by_flow.iter().find_map(|map| map.get(&flow).copied());
        let way = elsewhere
            .filter(|&way| {
                let way = self.ways[way as usize].as_ref();
                way.is_some_and(|way| way.flows[point].is_none())
            })
            .unwrap_or_else(|| self.new_way());
        self.belongs(way, point, flow);
        way
    }

    fn new_way(&mut self) -> u32 {
        let made = Some(Box::new(Way::new()));
        if let Some(way) = self.free_ways.pop() {
            self.ways[way as usize] = made;
            return way;
        }
        self.ways.push(made);
        self.ways.len() as u32 - 1
    }

    /// At this point the way has this flow.
    fn belongs(&mut self, way: u32, point: usize, flow: FlowKey) {
        let of = self.ways[way as usize].as_ref();
        if of.is_none_or(|of| of.flows[point] == Some(flow)) {
            return;
        }
        if let Some(other) = self.by_flow[point].insert(flow, way) {
            if other != way {
                self.join(way, other);
            }
        }
        let reverse = self.by_flow[point].get(&flow.reversed()).copied();
        let mut there = Each::default();
        let pair = [Some(way), reverse.filter(|&reverse| reverse != way)];
        for of in pair.iter().flatten() {
            if let Some(of) = self.ways[*of as usize].as_ref() {
                there
                    .iter_mut()
                    .zip(of.there)
                    .for_each(|(all, one)| *all |= one);
            }
        }
        there[point] = true;
        if let Some(of) = self.ways[way as usize].as_mut() {
            of.flows[point] = Some(flow);
            of.reverse = of.reverse.or(pair[1]);
            of.there = there;
        }
        let reverse = self.ways[way as usize].as_ref().and_then(|of| of.reverse);
        if let Some(of) = reverse.and_then(|reverse| self.ways[reverse as usize].as_mut()) {
            of.reverse = of.reverse.or(Some(way));
            of.there = there;
        }
    }

    /// Two ways turn out to be one: address translation gave it another flow at another point.
    fn join(&mut self, way: u32, other: u32) {
        let Some(mut gone) = self.ways[other as usize].take() else {
            return;
        };
        self.free_ways.push(other);
        for (map, flow) in self.by_flow.iter_mut().zip(gone.flows) {
            if let Some(flow) = flow.filter(|flow| map.get(flow) == Some(&other)) {
                map.insert(flow, way);
            }
        }
        let Some(of) = self.ways[way as usize].as_mut() else {
            return;
        };
        for (mine, flow) in of.flows.iter_mut().zip(gone.flows) {
            *mine = mine.or(flow);
        }
        for (mine, there) in of.there.iter_mut().zip(gone.there) {
            *mine |= there;
        }
        of.reverse = of
            .reverse
            .or(gone.reverse.filter(|&reverse| reverse != way));
        let reverse = of.reverse;
        for number in gone.queue.drain(..) {
            let entry = &mut self.entries[number as usize];
            entry.way = way;
            if let (Some(was), length) = (gone.line, entry.end - entry.start) {
                entry.start = of.place(was.seq(entry.start));
                entry.end = entry.start + length;
            }
            of.queue.push_back(number);
        }
        let entries = &self.entries;
        let queue = of.queue.make_contiguous();
        queue.sort_by_key(|&number| entries[number as usize].first());
        if let Some(reverse) = reverse.and_then(|reverse| self.ways[reverse as usize].as_mut()) {
            if reverse.reverse == Some(other) {
                reverse.reverse = Some(way);
            }
        }
    }

    /// Settles the packets at the head of a way whose fate is known; all of them at its end.
    fn settle(&mut self, way: u32, all: bool) {
        let Some(mut of) = self.ways[way as usize].take() else {
            return;
        };
        let (order, line) = self.course(&of);
        while let Some(&number) = of.queue.front() {
            let entry = &self.entries[number as usize];
            // A further point may turn out to be on the way as long as the connection is young.
            let young = if entry.kind == Kind::Syn {
                self.longest
            } else {
                ALONE
            };
            let known = line.len() == self.points || self.now.saturating_sub(of.begun) > young;
            let whole =
                known && line.len() > 1 && line.iter().all(|&point| entry.sights[point].is_some());
            let patience = if line.len() > 1 || entry.kind == Kind::Syn {
                self.longest
            } else {
                self.longest.min(ALONE)
            };
            if !all && !whole && self.now.saturating_sub(entry.first()) <= patience {
                break;
            }
            of.queue.pop_front();
            let entry = self.forget(number);
            if line.len() > 1 && !order.is_empty() {
                self.fate(&mut of, &line, &entry);
            }
        }
        self.ways[way as usize] = Some(of);
    }

    /// In which order a way passes which points: as its packets have shown, else those of the other direction, else those of
    /// other connections of the hosts.
    fn course(&self, of: &Way) -> (Order, Line) {
        let reverse = of
            .reverse
            .and_then(|reverse| self.ways[reverse as usize].as_ref());
        let turned = reverse.map_or(Order::default(), |reverse| reverse.order.reversed());
        let (mut order, mut there) = (of.order, of.there);
        if order.is_empty() {
            order = turned;
        }
        if order.is_empty() || there.iter().filter(|there| **there).count() < self.points {
            let route = self.routes.iter().zip(of.flows).find_map(|(routes, flow)| {
                let flow = flow?;
                let back = routes.get(&(flow.dst, flow.src)).map(Route::reversed);
                routes.get(&(flow.src, flow.dst)).copied().or(back)
            });
            if let Some(route) = route {
                order.add(&route.order);
                there
                    .iter_mut()
                    .zip(route.there)
                    .for_each(|(all, one)| *all |= one);
            }
        }
        let line = order.of((0..self.points).filter(|&point| there[point]));
        (order, line)
    }

    /// What became of a packet.
    fn fate(&mut self, way: &mut Way, line: &Line, entry: &Entry) {
        let seen = |point: usize| entry.sights[point];
        let Some(first) = line.iter().position(|&point| seen(point).is_some()) else {
            return;
        };
        let last = line
            .iter()
            .rposition(|&point| seen(point).is_some())
            .unwrap_or(first);
        let carries = entry.end > entry.start;
        let (begun, ended) = (line[first], line[last]);
        let (Some(start), Some(stop)) = (seen(begun), seen(ended)) else {
            return;
        };
        for pair in line.windows(2) {
            let between = &mut way.between[pair[0]][pair[1]];
            match (seen(pair[0]), seen(pair[1])) {
                (Some(one), Some(other)) => {
                    between.packets += 1;
                    between.took(other.at - one.at);
                }
                (Some(_), None) => between.packets += 1,
                (None, Some(other)) => {
                    if self.note_outside(pair[0], other.at) {
                        continue;
                    }
                    between.unseen += 1;
                }
                (None, None) => {}
            }
        }
        for pair in line[first..=last].windows(2) {
            if seen(pair[1]).is_none() {
                way.between[pair[0]][pair[1]].missed += 1;
            }
        }
        let mut arrived = last + 1 == line.len();
        let mut lost = None;
        let mut unsure = false;
        if let Some(&next) = line.get(last + 1) {
            let between = &mut way.between[ended][next];
            let acked = carries && way.acked >= entry.end;
            let came = line[last + 1..]
                .iter()
                .any(|&point| way.passed[point].covers(entry.start, entry.end));
            if self.is_outside(next, stop.at) {
                unsure = true;
                between.packets -= 1;
            } else if acked && !came {
                // It was acknowledged, and no copy of it is in the capture.
                between.missed += 1;
                arrived = true;
            } else {
                lost = Some(Lost::Between(ended, next));
                between.lost += 1;
                between.data_lost += u64::from(entry.kind == Kind::Data);
                between.acks_lost += u64::from(entry.kind == Kind::Ack);
            }
        }
        let mut again = false;
        let mut need = None;
        let mut previous = None;
        if carries {
            let highest = way.sent.highest();
            let below = highest.is_some_and(|highest| entry.start < highest);
            again = below;
            let had_come = way.arrived.covers(entry.start, entry.end);
            if below && !unsure {
                need = Some(if had_come {
                    Need::Spurious
                } else {
                    Need::Needed
                });
                previous = way.lost_before(entry.start, entry.end);
                if !way.sent.meets(entry.start, entry.end) {
                    previous = Some(Lost::Before(line[0]));
                }
            }
            way.sent.add(entry.start, entry.end);
            if arrived {
                way.arrived.add(entry.start, entry.end);
            }
            if let Some(place) = lost {
                way.lose(entry.start, entry.end, place);
            }
        }
        if !again && lost.is_none() {
            return;
        }
        let Some((flow, sequence)) = way.flows[begun].zip(way.line) else {
            return;
        };
        self.rows.followed.push(Followed {
            flow,
            points: (begun, ended),
            times: (start.raw, stop.raw),
            aligned: (start.at, stop.at),
            range: sequence.range(entry.start, entry.end),
            kind: entry.kind,
            again,
            need,
            lost,
            previous,
        });
    }

    /// Takes note of a packet that is not in the capture of a point that it must have passed; whether it is so because that
    /// capture did not run.
    fn note_outside(&mut self, point: usize, at: i64) -> bool {
        let (from, to) = self.spans[point];
        self.late[point] |= at < from;
        self.early[point] |= at > to;
        at < from || at > to
    }

    /// Whether the capture of a point did not run then.
    fn is_outside(&self, point: usize, at: i64) -> bool {
        let (from, to) = self.spans[point];
        (self.late[point] && at < from) || (self.early[point] && at > to)
    }

    /// Takes an entry out of those that are looked for, for good.
    fn forget(&mut self, number: u32) -> Entry {
        self.take_out(number);
        let entry = self.entries[number as usize].clone();
        self.free.push(number);
        if let Some(name) = named(entry.mark, entry.ip_id, entry.stamps) {
            self.settled[name as usize % SETTLED] = name;
        }
        entry
    }

    /// Takes an entry out of those of its mark.
    fn take_out(&mut self, number: u32) {
        let entry = &self.entries[number as usize];
        let (mark, older) = (entry.mark.bits(), entry.older);
        let head = self.by_mark.get(&mark).copied();
        if head == Some(number) {
            match older {
                Some(older) => self.by_mark.insert(mark, older),
                None => self.by_mark.remove(&mark),
            };
            return;
        }
        let mut at = head;
        while let Some(newer) = at {
            let newer = &mut self.entries[newer as usize];
            if newer.older == Some(number) {
                newer.older = older;
                break;
            }
            at = newer.older;
        }
    }

    /// A connection is over, and another one may have its addresses and ports.
    fn end_connection(&mut self, way: u32) {
        self.settle(way, true);
        if let Some(of) = self.ways[way as usize].as_mut() {
            let over = of.begin_anew();
            self.tell(&over);
        }
    }

    /// A way is over and forgotten.
    fn end(&mut self, way: u32) {
        self.settle(way, true);
        let Some(of) = self.ways[way as usize].take() else {
            return;
        };
        self.tell(&of);
        for (map, flow) in self.by_flow.iter_mut().zip(of.flows) {
            if let Some(flow) = flow.filter(|flow| map.get(flow) == Some(&way)) {
                map.remove(&flow);
            }
        }
        if let Some(reverse) = of
            .reverse
            .and_then(|reverse| self.ways[reverse as usize].as_mut())
        {
            reverse.reverse = None;
            if reverse.order.is_empty() {
                reverse.order = of.order.reversed();
            }
        }
        self.free_ways.push(way);
    }

    fn tell(&mut self, of: &Way) {
        let (order, line) = self.course(of);
        let (Some(&begun), Some(&ended)) = (line.first(), line.last()) else {
            return;
        };
        if order.is_empty() {
            return;
        }
        for pair in line.windows(2) {
            let between = &of.between[pair[0]][pair[1]];
            let flow = |point: usize| {
                of.flows[point].or_else(|| of.flows.iter().flatten().next().copied())
            };
            let (Some(one), Some(other)) = (flow(pair[0]), flow(pair[1])) else {
                continue;
            };
            if of.firsts.iter().all(Option::is_none) {
                continue;
            }
            let firsts = pair_of(pair, |point| of.firsts[point].unwrap_or(0));
            self.rows.legs.push(Leg {
                points: (pair[0], pair[1]),
                flows: (one, other),
                firsts,
                ends: (begun, ended),
                packets: between.packets,
                lost: between.lost,
                data_lost: between.data_lost,
                acks_lost: between.acks_lost,
                missed: between.missed,
                unseen: between.unseen,
                delays: between.summary(),
            });
        }
    }

    /// Looks at all connections: settles what has waited long enough, forgets those that are over.
    fn look(&mut self) {
        let waiting = self.entries.len() - self.free.len();
        if waiting > MOST_WAITING {
            self.longest /= 2;
        } else if waiting < MOST_WAITING / 2 {
            self.longest = (self.longest * 2).min(LONGEST);
        }
        for way in 0..self.ways.len() as u32 {
            let Some(of) = self.ways[way as usize].as_ref() else {
                continue;
            };
            if self.now.saturating_sub(of.latest) > IDLE {
                self.end(way);
            } else if !of.queue.is_empty() {
                self.settle(way, false);
            }
        }
    }
}

/// Where the packets of two hosts come by, and in which order.
#[derive(Clone, Copy, Debug, Default)]
struct Route {
    there: Each<bool>,
    order: Order,
}

impl Route {
    /// What another connection has shown, too.
    fn add(&mut self, other: &Route) {
        self.there
            .iter_mut()
            .zip(other.there)
            .for_each(|(all, one)| *all |= one);
        self.order.add(&other.order);
    }

    fn reversed(&self) -> Self {
        Route {
            there: self.there,
            order: self.order.reversed(),
        }
    }
}

/// A packet with its identification, where it has one.
fn named(mark: Mark, ip_id: Option<u16>, stamps: Option<Timestamps>) -> Option<u64> {
    let id = ip_id.filter(|&id| id != 0)?;
    let stamp = stamps.map_or(0, |stamps| i64::from(stamps.value));
    Some(mark.part(i64::from(id)).part(stamp).bits().max(1))
}

enum Found {
    /// It came by at this point before, and is the same to the identification.
    Again,
    Entry(u32),
    None,
}

fn pair_of<T>(pair: &[usize], of: impl Fn(usize) -> T) -> (T, T) {
    (of(pair[0]), of(pair[1]))
}

fn kind_of(headers: &Headers) -> Kind {
    let flags = headers.flags;
    if flags.rst() {
        Kind::Rst
    } else if flags.syn() {
        Kind::Syn
    } else if headers.payload_len > 0 {
        Kind::Data
    } else if flags.fin() {
        Kind::Fin
    } else {
        Kind::Ack
    }
}
