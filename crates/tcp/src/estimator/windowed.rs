//! The smallest and the largest of late: three best samples of a window (`lib/win_minmax.c`, after Kathleen Nichols).

use rexmit_time::Duration;

#[derive(Clone, Copy, Debug)]
struct Sample {
    tick: i64,
    value: u32,
}

/// The minimum over a window of time, of which the caller chooses the unit.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMin {
    window: i64,
    best: [Sample; 3],
}

impl WindowedMin {
    /// No sample yet: the largest number.
    #[must_use]
    pub fn new(window: i64, tick: i64) -> Self {
        WindowedMin {
            window,
            best: [Sample {
                tick,
                value: u32::MAX,
            }; 3],
        }
    }

    /// The minimum.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.best[0].value
    }

    /// The minimum of round-trip times in microseconds; none before a sample.
    #[must_use]
    pub fn span(&self) -> Option<Duration> {
        let micros = self.get();
        (micros != u32::MAX).then(|| Duration::from_micros(i64::from(micros)))
    }

    /// Takes a sample (`minmax_running_min`).
    pub fn take(&mut self, tick: i64, value: u32) {
        let sample = Sample { tick, value };
        let best = &mut self.best;
        if value <= best[0].value || tick - best[2].tick > self.window {
            *best = [sample; 3];
            return;
        }
        if value <= best[1].value {
            best[1] = sample;
            best[2] = sample;
        } else if value <= best[2].value {
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

/// The maximum over a window of time, of which the caller chooses the unit: the minimum of what is missing to the largest
/// number.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax(WindowedMin);

impl WindowedMax {
    /// No sample yet: 0.
    #[must_use]
    pub fn new(window: i64, tick: i64) -> Self {
        WindowedMax(WindowedMin::new(window, tick))
    }

    /// The maximum.
    #[must_use]
    pub fn get(&self) -> u32 {
        u32::MAX - self.0.get()
    }

    /// Takes a sample (`minmax_running_max`).
    pub fn take(&mut self, tick: i64, value: u32) {
        self.0.take(tick, u32::MAX - value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_is_forgotten_after_the_window() {
        let mut min = WindowedMin::new(100, 0);
        assert_eq!(min.get(), u32::MAX);
        min.take(0, 10);
        for tick in (10..=100).step_by(10) {
            min.take(tick, 20);
            assert_eq!(min.get(), 10);
        }
        min.take(101, 30);
        assert_eq!(min.get(), 20);
    }

    #[test]
    fn a_larger_value_takes_over_at_once_and_leaves_after_the_window() {
        let mut filter = WindowedMax::new(10, 0);
        let seen: Vec<u32> = [
            (0, 50),
            (1, 80),
            (2, 60),
            // The second choice is of the second quarter of the window, the third of its second half.
            (4, 40),
            (7, 30),
            (11, 20),
            // Eleven after the largest: the second choice is next, and then the third.
            (12, 10),
            (15, 5),
        ]
        .into_iter()
        .map(|(at, value)| {
            filter.take(at, value);
            filter.get()
        })
        .collect();
        assert_eq!(seen, [50, 80, 80, 80, 80, 80, 40, 30]);
        filter.take(40, 1);
        assert_eq!(filter.get(), 1, "all are too old");
    }
}
