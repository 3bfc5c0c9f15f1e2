//! One direction of a connection while nothing has gone wrong in it: running counters only.

use rexmit_time::{Duration, Time};
use rexmit_wire::table::prefetch;
use rexmit_wire::{Headers, SeqNum, SeqRange};

use crate::event::{packets_of, ETHERNET};
use crate::window::{is_near, is_too_much, HELD};

/// Packets that a sender may have sent without being seen, at most; more is another way of numbering, unless it is known that
/// the sender counts this connection's packets alone.
pub(super) const MOST_MISSING: u8 = 64;
/// Packets that come late, at most: those left before the last one.
const MOST_LATE: u8 = 64;

/// No segment's time.
const UNTIMED: Time = Time::MAX;

/// What every packet looks at: kept small, as it is fetched for each.
#[derive(Debug)]
pub(crate) struct Side {
    /// Packets seen.
    pub packets: u64,
    /// Payload bytes seen.
    pub bytes: u64,
    /// Packets with payload.
    pub segments: u64,
    /// When the segment came by that a round-trip time is being measured with ([`UNTIMED`] if none is), and its end.
    timed_at: Time,
    timed_end: SeqNum,
    /// Everything below was acknowledged, or must have been: no more than [`HELD`] lie between this and `nxt`.
    una: SeqNum,
    /// Everything below was sent.
    nxt: SeqNum,
    /// Round-trip times between the monitor and the receiver.
    pub rtt: RunningRtt,
    /// Largest payload.
    pub largest: u32,
    /// The window that its last packet offered, not scaled.
    window: u16,
    /// The low byte of the IP identification that its next packet has, if it counts its packets.
    next_id: u8,
    duplicate_acks: u8,
    /// Sequence numbers are known, if only from acknowledgements.
    known: bool,
    /// It sent something that takes up sequence numbers.
    pub sent: bool,
    /// It sent a FIN.
    pub fin: bool,
    /// Timestamps came from it.
    pub stamps: bool,
}

/// Smallest, largest, sum and number of round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunningRtt {
    pub sum: Duration,
    /// Seconds; a number of this size is as exact as any clock.
    least: f32,
    most: f32,
    pub count: u32,
}

impl RunningRtt {
    #[inline]
    fn add(&mut self, sample: Duration) {
        let seconds = sample.as_secs_f64() as f32;
        self.least = if self.count == 0 {
            seconds
        } else {
            self.least.min(seconds)
        };
        self.most = self.most.max(seconds);
        self.sum += sample;
        self.count = self.count.saturating_add(1);
    }

    /// How far the samples are apart at most.
    pub fn spread(&self) -> Duration {
        length(self.most - self.least)
    }

    /// Smallest, average, largest; none without samples.
    pub fn summary(&self) -> Option<[Duration; 3]> {
        let average = self.sum / i64::from(self.count);
        (self.count > 0).then(|| {
            let (least, most) = (length(self.least), length(self.most));
            [least.min(average), average, most.max(average)]
        })
    }
}

fn length(seconds: f32) -> Duration {
    Duration::from_nanos((f64::from(seconds) * 1e9).round() as i64)
}

impl Default for Side {
    fn default() -> Self {
        Side {
            packets: 0,
            bytes: 0,
            segments: 0,
            timed_at: UNTIMED,
            timed_end: SeqNum::default(),
            una: SeqNum::default(),
            nxt: SeqNum::default(),
            rtt: RunningRtt::default(),
            largest: 0,
            window: 0,
            next_id: 0,
            duplicate_acks: 0,
            known: false,
            sent: false,
            fin: false,
            stamps: false,
        }
    }
}

impl Side {
    /// Whether `seq` lies where numbers of this side may lie now.
    #[inline]
    pub fn is_near(&self, seq: SeqNum) -> bool {
        !self.known || is_near(seq, self.nxt)
    }

    /// Whether `seq` is among the numbers that a window of any use may hold: between a window below what was
    /// acknowledged and one above what was sent.
    pub fn is_in_window(&self, seq: SeqNum, window: u32) -> bool {
        let below = i64::from(self.nxt.offset_from(seq));
        let window = i64::from(window);
        self.known && (-window..=window + self.flight()).contains(&below)
    }

    /// Whether `ack` acknowledges what was sent and not more.
    pub fn may_acknowledge(&self, ack: SeqNum) -> bool {
        self.known && !ack.is_before(self.una) && !ack.is_after(self.nxt)
    }

    /// Whether a packet bears what comes next.
    pub fn is_next(&self, headers: &Headers) -> bool {
        self.sent && headers.seq == self.nxt
    }

    /// Whether the other side acknowledges what has not come by, of a side that is seen to send.
    #[inline]
    pub fn has_not_shown(&self, ack: SeqNum) -> bool {
        self.sent && ack.is_after(self.nxt)
    }

    /// Whether its first packet, which begins at `seq`, was acknowledged before it came by.
    #[inline]
    pub fn is_behind(&self, seq: SeqNum) -> bool {
        !self.sent && self.known && seq.is_before(self.una)
    }

    /// Whether a packet, no SYN, bears nothing beyond what was sent.
    #[inline]
    pub fn is_old(&self, headers: &Headers) -> bool {
        let end = headers.seq + headers.payload_len;
        self.sent && !end.is_after(self.nxt) && !headers.flags.syn()
    }

    /// Whether a packet of the other side acknowledges something for the first time.
    #[inline]
    pub fn is_next_ack(&self, headers: &Headers) -> bool {
        headers.ack != self.una
    }

    /// Whether anything is known of its numbers.
    pub const fn is_known(&self) -> bool {
        self.known
    }

    /// Whether more than `ack` was acknowledged.
    pub fn is_acked_beyond(&self, ack: SeqNum) -> bool {
        self.known && ack.is_before(self.una)
    }

