//! Captures of all kinds, read from any stream.

mod batch;
mod frame;

pub use batch::{Batch, Record};
pub use frame::Frame;
