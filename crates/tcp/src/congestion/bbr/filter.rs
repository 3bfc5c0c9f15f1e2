//! The largest of late: three samples from parts of a window (`lib/win_minmax.c`; Kathleen Nichols' windowed filter).

/// A value and the time at which it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SeenRate {
    at: u32,
    value: u32,
}

/// The largest value within a window of time, in whatever unit that is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaxFilter {
    /// The largest, the largest since, and the largest since that.
    best: [SeenRate; 3],
}

impl MaxFilter {
    /// The largest.
    pub fn get(&self) -> u32 {
        self.best[0].value
    }

    /// Takes a value at a time, which does not go back (`minmax_running_max`).
    pub fn take(&mut self, window: u32, at: u32, value: u32) {
        let new = SeenRate { at, value };
        let age = |old: SeenRate| at.wrapping_sub(old.at);
        if value >= self.best[0].value || age(self.best[2]) > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.grow_older(window, new);
    }

    /// Time passes without a larger one (`minmax_subwin_update`).
    fn grow_older(&mut self, window: u32, new: SeenRate) {
        let age = new.at.wrapping_sub(self.best[0].at);
        let [first, second, third] = self.best;
        if age > window {
            // What is next best takes its place, as long as it is not too old itself.
            self.best = [second, third, new];
            if new.at.wrapping_sub(second.at) > window {
                self.best = [third, new, new];
            }
        } else if second.at == first.at && age > window / 4 {
            self.best = [first, new, new];
        } else if third.at == second.at && age > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_value_takes_over_at_once_and_leaves_after_the_window() {
        let mut filter = MaxFilter::default();
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
            filter.take(10, at, value);
            filter.get()
        })
        .collect();
        assert_eq!(seen, [50, 80, 80, 80, 80, 80, 40, 30]);
        filter.take(10, 40, 1);
        assert_eq!(filter.get(), 1, "all are too old");
    }
}
