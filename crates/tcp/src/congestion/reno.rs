//! Reno (RFC 5681).

use super::Window;
use crate::settings::{Settings, UndoWindow};

/// Reno: half the window after a loss, one segment a round trip beyond slow start.
#[derive(Clone, Debug)]
pub struct Reno {
    byte_counting: bool,
    undo: UndoWindow,
}

impl Reno {
    pub(super) fn new(settings: &Settings) -> Self {
        Reno {
            byte_counting: settings.congestion.byte_counting,
            undo: settings.congestion.undo_window,
        }
    }

    /// RFC 5681 §3.1, equation 4, of the window (`tcp_reno_ssthresh`).
    pub(super) fn ssthresh(&self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    pub(super) fn cong_avoid(&self, window: &mut Window, acked: u32) {
        if self.byte_counting {
            self.cong_avoid_by_segment(window, acked);
        } else if window.cwnd <= window.ssthresh {
            window.slow_start_by_ack();
        } else {
            window.grow_by_ack(window.cwnd);
        }
    }

    /// `tcp_reno_cong_avoid` since 4.0.
    fn cong_avoid_by_segment(&self, window: &mut Window, acked: u32) {
        let acked = self.slow_start(window, acked);
        if acked > 0 {
            window.grow(window.cwnd, acked);
        }
    }

    /// What slow start leaves of an acknowledgement of `acked` segments.
    pub(super) fn slow_start(&self, window: &mut Window, acked: u32) -> u32 {
        if !window.in_slow_start() {
            return acked;
        }
        let counted = if self.byte_counting { acked } else { 1 };
        window.slow_start(counted)
    }

    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        let before = match self.undo {
            // Reno does not remember the window, only its half.
            UndoWindow::Threshold => window.ssthresh.saturating_mul(2),
            UndoWindow::Prior => window.prior_cwnd,
        };
        window.cwnd.max(before)
    }
}
