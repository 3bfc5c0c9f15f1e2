//! The congestion window of a sender, what governs it, and how much of it is used.

use super::window::Usage;
use crate::congestion::{Control, Siblings, Window};
use crate::recovery::prr::Prr;
use crate::recovery::reduction::Reduced;
use crate::settings::UndoWindow;

/// The congestion window and what goes with it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    pub control: Control,
    pub window: Window,
    /// The subflows of the connection, for controls that couple them; none of plain TCP.
    pub siblings: Siblings,
    pub usage: Usage,
    /// The threshold before the reduction, 0 where it must not come back (`prior_ssthresh`).
    pub prior_ssthresh: u32,
    pub prr: Prr,
    /// Bytes a second (`sk_pacing_rate`).
    pub pacing_rate: u64,
}

impl Congestion {
    /// A loss brings the threshold down.
    pub fn reduce(&mut self) {
        self.window.ssthresh = self.control.ssthresh(&self.window, &self.siblings);
    }

    /// The window comes back, and the threshold, or the window alone.
    pub fn undo(&mut self, rule: UndoWindow, threshold_too: bool) {
        let window = &mut self.window;
        let reduced = Reduced {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            prior_ssthresh: self.prior_ssthresh,
            undone_cwnd: self.control.undo_cwnd(window),
        };
        (window.cwnd, window.ssthresh) = reduced.undone(rule, threshold_too);
    }
}
