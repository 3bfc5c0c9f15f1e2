//! What the benchmarks share: traffic and a clock.

mod long;
mod timing;
mod traffic;

pub use long::write_long;
pub use timing::{best_of, processor_seconds, Rate};
pub use traffic::Traffic;
