//! What a stack's window can be at most where that is certain: in the slow start of a connection and after a timeout. More
//! in flight than that is another stack's, or another state's.

use rexmit_tcp::congestion::Window;
use rexmit_time::Duration;

use super::rate::Rate;
use super::{AckFlags, EmulatedSender};
use crate::emulate::board::Board;

/// What it costs, as a natural logarithm, when more is in flight than the window can be.
const TOO_MUCH: f64 = -5.0;

/// What a sender may have in flight, and how fast it repairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// Its congestion window at most, in segments, where that is certain.
    pub most: Option<u32>,
    pub rate: Rate,
}

impl EmulatedSender {
    pub(super) fn begin_window(&mut self, board: &Board) {
        let most = [None, Some(Duration::ZERO)]
            .map(|srtt| Window::initial(self.settings.initial_window, board.mss, srtt));
        self.flight.most = most.into_iter().max();
    }

    /// After a timeout the window is what is in flight and one segment.
    pub(super) fn shrink_window(&mut self, board: &Board) {
        self.flight.most = Some(self.marks.in_flight(board) + 1);
    }

    pub(super) fn forget_window(&mut self) {
        self.flight.most = None;
    }

    /// An acknowledgement lets it grow.
    pub(super) fn grow_window(&mut self, flags: &AckFlags, packets: u32) {
        if let (Some(window), true) = (&mut self.flight.most, flags.acked) {
            *window += if self.settings.byte_counting {
                packets
            } else {
                1
            };
        }
    }

    /// New data left. The probe of a tail may go beyond.
    pub(super) fn check_window(&mut self, board: &Board) {
        let in_flight = self.marks.in_flight(board);
        if self
            .flight
            .most
            .is_some_and(|window| in_flight > window + 1)
        {
            self.evidence.score += TOO_MUCH;
            self.forget_window();
        }
    }
}
