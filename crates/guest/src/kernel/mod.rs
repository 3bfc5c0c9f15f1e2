//! What the kernel under test says of itself: its counters and its sockets.

pub mod counters;
pub mod mechanism;
pub mod socket;
