//! How fast a recovery sends: half as much as arrives from its first acknowledgement on (PRR, rate halving), or nothing
//! until half a window has arrived and then as much as arrives (RFC 6675's pipe).

use rexmit_tcp::recovery::CaState;
use rexmit_tcp::settings::Recovery;
use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::timing::SEES_ALL;
use super::{EmulatedSender, Moment};
use crate::emulate::board::{AckReport, Board};

/// Packets that must have arrived before the rate says anything.
const ENOUGH: u32 = 8;

/// What it costs, as a natural logarithm, to send at the other rate, where the sender may have heard other than was seen,
/// and beside it.
const OTHERWISE: f64 = -2.5;
const NEVER: f64 = -5.0;

/// Who waits for half a window sends no more before than what begins the recovery.
const BEGINS: u32 = 2;

/// New data that leave so soon after an acknowledgement were let go by it.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A recovery's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// In flight when it began; 0 once the rate was judged.
    flight: u32,
    delivered: u32,
    sent: u32,
    /// It is judged when so much was delivered, and again when it is twice as much: the longer a sender is silent, the less
    /// likely it repairs at once.
    due: u32,
    /// The first byte not acknowledged when it began.
    una: SeqNum,
}

impl Rate {
    /// A recovery begins with so many packets in flight.
    pub fn begin(in_flight: u32, una: SeqNum) -> Self {
        Rate {
            flight: in_flight,
            due: ENOUGH,
            una,
            ..Rate::default()
        }
    }

    /// A packet left in recovery.
    pub fn note_sent(&mut self, packets: u32) {
        self.sent += packets;
    }
}

impl EmulatedSender {
    /// New data left in recovery, after half a window had arrived and hardly anything was sent. An acknowledgement let them
    /// go that moved nothing in order, so the sender had them before, as they take no room that became free since. Who
    /// sends half as much as arrives would have sent them before.
    pub(super) fn judge_silence(&mut self, board: &Board, moment: &Moment) {
        let Rate {
            flight,
            delivered,
            sent,
            una,
            ..
        } = self.flight.rate;
        let certain = self.episode.state == CaState::Recovery
            && flight > 0
            && board.sack
            && board.una == una
            && moment.slack <= SEES_ALL
            && moment.gap <= AT_ONCE;
        if !certain || delivered < ENOUGH || sent > BEGINS || delivered * 2 + 4 < flight {
            return;
        }
        if !matches!(
            self.settings.congestion.recovery,
            Recovery::Pipe | Recovery::NewReno
        ) {
            self.evidence.score += NEVER;
        }
        self.flight.rate.flight = 0;
    }

    /// An acknowledgement came in recovery: while less than half of the window has arrived, what was sent is held against the
    /// rate.
    pub(super) fn judge_rate(&mut self, board: &Board, report: &AckReport) {
        if self.episode.state != CaState::Recovery || self.flight.rate.flight == 0 || !board.sack {
            return;
        }
        // What left in answer to this acknowledgement is still to come.
        let delivered = self.flight.rate.delivered;
        let acked = report.acked.iter().filter(|piece| !piece.sacked);
        let sacked = report.sacked.iter().map(|index| board.at(*index));
        self.flight.rate.delivered += acked.chain(sacked).map(|piece| piece.packets).sum::<u32>();
        if delivered < self.flight.rate.due || self.marks.lost <= self.marks.retransmitted {
            return;
        }
        if delivered * 2 + 2 >= self.flight.rate.flight {
            self.flight.rate.due = u32::MAX;
            return;
        }
        let halves = self.flight.rate.sent * 3 >= delivered;
        // What is lost is not in flight, and makes room.
        let gone = delivered + self.marks.lost;
        let waits = self.flight.rate.sent <= BEGINS || gone * 2 + 2 >= self.flight.rate.flight;
        let own = match self.settings.congestion.recovery {
            Recovery::Pipe => waits,
            Recovery::NewReno => true,
            _ => halves,
        };
        if !own {
            let beside = report.slack <= SEES_ALL;
            self.evidence.score += if beside { NEVER } else { OTHERWISE };
        }
        self.flight.rate.due = delivered * 2;
    }
}
