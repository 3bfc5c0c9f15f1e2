//! How large the segments of a sender are.

use rexmit_wire::SeqNum;

use crate::sender::backlog::Unsent;

/// No segment is smaller, whatever the peer's window and the options are (`TCP_MIN_MSS` less its options).
const LEAST: u32 = 48;

/// How large segments are, and what goes with it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sizes {
    /// Payload bytes that the path and the options leave.
    pub path: u32,
    /// Payload bytes: no more than half the peer's largest window (`mss_cache`).
    pub mss: u32,
    /// A segment stands for itself: its data need not follow those of the one before it (Multipath TCP).
    pub apart: bool,
    /// Bytes of a subflow's options on every segment, which `mss` leaves room for.
    pub options: u32,
}

impl Sizes {
    pub fn new(mss: u32) -> Self {
        Sizes {
            path: mss,
            mss,
            apart: false,
            options: 0,
        }
    }

    /// Segments hold half the peer's largest window at most (`tcp_bound_to_half_wnd`).
    pub fn bound(&mut self, largest_window: u32) {
        let most = match largest_window {
            537.. => largest_window / 2,
            _ => largest_window,
        };
        self.mss = self.path.min(most.max(LEAST));
    }

    /// Whether a window that ends at `end` takes the first packet of the segment (`tcp_snd_wnd_test`).
    pub fn fit(&self, head: &Unsent, end: SeqNum) -> bool {
        let packet = if head.len() > self.mss {
            head.seq + self.mss
        } else {
            head.end
        };
        !packet.is_after(end)
    }

    /// The options on every segment change from `before` to `after` bytes.
    pub fn change_options(&mut self, before: u32, after: u32) {
        self.options = after;
        self.path = (self.path + before).saturating_sub(after).max(LEAST);
        self.mss = self.mss.min(self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_window_is_halved_and_options_take_their_room() {
        let mut sizes = Sizes::new(1448);
        for (window, mss) in [
            (65_535, 1448),
            (2_000, 1000),
            (537, 268),
            (536, 536),
            (10, 48),
        ] {
            sizes.bound(window);
            assert_eq!(sizes.mss, mss, "{window}");
        }
        sizes.bound(65_535);
        sizes.change_options(0, 20);
        assert_eq!((sizes.path, sizes.mss), (1428, 1428));
        sizes.change_options(20, 28);
        assert_eq!((sizes.mss, sizes.options), (1420, 28));
    }
}
