//! How fast a recovery sends: half as much as arrives from its first acknowledgement on (PRR, rate halving), or nothing
//! until half a window has arrived and then as much as arrives (RFC 6675's pipe).

use rexmit_tcp::recovery::State;
use rexmit_tcp::settings::Recovery;

use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};

/// Packets that must have arrived before the rate says anything.
const ENOUGH: u32 = 8;

/// What it costs, as a natural logarithm, to send at the other rate.
const OTHERWISE: f64 = -2.5;

/// A recovery's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// In flight when it began; 0 once the rate was judged.
    flight: u32,
    delivered: u32,
    sent: u32,
}

impl EmulatedSender {
    pub(super) fn begin_rate(&mut self, board: &Board) {
        self.flight.rate = Rate {
            flight: self.marks.in_flight(board),
            ..Rate::default()
        };
    }

    /// A packet left in recovery.
    pub(super) fn note_rate_sent(&mut self, packets: u32) {
        self.flight.rate.sent += packets;
    }

    /// An acknowledgement came in recovery: once, while less than half of the window has arrived, what was sent is held
    /// against the rate.
    pub(super) fn judge_rate(&mut self, board: &Board, report: &AckReport) {
        if self.episode.state != State::Recovery || self.flight.rate.flight == 0 || !board.sack {
            return;
        }
        // What left in answer to this acknowledgement is still to come.
        let due = self.flight.rate.delivered;
        let acked = report.acked.iter().filter(|piece| !piece.sacked);
        let sacked = report.sacked.iter().map(|index| board.at(*index));
        self.flight.rate.delivered += acked.chain(sacked).map(|piece| piece.packets).sum::<u32>();
        if due < ENOUGH || self.marks.lost <= self.marks.retransmitted {
            return;
        }
        if due * 2 + 2 < self.flight.rate.flight {
            let halves = self.flight.rate.sent * 3 >= due;
            let waits = self.flight.rate.sent <= 2;
            let own = match self.settings.recovery {
                Recovery::Pipe => waits,
                Recovery::NewReno => true,
                _ => halves,
            };
            if !own {
                self.evidence.score += OTHERWISE;
            }
        }
        self.flight.rate.flight = 0;
    }
}
