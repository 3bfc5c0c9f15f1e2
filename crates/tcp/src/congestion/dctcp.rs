//! DCTCP (RFC 8257): the window shrinks by as much of it as was marked (`net/ipv4/tcp_dctcp.c`).

use rexmit_wire::{SeqNum, SeqRange};

use super::{Reno, Window};
use crate::settings::Settings;

/// A share of 1 (`DCTCP_MAX_ALPHA`), with which a connection begins.
const ALL: u32 = 1 << ALL_BITS;
const ALL_BITS: u32 = 10;
/// The newest window of data has a 16th of the mean (`dctcp_shift_g`).
const GAIN_BITS: u32 = 4;

/// DCTCP: Reno, but for what marks do.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// How the window grows; all of it where the peer takes no marks.
    pub(super) reno: Reno,
    /// The moving mean of the share of marked segments (`dctcp_alpha`).
    share: u32,
    /// The end of the window of data that is counted (`next_seq`).
    end: SeqNum,
    /// Segments that had been delivered when it began (`old_delivered`).
    delivered: u32,
    /// Segments that were marked since.
    marked: u32,
    /// The window before it shrank last (`loss_cwnd`).
    before: u32,
}

impl Dctcp {
    pub(super) fn new(settings: &Settings, first: SeqNum) -> Self {
        Dctcp {
            reno: Reno::new(settings),
            share: ALL,
            end: first,
            delivered: 0,
            marked: 0,
            before: 0,
        }
    }

    /// RFC 8257 §3.3 (`dctcp_ssthresh`).
    pub(super) fn ssthresh(&mut self, window: &Window) -> u32 {
        self.before = window.cwnd;
        let part = (u64::from(window.cwnd) * u64::from(self.share)) >> (ALL_BITS + 1);
        window.cwnd.saturating_sub(part as u32).max(2)
    }

    /// Something was lost: half of the window, whatever was marked (RFC 8257 §3.5; `dctcp_react_to_loss`).
    pub(super) fn lose(&mut self, window: &mut Window) {
        self.before = window.cwnd;
        window.ssthresh = (window.cwnd / 2).max(2);
    }

    /// What is sent and not acknowledged is `out`. So many segments have been `delivered`, and an acknowledgement told of so many
    /// that were `marked` (`dctcp_update_alpha`).
    pub(super) fn on_ack(&mut self, out: SeqRange, delivered: u32, marked: u32) {
        self.marked += marked;
        if out.start.is_before(self.end) {
            return;
        }
        let all = delivered.wrapping_sub(self.delivered);
        let fades = match self.share >> GAIN_BITS {
            0 => self.share,
            fades => fades,
        };
        let adds = (u64::from(self.marked) << (ALL_BITS - GAIN_BITS)) / u64::from(all.max(1));
        self.share = ALL.min(self.share - fades + adds.min(u64::from(ALL)) as u32);
        (self.end, self.delivered, self.marked) = (out.end, delivered, 0);
    }

    /// `dctcp_cwnd_undo`
    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(marked: impl Fn(u32) -> u32) -> u32 {
        let mut dctcp = Dctcp::new(&Settings::default(), SeqNum::new(0));
        for round in 0..100 {
            let out = SeqRange::new(SeqNum::new(10 * (round + 1)), 10);
            dctcp.on_ack(out, 10 * (round + 1), marked(round));
        }
        dctcp.ssthresh(&Window::new(100))
    }

    #[test]
    fn the_window_shrinks_by_half_of_what_was_marked() {
        assert_eq!(after(|_| 10), 50, "all");
        assert_eq!(after(|_| 0), 100, "nothing");
        assert!((74..=76).contains(&after(|_| 5)), "half");
        assert!(
            after(|round| 10 * u32::from(round > 97)) > 90,
            "the last two windows"
        );
        let mut dctcp = Dctcp::new(&Settings::default(), SeqNum::new(0));
        let mut window = Window::new(20);
        dctcp.lose(&mut window);
        assert_eq!(
            (window.ssthresh, dctcp.undo_cwnd(&Window::new(5))),
            (10, 20)
        );
    }
}
