//! Packets that were lost before the monitor, and of which no gap in the sequence numbers tells.
//!
//! When the last segments of a flight are lost before the monitor, what is sent again of them looks new there. A sender
//! that counts its packets (IP identification) gives it away: some are missing, and no gap in the sequence numbers holds
//! them. Of an answer to a SYN the stamp tells that it echoes.

use rexmit_tcp::recovery::constants::RTO_MIN;
use rexmit_time::Duration;

use super::pieces::Copy;
use super::steps::packets;
use super::SenderView;
use crate::event::{packets_of, Event, SentKind};

/// Times that a segment is sent again in a row at most (Linux: tcp_retries2).
const MOST_TIMEOUTS: u32 = 15;

impl SenderView {
    /// What was sent between `last` and `next`, and did not come by, if `next` came after a wait in which the sender can
    /// have learned of a loss.
    pub(super) fn look_ahead(&mut self, last: &Event, next: &Event) {
        let Some(line) = self.board.line else { return };
        // A FIN alone says nothing of what was lost before it: it is sent once all is, probes too.
        if next.flags.rst() || next.flags.syn() || next.payload_len == 0 {
            return;
        }
        if self.times.clock.is_beside_sender() {
            // Nothing is lost on the way to a monitor beside the sender: what is missing, the capture missed.
            return;
        }
        let newest = self.numbers.newest.unwrap_or(*last);
        let missing = self.numbers.missing(&newest, next, self.cut);
        let nxt = self.board.pieces.nxt();
        let start = line.place(next.seq, nxt);
        let end = start + i64::from(next.range().len());
        let gap = (start - nxt).max(0) as u32;
        let (mut late, mut late_bytes) = (0, 0);
        for event in self.merge.sent_between(newest.ip_id, next.ip_id) {
            late += packets_of(event.payload_len, self.cut);
            let place = line.place(event.seq, nxt);
            if nxt <= place && place < start {
                late_bytes += event.payload_len;
            }
        }
        let lost = gap.saturating_sub(late_bytes).div_ceil(self.mss);
        let hidden = missing.saturating_sub(late + lost);
        let waited = self.times.sent_at(next) - self.times.sent_at(last);
        // Where the sender's round trip is not known, the usual least timeout stands for it.
        let trip = match (self.times.clock.known_delay(), self.measured.rtts.least()) {
            (Some(_), Some(least)) => least * 9 / 10,
            _ => RTO_MIN,
        };
        // Sooner than after a round trip nothing that is new went again.
        let soon = waited < trip;
        if hidden == 0 || (soon && start >= nxt) {
            return;
        }
        let window = self.receiver.window.unwrap_or(0).div_ceil(self.mss);
        if hidden > 2 * window + MOST_TIMEOUTS {
            // More than its peer has room for, each sent again, and timers of nothing else: it counts other packets, too.
            self.numbers.set_own(false);
            return;
        }
        if start >= nxt
            && !self.facts.counts_apart
            && !self.numbers.proof.holds_over(waited, hidden)
        {
            return;
        }
        let copy = Copy {
            stamp: last.timestamps.map(|t| t.0),
            ip_id: last.ip_id,
            ..Copy::unseen(last.at, self.times.told())
        };
        if start < nxt {
            let others = if soon {
                self.holes_before(start)
            } else {
                self.timers_in(waited, trip)
            };
            let owed = hidden.saturating_sub(others);
            if owed <= self.numbers.owed {
                // They may have been sent again, and lost again.
                return;
            }
            self.numbers.owed = owed;
        } else {
            // What lies between left no later than `next` did, and may be late only.
            let before = Copy {
                at: next.at,
                stamp: next.timestamps.map(|t| t.0),
                ip_id: next.ip_id,
                ..copy
            };
            self.unseen(start, before, next.at);
            self.unseen(end, copy, next.at);
            let this = ((end - start) as u32).div_ceil(self.mss).max(1);
            self.verdicts.held.found_ahead(this);
            self.numbers.owed = self.numbers.owed.max(hidden).saturating_sub(this);
        }
        self.numbers.owed_at = Some(copy);
    }

