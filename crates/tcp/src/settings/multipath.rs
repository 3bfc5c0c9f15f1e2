//! The settings of Multipath TCP that are a choice among named forms.

use super::value::choices;
use super::Settings;

/// Which subflow takes new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpScheduler {
    /// There is no Multipath TCP.
    None,
    /// The shortest smoothed round-trip time among those with room in the congestion window: the kernels of
    /// multipath-tcp.org (`get_available_subflow`).
    LowestRtt,
    /// A segment each in turn, to those with room (`mptcp_rr.c`, v0.90).
    RoundRobin,
    /// Each carries everything (`mptcp_redundant.c`, v0.92).
    Redundant,
    /// As the shortest round-trip time, but none that would block a faster one (Ferlin and others, 2016; `mptcp_blest.c`,
    /// v0.95).
    Blest,
    /// The shortest time until all is sent that waits on it, for a burst at a time: Linux since 5.10
    /// (`mptcp_subflow_get_send`).
    LingerTime,
}

choices!(
    MptcpScheduler,
    "scheduler",
    None = "none",
    LowestRtt = "lowest-rtt",
    RoundRobin = "round-robin",
    Redundant = "redundant",
    Blest = "blest",
    LingerTime = "linger-time",
);

/// How much stays on a subflow together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpBurst {
    /// A segment: the scheduler is asked for each.
    Segment,
    /// A fragment of the send buffer, which may be up to 32 KiB long, is sent whole on one subflow (since 6.6).
    Fragment,
}

choices!(
    MptcpBurst,
    "burst",
    Segment = "segment",
    Fragment = "fragment",
);

impl Settings {
    /// Multipath TCP is Linux's own, not that of multipath-tcp.org.
    pub(crate) fn has_upstream_mptcp(&self) -> bool {
        self.mptcp_scheduler == MptcpScheduler::LingerTime
    }
}

/// How the send buffer of the whole connection follows those of its subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpBuffer {
    /// It is as large as the largest of them: out of tree, and upstream before 6.7 (`mptcp_propagate_sndbuf`).
    Largest,
    /// It is as large as all of them together (`__mptcp_sync_sndbuf`).
    Sum,
}

choices!(MptcpBuffer, "send buffer", Largest = "largest", Sum = "sum",);

/// What a subflow that lost something, as it thinks, has sent again on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpReinject {
    /// Nothing.
    Off,
    /// The first of what the subflow has out.
    Head,
    /// All that the subflow has out, as multipath-tcp.org's kernels do after a timeout.
    All,
}

choices!(
    MptcpReinject,
    "re-injection",
    Off = "off",
    Head = "head",
    All = "all",
);

/// What the timer of the whole connection runs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpTimer {
    /// There is none.
    None,
    /// Twice the longest timeout of the subflows, doubled each time: multipath-tcp.org (`mptcp_set_rto`).
    TwiceLongestTimeout,
    /// The longest wait for a pending timer of a subflow, be it a timeout or a probe; what is not acknowledged goes to a
    /// subflow that has nothing out: Linux since 5.13 (`mptcp_set_timeout`, `__mptcp_retrans`).
    PendingTimer,
}

choices!(
    MptcpTimer,
    "connection timer",
    None = "none",
    TwiceLongestTimeout = "twice-longest-timeout",
    PendingTimer = "pending-timer",
);

/// Which generation of options is on the wire. The bytes that they take shorten the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOptions {
    /// RFC 6824: numbers of 32 bits and a checksum, 20 bytes on a segment with data.
    Rfc6824,
    /// RFC 8684: mappings of 64 bits without a checksum, 24 or 28 bytes on a segment with data.
    Rfc8684,
}

choices!(
    MptcpOptions,
    "options",
    Rfc6824 = "rfc6824",
    Rfc8684 = "rfc8684",
);
