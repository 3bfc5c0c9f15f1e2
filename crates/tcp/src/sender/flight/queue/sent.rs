//! A segment that was sent, and what is known of it.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use crate::congestion::Departure;

/// Microseconds on the connection's clock, the unit in which Linux keeps the time of sending.
pub type Micros = u64;

/// The time that a number of microseconds stands for.
pub fn time_of(at: Micros) -> Time {
    Time::from_nanos(at * 1_000)
}

/// No segment.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of a segment, and the flags it was sent with; one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    /// The receiver has it out of order (`TCPCB_SACKED_ACKED`).
    pub const SACKED: Marks = Marks(1);
    /// A retransmission of it is on its way (`TCPCB_SACKED_RETRANS`).
    pub const RETRANSMISSION_OUT: Marks = Marks(2);
    /// Deemed lost (`TCPCB_LOST`).
    pub const LOST: Marks = Marks(4);
    /// Was sent more than once (`TCPCB_EVER_RETRANS`).
    pub const EVER_RETRANSMITTED: Marks = Marks(8);
    /// Its delivery entered a sample already (`tx.delivered_mstamp` is zero).
    pub const SAMPLED: Marks = Marks(16);
    /// Carries the FIN.
    pub const FIN: Marks = Marks(32);
    /// Carries PSH.
    pub const PUSH: Marks = Marks(64);
    /// Stands in the list by time of sending.
    pub(super) const LISTED: Marks = Marks(128);
    /// Shares the memory of the segment before it, which was SACKed too.
    pub const JOINED: Marks = Marks(256);
    /// Nobody but the sender has its memory any more: its packet was dropped (`skb_cloned`).
    pub const ALONE: Marks = Marks(512);
    /// The program bounded what its delivery says of the rate (`tx.is_app_limited`).
    pub const APP_LIMITED: Marks = Marks(1024);
    /// Sent again at any time, as Karn's rule asks (`TCPCB_RETRANS`).
    pub const ANY_RETRANSMISSION: Marks = Marks(2 | 8);

    /// Whether a bit of `other` is set.
    pub const fn any(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets the bits of `other`.
    pub fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    pub fn clear(&mut self, other: Marks) {
        self.0 &= !other.0;
    }
}

impl core::ops::BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// Its first byte.
    pub seq: SeqNum,
    /// After its last byte, the FIN counted.
    pub end: SeqNum,
    /// When it was sent last.
    pub at: Micros,
    /// Segments that had been delivered when it was sent last.
    pub delivered: u32,
    /// When it was sent last, for the rate, in microseconds: since its flight began, and since something was last delivered
    /// (`tx.first_tx_mstamp`, `tx.delivered_mstamp`); 0 where nothing asks for that.
    pub flight_us: u32,
    pub delivered_us: u32,
    /// The number of its last transmission among the packets of this sender.
    pub transmission: u32,
    /// What had been sent when it was sent again last (`ack_seq` of an skb sent again before 4.4).
    pub nxt_then: SeqNum,
    /// The neighbour sent before it.
    pub(super) older: u32,
    /// The neighbour sent after it.
    pub(super) newer: u32,
    /// Packets it makes on the wire (`tcp_skb_pcount`).
    pub packets: u16,
    /// What is known of it.
    pub marks: Marks,
}

impl SentSegment {
    /// A segment never sent before.
    pub fn new(seq: SeqNum, end: SeqNum, packets: u16, marks: Marks) -> Self {
        SentSegment {
            seq,
            end,
            at: 0,
            delivered: 0,
            flight_us: 0,
            delivered_us: 0,
            transmission: 0,
            nxt_then: end,
            older: NONE,
            newer: NONE,
            packets,
            marks,
        }
    }

    /// Payload bytes.
    pub fn len(&self) -> u32 {
        self.end.offset_from(self.seq).unsigned_abs() - u32::from(self.marks.any(Marks::FIN))
    }

    /// Packets, as the counters count them.
    pub fn count(&self) -> u32 {
        u32::from(self.packets)
    }

    /// What it remembers of when it was sent last.
    pub fn departure(&self) -> Departure {
        Departure {
            flight_us: self.flight_us,
            delivered_us: self.delivered_us,
            app_limited: self.marks.any(Marks::APP_LIMITED),
        }
    }

    /// It leaves at a time, with what that means for the rate.
    pub fn depart(&mut self, departure: Departure) {
        self.flight_us = departure.flight_us;
        self.delivered_us = departure.delivered_us;
        self.marks.clear(Marks::APP_LIMITED);
        if departure.app_limited {
            self.marks.set(Marks::APP_LIMITED);
        }
    }

    pub fn is_sacked(&self) -> bool {
        self.marks.any(Marks::SACKED)
    }

    pub fn is_lost(&self) -> bool {
        self.marks.any(Marks::LOST)
    }

    pub fn has_retransmission_out(&self) -> bool {
        self.marks.any(Marks::RETRANSMISSION_OUT)
    }
}

/// Packets that `len` bytes of payload make.
pub fn packets(len: u32, mss: u32) -> u16 {
    u16::try_from(len.div_ceil(mss).max(1)).unwrap_or(u16::MAX)
}
