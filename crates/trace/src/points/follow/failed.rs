//! Connections that could not be followed: both directions are left out, and nothing of them stays where others are looked
//! for.

use core::iter::once;

use rexmit_time::Time;
use rexmit_wire::{FlowKey, Headers};

use super::{Follow, IDLE};
use crate::analyzer::Failure;
use crate::points::rows::Each;

/// Failed ways whose packets are known as such; of more, those unused for longest are forgotten.
const MOST_FAILED: usize = 4_096;

/// A way that failed. Its flows lead to it as before, and it is not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedWay {
    flows: Each<Option<FlowKey>>,
    /// When a packet came of it last.
    latest: i64,
}

impl Follow {
    /// Whether a packet is of a connection that failed. A SYN opens another.
    pub(super) fn is_of_failed(&mut self, point: usize, headers: &Headers) -> bool {
        if self.failed.is_empty() {
            return false;
        }
        let Some(way) = self.known_way(point, &headers.flow) else {
            return false;
        };
        let Some(of) = self.failed.get_mut(&way) else {
            return false;
        };
        if headers.flags.syn() && !headers.flags.ack() {
            self.forget_failed(way);
            if let Some(back) = self.known_way(point, &headers.flow.reversed()) {
                self.forget_failed(back);
            }
            return false;
        }
        of.latest = self.now;
        self.failures.packets += 1;
        true
    }

    /// It panicked at a packet that came by at a point.
    #[cold]
    pub(super) fn fail(&mut self, point: usize, raw: u64, flow: FlowKey, defect: &str) {
        self.failures.packets += 1;
        self.unswept = true;
        let there = [flow, flow.reversed()].map(|flow| self.known_way(point, &flow));
        match there.into_iter().flatten().next() {
            Some(way) => self.fail_way(way, defect),
            None => self.failures.note(Failure {
                start: Time::from_nanos(raw),
                flow,
                defect: defect.to_owned(),
            }),
        }
    }

    /// Leaves a way out, and the other direction.
    #[cold]
    pub(super) fn fail_way(&mut self, way: u32, defect: &str) {
        self.unswept = true;
        let Some(of) = self.ways[way as usize].take() else {
            return;
        };
        let back = of
            .reverse
            .and_then(|reverse| self.ways[reverse as usize].take());
        let both = [Some((way, &of)), of.reverse.zip(back.as_ref())];
        for (way, of) in both.into_iter().flatten() {
            let (flows, latest) = (of.flows, self.now);
            self.failed.insert(way, FailedWay { flows, latest });
        }
        let firsts = of
            .firsts
            .iter()
            .chain(back.iter().flat_map(|of| &of.firsts));
        let start = firsts.flatten().min().copied().unwrap_or(0);
        // A server's port is the lower one, mostly (RFC 6335 §6).
        let flow = of.flows.iter().flatten().next().copied();
        let flow = flow.map(|flow| {
            if flow.src_port >= flow.dst_port {
                flow
            } else {
                flow.reversed()
            }
        });
        if let Some(flow) = flow {
            self.failures.note(Failure {
                start: Time::from_nanos(start),
                flow,
                defect: defect.to_owned(),
            });
        }
    }

    /// Sweeps out what is left of failed ways, and forgets those of which nothing came for long.
    pub(super) fn sweep(&mut self) {
        let mut known: Vec<(i64, u32)> = self
            .failed
            .iter()
            .map(|(way, of)| (of.latest, *way))
            .collect();
        known.sort_unstable();
        let more = known.len().saturating_sub(MOST_FAILED);
        for (number, (latest, way)) in known.into_iter().enumerate() {
            if number < more || self.now.saturating_sub(latest) > IDLE {
                self.forget_failed(way);
            }
        }
        if !core::mem::take(&mut self.unswept) {
            return;
        }
        let mut is_free = vec![false; self.entries.len()];
        for number in &self.free {
            is_free[*number as usize] = true;
        }
        for (number, is_free) in (0..).zip(is_free) {
            let way = self.entries[number as usize].way;
            if !is_free && self.ways[way as usize].is_none() {
                self.take_out(number);
                self.free.push(number);
            }
        }
        let mut is_used: Vec<bool> = self.ways.iter().map(Option::is_some).collect();
        for way in self.free_ways.iter().chain(self.failed.keys()) {
            is_used[*way as usize] = true;
        }
        for of in self.ways.iter_mut().flatten() {
            of.reverse = of.reverse.filter(|way| is_used[*way as usize]);
        }
        let gone = (0..).zip(is_used).filter(|(_, is_used)| !is_used);
        self.free_ways.extend(gone.map(|(way, _)| way));
    }

