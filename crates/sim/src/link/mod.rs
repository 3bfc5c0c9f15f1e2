//! One direction of a link, with the semantics of Linux's netem (net/sched/sch_netem.c), two of which stand in a row
//! on every wire of the lab: the first delays by a microsecond, the second does all the rest.

mod aqm;
mod chance;
mod hop;
mod police;
mod serve;
mod spell;

use std::collections::VecDeque;
use std::num::NonZeroU64;

use rexmit_plan::Place;
pub use rexmit_plan::{Aqm, LossBursts, PathMtu, Policer, RateTrace};
use rexmit_time::{Duration, Stream, Time};

pub use chance::Loss;
pub use hop::{Frame, Hop};
pub use spell::Spells;

/// What a link does to packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Bits of frames a second; 0 for no limit.
    pub rate_bps: u64,
    /// One way.
    pub delay: Duration,
    /// Uniform deviation of the delay. It cannot reorder packets where there is a rate (`netem_enqueue`).
    pub jitter: Duration,
    /// Packets that the queue holds, those under way included; where there is a `trace` or an `aqm` those that wait.
    pub queue_packets: usize,
    /// When packets leave the queue, in place of the rate, and the time that it counts from; netem cannot.
    pub trace: Option<(RateTrace, Time)>,
    /// How the queue is managed; netem cannot.
    pub aqm: Option<Aqm>,
    /// Probability that a packet that may be marked is.
    pub ecn_mark: f64,
    /// Packets lost by chance.
    pub loss: Loss,
    /// Probability that a packet goes on at once, past those that wait.
    pub reorder: f64,
    /// What makes the rate, and where.
    pub shaper: Shaper,
    /// Only a packet after so many less one others can do that.
    pub reorder_gap: u32,
    /// Probability that a packet goes on twice.
    pub duplicate: f64,
    /// Times in which all that enters is lost: from, until.
    pub outages: Vec<(Time, Time)>,
    /// What comes faster is lost on entry.
    pub policer: Option<Policer>,
    /// A packet of IP that is larger is lost on entry, and a router tells its sender if it is to.
    pub path_mtu: Option<PathMtu>,
    /// It stands still now and then; netem cannot.
    pub stalls: Option<Spells>,
    /// What is drawn for a packet follows from its ordinal here, not from what was drawn for those before it, so that links that
    /// are compared do the same to packets of one ordinal; netem cannot.
    pub by_ordinal: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate_bps: 0,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            queue_packets: 1000,
            trace: None,
            aqm: None,
            ecn_mark: 0.0,
            loss: Loss::None,
            reorder: 0.0,
            shaper: Shaper::Netem,
            reorder_gap: 1,
            duplicate: 0.0,
            outages: Vec::new(),
            policer: None,
            path_mtu: None,
            stalls: None,
            by_ordinal: false,
        }
    }
}

impl Settings {
    /// What a plan's link does, on one of its ways; times in whole microseconds, as netem takes them. Its outages and its
    /// trace count from `begin`; without it there are no outages, nor is a path MTU smaller.
    #[must_use]
    pub fn planned(way: &rexmit_plan::Link, at: Place, begin: Option<Time>) -> Self {
        let micros = |nanos: u64| Duration::from_micros(((nanos + 500) / 1000) as i64);
        let (shaper, delay) = match at {
            Place::Wire => (
                Shaper::Netem,
                micros(way.delay_ns.saturating_sub(1000)) + FIRST_STAGE,
            ),
            Place::Host => (Shaper::Htb, micros(way.delay_ns)),
        };
        let outages = begin.into_iter().flat_map(|begin| {
            let spans = way.outages_ns.iter();
            spans.map(move |[from, until]| {
                (
                    begin + Duration::from_unsigned_nanos(*from),
                    begin + Duration::from_unsigned_nanos(*until),
                )
            })
        });
        Self {
            rate_bps: way.rate_bps,
            delay,
            jitter: micros(way.jitter_ns),
            queue_packets: way.queue_packets as usize,
            trace: way
                .rate_trace
                .clone()
                .map(|trace| (trace, begin.unwrap_or(Time::ZERO))),
            aqm: way.aqm.as_deref().cloned(),
            ecn_mark: way.ecn_mark,
            // Jitter stands behind loss in what is drawn for a packet, whether any are lost or not.
            loss: match way.loss_bursts {
                Some(bursts) => Loss::Bursts(bursts),
                None if way.loss > 0.0 || way.jitter_ns > 0 => Loss::Random(way.loss),
                None => Loss::None,
            },
            reorder: way.reorder,
            duplicate: way.duplicate,
            outages: outages.collect(),
            stalls: way.stalls.as_deref().map(|stalls| Spells {
                every: Duration::from_unsigned_nanos(stalls.every_ns),
                least: Duration::from_unsigned_nanos(stalls.least_ns),
                most: Duration::from_unsigned_nanos(stalls.most_ns),
            }),
            policer: way.policer,
            path_mtu: begin.and(way.path_mtu),
            shaper,
            by_ordinal: true,
            ..Self::default()
        }
    }
}

