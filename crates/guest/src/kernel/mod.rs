//! What the kernel under test says of itself: its counters and its sockets.

pub mod causes;
pub mod counters;
pub mod mechanism;
pub mod mptcp;
pub mod sender;
pub mod socket;