    /// A failed way is not known any more: its flows may be another's.
    fn forget_failed(&mut self, way: u32) {
        let Some(of) = self.failed.remove(&way) else {
            return;
        };
        self.unswept = true;
        for (map, flow) in self.by_flow.iter_mut().zip(of.flows) {
            if let Some(flow) = flow.filter(|flow| map.get(flow) == Some(&way)) {
                map.remove(&flow);
            }
        }
    }

    /// The way that a flow is known to have, at this point or another.
    fn known_way(&self, point: usize, flow: &FlowKey) -> Option<u32> {
        let maps = once(&self.by_flow[point]).chain(&self.by_flow);
        maps.filter_map(|map| map.get(flow).copied()).next()
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::{Flags, SeqNum};

    use super::*;
    use crate::points::Rows;
    use crate::testing::{bare, flow};

    const MS: i64 = 1_000_000;
    const FAULTY: u16 = 666;

    /// Segments from two ports, of which the second point lacks some; the last packets are another SYN of each, and an answer.
    fn packets() -> Vec<(i64, usize, Headers)> {
        let mut all = Vec::new();
        for (port, after) in [(FAULTY, 0), (777, 1)] {
            let flow = flow(port);
            for number in 0..400_u32 {
                let at = i64::from(number) * 200 + after;
                let segment = Headers {
                    seq: SeqNum::new(number * 100),
                    payload_len: 100,
                    ip_id: Some(number as u16 + 1),
                    ..bare(flow)
                };
                let answer = Headers {
                    window: number as u16,
                    ip_id: Some(number as u16 + 1),
                    ..bare(flow.reversed())
                };
                all.push((at, 0, segment));
                if number % 7 != 3 {
                    all.push((at + 5, 1, segment));
                }
                all.extend([(at + 6, 1, answer), (at + 9, 0, answer)]);
            }
            let syn = Headers {
                flags: Flags::SYN,
                ..bare(flow)
            };
            all.extend([(90_000, 0, syn), (90_005, 1, syn)]);
        }
        all.sort_by_key(|(at, point, _)| (*at, *point));
        all
    }

    fn followed(packets: &[(i64, usize, Headers)]) -> (Rows, Follow) {
        let mut follow = Follow::new(vec![(0, 100_000 * MS); 2]);
        follow.fault = Some(FAULTY);
        let mut rows = Rows::default();
        for (number, (at, point, headers)) in packets.iter().enumerate() {
            follow.packet(*point, at * MS, (at * MS) as u64, headers);
            if number % 100 == 99 {
                follow.look();
                let mut ready = follow.drain();
                rows.followed.append(&mut ready.followed);
                rows.legs.append(&mut ready.legs);
            }
        }
        follow.finish();
        follow.look();
        let mut ready = follow.drain();
        rows.followed.append(&mut ready.followed);
        rows.legs.append(&mut ready.legs);
        (rows, follow)
    }

    #[test]
    fn one_that_cannot_be_followed_costs_no_other() {
        let packets = packets();
        let is_faulty =
            |headers: &Headers| headers.flow.src_port == FAULTY || headers.flow.dst_port == FAULTY;
        let others = packets.iter().filter(|(.., headers)| !is_faulty(headers));
        let (expected, clean) = followed(&others.copied().collect::<Vec<_>>());
        assert_eq!(clean.failures.count, 0);
        assert!(expected.followed.len() > 40 && !expected.legs.is_empty());
        let (mut rows, follow) = followed(&packets);
        let is_other = |flow: &FlowKey| flow.src_port != FAULTY && flow.dst_port != FAULTY;
        rows.followed.retain(|row| is_other(&row.flow));
        assert!(rows.legs.iter().all(|leg| is_other(&leg.flows.0)));
        assert_eq!(rows, expected);
        // Once at its data, and once more at the SYN that opens another.
        let failures = follow.failures();
        assert_eq!(failures.count, 2, "{failures:#?}");
        assert!(failures.packets > 700, "{failures:#?}");
        let first = &failures.named[0];
        assert_eq!((first.start, first.flow), (Time::ZERO, flow(FAULTY)));
        // Nothing is left of it.
        assert_eq!(follow.entries.len(), follow.free.len());
        let mut free = follow.free_ways.clone();
        free.extend(follow.failed.keys());
        free.sort_unstable();
        assert!(free.windows(2).all(|pair| pair[0] < pair[1]), "{free:?}");
        assert_eq!(free.len(), follow.ways.len());
    }
}