/// What makes a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaper {
    /// netem, behind another one: a packet takes its time on the line, then the delay.
    Netem,
    /// htb over netem, as mininet has it: packets come out of the delay and leave as htb has tokens. tc gives the ceiling's
    /// bucket one packet (`htb_parse_class_opt`: cburst), whatever burst is asked for: one leaves at once, the next when the
    /// line has carried it.
    Htb,
}

/// Bytes of an Ethernet header, which frames have.
pub const ETHERNET: u32 = 14;

/// What htb's bucket holds at most, bytes: tc's mtu.
const BUCKET: u64 = 1600;

/// What the first netem of a wire takes off the delay.
pub const FIRST_STAGE: Duration = Duration::from_micros(1);

/// One direction of a link. It never stores packets: it says when one that enters now leaves at the other end.
#[derive(Debug)]
pub struct Link {
    settings: Settings,
    bytes_per_s: Option<NonZeroU64>,
    /// Draws; links without chance have none.
    chance: Option<Chance>,
    /// What the policer's bucket holds.
    tokens: police::Bucket,
    /// When the packets inside leave, ascending.
    leaving: VecDeque<Time>,
    /// What htb's bucket holds, in nanoseconds of sending, and since when.
    bucket: (i64, Time),
    /// Since the last packet that was let past (`q->counter`).
    counter: u32,
    /// What the link has done.
    pub counters: Counters,
}

#[derive(Debug)]
struct Chance {
    stream: Stream,
    loss: chance::State,
    stall: spell::Spell,
}

/// What a link has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that entered.
    pub entered: u64,
    /// Packets lost by chance, in an outage, or at the policer.
    pub lost: u64,
    /// Packets that found the queue full.
    pub overflowed: u64,
    /// Packets that left twice.
    pub duplicated: u64,
    /// Packets that the queue's management dropped.
    pub dropped: u64,
    /// Packets that were marked.
    pub marked: u64,
}

/// When a packet leaves: not at all, once or twice.
pub type Leaves = [Option<Time>; 2];

/// What becomes of a packet that comes to a link.
#[derive(Clone, Copy, Debug, Default)]
struct Admitted {
    copies: u32,
    /// It is marked, if it may be.
    marked: bool,
}

impl Link {
    /// A link with these settings; `stream` for what is left to chance.
    #[must_use]
    pub fn new(settings: Settings, stream: impl FnOnce() -> Stream) -> Self {
        let by_chance = settings.jitter > Duration::ZERO
            || settings.loss != Loss::None
            || settings.reorder > 0.0
            || settings.duplicate > 0.0
            || settings.ecn_mark > 0.0
            || settings.stalls.is_some();
        Self {
            bytes_per_s: NonZeroU64::new(settings.rate_bps / 8),
            chance: by_chance.then(|| {
                let mut stream = stream();
                Chance {
                    loss: chance::State::settled(&settings.loss, &mut stream),
                    stream,
                    stall: spell::Spell::default(),
                }
            }),
            tokens: police::Bucket::default(),
            leaving: VecDeque::new(),
            bucket: (i64::MAX, Time::ZERO),
            counter: 0,
            counters: Counters::default(),
            settings,
        }
    }

