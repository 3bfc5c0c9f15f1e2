//! The congestion window of a sender, what governs it, and how much of it is used.

use super::window::Usage;
use crate::congestion::{Control, Window};

/// The congestion window and what goes with it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    pub control: Control,
    pub window: Window,
    pub usage: Usage,
    /// Bytes a second (`sk_pacing_rate`).
    pub pacing_rate: u64,
}
