//! What waits before a link, and who manages it. One room for the model, the links of kernels and live ones.

mod codel;
mod fair;
mod pie;
mod red;

use std::collections::VecDeque;

use rexmit_plan::Aqm;
use rexmit_time::{Duration, Stream, Time};

use super::hop::Frame;
use super::{Counters, Settings};
use codel::Codel;
use fair::Fair;
use pie::Pie;
use red::Red;

/// A packet that waits.
#[derive(Debug)]
pub(super) struct Item<P> {
    pub packet: P,
    pub frame: Frame,
    /// When it came.
    pub entered: Time,
    /// What it takes behind the queue.
    pub delay: Duration,
    pub marked: bool,
}

impl<P> Item<P> {
    /// Marks it if that is asked for and it may be; whether it was.
    fn mark(&mut self, ecn: bool, counters: &mut Counters) -> bool {
        let marks = ecn && self.frame.ect;
        counters.marked += u64::from(marks && !self.marked);
        self.marked |= marks;
        marks
    }
}

/// Packets in the order in which they came.
#[derive(Debug)]
pub(super) struct Line<P> {
    items: VecDeque<Item<P>>,
    bytes: u64,
}

impl<P> Default for Line<P> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> Line<P> {
    fn push(&mut self, item: Item<P>) {
        self.bytes += u64::from(item.frame.bytes);
        self.items.push_back(item);
    }

    fn pop(&mut self) -> Option<Item<P>> {
        let item = self.items.pop_front()?;
        self.bytes -= u64::from(item.frame.bytes);
        Some(item)
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

/// What waits, and how it is managed.
#[derive(Debug)]
pub(super) struct Discipline<P> {
    limit: usize,
    waiting: Waiting<P>,
}

#[derive(Debug)]
enum Waiting<P> {
    /// One line, and who looks at packets that come, or that leave.
    One(Line<P>, Manager),
    /// A line for each flow.
    Fair(Fair<P>),
}

#[derive(Debug)]
enum Manager {
    Nobody,
    Codel(Codel),
    Pie(Box<Pie>),
    Red(Box<Red>),
}

impl<P> Discipline<P> {
    pub fn new(settings: &Settings, draws: impl FnOnce() -> Stream) -> Self {
        let manager = match &settings.aqm {
            None => Manager::Nobody,
            Some(Aqm::Codel(with)) => Manager::Codel(Codel::new(*with)),
            Some(Aqm::Pie(with)) => Manager::Pie(Box::new(Pie::new(*with, draws()))),
            Some(Aqm::Red(with)) => {
                Manager::Red(Box::new(Red::new(*with, settings.rate_bps, draws())))
            }
            Some(Aqm::FqCodel(with)) => {
                return Self {
                    limit: settings.queue_packets,
                    waiting: Waiting::Fair(Fair::new(*with)),
                };
            }
        };
        Self {
            limit: settings.queue_packets,
            waiting: Waiting::One(Line::default(), manager),
        }
    }

    pub fn is_empty(&self) -> bool {
        match &self.waiting {
            Waiting::One(line, _) => line.len() == 0,
            Waiting::Fair(fair) => fair.len() == 0,
        }
    }

    /// A packet comes; it, or another, is dropped where that is due.
    pub fn enter(&mut self, now: Time, mut item: Item<P>, counters: &mut Counters) {
        match &mut self.waiting {
            Waiting::One(line, manager) => {
                let full = line.len() >= self.limit;
                let early = match manager {
                    Manager::Nobody | Manager::Codel(_) => false,
                    Manager::Pie(pie) => pie.drops(now, line, full, &mut item, counters),
                    Manager::Red(red) => red.drops(now, line, full, &mut item, counters),
                };
                if full {
                    counters.overflowed += 1;
                } else if early {
                    counters.dropped += 1;
                } else {
                    line.push(item);
                }
            }
            Waiting::Fair(fair) => {
                fair.push(item);
                if fair.len() > self.limit {
                    counters.overflowed += fair.make_room();
                }
            }
        }
    }

    /// The packet that goes on at `now`, if any is left of those that wait.
    pub fn leave(&mut self, now: Time, counters: &mut Counters) -> Option<Item<P>> {
        let (line, manager) = match &mut self.waiting {
            Waiting::One(line, manager) => (line, manager),
            Waiting::Fair(fair) => return fair.pop(now, counters),
        };
        match manager {
            Manager::Nobody => line.pop(),
            Manager::Codel(codel) => codel.pop(now, line, counters),
            Manager::Pie(pie) => {
                let item = line.pop()?;
                pie.left(now, line, now.since(item.entered));
                Some(item)
            }
            Manager::Red(red) => {
                let item = line.pop();
                red.left(now, line);
                item
            }
        }
    }
}

#[cfg(test)]
mod tests;