    /// Whether packets leave in the order in which they enter.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        self.settings.reorder == 0.0
            && self.settings.duplicate == 0.0
            && (self.settings.jitter == Duration::ZERO || self.bytes_per_s.is_some())
    }

    /// What a router further on tells the sender of a frame of `bytes`: the largest packet of IP that goes on.
    #[must_use]
    pub fn too_large(&self, bytes: u32) -> Option<PathMtu> {
        let there = self.settings.path_mtu;
        there.filter(|there| bytes.saturating_sub(ETHERNET) > there.bytes)
    }

    /// A frame of `bytes` enters at `now`. Calls must come in the order of time.
    #[inline]
    pub fn enter(&mut self, now: Time, bytes: u32) -> Leaves {
        let admitted = self.admit(now, bytes);
        self.pass(now, bytes, admitted)
    }

    /// What is lost, or goes on twice, on entry.
    #[inline]
    fn admit(&mut self, now: Time, bytes: u32) -> Admitted {
        self.counters.entered += 1;
        let in_outage = |(from, until): &(Time, Time)| *from <= now && now < *until;
        let too_large = self.too_large(bytes).is_some();
        let policed = |policer| !self.tokens.take(now, bytes, policer);
        if too_large
            || self.settings.outages.iter().any(in_outage)
            || self.settings.policer.as_ref().is_some_and(policed)
        {
            self.counters.lost += 1;
            return Admitted::default();
        }
        let mut admitted = Admitted {
            copies: 1,
            marked: false,
        };
        if let Some(chance) = &mut self.chance {
            if self.settings.by_ordinal {
                chance.stream.go_to(self.counters.entered);
            }
            let doubled = chance.stream_hits(self.settings.duplicate);
            let lost = chance
                .loss
                .lost(now, &self.settings.loss, &mut chance.stream);
            admitted.marked = chance.stream_hits(self.settings.ecn_mark);
            admitted.copies = 1 + u32::from(doubled) - u32::from(lost);
            self.counters.lost += u64::from(lost);
            self.counters.duplicated += u64::from(doubled && !lost);
        }
        admitted
    }

    /// What netem does to what was admitted.
    #[inline]
    fn pass(&mut self, now: Time, bytes: u32, admitted: Admitted) -> Leaves {
        let first = match self.settings.shaper {
            Shaper::Netem => FIRST_STAGE,
            Shaper::Htb => Duration::ZERO,
        };
        let at = now + first;
        let mut leaves = [None; 2];
        if admitted.copies > 0 {
            leaves[0] = self.queue(at, bytes);
        }
        if admitted.copies > 1 {
            // The copy starts again at the first stage (`rootq->enqueue`).
            leaves[1] = self.queue(at + first, bytes);
        }
        leaves
    }

    /// The second stage: `netem_enqueue` after loss and duplication.
    #[inline]
    fn queue(&mut self, now: Time, bytes: u32) -> Option<Time> {
        while self.leaving.front().is_some_and(|leaves| *leaves <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.settings.queue_packets {
            self.counters.overflowed += 1;
            return None;
        }
        if self.passes() {
            return Some(now);
        }
        self.counter += 1;
        let mut ready = now + self.delay();
        if let (Some(stalls), Some(chance)) = (&self.settings.stalls, &mut self.chance) {
            ready = chance.stall.held(now, ready, stalls, &mut chance.stream);
        }
        if let (Shaper::Htb, Some(bytes_per_s)) = (self.settings.shaper, self.bytes_per_s) {
            ready = self.take_tokens(ready, bytes, bytes_per_s);
        } else if let Some(bytes_per_s) = self.bytes_per_s {
            // Behind the last packet, which has used up some of the delay already.
            if let Some(last) = self.leaving.back() {
                ready = ready.max(*last);
            }
            let nanos = u64::from(bytes) * 1_000_000_000 / bytes_per_s;
            ready += Duration::from_nanos(nanos as i64);
        }
        let at = match self.leaving.back() {
            Some(last) if *last > ready => self.leaving.partition_point(|t| *t <= ready),
            _ => self.leaving.len(),
        };
        self.leaving.insert(at, ready);
        Some(ready)
    }

    /// When htb lets a packet go that is ready then: once its bucket is not overdrawn (`htb_class_mode`,
    /// `htb_accnt_ctokens`).
    fn take_tokens(&mut self, ready: Time, bytes: u32, bytes_per_s: NonZeroU64) -> Time {
        let nanos = |bytes: u64| (bytes * 1_000_000_000 / bytes_per_s) as i64;
        let (held, since) = self.bucket;
        let ready = self.leaving.back().map_or(ready, |last| ready.max(*last));
        let held = held.saturating_add(ready.since(since).as_nanos());
        let held = held.min(nanos(BUCKET));
        let leaves = ready + Duration::from_nanos((-held).max(0));
        self.bucket = (held.max(0) - nanos(u64::from(bytes)), leaves);
        leaves
    }

    fn delay(&mut self) -> Duration {
        let delay = match self.settings.shaper {
            Shaper::Netem => self.settings.delay - FIRST_STAGE,
            Shaper::Htb => self.settings.delay,
        };
        let delay = delay.max(Duration::ZERO);
        let sigma = self.settings.jitter.as_nanos();
        match &mut self.chance {
            Some(chance) if sigma > 0 => {
                // `tabledist` without a table.
                let drawn = chance.stream.below(2 * sigma.unsigned_abs()) as i64;
                let drawn = delay + Duration::from_nanos(drawn - sigma);
                drawn.max(Duration::ZERO)
            }
            _ => delay,
        }
    }

    fn passes(&mut self) -> bool {
        let gap = self.settings.reorder_gap;
        if self.settings.reorder == 0.0 || gap == 0 || self.counter < gap - 1 {
            return false;
        }
        let passes = match &mut self.chance {
            Some(chance) => chance.stream_hits(self.settings.reorder),
            None => false,
        };
        if passes {
            self.counter = 0;
        }
        passes
    }
}

impl Chance {
    fn stream_hits(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.stream.uniform() < probability
    }
}

#[cfg(test)]
mod tests;
