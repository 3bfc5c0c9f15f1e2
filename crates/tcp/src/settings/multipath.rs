//! Multipath TCP.

use super::reflect::group;
use super::value::choices;

group! {
    /// Multipath TCP.
    pub struct Multipath {
        /// Which subflow takes new data.
        pub mptcp_scheduler: MptcpScheduler = MptcpScheduler::None, "off: RFC 8684 leaves scheduling to implementations";
        /// Bytes after which the scheduler by linger time chooses anew (`MPTCP_SEND_BURST_SIZE`).
        pub mptcp_burst_bytes: u32 = 65_428, "no effect without Multipath TCP";
        /// How much stays on a subflow together.
        pub mptcp_burst: MptcpBurst = MptcpBurst::Segment, "no effect without Multipath TCP";
        /// How the send buffer of the whole connection follows those of its subflows.
        pub mptcp_send_buffer: MptcpBuffer = MptcpBuffer::Largest, "no effect without Multipath TCP";
        /// More than a full segment is acknowledged at once only if the window grows by it or nobody can read it yet; the
        /// connection's reader acknowledges it otherwise (`sk_rcvlowat` of a subflow is 0).
        pub mptcp_reader_acknowledges: bool = false, "no effect without Multipath TCP";
        /// Nagle's rule is asked by the subflow; else the connection alone asks it.
        pub mptcp_subflow_nagle: bool = false, "no effect without Multipath TCP";
        /// What a timeout of a subflow sends again on another (`mptcp_reinject_data`).
        pub mptcp_reinject_on_timeout: MptcpReinject = MptcpReinject::Off, "no effect without Multipath TCP";
        /// What a tail loss probe of a subflow sends again on another (Probe or Wait 2017, section V).
        pub mptcp_reinject_on_probe: MptcpReinject = MptcpReinject::Off, "no effect without Multipath TCP";
        /// What a subflow sends again on another when it begins to repair a loss without a timeout: after fast or early
        /// retransmit, by FACK or RACK. No kernel does.
        pub mptcp_reinject_on_recovery: MptcpReinject = MptcpReinject::Off, "no effect without Multipath TCP";
        /// What the timer of the whole connection runs by.
        pub mptcp_timer: MptcpTimer = MptcpTimer::None, "no effect without Multipath TCP";
        /// What blocks the peer's window or the send buffer is sent again on a faster subflow (`mptcp_rcv_buf_optimization`).
        pub mptcp_opportunistic: bool = false, "no effect without Multipath TCP";
        /// The window of a subflow that blocks them so is halved, at most once a round trip (`mptcp_rcv_buf_optimization`).
        pub mptcp_penalise: bool = false, "no effect without Multipath TCP";
        /// Periods of the connection's timer without a packet after which a subflow is given up for stale
        /// (`stale_loss_cnt`); 0 for never.
        pub mptcp_stale_after: u32 = 0, "no effect without Multipath TCP";
        /// Which generation of options is on the wire.
        pub mptcp_options: MptcpOptions = MptcpOptions::Rfc6824, "no effect without Multipath TCP";
    }

    rules(self) {
        vec![
            (
                (1..=1_048_576).contains(&self.mptcp_burst_bytes),
                "mptcp_burst_bytes must be 1 to 1048576",
            ),
            (
                self.mptcp_stale_after <= 255,
                "mptcp_stale_after must be at most 255",
            ),
            (
                self.mptcp_scheduler == MptcpScheduler::None
                    || (self.mptcp_scheduler == MptcpScheduler::LingerTime)
                        == (self.mptcp_options == MptcpOptions::Rfc8684),
                "mptcp_scheduler = lowest-rtt, round-robin, redundant and blest are of multipath-tcp.org's kernels and need mptcp_options = rfc6824, as the stack linux-4.1 has; linger-time is upstream's and needs rfc8684",
            ),
            (
                self.mptcp_options == MptcpOptions::Rfc6824
                    || !(self.mptcp_opportunistic || self.mptcp_penalise),
                "mptcp_opportunistic and mptcp_penalise are of multipath-tcp.org's kernels (stack linux-4.1)",
            ),
        ]
    }
}

choices! {
    /// Which subflow takes new data.
    pub enum MptcpScheduler ("scheduler") {
        /// There is no Multipath TCP.
        None = "none",
        /// The shortest smoothed round-trip time among those with room in the congestion window: the kernels of
        /// multipath-tcp.org (`get_available_subflow`).
        LowestRtt = "lowest-rtt",
        /// A segment each in turn, to those with room (`mptcp_rr.c`, v0.90).
        RoundRobin = "round-robin",
        /// Each carries everything (`mptcp_redundant.c`, v0.92).
        Redundant = "redundant",
        /// As the shortest round-trip time, but none that would block a faster one (Ferlin and others, 2016; `mptcp_blest.c`,
        /// v0.95).
        Blest = "blest",
        /// The shortest time until all is sent that waits on it, for a burst at a time: Linux since 5.10
        /// (`mptcp_subflow_get_send`).
        LingerTime = "linger-time",
    }
}

choices! {
    /// How much stays on a subflow together.
    pub enum MptcpBurst ("burst") {
        /// A segment: the scheduler is asked for each.
        Segment = "segment",
        /// A fragment of the send buffer, which may be up to 32 KiB long, is sent whole on one subflow (since 6.6).
        Fragment = "fragment",
    }
}

choices! {
    /// How the send buffer of the whole connection follows those of its subflows.
    pub enum MptcpBuffer ("send buffer") {
        /// It is as large as the largest of them: out of tree, and upstream before 6.7 (`mptcp_propagate_sndbuf`).
        Largest = "largest",
        /// It is as large as all of them together (`__mptcp_sync_sndbuf`).
        Sum = "sum",
    }
}

choices! {
    /// What a subflow that lost something, as it thinks, has sent again on another.
    pub enum MptcpReinject ("re-injection") {
        /// Nothing.
        Off = "off",
        /// The first of what the subflow has out.
        Head = "head",
        /// All that the subflow has out, as multipath-tcp.org's kernels do after a timeout.
        All = "all",
    }
}

choices! {
    /// What the timer of the whole connection runs by.
    pub enum MptcpTimer ("connection timer") {
        /// There is none.
        None = "none",
        /// Twice the longest timeout of the subflows, doubled each time: multipath-tcp.org (`mptcp_set_rto`).
        TwiceLongestTimeout = "twice-longest-timeout",
        /// The longest wait for a pending timer of a subflow, be it a timeout or a probe; what is not acknowledged goes to a
        /// subflow that has nothing out: Linux since 5.13 (`mptcp_set_timeout`, `__mptcp_retrans`).
        PendingTimer = "pending-timer",
    }
}

choices! {
    /// Which generation of options is on the wire. The bytes that they take shorten the segments.
    pub enum MptcpOptions ("options") {
        /// RFC 6824: numbers of 32 bits and a checksum, 20 bytes on a segment with data.
        Rfc6824 = "rfc6824",
        /// RFC 8684: mappings of 64 bits without a checksum, 24 or 28 bytes on a segment with data.
        Rfc8684 = "rfc8684",
    }
}

impl Multipath {
    /// Multipath TCP is Linux's own, not that of multipath-tcp.org.
    pub(crate) fn is_upstream(&self) -> bool {
        self.mptcp_scheduler == MptcpScheduler::LingerTime
    }
}
