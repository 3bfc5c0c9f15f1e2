//! One direction of a connection while nothing has gone wrong in it: running counters only.

use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, SeqNum, SeqRange};

use super::syn::Syn;

/// Numbers further than this from what is expected belong to no window (RFC 7323 §2.3: the largest is 1 GiB).
const FAR: u32 = 1 << 30;

/// What is known of one direction of a connection as a sender.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Packets seen.
    pub packets: u64,
    /// Payload bytes seen.
    pub bytes: u64,
    /// Packets with payload.
    pub segments: u64,
    /// Its SYN or SYN-ACK, the last one if it sent several.
    pub syn: Option<Box<Syn>>,
    /// How often it sent that.
    pub syns: u32,
    /// Largest payload.
    pub largest: u32,
    /// Keep-alives without payload.
    pub probes: u32,
    /// Round-trip times between the monitor and the receiver.
    pub rtt: RunningRtt,
    /// Everything below was acknowledged.
    una: SeqNum,
    /// Everything below was sent.
    nxt: SeqNum,
    /// The segment that a round-trip time is being measured with: its end, and when it came by.
    timed: Option<(SeqNum, Time)>,
    /// The window that its last packet offered, not scaled.
    window: u16,
    duplicate_acks: u8,
    /// Sequence numbers are known, if only from acknowledgements.
    known: bool,
    /// It sent something that takes up sequence numbers.
    pub sent: bool,
    /// It sent a FIN.
    pub fin: bool,
    /// SACK blocks came from it.
    pub sacks: bool,
    /// Timestamps came from it.
    pub stamps: bool,
}

/// Smallest, sum, largest and number of round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunningRtt {
    pub least: Duration,
    pub most: Duration,
    pub sum: Duration,
    pub count: u32,
}

impl RunningRtt {
    fn add(&mut self, sample: Duration) {
        self.least = if self.count == 0 {
            sample
        } else {
            self.least.min(sample)
        };
        self.most = self.most.max(sample);
        self.sum += sample;
        self.count = self.count.saturating_add(1);
    }
}

/// What an acknowledgement was to the cheap counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// Nothing to look into.
    Fine,
    /// Acknowledges what never came by, or repeats itself as after a loss.
    Trouble,
}

impl Side {
    /// Whether `seq` lies where numbers of this side may lie now.
    pub fn is_near(&self, seq: SeqNum) -> bool {
        !self.known || seq.offset_from(self.nxt).unsigned_abs() < FAR
    }

    /// Whether `seq` is among the numbers that a window of any use may hold: between a window below what was
    /// acknowledged and one above what was sent.
    pub fn is_in_window(&self, seq: SeqNum, window: u32) -> bool {
        let below = self.nxt.offset_from(seq);
        let flight = self.nxt.offset_from(self.una).max(0) as u32;
        self.known && (-i64::from(window)..=i64::from(window + flight)).contains(&i64::from(below))
    }

    /// Whether `ack` acknowledges what was sent and not more.
    pub fn may_acknowledge(&self, ack: SeqNum) -> bool {
        self.known && !ack.is_before(self.una) && !ack.is_after(self.nxt)
    }

    /// Counts a packet.
    #[inline]
    pub fn count(&mut self, headers: &Headers) {
        self.packets += 1;
        if headers.payload_len > 0 {
            self.bytes += u64::from(headers.payload_len);
            self.segments += 1;
            self.largest = self.largest.max(headers.payload_len);
        }
        self.stamps |= headers.timestamps.is_some();
        self.sacks |= !headers.sack.is_empty();
    }

    /// A SYN or SYN-ACK. True when it had been sent before.
    pub fn syn(&mut self, at: Time, headers: &Headers) -> bool {
        let again = self.syn.as_ref().is_some_and(|syn| syn.isn == headers.seq);
        self.syns = if again {
            self.syns.saturating_add(1)
        } else {
            1
        };
        self.syn = Syn::of(at, headers).map(Box::new);
        if !again {
            self.una = headers.seq;
            self.nxt = headers.range().end;
            self.known = true;
            self.sent = true;
        }
        again
    }

    /// A packet, not a SYN, that takes up `range`. True when it is not just the next one.
    #[inline]
    pub fn advance(&mut self, at: Time, range: SeqRange) -> bool {
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
            if self.timed.is_none() {
                self.timed = Some((range.end, at));
            }
        } else {
            // Karn's algorithm (RFC 6298 §3).
            self.timed = None;
            if range.end.is_after(self.nxt) && self.is_near(range.start) {
                self.nxt = range.end;
            }
        }
        !next
    }

    /// A keep-alive without payload: one number below the next.
    pub fn is_keep_alive(&self, seq: SeqNum) -> bool {
        self.sent && self.una == self.nxt && seq + 1 == self.nxt
    }

    /// The other side acknowledges. `pure`: without data, SYN, FIN or RST.
    #[inline]
    pub fn acked(&mut self, at: Time, ack: SeqNum, pure: bool, window: Window) -> Acked {
        if !self.sent {
            // Its packets do not come by here, or not yet.
            if !self.known || (ack.is_after(self.nxt) && self.is_near(ack)) {
                self.una = ack;
                self.nxt = ack;
                self.known = true;
            }
            return Acked::Fine;
        }
        let ahead = ack.offset_from(self.una);
        if ahead > 0 {
            if ack.is_after(self.nxt) {
                return Acked::Trouble;
            }
            self.una = ack;
            self.duplicate_acks = 0;
            if let Some((_, sent)) = self.timed.filter(|(end, _)| !end.is_after(ack)) {
                self.rtt.add(at.since(sent));
                self.timed = None;
            }
        } else if ahead == 0 && pure && self.nxt != ack && window.same {
            // As RFC 5681 §2 says what a duplicate acknowledgement is.
            self.duplicate_acks = self.duplicate_acks.saturating_add(1);
            if self.duplicate_acks >= 2 {
                return Acked::Trouble;
            }
        }
        Acked::Fine
    }

    /// Notes the window that this side offers.
    #[inline]
    pub fn offer(&mut self, window: u16) -> Window {
        let same = self.window == window;
        self.window = window;
        Window { same }
    }
}

/// What a packet offers, beside the packet of its side before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The field did not change.
    pub same: bool,
}
