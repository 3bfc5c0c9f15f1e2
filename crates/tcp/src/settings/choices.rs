//! The settings that are a choice among named forms.

use super::value::{choices, Value};
use crate::clock::Wheel;

choices!(
    Wheel,
    "wheel",
    Exact = "exact",
    Slack = "slack",
    Levels = "levels"
);

/// How the round-trip time is sampled and smoothed and the timeout formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Linux in ticks, timestamps first: 2.4 to 3.14 (`tcp_rtt_estimator`).
    LinuxTicks,
    /// Linux in microseconds, the time of sending first: since 3.15.
    LinuxMicros,
    /// RFC 6298 with the clock's tick as granularity.
    Rfc6298,
    /// BSD: fixed point in ticks (`tcp_xmit_timer`).
    Bsd,
    /// Solaris: milliseconds, `tcp_set_rto`.
    Solaris,
}

choices!(
    Estimator,
    "estimator",
    LinuxTicks = "linux-ticks",
    LinuxMicros = "linux-micros",
    Rfc6298 = "rfc6298",
    Bsd = "bsd",
    Solaris = "solaris",
);

/// Which segments are timed when timestamps do not time them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSamples {
    /// Every acknowledgement times the first segment that it acknowledges, unless one of them was sent again (Karn).
    EachAck,
    /// One segment at a time is timed, none while something is sent again (RFC 6298 §3).
    OncePerRoundTrip,
}

choices!(
    RttSamples,
    "round-trip time samples",
    EachAck = "each-ack",
    OncePerRoundTrip = "once-per-round-trip",
);

/// With few segments out, fewer duplicates make a loss: early retransmit (RFC 5827), as `tcp_early_retrans` 1 to 3 before
/// 4.11, or the rule of UNC 2007.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyRetransmit {
    /// None.
    Off,
    /// At once.
    Immediate,
    /// After a quarter of the round-trip time.
    Delayed,
    /// At max(1, min(3, F − 2)) duplicates with F segments out (UNC 2007, section V-D).
    Flight,
}

choices!(
    EarlyRetransmit,
    "early retransmit",
    Off = "off",
    Immediate = "immediate",
    Delayed = "delayed",
    Flight = "flight",
);

/// Tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tlp {
    /// None.
    Off,
    /// As in Linux 3.10 (draft-dukkipati-tcpm-tcp-loss-probe-01).
    Draft,
    /// As in Linux 6.x (RFC 8985 §7).
    Rfc8985,
}

choices!(
    Tlp,
    "tail loss probe",
    Off = "off",
    Draft = "draft",
    Rfc8985 = "rfc8985"
);

/// What a timeout marks lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutMarks {
    /// All that is not SACKed; the window is then one segment.
    All,
    /// The head and what RACK would (4.18); the window is then what is in flight and one.
    Rack,
}

choices!(TimeoutMarks, "timeout marks", All = "all", Rack = "rack");

/// How much is sent in recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 6582: the window grows by a segment each duplicate acknowledgement.
    NewReno,
    /// RFC 6675: what its pipe leaves of the halved window.
    Pipe,
    /// Linux 2.4 to 3.1: one segment less each second acknowledgement (`tcp_cwnd_down`).
    RateHalving,
    /// Proportional rate reduction of Linux 3.2 to about 5.10 (RFC 6937, slow-start bound).
    Prr,
    /// Proportional rate reduction of Linux 6.x: conservative unless a round makes progress.
    PrrConservative,
}

choices!(
    Recovery,
    "recovery",
    NewReno = "newreno",
    Pipe = "pipe",
    RateHalving = "rate-halving",
    Prr = "prr",
    PrrConservative = "prr-conservative",
);

/// Congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Linked increases of Multipath TCP's subflows, RFC 6356; of plain TCP and one subflow: Reno, as the next two.
    Lia,
    /// Opportunistic linked increases (Khalili and others, 2012).
    Olia,
    /// Balanced linked adaptation (Peng and others, 2014).
    Balia,
}

impl CongestionControl {
    /// It asks how the other subflows of its connection do.
    pub(crate) fn is_coupled(self) -> bool {
        !matches!(self, CongestionControl::Reno | CongestionControl::Cubic)
    }
}

choices!(
    CongestionControl,
    "congestion control",
    Reno = "reno",
    Cubic = "cubic",
    Lia = "lia",
    Olia = "olia",
    Balia = "balia",
);

/// Which generation of Linux's CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicForm {
    /// 3.10: HyStart in milliseconds or ticks.
    Linux3,
    /// 6.x: HyStart in microseconds.
    Linux6,
}

choices!(CubicForm, "CUBIC", Linux3 = "linux-3", Linux6 = "linux-6");

