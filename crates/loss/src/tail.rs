//! The tail-loss rule: Algorithm 1 of the TLP measurement paper (its section 3.3).
//!
//! Of every HTTP response the last N data segments are dropped, once, and a bare FIN besides.
//! All that was sent before passes.

mod flow;
mod hold;
mod log;
mod losses;
mod open;
mod out;
mod responses;
mod rows;
mod rule;
mod seen;
mod sequence;
mod settings;
mod table;

pub use rule::TailRule;
pub use settings::{Counters, Mode, Settings, UnknownMode};
