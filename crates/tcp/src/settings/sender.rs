//! The choices of a sender's work: what two kernels, or a kernel and a standard, do in other ways.

use super::value::choices;

/// In what order an acknowledgement is worked through (`tcp_ack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckOrder {
    /// 3.10: an acknowledgement is counted and begins a recovery, and then losses are marked; the window is set in between,
    /// the timer by what was acknowledged, and undo is asked for after F-RTO's test.
    RecoveryFirst,
    /// 6.x: losses are marked, and begin a recovery; undo comes before F-RTO's test; at the end the timer is set, then the
    /// window, and then it is sent.
    LossesFirst,
}

choices!(
    AckOrder,
    "order of an acknowledgement",
    RecoveryFirst = "recovery-first",
    LossesFirst = "losses-first",
);

/// In what it is counted how far segments overtook each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderingUnit {
    /// In segments as they were sent; any distance turns early retransmit off, one above the threshold FACK
    /// (`tcp_update_reordering`, before 4.19).
    Segments,
    /// In bytes, rounded up to full segments (`tcp_check_sack_reordering`).
    Bytes,
}

choices!(
    ReorderingUnit,
    "unit of reordering",
    Segments = "segments",
    Bytes = "bytes",
);

/// What follows when an acknowledgement stops at a segment that was SACKed: the receiver may have dropped it (RFC 2018 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reneging {
    /// All SACKs are void, and the head is sent again as by a timeout.
    Timeout,
    /// Later SACKs get time to put it right, and only then a timeout makes SACKs void.
    Wait,
}

choices!(Reneging, "reneging", Timeout = "timeout", Wait = "wait",);

/// Which timeouts F-RTO tests, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoTest {
    /// Those that reduce the threshold; each acknowledgement that advances lets new data go once more.
    EachAdvance,
    /// Those that no recovery came before; new data go once. Without SACK an acknowledgement that covers a retransmission
    /// proves no original.
    Once,
}

choices!(
    FrtoTest,
    "test of F-RTO",
    EachAdvance = "each-advance",
    Once = "once",
);

/// Which retransmissions count against the undo of a reduction that begins (`tcp_init_undo`, `tcp_enter_loss`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoStart {
    /// Those in flight; without any, undo needs nothing more. A timeout after retransmissions is never undone.
    Clean,
    /// Those in flight, a probe among them; without any, the first is waited for. Timeouts are as other reductions.
    InFlight,
}

choices!(
    UndoStart,
    "start of undo",
    Clean = "clean",
    InFlight = "in-flight",
);

/// What is taken back when an acknowledgement in recovery proves that what it acknowledges was only late
/// (`tcp_try_undo_partial`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialUndo {
    /// The window, and the recovery goes on.
    Window,
    /// The recovery, once no retransmission is in flight.
    Recovery,
}

choices!(
    PartialUndo,
    "partial undo",
    Window = "window",
    Recovery = "recovery",
);

/// Which window an undo gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoWindow {
    /// The threshold at least, and with Reno twice the threshold (`tcp_undo_cwr`, 3.10).
    Threshold,
    /// With Reno the window before the reduction (`tcp_reno_undo_cwnd`).
    Prior,
}

choices!(
    UndoWindow,
    "window of an undo",
    Threshold = "threshold",
    Prior = "prior",
);

/// How what is left of the head's timeout is counted when the timer was set for something else (`tcp_rearm_rto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutLeft {
    /// In ticks; if nothing is left, a whole timeout follows.
    Ticks,
    /// In microseconds; if nothing is left, the timeout is due at once (`tcp_rto_delta_us`).
    Micros,
}

choices!(
    TimeoutLeft,
    "rest of a timeout",
    Ticks = "ticks",
    Micros = "micros",
);

/// After how long a connection is given up whose peer shut its window with data in flight (`tcp_retransmit_timer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutWindowLimit {
    /// The longest timeout without an acknowledgement, until now.
    LongestTimeout,
    /// Twice the longest timeout without one, until the timer was due, and since the first retransmission.
    TwiceLongestTimeout,
}

choices!(
    ShutWindowLimit,
    "limit of a shut window",
    LongestTimeout = "longest-timeout",
    TwiceLongestTimeout = "twice-longest-timeout",
);

/// When it is asked whether the window shrinks after idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// When a segment leaves (`tcp_event_data_sent`).
    WhenSent,
    /// When data are written, and when the peer's window changes (`tcp_slow_start_after_idle_check`).
    WhenWritten,
}

choices!(
    IdleRestart,
    "restart after idle time",
    WhenSent = "when-sent",
    WhenWritten = "when-written",
);

/// What packets of several segments are sized by, and when one waits to become larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketSizing {
    /// The largest packet; one waits two ticks at most (`tcp_tso_should_defer`, 3.10).
    Window,
    /// A millisecond at the pacing rate; one waits for an acknowledgement that is near (`tcp_tso_autosize`).
    PacingRate,
}

choices!(
    PacketSizing,
    "size of packets",
    Window = "window",
    PacingRate = "pacing-rate",
);

/// When the congestion window counts as used (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUse {
    /// When it is full but for three segments as an acknowledgement comes.
    InFlight,
    /// When it held the sender back within the last window of data; in slow start when half of it was used.
    Limited,
}

choices!(
    WindowUse,
    "use of the window",
    InFlight = "in-flight",
    Limited = "limited",
);

/// How the send buffer grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBufferGrowth {
    /// With what is out, when an acknowledgement frees room, for the first window at least (`tcp_fixup_sndbuf`,
    /// `tcp_new_space`, 3.10).
    WhenFreed,
    /// The same, for three segments at least, each charged as asked for (`tcp_fixup_sndbuf`, `alloc_skb`, 2.4).
    Linux24,
    /// With what is in flight, for twice the first window at least (`tcp_sndbuf_expand`).
    WhenSent,
}

choices!(
    SendBufferGrowth,
    "growth of the send buffer",
    WhenFreed = "when-freed",
    Linux24 = "linux-2.4",
    WhenSent = "when-sent",
);
