//! RACK (RFC 8985 §6), as far as it decides when a recovery begins and which retransmissions are lost again.

use rexmit_tcp::recovery::constants::{RACK_RECOVERIES, TIMEOUT_MIN};
use rexmit_tcp::sender::State;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board, Piece, LOST, RESENT};
use rexmit_tcp::recovery::Job;

/// RACK's state (RFC 8985 §5.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    sent: Time,
    end: SeqNum,
    rtt: Duration,
    pub advanced: bool,
    duplicate_seen: bool,
    steps: u8,
    persist: u8,
    widened: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            sent: Time::ZERO,
            end: SeqNum::default(),
            rtt: Duration::ZERO,
            advanced: false,
            duplicate_seen: false,
            steps: 1,
            persist: 0,
            widened: None,
        }
    }
}

impl Rack {
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    pub fn undone(&mut self) {
        self.persist = RACK_RECOVERIES.min(self.persist + 1);
    }

    pub fn note_duplicate(&mut self) {
        self.duplicate_seen = true;
    }
}

fn sent_after(at: Time, end: SeqNum, other: Time, other_end: SeqNum) -> bool {
    at > other || (at == other && end.is_after(other_end))
}

impl EmulatedSender {
    /// Notes a delivered transmission (`tcp_rack_advance`).
    pub(super) fn advance_rack(&mut self, piece: &Piece, now: Time) {
        let rtt = now - piece.sent;
        let least = self.min_rtt.map_or(Duration::MAX, |(least, _)| least);
        if piece.retransmissions > 0 && rtt < least {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        if sent_after(piece.sent, piece.end, self.rack.sent, self.rack.end) {
            self.rack.sent = piece.sent;
            self.rack.end = piece.end;
        }
    }

    /// Widens the reordering window once a round trip with D-SACKs (`tcp_rack_update_reo_wnd`).
    pub(super) fn adapt_rack(&mut self, report: &AckReport) {
        if self.settings.rack_static_reo_wnd {
            return;
        }
        if self.rack.duplicate_seen {
            let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
            self.rack.duplicate_seen = false;
            if self.rack.widened.is_none_or(|at| report.at - at >= srtt) {
                self.rack.steps = self.rack.steps.saturating_add(1);
                self.rack.widened = Some(report.at);
                self.rack.persist = RACK_RECOVERIES;
            }
        } else if self.rack.persist == 0 {
            self.rack.steps = 1;
        }
    }

    /// `tcp_rack_reo_wnd`
    fn reordering_window(&self, board: &Board) -> Duration {
        if !self.reordered {
            if self.state >= State::Recovery {
                return Duration::ZERO;
            }
            if board.sacked >= self.reordering && !self.settings.rack_no_dupack_threshold {
                return Duration::ZERO;
            }
        }
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        let least = self.min_rtt.map_or(srtt, |(least, _)| least);
        (least / 4 * i64::from(self.rack.steps)).min(srtt)
    }

    /// How long until a piece counts as lost.
    pub(super) fn rack_wait(&self, piece: &Piece, window: Duration, now: Time) -> Duration {
        self.rack.rtt + window - (now - piece.sent)
    }

    /// Marks what is lost; returns how long to wait for the rest (`tcp_rack_detect_loss`).
    pub(super) fn detect_by_rack(&mut self, board: &mut Board, now: Time) -> Duration {
        let window = self.reordering_window(board);
        let mut longest = Duration::ZERO;
        for index in 0..board.len() {
            let piece = *board.at(index);
            if piece.sacked {
                continue;
            }
            let marks = piece.marks[self.slot];
            if !sent_after(self.rack.sent, self.rack.end, piece.sent, piece.end) {
                if piece.retransmissions == 0 {
                    // What follows was sent later still.
                    break;
                }
                continue;
            }
            if marks & LOST != 0 && marks & RESENT == 0 {
                continue;
            }
            let wait = self.rack_wait(&piece, window, now);
            if wait > Duration::ZERO {
                longest = longest.max(wait);
            } else {
                self.mark_lost(board, index);
            }
        }
        longest
    }

    /// Whether RACK would find the piece lost at `now`, with or without its reordering window.
    pub(super) fn rack_finds_lost(&self, board: &Board, piece: &Piece, now: Time) -> bool {
        sent_after(self.rack.sent, self.rack.end, piece.sent, piece.end)
            && self.rack_wait(piece, self.reordering_window(board), now) <= Duration::ZERO
    }

    /// After an acknowledgement (`tcp_rack_mark_lost`). Whether a retransmission was found lost, and whether the timer was
    /// set.
    pub(super) fn mark_lost_by_rack(&mut self, board: &mut Board, now: Time) -> (bool, bool) {
        let retransmitted = self.retransmitted;
        let mut set = false;
        if core::mem::take(&mut self.rack.advanced) {
            let wait = self.detect_by_rack(board, now);
            if wait > Duration::ZERO {
                let span = self.ticks.up(wait + TIMEOUT_MIN).min(self.rto);
                self.timer.set(now, Job::Reordering, span);
                set = true;
            }
        }
        (retransmitted > self.retransmitted, set)
    }

    /// The wait for reordered segments is over (`tcp_rack_reo_timeout`). Whether something was found lost.
    pub(super) fn on_reordering_timer(&mut self, board: &mut Board, now: Time) -> bool {
        let (lost, retransmitted) = (self.lost, self.retransmitted);
        self.detect_by_rack(board, now);
        let found = lost != self.lost || retransmitted != self.retransmitted;
        if found && self.state != State::Recovery {
            self.enter_recovery(board, now);
        }
        if self.timer.job() != Some(Job::Timeout) {
            self.rearm(board, now);
        }
        found
    }
}
