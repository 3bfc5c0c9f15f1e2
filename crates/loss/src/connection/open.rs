//! A transfer that is being measured.

use rexmit_time::Time;
use rexmit_wire::Intervals;

use super::flow::UNKNOWN;
use super::log::Log;
use super::seen::SentRanges;
use crate::{Note, Transfer};

/// A transfer that is being measured. Positions are those of its connection.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// The row as far as it is known.
    pub row: Transfer,
    /// Its number among the connection's responses, from 1.
    pub number: u32,
    /// First byte of the head.
    pub start: u64,
    /// Behind the last byte of the body (or of what came, when the FIN came early).
    pub end: u64,
    /// The FIN's position, when the connection ended with this transfer.
    pub fin: Option<u64>,
    /// Whether a FIN is due.
    pub awaits_fin: bool,
    /// Whether its packets are not to be held (any more).
    pub settled: bool,
    /// When it was complete.
    pub completed: Option<Time>,
    /// All that was dropped, and what of it has not been sent again.
    dropped: Intervals<u64>,
    missing: Intervals<u64>,
    /// The first position of the packet of `t_drop`.
    first_dropped: Option<u64>,
    /// When every byte had been sent and nothing was missing, as of now.
    whole_at: Option<Time>,
    /// Whether the packet of `t_retransmit` carried the highest sequence number.
    first_was_highest: bool,
}

/// What an open transfer's row is held against when it is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// This many data segments, the last.
    Tail(u64),
    /// This many data segments, wherever they stand.
    Segments(u64),
}

/// Bytes that were sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub start: u64,
    pub top: u64,
    pub highest: bool,
    pub at: Time,
}

impl Open {
    /// The connection's response with this number, of `row.size_bytes()` from `start`.
    pub fn new(row: Transfer, number: u32, start: u64, awaits_fin: bool) -> Self {
        let end = start + row.size_bytes();
        Open {
            row,
            number,
            start,
            end,
            fin: None,
            awaits_fin,
            settled: false,
            completed: None,
            dropped: Intervals::default(),
            missing: Intervals::default(),
            first_dropped: None,
            whole_at: None,
            first_was_highest: false,
        }
    }

    /// Behind the last position that belongs to the transfer, its FIN included.
    pub fn top(&self) -> u64 {
        self.end + u64::from(self.fin == Some(self.end))
    }

    /// Whether `start..top` touches the transfer.
    pub fn touches(&self, start: u64, top: u64) -> bool {
        start < self.top() && top > self.start
    }

    /// Whether data in `start..end` touches the transfer's bytes.
    pub fn touches_data(&self, start: u64, end: u64) -> bool {
        start < self.end && end > self.start && start < end
    }

    /// Takes the connection's FIN at `position` for its own, sent with data or without.
    pub fn attach_fin(&mut self, position: u64, on_data: bool) {
        if self.row.body_bytes == UNKNOWN {
            self.end = position.max(self.start);
            self.row.body_bytes = self.end - self.start;
        }
        if position < self.end {
            let end = position.max(self.start);
            self.row.notes.push(Note::ShortOf {
                missing: self.end - end,
            });
            self.end = end;
        }
        if position == self.end {
            self.fin = Some(position);
            self.row.fin_on_data = Some(on_data);
        }
        self.awaits_fin = false;
    }

    /// Notes that the packet `start..top`, sent at `at`, was dropped.
    pub fn drop_packet(&mut self, start: u64, top: u64, segment: bool, at: Time) {
        let (start, top) = (start.max(self.start), top.min(self.top()));
        self.dropped.add(start, top);
        self.missing.add(start, top);
        self.row.dropped_packets += 1;
        self.row.dropped_segments += u64::from(segment);
        if self.row.t_drop.is_none_or(|t| at < t) {
            self.row.t_drop = Some(at);
            self.first_dropped = Some(start);
        }
    }

    /// Whether some of `start..top` was dropped.
    pub fn lost(&self, start: u64, top: u64) -> bool {
        self.dropped.meets(start, top)
    }

    /// Notes that bytes sent before were sent again.
    pub fn repair(&mut self, retransmission: &Retransmission) {
        let &Retransmission {
            start,
            top,
            highest,
            at,
        } = retransmission;
        if self.lost(start, top) && self.row.t_retransmit.is_none_or(|t| at < t) {
            self.row.t_retransmit = Some(at);
            self.first_was_highest = highest;
        }
        let has_first = self
            .first_dropped
            .is_some_and(|first| (start..top).contains(&first));
        if has_first && self.row.t_first_retransmit.is_none_or(|t| at < t) {
            self.row.t_first_retransmit = Some(at);
        }
        self.missing.remove(start, top);
    }

    /// Notes that bytes dropped before the transfer was known have been sent again already.
    pub fn repaired_before(&mut self, start: u64, end: u64) {
        self.missing.remove(start, end);
    }

    /// Notes that the FIN was sent again.
    pub fn repair_fin(&mut self, at: Time) {
        self.row.t_fin_retransmit.get_or_insert(at);
    }

    /// Looks whether every byte was sent and all that was dropped was sent again; `held` is whether some
    /// of its packets wait for their fate.
    pub fn complete_now(&mut self, seen: &SentRanges, held: bool, now: Time) -> bool {
        if self.completed.is_some() && self.missing.is_empty() && !held {
            // A retransmission was lost in its turn, and sent once more.
            self.whole_at.get_or_insert(now);
            return false;
        }
        if self.completed.is_some() || seen.highest < self.end || !self.missing.is_empty() || held {
            self.whole_at = if self.missing.is_empty() && !held {
                self.whole_at
            } else {
                None
            };
            return false;
        }
        if !seen.covers(self.start, self.top()) {
            return false;
        }
        self.whole_at.get_or_insert(now);
        // A server that announced the end of the connection and went on does not owe a FIN any more.
        if self.awaits_fin && seen.highest <= self.end {
            return false;
        }
        self.completed = Some(now);
        self.row.complete = true;
        self.whole_at = Some(now);
        true
    }

    /// The finished row. `log` still holds the last segments asked for.
    pub fn close(mut self, log: &Log, asked: Asked, mss_bytes: u32) -> Transfer {
        let row = &mut self.row;
        row.mss_bytes = mss_bytes;
        row.t_end = self.whole_at;
        row.is_tlp = row
            .t_retransmit
            .filter(|_| row.dropped_packets >= 2)
            .map(|_| self.first_was_highest);
        let asked = match asked {
            Asked::Tail(asked) => asked,
            Asked::Segments(asked) => {
                row.exact = row.complete && row.dropped_segments == asked;
                return self.row;
            }
        };
        let wanted = asked.min(row.segments);
        let tail = log.last_first(self.start, self.end).take(wanted as usize);
        let in_tail = tail.filter(|segment| segment.dropped).count() as u64;
        row.exact = row.complete && in_tail == wanted && row.dropped_segments == wanted;
        if asked > row.segments && row.exact {
            row.notes.push(Note::WholeTransfer {
                asked,
                segments: row.segments,
            });
        }
        if !row.stalled && (in_tail != wanted || row.dropped_segments != wanted) {
            row.notes.push(Note::NotExact {
                asked,
                dropped: row.dropped_segments,
                in_tail,
            });
        }
        self.row
    }
}
