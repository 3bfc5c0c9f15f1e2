//! Waiting until a packet of several segments is worth its while.

use super::super::backlog::Unsent;
use super::super::{Sender, State};

/// The part of the window that is worth sending, as its divisor (`tcp_tso_win_divisor`).
const DIVISOR: u32 = 3;

impl Sender {
    /// Whether a packet of several segments waits for more window (`tcp_tso_should_defer`, 3.10). `last`: nothing was
    /// written behind it.
    pub(in super::super) fn defer_linux3(&mut self, head: &Unsent, last: bool) -> bool {
        let waits = self.is_worth_waiting(head, last);
        self.deferred = match (waits, self.deferred) {
            (true, None) => Some(self.tick()),
            (true, since) => since,
            (false, _) => None,
        };
        waits
    }

    fn is_worth_waiting(&self, head: &Unsent, last: bool) -> bool {
        let long = |since: i64| self.tick() - since > 1;
        if head.fin || self.state != State::Open || self.deferred.is_some_and(long) {
            return false;
        }
        let peer = self.window_end().offset_from(head.seq).unsigned_abs();
        let left = self.window.cwnd.saturating_sub(self.queue.in_flight());
        let room = peer.min(left * self.mss);
        let whole = (!last && room >= head.len()) || room >= self.settings.gso_segments * self.mss;
        let window = self.peer_window.min(self.window.cwnd * self.mss);
        !whole && room < window / DIVISOR
    }
}
