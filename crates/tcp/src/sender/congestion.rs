//! The congestion window of a sender, what governs it, and how much of it is used.

use super::window::Usage;
use crate::congestion::{Control, Siblings, Window};

/// The congestion window and what goes with it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    pub control: Control,
    pub window: Window,
    /// The subflows of the connection, for controls that couple them; none of plain TCP.
    pub siblings: Siblings,
    pub usage: Usage,
    /// Bytes a second (`sk_pacing_rate`).
    pub pacing_rate: u64,
}

impl Congestion {
    /// A loss brings the threshold down.
    pub fn reduce(&mut self) {
        self.window.ssthresh = self.control.ssthresh(&self.window, &self.siblings);
    }
}
