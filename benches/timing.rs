//! Measuring a rate.

use std::fmt;

use rustix::time::{clock_gettime, ClockId};

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

/// The best of several runs of `work` over `items` items, by the processor time of this thread: what a core
/// does, whatever else the machine is busy with.
pub fn best_of(runs: u32, items: u64, mut work: impl FnMut()) -> Rate {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = processor_seconds();
        work();
        best = best.min(processor_seconds() - start);
    }
    Rate {
        per_second: items as f64 / best,
    }
}

/// Processor time of this thread so far, in seconds.
#[must_use]
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
