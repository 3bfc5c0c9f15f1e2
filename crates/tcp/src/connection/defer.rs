//! A listener that defers accepting until data come.

use crate::segment::Segment;

use super::handshake::Due;
use super::types::DeferAccept;

/// What became of a deferred handshake so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferral {
    asked: DeferAccept,
    /// The peer has answered the SYN-ACK (`acked`).
    answered: bool,
}

impl Deferral {
    pub fn new(asked: DeferAccept) -> Self {
        Deferral {
            asked,
            answered: false,
        }
    }

    /// Whether a segment that acknowledges the SYN-ACK, after so many timeouts, is dropped for it brings nothing
    /// (`tcp_check_req`).
    pub fn drops(&mut self, segment: &Segment, timeouts: u32) -> bool {
        let over = timeouts >= self.asked.timeouts && !self.asked.repeats;
        if over || segment.space() > 0 {
            return false;
        }
        self.answered = true;
        true
    }

    /// What a timeout asks for that `timeouts` others came before, where `retries` are allowed without an answer
    /// (`syn_ack_recalc`; before 2.6.32 `tcp_synack_timer`).
    pub fn due(&self, timeouts: u32, retries: u32) -> Due {
        let last = if self.answered {
            retries.max(self.asked.timeouts)
        } else {
            retries
        };
        if timeouts >= last {
            Due::GiveUp
        } else if !self.answered || self.asked.repeats || timeouts + 1 >= self.asked.timeouts {
            Due::Send
        } else {
            Due::Wait
        }
    }
}
