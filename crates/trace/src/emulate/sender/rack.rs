//! RACK: what [`recovery::rack`](rexmit_tcp::recovery::rack) decides, applied to what was seen.

use rexmit_tcp::recovery::rack::{self, Delivered, Reordering};
use rexmit_tcp::recovery::{Job, State};
use rexmit_time::{Duration, Time};

use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board, Piece};

impl EmulatedSender {
    /// A transmission was delivered.
    pub(super) fn advance_rack(&mut self, piece: &Piece, now: Time) {
        let delivered = Delivered {
            sent: piece.sent,
            end: piece.end,
            retransmitted: piece.retransmissions > 0,
        };
        let least = self.trips.least();
        self.detection.rack.advance(&delivered, now, least);
    }

    /// Adapts the reordering window to what was delivered.
    pub(super) fn adapt_rack(&mut self, report: &AckReport) {
        let adapts = report.prior_delivered > 0 && !self.settings.rack_static_reo_wnd;
        if adapts {
            let rack = &mut self.detection.rack;
            rack.adapt(report.prior_delivered, report.delivered);
        }
    }

    fn reordering_window(&self, board: &Board) -> Duration {
        self.detection.rack.reordering_window(&Reordering {
            state: self.episode.state,
            seen: self.detection.reordered,
            sacked_out: board.sacked,
            threshold: self.detection.threshold,
            no_threshold: self.settings.rack_no_dupack_threshold,
            min_rtt: self.trips.least(),
            srtt: self.trips.rtt.srtt(),
        })
    }

    /// Marks what is lost; returns how long to wait for the rest.
    fn detect_by_rack(&mut self, board: &mut Board, now: Time) -> Duration {
        let window = self.reordering_window(board);
        let mut marked = self.marks.on(board);
        let wait = self.detection.rack.detect(&mut marked, window, now);
        marked.end();
        wait
    }

    /// Whether RACK would find the piece lost at `now`.
    pub(super) fn rack_finds_lost(&self, board: &Board, piece: &Piece, now: Time) -> bool {
        let rack = &self.detection.rack;
        let window = self.reordering_window(board);
        rack.overtook(piece.sent, piece.end) && rack.wait(piece.sent, window, now) <= Duration::ZERO
    }

    /// After an acknowledgement (`tcp_rack_mark_lost`). Whether a retransmission was found lost, and whether the timer was
    /// set.
    pub(super) fn mark_lost_by_rack(&mut self, board: &mut Board, now: Time) -> (bool, bool) {
        let retransmitted = self.marks.retransmitted;
        let mut set = false;
        if core::mem::take(&mut self.detection.rack.advanced) {
            let wait = self.detect_by_rack(board, now);
            if wait > Duration::ZERO {
                let timer = rack::timer(wait, self.timers.rto);
                let span = self.clock.ticks.up(timer);
                self.timers.timer.set(now, Job::Reordering, span);
                set = true;
            }
        }
        (retransmitted > self.marks.retransmitted, set)
    }

    /// The wait for reordered segments is over (`tcp_rack_reo_timeout`). Whether something was found lost.
    pub(super) fn on_reordering_timer(&mut self, board: &mut Board, now: Time) -> bool {
        let (lost, retransmitted) = (self.marks.lost, self.marks.retransmitted);
        self.detect_by_rack(board, now);
        let found = lost != self.marks.lost || retransmitted != self.marks.retransmitted;
        if found && self.episode.state != State::Recovery {
            self.enter_recovery(board, now);
        }
        if self.timers.timer.job() != Some(Job::Timeout) {
            self.rearm(board, now);
        }
        found
    }
}
