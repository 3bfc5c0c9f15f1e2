//! Packets that were lost before the monitor, and of which only the count of the sender's packets tells.
//!
//! When the last segments of a flight are lost before the monitor, what is sent again of them looks new there. A sender
//! that counts its packets (IP identification) gives it away: some are missing, and no gap in the sequence numbers holds
//! them.

use rexmit_time::Duration;

use super::pieces::{Copy, ORIGINAL};
use super::SenderView;
use crate::event::Event;

/// The least timeout of Linux (TCP_RTO_MIN).
const LEAST_TIMEOUT: Duration = Duration::from_millis(200);

/// Times that a segment is sent again in a row at most (Linux: tcp_retries2).
const MOST_TIMEOUTS: u32 = 15;

impl SenderView {
    /// What was sent between `last` and `next`, and did not come by, if `next` came after a wait in which the sender can
    /// have learned of a loss.
    pub(super) fn look_ahead(&mut self, last: &Event, next: &Event) {
        let Some(line) = self.line else { return };
        if next.flags.rst() || next.flags.syn() || next.range().is_empty() {
            return;
        }
        if self.clock.is_beside_sender() {
            // Nothing is lost on the way to a monitor beside the sender: what is missing, the capture missed.
            return;
        }
        let newest = self.newest.unwrap_or(*last);
        let missing = self.missing(&newest, next);
        let nxt = self.pieces.nxt();
        let start = line.place(next.seq, nxt);
        let end = start + i64::from(next.range().len());
        let gap = (start - nxt).max(0) as u32;
        let (mut late, mut late_bytes) = (0, 0);
        for event in self.merge.sent_between(newest.ip_id, next.ip_id) {
            late += event.payload_len.div_ceil(self.mss).max(1);
            let place = line.place(event.seq, nxt);
            if nxt <= place && place < start {
                late_bytes += event.payload_len;
            }
        }
        let lost = gap.saturating_sub(late_bytes).div_ceil(self.mss);
        let hidden = missing.saturating_sub(late + lost);
        let waited = self.sent_at(next) - self.sent_at(last);
        // Where the sender's round trip is not known, the usual least timeout stands for it.
        let trip = match (self.clock.known_delay(), self.rtts.least()) {
            (Some(_), Some(least)) => least * 9 / 10,
            _ => LEAST_TIMEOUT,
        };
        if hidden == 0 || waited < trip {
            return;
        }
        let window = self.window.unwrap_or(0).div_ceil(self.mss);
        if hidden > 2 * window + MOST_TIMEOUTS {
            // More than its peer has room for, each sent again, and timers of nothing else: it counts other packets, too.
            self.ids.set_own(false);
            return;
        }
        let copy = Copy {
            at: last.at,
            sent: self.told,
            stamp: last.timestamps.map(|t| t.0),
            ack: None,
            ip_id: last.ip_id,
            span: 0,
            number: ORIGINAL,
            seen: false,
            mark: false,
        };
        if start < nxt {
            // Some of them may have been of timers that ran out: a probe waits for two round trips.
            let probe = self.rtts.moving().unwrap_or(trip) * 3 / 2;
            let none = waited < probe.min(LEAST_TIMEOUT);
            let doubled = waited.as_nanos() / LEAST_TIMEOUT.as_nanos();
            let timers = if none { 0 } else { 1 + doubled.max(1).ilog2() };
            let owed = hidden.saturating_sub(timers);
            if owed <= self.owed {
                // They may have been sent again, and lost again.
                return;
            }
            self.owed = owed;
        } else {
            // What lies between left no later than `next` did, and may be late only.
            let before = Copy {
                at: next.at,
                stamp: next.timestamps.map(|t| t.0),
                ip_id: next.ip_id,
                ..copy
            };
            self.unseen(start, before);
            self.unseen(end, copy);
            let this = ((end - start) as u32).div_ceil(self.mss).max(1);
            self.held.found_ahead(this);
            self.owed = self.owed.max(hidden).saturating_sub(this);
        }
        self.owed_at = Some(copy);
    }

    /// A packet beyond all that came by, the numbers from `nxt` to `end`: had they been sent before, and did not come by?
    /// `late`: it was sent before others that came by before it. It begins at `start`, and `this` is what is known of it.
    pub(super) fn was_owed(&mut self, nxt: i64, (start, end): (i64, i64), late: bool, this: Copy) {
        let packets = ((end - nxt) as u32).div_ceil(self.mss);
        if late {
            // One of those that were missing.
            self.owed = self.owed.saturating_sub(packets);
        } else if let (true, Some(copy)) = (self.owed >= packets, self.owed_at) {
            self.owed -= packets;
            // What lies between left no later than this did, and may be late only.
            let before = Copy {
                sent: copy.sent,
                ..this
            };
            self.unseen(start, before);
            self.unseen(end, copy);
        } else {
            self.owed = 0;
        }
    }

    /// How many packets with data left between two and did not come by, at least: what the later one acknowledges besides
    /// may have been acknowledged by packets without data, one for each segment.
    pub(super) fn missing(&self, last: &Event, next: &Event) -> u32 {
        let packets = last.payload_len.div_ceil(self.mss).max(1);
        let missing = self.ids.between(last.ip_id, next.ip_id, packets);
        let answered = if last.flags.ack() && next.flags.ack() {
            next.ack.offset_from(last.ack).max(0).unsigned_abs()
        } else {
            0
        };
        missing.saturating_sub(answered.div_ceil(self.mss))
    }

    /// When a packet was sent, sender's clock.
    pub(super) fn sent_at(&self, event: &Event) -> rexmit_time::Time {
        self.stamps.of(event)
    }
}
