//! In which order packets pass the points.

use super::Follow;
use crate::points::order::{PointSequence, Precedence};
use crate::points::rows::Each;
use crate::points::way::Way;

/// Pairs of hosts whose route is remembered.
pub(super) const MOST_ROUTES: usize = 1 << 16;

impl Follow {
    /// In which order a way passes which points: as its packets have shown, else those of the other direction, else those of
    /// other connections of the hosts.
    pub(super) fn course(&self, of: &Way) -> (Precedence, PointSequence) {
        let reverse = of
            .reverse
            .and_then(|reverse| self.ways[reverse as usize].as_ref());
        let turned = reverse.map_or(Precedence::default(), |reverse| reverse.order.reversed());
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
        let line = order.sequence((0..self.points).filter(|&point| there[point]));
        (order, line)
    }
}

/// Where the packets of two hosts come by, and in which order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Route {
    pub there: Each<bool>,
    pub order: Precedence,
}

impl Route {
    /// What another connection has shown, too.
    pub(super) fn add(&mut self, other: &Route) {
        self.there
            .iter_mut()
            .zip(other.there)
            .for_each(|(all, one)| *all |= one);
        self.order.add(&other.order);
    }

    pub(super) fn reversed(&self) -> Self {
        Route {
            there: self.there,
            order: self.order.reversed(),
        }
    }
}