    /// Everything below was sent.
    pub const fn nxt(&self) -> SeqNum {
        self.nxt
    }

    /// Sequence numbers sent and not acknowledged.
    pub fn flight(&self) -> i64 {
        i64::from(self.nxt.offset_from(self.una).max(0))
    }

    /// Its last packet offered no window, or there was none.
    #[inline]
    pub const fn offers_nothing(&self) -> bool {
        self.window == 0
    }

    /// Counts a packet. True when it offers the same window as the one before.
    #[inline]
    pub fn count(&mut self, headers: &Headers) -> bool {
        self.packets += 1;
        if headers.payload_len > 0 {
            self.bytes += u64::from(headers.payload_len);
            self.segments += 1;
            self.largest = self.largest.max(headers.payload_len);
        }
        self.stamps |= headers.timestamps.is_some();
        let same = self.window == headers.window;
        self.window = headers.window;
        same
    }

    /// How many packets before this one are missing by their IP identifications, of which the lower byte is kept.
    #[inline]
    pub fn skipped(&mut self, headers: &Headers) -> Option<u8> {
        let id = headers.ip_id.filter(|&id| id != 0)?;
        let packets = packets_of(headers.payload_len, ETHERNET) as u8;
        let next = core::mem::replace(&mut self.next_id, (id as u8).wrapping_add(packets));
        let missing = (id as u8).wrapping_sub(next);
        ((1..=u8::MAX - MOST_LATE).contains(&missing) && self.packets > 1).then_some(missing)
    }

    /// A SYN or SYN-ACK of a number not seen before.
    pub fn begin(&mut self, range: SeqRange) {
        self.una = range.start;
        self.nxt = range.end;
        self.known = true;
        self.sent = true;
    }

    /// A packet, not a SYN, that takes up `range`. True when it is not just the next one.
    #[inline]
    pub fn advance(&mut self, at: Time, range: SeqRange) -> bool {
        debug_assert!(self.is_near(range.start), "{range:?} passed the door");
        if !self.sent {
            self.sent = true;
            if !self.known {
                self.una = range.start;
            }
            self.known = true;
            // What was sent before the capture began may be under way.
            self.nxt = range.start;
        }
        let next = range.start == self.nxt;
        if next {
            self.nxt = range.end;
            if self.timed_at == UNTIMED {
                self.timed_at = at;
                self.timed_end = range.end;
            }
        } else {
            // Karn's algorithm (RFC 6298 §3).
            self.timed_at = UNTIMED;
            if range.end.is_after(self.nxt) {
                self.nxt = range.end;
            }
        }
        if is_too_much(self.una, self.nxt) {
            self.una = self.nxt - HELD;
        }
        !next
    }

    /// Whether a packet that takes up nothing bears a number beyond what was seen: what lies between was sent (RFC 9293
    /// §3.10.7.4).
    #[inline]
    pub fn says_more(&self, seq: SeqNum) -> bool {
        self.sent && seq.is_after(self.nxt) && self.is_near(seq)
    }

    /// A keep-alive without payload: one number below the next.
    pub fn is_keep_alive(&self, seq: SeqNum) -> bool {
        self.sent && self.una == self.nxt && seq + 1 == self.nxt
    }

    /// The other side acknowledges. `again`: it does nothing else, and offers the same window as before. True when it
    /// acknowledges what never came by, or repeats itself as after a loss.
    #[inline]
    pub fn acked(&mut self, at: Time, ack: SeqNum, again: bool) -> bool {
        debug_assert!(self.is_near(ack), "{ack} passed the door");
        if !self.sent {
            // Its packets do not come by here, or not yet.
            if !self.known || ack.is_after(self.nxt) {
                self.una = ack;
                self.nxt = ack;
                self.known = true;
            }
            return false;
        }
        let ahead = ack.offset_from(self.una);
        if ahead > 0 {
            if ack.is_after(self.nxt) {
                return true;
            }
            self.una = ack;
            self.duplicate_acks = 0;
            if self.timed_at != UNTIMED && !self.timed_end.is_after(ack) {
                let sample = at.since(self.timed_at);
                self.timed_at = UNTIMED;
                if sample.is_negative() {
                    return true;
                }
                self.rtt.add(sample);
            }
        } else if ahead == 0 && again && self.nxt != ack {
            // As RFC 5681 §2 says what a duplicate acknowledgement is.
            self.duplicate_acks = self.duplicate_acks.saturating_add(1);
            return self.duplicate_acks >= 2;
        }
        false
    }

    /// Has it on its way from memory.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.packets);
        prefetch(&self.nxt);
        prefetch(&self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bare, flow};

    fn numbered(id: u16) -> Headers {
        Headers {
            ip_id: Some(id),
            ..bare(flow(1))
        }
    }

    #[test]
    fn missing_packets_are_counted_as_far_as_a_byte_goes() {
        let skipped = |id: u16| {
            let mut side = Side::default();
            for headers in [numbered(499), numbered(500), numbered(id)] {
                let missing = side.skipped(&headers);
                side.count(&headers);
                if headers == numbered(id) {
                    return missing;
                }
            }
            None
        };
        assert_eq!(skipped(501), None);
        assert_eq!([skipped(502), skipped(606)], [Some(1), Some(105)]);
        assert_eq!(skipped(480), None, "it came late");
    }

    #[test]
    fn a_number_ahead_tells_of_more() {
        let mut side = Side::default();
        assert!(!side.says_more(SeqNum::new(200)));
        side.begin(SeqRange::new(SeqNum::new(0), 100));
        assert!(side.says_more(SeqNum::new(200)));
        assert!(!side.says_more(SeqNum::new(100)) && !side.says_more(SeqNum::new(99)));
    }
}
