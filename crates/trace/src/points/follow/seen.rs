//! Which packets of several points are one packet.

use rexmit_wire::headers::Timestamps;
use rexmit_wire::Headers;

use super::route::{Route, MOST_ROUTES};
use super::{kind_of, Follow};
use crate::points::rows::{Each, PacketKind};
use crate::points::way::{Astray, PendingPacket, Sight, Way};
use crate::points::Mark;

/// Packets that are remembered after they were settled, so that what the network or a capture doubled is known.
pub(super) const SETTLED: usize = 1 << 16;

impl Follow {
    /// The packet of another point that this is.
    pub(super) fn find(&self, mark: Mark, point: usize, at: i64, headers: &Headers) -> Found {
        let mut next = self.by_mark.get(&mark.bits()).map(|alike| alike.newest);
        let mut best: Option<(u32, bool, (bool, bool))> = None;
        // A newer packet that looks the same came by here before.
        let mut overtaken = false;
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
                overtaken = true;
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
            // With the same identification the oldest; else the newest that was early enough. What a newer one overtook comes
            // after all others: a packet may be the first to take so little time, but few overtake each other.
            let same = same_id == Some(true);
            let fits = (same || !overtaken, in_time);
            let better = match best {
                None => true,
                Some((_, had_same, had)) => {
                    (same && (had.1 <= in_time || !had_same)) || (!had_same && fits > had)
                }
            };
            if better {
                best = Some((number, same, fits));
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
    pub(super) fn seen_again(
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
        let alike = self.by_mark.get(&entry.mark.bits());
        let is_only = whole && alike.is_some_and(|alike| alike.is_only(number));
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
            if let Some(place) = of.queue.iter().rposition(|&one| one == number) {
                of.queue.remove(place);
            }
            of.queue.push_back(number);
        }
        way
    }

    /// A packet came by that no other point has shown. What the [window](crate::window) of its direction leaves out, each
    /// capture's own analysis counts.
    pub(super) fn seen_first(
        &mut self,
        mark: Mark,
        point: usize,
        sight: Sight,
        headers: &Headers,
    ) -> u32 {
        let way = self.way_of(point, headers.flow);
        if let Some(of) = self.ways[way as usize]
            .as_mut()
            .filter(|_| !headers.flags.rst())
        {
            let astray = of.is_astray(headers.seq);
            let syn = headers.flags.syn();
            let begins = syn
                && of
                    .isn
                    .map_or(astray != Astray::No, |isn| isn != headers.seq);
            if begins || astray == Astray::Moved {
                self.end_connection(way);
            } else if astray == Astray::LeftOut {
                return way;
            }
        }
        let Some(of) = self.ways[way as usize].as_mut() else {
            return way;
        };
        if headers.flags.syn() && !headers.flags.rst() {
            of.isn = Some(headers.seq);
        }
        let kind = kind_of(headers);
        let length = if kind == PacketKind::Rst {
            0
        } else {
            headers.seq_len()
        };
        let start = if kind == PacketKind::Rst {
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
        let entry = PendingPacket {
            way,
            mark,
            older: None,
            newer: None,
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

    /// Takes an entry out of those that are looked for, for good.
    pub(super) fn forget(&mut self, number: u32) -> PendingPacket {
        self.take_out(number);
        let entry = self.entries[number as usize].clone();
        self.free.push(number);
        self.note_settled(number);
        entry
    }

    /// What is the packet of an entry once more is none of another.
    pub(super) fn note_settled(&mut self, number: u32) {
        let entry = &self.entries[number as usize];
        if let Some(name) = named(entry.mark, entry.ip_id, entry.stamps) {
            self.settled[name as usize % SETTLED] = name;
        }
    }
}

pub(super) enum Found {
    /// It came by at this point before, and is the same to the identification.
    Again,
    Entry(u32),
    None,
}

/// A packet with its identification, where it has one.
fn named(mark: Mark, ip_id: Option<u16>, stamps: Option<Timestamps>) -> Option<u64> {
    let id = ip_id.filter(|&id| id != 0)?;
    let stamp = stamps.map_or(0, |stamps| i64::from(stamps.value));
    Some(mark.part(i64::from(id)).part(stamp).bits().max(1))
}
