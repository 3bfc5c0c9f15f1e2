//! Reno (RFC 5681).

use super::Window;
use crate::settings::Settings;

/// Reno: half the window after a loss, one segment a round trip beyond slow start.
#[derive(Clone, Debug)]
pub struct Reno {
    byte_counting: bool,
}

impl Reno {
    pub(super) fn new(settings: &Settings) -> Self {
        Reno {
            byte_counting: settings.byte_counting,
        }
    }

    /// RFC 5681 §3.1, equation 4, of the window (`tcp_reno_ssthresh`).
    pub(super) fn ssthresh(&self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    pub(super) fn cong_avoid(&self, window: &mut Window, acked: u32) {
        let mut acked = if self.byte_counting { acked } else { 1 };
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        window.grow(window.cwnd, acked);
    }

    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }
}
