//! A link whose packets wait in a queue before it, where they have to: what becomes of one that is managed, or when it leaves by
//! a trace, is known only when its turn has come.
//!
//! ```text
//! enter: outages, policer, path MTU, chance ── queue ── rate or trace ── delay, jitter ── leave
//! ```

use rexmit_time::{Duration, Streams, Time};

use super::aqm::{Discipline, Item};
use super::serve::Server;
use super::{Link, Settings, FIRST_STAGE};

/// A packet as a link sees it.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its length on Ethernet.
    pub bytes: u32,
    /// Those of one number are of one flow.
    pub flow: u64,
    /// Whether it may be marked in place of dropped (ECT, RFC 3168 §5).
    pub ect: bool,
}

/// A link with packets on it, and the queue before it.
#[derive(Debug)]
pub struct Hop<P> {
    link: Link,
    /// Nothing waits before it, and nothing is marked on it.
    plain: bool,
    /// Of a link that needs one. Others are netem: what waits there is known by its times alone.
    queue: Option<Box<Queue<P>>>,
}

#[derive(Debug)]
struct Queue<P> {
    discipline: Discipline<P>,
    server: Server,
    /// When the packet that was taken last has been sent.
    free: Time,
    /// When the next one is taken; none waits without.
    turn: Option<Time>,
    /// When the last packet leaves: it is not overtaken.
    last: Time,
}

impl<P: Clone> Hop<P> {
    /// A link with these settings; what is left to chance follows from `streams` and its `number`.
    #[must_use]
    pub fn new(settings: Settings, streams: &Streams, number: u64) -> Self {
        let waits = settings.trace.is_some() || settings.aqm.is_some();
        let queue = waits.then(|| {
            let draws = || streams.stream("queue", number);
            Box::new(Queue {
                discipline: Discipline::new(&settings, draws),
                server: Server::new(&settings),
                free: Time::ZERO,
                turn: None,
                last: Time::ZERO,
            })
        });
        Self {
            plain: queue.is_none() && settings.ecn_mark == 0.0,
            link: Link::new(settings, || streams.stream("link", number)),
            queue,
        }
    }

    /// The link.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Whether nothing waits before the link, and nothing is marked on it.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether packets leave in the order in which they enter, and it is known when as they do.
    #[must_use]
    pub fn tells_order(&self) -> bool {
        self.is_plain() && self.link.keeps_order()
    }

    /// The link, where nothing waits before it and nothing is marked: it says by itself when packets leave.
    pub fn plain(&mut self) -> Option<&mut Link> {
        self.is_plain().then_some(&mut self.link)
    }

    /// A packet enters at `now`. `out` is told what leaves, when, and whether it is marked. Calls must come in the order of
    /// time.
    pub fn enter(
        &mut self,
        now: Time,
        packet: P,
        frame: Frame,
        mut out: impl FnMut(Time, P, bool),
    ) {
        self.take_turns(now, &mut out);
        let admitted = self.link.admit(now, frame.bytes);
        let marked = admitted.marked && frame.ect;
        self.link.counters.marked += u64::from(marked && admitted.copies > 0);
        let Some(queue) = &mut self.queue else {
            let leaves = self.link.pass(now, frame.bytes, admitted);
            for leaves in leaves.into_iter().flatten() {
                out(leaves, packet.clone(), marked);
            }
            return;
        };
        for _ in 0..admitted.copies {
            if self.link.passes() {
                out(now + FIRST_STAGE, packet.clone(), marked);
                continue;
            }
            self.link.counter += 1;
            let item = Item {
                packet: packet.clone(),
                frame,
                entered: now,
                delay: FIRST_STAGE + self.link.delay(),
                marked,
            };
            queue.discipline.enter(now, item, &mut self.link.counters);
            if queue.turn.is_none() {
                queue.arm(&mut self.link, now);
            }
        }
        self.take_turns(now, &mut out);
    }

    /// When [`Hop::take_turns`] is due.
    #[must_use]
    pub fn turn(&self) -> Option<Time> {
        self.queue.as_ref()?.turn
    }

    /// Takes what is due at `now` out of the queue.
    pub fn take_turns(&mut self, now: Time, mut out: impl FnMut(Time, P, bool)) {
        let Some(queue) = &mut self.queue else {
            return;
        };
        while let Some(turn) = queue.turn.filter(|turn| *turn <= now) {
            if let Some(item) = queue.discipline.leave(turn, &mut self.link.counters) {
                queue.free = queue.server.send(turn, item.frame.bytes);
                queue.last = queue.last.max(queue.free + item.delay);
                out(queue.last, item.packet, item.marked);
            }
            queue.arm(&mut self.link, turn);
        }
    }
}

impl<P> Queue<P> {
    /// Finds when the next packet is taken.
    fn arm(&mut self, link: &mut Link, now: Time) {
        self.turn = (!self.discipline.is_empty()).then(|| {
            let mut turn = self.server.begin(now.max(self.free));
            while let Some(end) = link.stands_still(turn) {
                turn = self.server.begin(end);
            }
            turn
        });
    }
}

impl Link {
    /// Until when it stands still that does so at `at`.
    fn stands_still(&mut self, at: Time) -> Option<Time> {
        let (stalls, chance) = (self.settings.stalls.as_ref()?, self.chance.as_mut()?);
        let end = chance.stall.within(at, stalls, &mut chance.stream)?;
        Some(end.max(at + Duration::from_nanos(1)))
    }
}
