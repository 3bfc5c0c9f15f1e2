//! Measuring a rate.

use std::fmt;
use std::time::Instant;

/// How fast something went.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate {
    /// Items a second.
    pub per_second: f64,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:6.2} M/s ({:6.1} ns each)",
            self.per_second / 1e6,
            1e9 / self.per_second
        )
    }
}

/// The best of several runs of `work` over `items` items: other programs only ever make it slower.
#[allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub fn best_of(runs: u32, items: u64, mut work: impl FnMut()) -> Rate {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    Rate {
        per_second: items as f64 / best,
    }
}
