//! What can be seen of a sender from outside.

use rexmit_wire::SeqNum;

use super::{CaState, Counters, Flight, Sender, Timing};
use crate::congestion::Window;

impl Sender {
    /// Retransmissions went unanswered too often: the connection is to be given up.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }

    /// The number of the next byte that leaves: new data that still wait for
    /// [`Sender::poll_transmit`](super::Sender::poll_transmit) are not counted.
    #[must_use]
    pub fn leaves_next(&self) -> SeqNum {
        let mut waiting = self.output.packets.iter();
        let new = waiting.find(|one| one.mechanism.is_none() && (one.fin || !one.range.is_empty()));
        new.map_or(self.flight.nxt(), |one| one.range.start)
    }

    /// After the last byte written, a FIN counted (`write_seq`).
    #[must_use]
    pub fn end(&self) -> SeqNum {
        self.written.end
    }

    /// Whether all that was written, a FIN also, is acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flight.segments() == 0 && self.written.backlog.is_empty()
    }

    /// Segments not acknowledged and segments not sent.
    #[must_use]
    pub fn queued(&self) -> (usize, usize) {
        (self.flight.segments(), self.written.backlog.len())
    }

    /// The congestion window and what goes with it.
    #[must_use]
    pub fn window(&self) -> Window {
        self.congestion.window
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> CaState {
        self.episode.state
    }

    /// The reordering that is reckoned with, in segments.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        self.detection.threshold
    }

    /// What was sent and not acknowledged.
    #[must_use]
    pub fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Its round trips, its timeout and its timer.
    #[must_use]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// What the sender did so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Counts everything afresh and compares with the counts kept; says what is wrong.
    ///
    /// # Errors
    /// The first difference found, in words.
    pub fn check(&self) -> Result<(), String> {
        self.flight.check()?;
        if self.written.end.is_before(self.flight.nxt()) {
            return Err(format!("{} {}", self.flight.nxt(), self.written.end));
        }
        if self.congestion.window.cwnd == 0 {
            return Err("no window".to_owned());
        }
        Ok(())
    }
}
