//! Integer-nanosecond time and named random streams from one seed.
//!
//! Nothing here reads a clock or the machine's randomness: time is a parameter and every random
//! number follows from the seed of the run.

mod duration;
mod instant;
mod streams;

pub use duration::Duration;
pub use instant::Time;
pub use streams::{Stream, Streams};
