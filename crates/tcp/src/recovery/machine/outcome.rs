//! What an acknowledgement told, and what follows for what is sent.

use rexmit_wire::SeqNum;

/// What an acknowledgement told, as one set of bits (`FLAG_…` of `tcp_ack`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOutcome(u16);

impl AckOutcome {
    /// Nothing.
    pub const NONE: AckOutcome = AckOutcome(0);
    /// The segment carried data itself.
    pub const DATA: AckOutcome = AckOutcome(1);
    /// It could set the window.
    pub const WINDOW: AckOutcome = AckOutcome(1 << 1);
    /// It acknowledged data that were not before.
    pub const ACKED: AckOutcome = AckOutcome(1 << 2);
    /// Some of them had been sent again.
    pub const RETRANSMISSION_ACKED: AckOutcome = AckOutcome(1 << 3);
    /// It SACKed data that were not before.
    pub const SACKED: AckOutcome = AckOutcome(1 << 4);
    /// By it a retransmission was found lost.
    pub const LOST_RETRANSMISSION: AckOutcome = AckOutcome(1 << 5);
    /// Data sent once, before the recovery point, were delivered.
    pub const ORIGINAL: AckOutcome = AckOutcome(1 << 6);
    /// It moved the first byte not acknowledged.
    pub const ADVANCED: AckOutcome = AckOutcome(1 << 7);
    /// A D-SACK that was believed.
    pub const DSACK: AckOutcome = AckOutcome(1 << 8);
    /// The timer is to be set by it.
    pub const SET_TIMER: AckOutcome = AckOutcome(1 << 9);
    /// It ended at a segment that had been SACKed.
    pub const RENEGING: AckOutcome = AckOutcome(1 << 10);
    /// Its round-trip time may hold a delayed acknowledgement.
    pub const MAYBE_DELAYED: AckOutcome = AckOutcome(1 << 11);
    /// The D-SACK is for a tail loss probe.
    pub const DSACK_PROBE: AckOutcome = AckOutcome(1 << 12);
    /// It tells of a congestion mark (`FLAG_ECE`).
    pub const MARKED: AckOutcome = AckOutcome(1 << 13);

    /// What no duplicate acknowledgement has (`FLAG_NOT_DUP`).
    pub const NOT_DUPLICATE: AckOutcome = AckOutcome(1 | 1 << 1 | 1 << 2);
    /// What asks for a closer look (`FLAG_CA_ALERT`).
    pub const ALERT: AckOutcome = AckOutcome(1 << 4 | 1 << 8 | 1 << 13);
    /// Something new was delivered (`FLAG_FORWARD_PROGRESS`).
    pub const PROGRESS: AckOutcome = AckOutcome(1 << 2 | 1 << 4);

    /// Whether a bit of `other` is set.
    #[must_use]
    pub const fn any(self, other: AckOutcome) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets the bits of `other`.
    pub fn set(&mut self, other: AckOutcome) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    pub fn clear(&mut self, other: AckOutcome) {
        self.0 &= !other.0;
    }
}

impl core::ops::BitOr for AckOutcome {
    type Output = AckOutcome;
    fn bitor(self, other: AckOutcome) -> AckOutcome {
        AckOutcome(self.0 | other.0)
    }
}

/// What an acknowledgement lets the sender send again once the window is set (`REXMIT_…`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// Nothing.
    #[default]
    Nothing,
    /// New data first, F-RTO's test; else what is lost.
    New,
    /// What is lost.
    Lost,
}

/// What an acknowledgement brought in segments, and what was out before it.
#[derive(Clone, Copy, Debug)]
pub struct AckView {
    /// The first byte not acknowledged before it.
    pub prior_una: SeqNum,
    /// Segments out before it.
    pub prior_out: u32,
    /// Segments SACKed before it; without SACK, duplicates.
    pub prior_sacked: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// Segments that it acknowledges.
    pub acked: u32,
    /// Duplicates that it stands for.
    pub duplicates: u32,
}
