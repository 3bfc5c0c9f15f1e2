//! The rows of what a connection did between two points.

use super::Follow;
use crate::points::rows::Leg;
use crate::points::way::Way;

impl Follow {
    pub(super) fn tell(&mut self, of: &Way) {
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
}

fn pair_of<T>(pair: &[usize], of: impl Fn(usize) -> T) -> (T, T) {
    (of(pair[0]), of(pair[1]))
}