    /// Segments below `start` that may have gone again before what begins there: a sender repairs its holes from the first
    /// on, so what is missing before the first of them was new.
    fn holes_before(&self, start: i64) -> u32 {
        let una = self.board.pieces.una();
        let holes = self.board.pieces.across(una, start.max(una));
        let holes = holes.filter(|piece| piece.covered.is_none() && piece.start < start);
        holes.map(|piece| packets(piece, self.mss)).sum()
    }

    /// Packets of timers that may have run out in a wait: a probe waits for two round trips, the least of which is `trip`.
    fn timers_in(&self, waited: Duration, trip: Duration) -> u32 {
        let probe = self.measured.rtts.moving().unwrap_or(trip) * 3 / 2;
        let none = waited < probe.min(RTO_MIN);
        let doubled = waited.as_nanos() / RTO_MIN.as_nanos();
        if none {
            0
        } else {
            1 + doubled.max(1).ilog2()
        }
    }

    /// Whether what begins at `start` is new: after a timeout a sender repairs its holes from the first on, and what it sends
    /// beyond some of which no repair left is what F-RTO sends first (RFC 5682 §2.1).
    fn jumps(&self, nxt: i64, start: i64) -> bool {
        let between = ((start - nxt) as u32).div_ceil(self.mss);
        let room = (1..=self.numbers.owed).contains(&between);
        start > nxt && room && self.verdicts.held.missing_here() == 0
    }

    /// A packet beyond all that came by, the numbers from `nxt` to `end`: had they been sent before, and did not come by?
    /// `late`: it was sent before others that came by before it. It begins at `start`, and `this` is what is known of it.
    pub(super) fn was_owed(&mut self, nxt: i64, (start, end): (i64, i64), late: bool, this: Copy) {
        let packets = ((end - nxt) as u32).div_ceil(self.mss);
        if late {
            // One of those that were missing.
            self.numbers.owed = self.numbers.owed.saturating_sub(packets);
            return;
        }
        let jumps = self.jumps(nxt, start);
        let owed = self.numbers.owed.checked_sub(packets);
        let lost = self.numbers.owed_at.filter(|_| jumps || owed.is_some());
        self.numbers.owed = 0;
        let Some(copy) = lost else { return };
        // What lies between left no later than this did, and may be late only.
        let before = Copy {
            sent: copy.sent,
            ..this
        };
        self.unseen(start, before, this.at);
        if let Some(owed) = owed.filter(|_| !jumps) {
            self.numbers.owed = owed;
            self.unseen(end, copy, this.at);
        }
    }

    /// A SYN-ACK that answers a SYN once more: the first answer was lost before the monitor. Where another SYN-ACK follows,
    /// that one may be the second, and SYNs waited for longer than usual behind the monitor, unless this one comes when a
    /// timer sends it.
    pub(super) fn unseen_answer(&mut self, event: &Event, (start, end): (i64, i64), next: Copy) {
        if !event.flags.ack() {
            return;
        }
        let (clock, following) = (&self.times.clock, self.merge.next_syn());
        let by_stamp = event.timestamps.filter(|_| following.is_none());
        let by_stamp = by_stamp.and_then(|(_, echo)| clock.answered_before(echo, event.at));
        let Some(sent) = by_stamp.or_else(|| clock.answered_by_timer(event.at, following)) else {
            return;
        };
        let copy = Copy {
            at: sent,
            sent,
            stamp: None,
            ip_id: None,
            seen: false,
            ..next
        };
        self.board.pieces.push(end, copy);
        self.heard.missed((start, end), sent, sent);
        self.tell_sent(event, start, end, sent, SentKind::New);
    }
}
