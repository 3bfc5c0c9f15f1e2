//! The smallest round-trip time of late: a windowed minimum with three best samples (`lib/win_minmax.c`, after Kathleen
//! Nichols).

use rexmit_time::Duration;

#[derive(Clone, Copy, Debug)]
struct Sample {
    tick: i64,
    micros: u32,
}

/// The minimum over a window of time, of which the caller chooses the unit.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt {
    window: i64,
    best: [Sample; 3],
}

impl MinRtt {
    /// No sample yet: the largest number.
    #[must_use]
    pub fn new(window: i64, tick: i64) -> Self {
        MinRtt {
            window,
            best: [Sample {
                tick,
                micros: u32::MAX,
            }; 3],
        }
    }

    /// The minimum in microseconds.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.best[0].micros
    }

    /// The minimum; none before a sample.
    #[must_use]
    pub fn span(&self) -> Option<Duration> {
        let micros = self.get();
        (micros != u32::MAX).then(|| Duration::from_micros(i64::from(micros)))
    }

    /// Takes a sample (`minmax_running_min`).
    pub fn take(&mut self, tick: i64, micros: u32) {
        let sample = Sample { tick, micros };
        let best = &mut self.best;
        if micros <= best[0].micros || tick - best[2].tick > self.window {
            *best = [sample; 3];
            return;
        }
        if micros <= best[1].micros {
            best[1] = sample;
            best[2] = sample;
        } else if micros <= best[2].micros {
            best[2] = sample;
        }
        // The best sample ages: the next best take its place in time (`minmax_subwin_update`).
        let age = tick - best[0].tick;
        if age > self.window {
            *best = [best[1], best[2], sample];
            if tick - best[0].tick > self.window {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].tick == best[0].tick && age > self.window / 4 {
            best[1] = sample;
            best[2] = sample;
        } else if best[2].tick == best[1].tick && age > self.window / 2 {
            best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_is_forgotten_after_the_window() {
        let mut min = MinRtt::new(100, 0);
        assert_eq!(min.get(), u32::MAX);
        min.take(0, 10);
        for tick in (10..=100).step_by(10) {
            min.take(tick, 20);
            assert_eq!(min.get(), 10);
        }
        min.take(101, 30);
        assert_eq!(min.get(), 20);
    }
}
