//! What the benchmarks share: traffic and a clock.

mod timing;
mod traffic;

pub use timing::{best_of, Rate};
pub use traffic::Traffic;
