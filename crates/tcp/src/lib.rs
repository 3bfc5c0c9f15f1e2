//! TCP without I/O: time is a parameter, segments go in and come out as values.
//!
//! Nothing here reads a clock, draws a random number or touches a socket, so that one machine serves the
//! simulator, the tests and the analysis of captures.

pub mod clock;
pub mod congestion;
pub mod connection;
pub mod estimator;
pub mod multipath;
mod near;
pub mod receiver;
pub mod recovery;
mod segment;
pub mod sender;
pub mod settings;
pub mod stacks;
mod words;

pub use segment::{SackList, Segment, Timestamps};
pub use words::{Mechanism, Need, UnknownWord};