/// The first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(u32),
    /// RFC 3390: 2 to 4 segments by their size.
    Rfc3390,
    /// Linux 2.4: 2 segments; 3, or 4 of small ones, on paths of 20 ms and less (`tcp_init_cwnd`).
    Linux24,
}

impl Value for InitialWindow {
    fn text(&self) -> String {
        match self {
            InitialWindow::Segments(segments) => segments.to_string(),
            InitialWindow::Rfc3390 => "rfc3390".to_owned(),
            InitialWindow::Linux24 => "linux-2.4".to_owned(),
        }
    }
    fn parse(text: &str) -> Option<Self> {
        match text {
            "rfc3390" => return Some(InitialWindow::Rfc3390),
            "linux-2.4" => return Some(InitialWindow::Linux24),
            _ => {}
        }
        let segments = text.parse().ok().filter(|segments| *segments > 0)?;
        Some(InitialWindow::Segments(segments))
    }
    fn allowed() -> String {
        "a number of segments, rfc3390 or linux-2.4".to_owned()
    }
    fn blank() -> Self {
        InitialWindow::Rfc3390
    }
}

/// When data are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Linux 3.10: out-of-order data bring quick acknowledgements.
    Linux3,
    /// Linux 6.x: compressed SACKs, no forced quick acknowledgements.
    Linux6,
    /// Linux 6.12: as 6.x, with shorter delays: below the smallest timeout, and the estimate never above 200 ms.
    Linux612,
    /// Every second full segment, others after `delayed_ack_max` (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
    Rfc,
}

choices!(
    DelayedAck,
    "delayed ACK",
    Linux3 = "linux-3",
    Linux6 = "linux-6",
    Linux612 = "linux-6.12",
    Rfc = "rfc",
);

/// How the receive buffer follows what the reader takes in a round trip (`tcp_rcv_space_adjust`), for how much it is made when
/// the connection opens (`tcp_fixup_rcvbuf`), and what goes with it in the window that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBufferGrowth {
    /// Twice what was read: before Linux 3.14.
    TwiceRead,
    /// Twice what was read and 16 segments, threefold or fourfold where it rose by a quarter or a half; eight times the first
    /// window from the beginning: Linux 3.14 to 4.18.
    BySteps,
    /// Twice what was read and 16 segments, and twice as much more as it rose: later.
    ByRate,
}

impl ReceiveBufferGrowth {
    /// The first window is bounded by segments, and so is the buffer made at first (before Linux 4.20).
    pub(crate) fn is_early(self) -> bool {
        self != ReceiveBufferGrowth::ByRate
    }
}

choices!(
    ReceiveBufferGrowth,
    "growth of the receive buffer",
    TwiceRead = "twice-read",
    BySteps = "by-steps",
    ByRate = "by-rate",
);

/// How much of a receive buffer is window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowShare {
    /// A part of the buffer: all but one in two to the power of `tcp_adv_win_scale` (before 6.6), half for 1.
    AdvWinScale(i32),
    /// The share of payload in what arrives (`scaling_ratio`, 6.6), half at first.
    ScalingRatio,
    /// All of it.
    Whole,
}

/// The share of payload in what arrives that is reckoned with at first, of 256 (`TCP_DEFAULT_SCALING_RATIO`).
pub(crate) const FIRST_RATIO: u32 = 128;

impl WindowShare {
    /// How much window `space` bytes of buffer are where `ratio` of 256 parts of what arrives are payload
    /// (`tcp_win_from_space`, `mptcp_win_from_space`).
    pub(crate) fn of(self, space: i64, ratio: u32) -> i64 {
        match self {
            WindowShare::AdvWinScale(shift) if shift <= 0 => space >> -shift,
            WindowShare::AdvWinScale(shift) => space - (space >> shift),
            WindowShare::ScalingRatio => (space * i64::from(ratio)) >> 8,
            WindowShare::Whole => space,
        }
    }
}

impl Value for WindowShare {
    fn text(&self) -> String {
        match self {
            WindowShare::AdvWinScale(scale) => format!("adv-win-scale {scale}"),
            WindowShare::ScalingRatio => "scaling-ratio".to_owned(),
            WindowShare::Whole => "whole".to_owned(),
        }
    }
    fn parse(text: &str) -> Option<Self> {
        match text {
            "scaling-ratio" => Some(WindowShare::ScalingRatio),
            "whole" => Some(WindowShare::Whole),
            _ => {
                let scale = text.strip_prefix("adv-win-scale ")?.parse().ok()?;
                (-31..=31)
                    .contains(&scale)
                    .then_some(WindowShare::AdvWinScale(scale))
            }
        }
    }
    fn allowed() -> String {
        "whole, scaling-ratio, or adv-win-scale and a number from -31 to 31".to_owned()
    }
    fn blank() -> Self {
        WindowShare::Whole
    }
}
