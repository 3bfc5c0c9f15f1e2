//! Packets that are cut up, or put together, between two points.

use rexmit_wire::{Headers, Intervals};

use super::{kind_of, Follow};
use crate::points::rows::PacketKind;
use crate::points::way::{PendingPacket, Sight};

/// Packets of a connection among which parts of others are looked for, the newest ones.
const LATELY: usize = 1_024;

impl Follow {
    /// A packet with data that is parts of packets of another point, or of which those are parts: network cards cut large
    /// packets up behind the one point and put packets together before the other. None if none has any of its bytes.
    pub(super) fn in_parts(
        &mut self,
        point: usize,
        sight: Sight,
        headers: &Headers,
    ) -> Option<u32> {
        if kind_of(headers) != PacketKind::Data {
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
        let start = of.near_place(headers.seq)?;
        let end = start + i64::from(headers.payload_len);
        // What is not found yet, from the newest packet on.
        let mut left = Intervals::default();
        left.add(start, end);
        let mut found = Vec::new();
        for &number in of.queue.iter().rev().take(LATELY) {
            let entry = &self.entries[number as usize];
            let (from, to) = (entry.start.max(start), entry.end.min(end));
            let fits = entry.kind == PacketKind::Data
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
        let of_part = |start: i64, end: i64| PendingPacket {
            mark: whole.mark.part(start),
            older: None,
            newer: None,
            start,
            end,
            ..whole.clone()
        };
        let before = (whole.start < from).then(|| self.keep(of_part(whole.start, from)));
        let behind = (to < whole.end).then(|| self.keep(of_part(to, whole.end)));
        self.entries[number as usize] = of_part(from, to);
        self.put_in(number);
        let Some(of) = self.ways[whole.way as usize].as_mut() else {
            return;
        };
        let Some(place) = of.queue.iter().rposition(|&one| one == number) else {
            return;
        };
        if let Some(behind) = behind {
            of.queue.insert(place + 1, behind);
        }
        if let Some(before) = before {
            of.queue.insert(place, before);
        }
    }
}
