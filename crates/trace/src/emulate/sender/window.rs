//! What a stack's window can be at most where that is certain: in the slow start of a connection and after a timeout. More
//! in flight than that is another stack's, or another state's.

use rexmit_tcp::congestion::Window;
use rexmit_tcp::recovery::machine::AckOutcome;
use rexmit_tcp::settings::{AckOrder, Settings};
use rexmit_time::Duration;

use super::rate::Rate;

/// What it costs, as a natural logarithm, when more is in flight than the window can be.
const TOO_MUCH: f64 = -5.0;

/// What a sender may have in flight, and how fast it repairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// Its congestion window at most, in segments, where that is certain.
    pub most: Option<u32>,
    pub rate: Rate,
}

impl Flight {
    /// At the beginning of a connection with segments of `mss` bytes.
    pub fn begin(&mut self, settings: &Settings, mss: u32) {
        let first = settings.congestion.initial_window;
        let most = [None, Some(Duration::ZERO)].map(|srtt| Window::initial(first, mss, srtt));
        self.most = most.into_iter().max();
    }

    /// After a timeout the window is what is `in_flight` and one segment.
    pub fn shrink(&mut self, in_flight: u32) {
        self.most = Some(in_flight + 1);
    }

    /// It is not certain any more.
    pub fn forget(&mut self) {
        self.most = None;
    }

    /// An acknowledgement lets it grow, of 6.x that has seen much reordering (`reordered`) also where nothing is acknowledged
    /// in order (`tcp_may_raise_cwnd`).
    pub fn grow(
        &mut self,
        settings: &Settings,
        reordered: bool,
        outcome: AckOutcome,
        acked: u32,
        delivered: u32,
    ) {
        let by_sack = settings.loss.ack_order == AckOrder::LossesFirst && reordered;
        let counts = match by_sack {
            true => AckOutcome::PROGRESS,
            false => AckOutcome::ACKED,
        };
        if let (Some(window), true) = (&mut self.most, outcome.any(counts)) {
            *window += if settings.congestion.byte_counting {
                acked.max(delivered)
            } else {
                1
            };
        }
    }

    /// New data left, and so many packets are `in_flight`: what that costs, as a natural logarithm. The probe of a tail may go
    /// beyond.
    pub fn check(&mut self, in_flight: u32) -> f64 {
        if self.most.is_some_and(|window| in_flight > window + 1) {
            self.forget();
            return TOO_MUCH;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::recovery::machine;

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::board::Board;
    use crate::emulate::profile;
    use crate::emulate::sender::{EmulatedSender, Recycled};

    /// A sender of this stack after a timeout, with eight segments.
    fn after_timeout(stack: &str) -> (EmulatedSender, Board) {
        let mut pages = profile::all().iter();
        let profile = pages.find(|profile| profile.stack == stack).unwrap();
        let mut board = board_of(8);
        let mut sender = EmulatedSender::new(profile, 0, Recycled::default());
        machine::enter_loss(
            &mut sender.at(&mut board, rexmit_time::Time::from_nanos(300_000_000)),
            false,
        );
        (sender, board)
    }

    /// What an acknowledgement adds to the window.
    fn grown(
        sender: &mut EmulatedSender,
        board: &mut Board,
        segment: u32,
        sacked: std::ops::Range<u32>,
    ) -> u32 {
        let before = sender.flight.most.unwrap();
        let report = ack(board, segment, sacked, 0);
        sender.deliver(board, &report, &mut AckOutcome::default());
        sender.flight.most.unwrap() - before
    }

    /// What an acknowledgement that SACKs two segments adds to the window.
    fn grown_by_sacks(stack: &str, reordered: bool) -> u32 {
        let (mut sender, mut board) = after_timeout(stack);
        if reordered {
            sender.detection.threshold += 1;
        }
        grown(&mut sender, &mut board, 0, 4..6)
    }

    #[test]
    fn sacks_let_the_window_grow_where_much_reordering_was_seen() {
        assert_eq!(grown_by_sacks("linux-6", true), 2);
        assert_eq!(grown_by_sacks("linux-6", false), 0);
        assert_eq!(grown_by_sacks("linux-3.10", true), 0);
    }

    #[test]
    fn what_was_sacked_before_is_not_delivered_again() {
        let (mut sender, mut board) = after_timeout("linux-6");
        grown(&mut sender, &mut board, 0, 1..6);
        assert_eq!(grown(&mut sender, &mut board, 1, 0..0), 1);
        assert_eq!(grown(&mut sender, &mut board, 3, 0..0), 2);
    }
}
