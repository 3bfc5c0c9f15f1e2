//! The directions of connections, and which flow each is at which point.

use rexmit_wire::FlowKey;

use super::Follow;
use crate::contain::contain;
use crate::points::rows::Each;
use crate::points::way::Way;

impl Follow {
    /// The way of a flow at a point.
    pub(super) fn way_of(&mut self, point: usize, flow: FlowKey) -> u32 {
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
    pub(super) fn belongs(&mut self, way: u32, point: usize, flow: FlowKey) {
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
        self.free_ways.push(other);
    }

    /// A connection is over, and another one may have its addresses and ports.
    pub(super) fn end_connection(&mut self, way: u32) {
        self.settle(way, true);
        if let Some(of) = self.ways[way as usize].as_mut() {
            let over = of.begin_anew();
            self.tell(&over);
        }
    }

    /// A way is over and forgotten.
    pub(super) fn end(&mut self, way: u32) {
        self.settle(way, true);
        let Some(of) = self.ways[way as usize].take() else {
            return;
        };
        if let Err(defect) = contain(|| self.tell(&of)) {
            self.ways[way as usize] = Some(of);
            self.fail_way(way, &defect);
            return;
        }
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
}
