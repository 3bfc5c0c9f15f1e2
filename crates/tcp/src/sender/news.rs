//! What an acknowledgement told, as one set of bits.

/// What an acknowledgement told (`FLAG_…` of `tcp_ack`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News(u16);

impl News {
    /// Nothing.
    pub const NONE: News = News(0);
    /// The segment carried data itself.
    pub const DATA: News = News(1);
    /// It could set the window.
    pub const WINDOW: News = News(1 << 1);
    /// It acknowledged data that were not before.
    pub const ACKED: News = News(1 << 2);
    /// Some of them had been sent again.
    pub const RESENT_ACKED: News = News(1 << 3);
    /// It SACKed data that were not before.
    pub const SACKED: News = News(1 << 4);
    /// By it a resend was found lost.
    pub const LOST_RESEND: News = News(1 << 5);
    /// Data sent once, before the recovery point, were delivered.
    pub const ORIGINAL: News = News(1 << 6);
    /// It moved the first byte not acknowledged.
    pub const ADVANCED: News = News(1 << 7);
    /// A D-SACK that was believed.
    pub const DSACK: News = News(1 << 8);
    /// The timer is to be set by it.
    pub const SET_TIMER: News = News(1 << 9);
    /// It ended at a segment that had been SACKed.
    pub const RENEGING: News = News(1 << 10);
    /// Its round-trip time may hold a delayed acknowledgement.
    pub const MAYBE_DELAYED: News = News(1 << 11);
    /// The D-SACK is for a tail loss probe.
    pub const DSACK_PROBE: News = News(1 << 12);

    /// What no duplicate acknowledgement has (`FLAG_NOT_DUP`).
    pub const NOT_DUPLICATE: News = News(1 | 1 << 1 | 1 << 2);
    /// What asks for a closer look (`FLAG_CA_ALERT`).
    pub const ALERT: News = News(1 << 4 | 1 << 8);
    /// Something new was delivered (`FLAG_FORWARD_PROGRESS`).
    pub const PROGRESS: News = News(1 << 2 | 1 << 4);

    /// Whether a bit of `other` is set.
    pub const fn any(self, other: News) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets the bits of `other`.
    pub fn set(&mut self, other: News) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    pub fn clear(&mut self, other: News) {
        self.0 &= !other.0;
    }
}

impl core::ops::BitOr for News {
    type Output = News;
    fn bitor(self, other: News) -> News {
        News(self.0 | other.0)
    }
}

/// What an acknowledgement lets the sender send again once the window is set (`REXMIT_…`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resume {
    /// Nothing.
    #[default]
    Nothing,
    /// New data first, F-RTO's test; else what is lost.
    New,
    /// What is lost.
    Lost,
}
