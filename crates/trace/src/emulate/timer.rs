//! An emulated sender's timer: what it was set for, and between when and when it fires.

use rexmit_tcp::clock::{shift_of, Tick, Wheel};
use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};

/// Ticks of this length and more show in a capture, ns.
const COARSE: i64 = 10_000_000;

/// The ticks of a stack whose phase is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    tick: i64,
    wheel: Wheel,
}

impl Ticks {
    pub fn new(settings: &Settings) -> Self {
        Self::with_rate(settings, settings.timers.hz)
    }

    /// The stack's, with other ticks a second.
    pub fn with_rate(settings: &Settings, hz: u32) -> Self {
        Ticks {
            tick: 1_000_000_000 / i64::from(hz.max(1)),
            wheel: settings.timers.wheel,
        }
    }

    /// A tick.
    pub fn tick(&self) -> Duration {
        Duration::from_nanos(self.tick)
    }

    /// The same for what rounds by it.
    pub fn length(&self) -> Tick {
        Tick::of_nanos(self.tick.unsigned_abs())
    }

    /// Ticks so long that when they begin shows in the times at which timers fire.
    pub fn are_coarse(&self) -> bool {
        self.tick >= COARSE && self.wheel == Wheel::Exact
    }

    /// Where in its tick a time lies when ticks begin at multiples of their length.
    pub fn phase(&self, at: Time) -> i64 {
        (at.as_nanos() % self.tick.unsigned_abs()) as i64
    }

    /// How far a time lies from the nearest beginning of a tick when one begins at `phase`.
    pub fn off_phase(&self, at: Time, phase: i64) -> Duration {
        let off = (self.phase(at) - phase).rem_euclid(self.tick);
        Duration::from_nanos(off.min(self.tick - off))
    }

    /// Whole ticks between two times when one begins at `phase`, counted as a tick counter does.
    pub fn between(&self, from: Time, to: Time, phase: i64) -> Duration {
        let count = |at: Time| (at.as_nanos() as i64 - phase).div_euclid(self.tick);
        Duration::from_nanos((count(to) - count(from)) * self.tick)
    }

    /// Whole ticks that last at least `span`.
    pub fn up(&self, span: Duration) -> Duration {
        self.length().up(span)
    }

    /// Whole ticks nearest to `span`, at least one.
    pub fn near(&self, span: Duration) -> Duration {
        let ticks = (span.as_nanos().max(0) + self.tick / 2) / self.tick;
        Duration::from_nanos(ticks.max(1) * self.tick)
    }

    /// Whole ticks in `span`.
    pub fn down(&self, span: Duration) -> Duration {
        self.length().down(span)
    }

    /// The shortest and longest time after which a timer fires that was set to `span`, whole ticks.
    pub fn fires(&self, span: Duration) -> (Duration, Duration) {
        let ticks = span.as_nanos() / self.tick;
        match self.wheel {
            // A minimum a little larger is a tick more where ticks are long.
            Wheel::Exact if self.tick >= 5 * COARSE => (span - self.tick(), span + self.tick()),
            Wheel::Exact => (span - self.tick(), span),
            Wheel::Slack if ticks < 256 => (span - self.tick(), span),
            Wheel::Slack => (span - self.tick(), span + span / 256),
            Wheel::Levels => {
                // The granule of the level; the tick may be 1 ms or 4 ms.
                let mut late = 0;
                for tick in [1_000_000, 4_000_000, self.tick] {
                    // A minimum a little larger may stand a level higher.
                    let ticks = span.as_nanos() * 17 / 16 / tick;
                    late = late.max(tick << shift_of(ticks));
                }
                (span - self.tick(), span + Duration::from_nanos(late))
            }
        }
    }
}

/// The timer. The model's own (`sender/timer.rs` of the TCP crate) stands in one tick of one wheel, and says when it fires; of this
/// one neither is known, and it says between when and when.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    job: Option<Job>,
    /// When it was set.
    pub armed: Time,
    /// For how long, in whole ticks.
    pub span: Duration,
}

impl Default for Timer {
    fn default() -> Self {
        Timer {
            job: None,
            armed: Time::ZERO,
            span: Duration::ZERO,
        }
    }
}

impl Timer {
    pub fn job(&self) -> Option<Job> {
        self.job
    }

    pub fn set(&mut self, now: Time, job: Job, span: Duration) {
        *self = Timer {
            job: Some(job),
            armed: now,
            span,
        };
    }

    pub fn clear(&mut self) {
        self.job = None;
    }

    /// Between when and when it fires.
    pub fn window(&self, ticks: &Ticks) -> (Time, Time) {
        let (soon, late) = ticks.fires(self.span);
        (self.armed + soon, self.armed + late)
    }

    /// The time it is due.
    pub fn due(&self) -> Time {
        self.armed + self.span
    }
}
