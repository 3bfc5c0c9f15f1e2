//! When data are acknowledged, and the receive buffer and its window.

use rexmit_time::Duration;

use super::check::DAY;
use super::reflect::group;
use super::value::{choices, Value};

group! {
    /// When data are acknowledged, and the receive buffer and its window.
    pub struct Receiving {
        /// A reader that waits takes data in order itself as they come, so that they are never charged to the buffer
        /// (`tcp_prequeue`, `tcp_data_queue`; gone since 4.14).
        pub prequeue: bool = false, "off";
        /// Bytes for headers that copies keep in front of their data where memory is short (`tcp_collapse`; none since
        /// 3.18).
        pub collapse_header_room: u32 = 0, "no effect where buffers count payload";
        /// When data are acknowledged.
        pub delayed_ack: DelayedAck = DelayedAck::Rfc, "RFC 5681 §4.2";
        /// Each segment is acknowledged at once (the route's metric `quickack`, `tcp_in_quickack_mode`).
        pub quick_acks: bool = false, "off";
        /// Shortest delay of an acknowledgement (`TCP_DELACK_MIN`, `TCP_ATO_MIN`).
        pub delayed_ack_min: Duration = Duration::from_millis(200), "assumption: one delay, the customary 200 ms";
        /// Longest delay of an acknowledgement (`TCP_DELACK_MAX`).
        pub delayed_ack_max: Duration = Duration::from_millis(200), "assumption: the customary 200 ms; RFC 1122 §4.2.3.2 allows 500 ms";
        /// Smallest, first and largest receive buffer, bytes (`tcp_rmem`).
        pub receive_buffer: [u32; 3] = [65_536, 1_048_576, 4_194_304], "assumption: room for any window of the scenarios";
        /// Segments that the first window holds at most, before Linux 4.20 (`tcp_select_initial_window`).
        pub first_window_segments: u32 = 10, "no effect with receive_buffer_growth = by-rate";
        /// Segments that the first window holds at most, in place of what the stack has for it (the route's metric `initrwnd`,
        /// `tcp_select_initial_window`); 0 where the route has none.
        pub initial_receive_window: u32 = 0, "off";
        /// The buffer follows what the reader takes (`tcp_moderate_rcvbuf`).
        pub moderate_receive_buffer: bool = false, "off";
        /// How the buffer follows it, and for how much it is made at first.
        pub receive_buffer_growth: ReceiveBufferGrowth = ReceiveBufferGrowth::ByRate, "no effect unless the buffer follows the reader";
        /// How much of the buffer is window.
        pub window_share: WindowShare = WindowShare::Whole, "RFC 9293 §3.8.6: the window is the room that is left";
        /// SACKs are held back at most this long (`tcp_comp_sack_delay_ns`), zero without compression.
        pub sack_compression_delay: Duration = Duration::ZERO, "off";
        /// And with this slack (`tcp_comp_sack_slack_ns`).
        pub sack_compression_slack: Duration = Duration::ZERO, "no effect without a delay of SACKs";
        /// And at most so many of them (`tcp_comp_sack_nr`).
        pub sack_compression_most: u32 = 0, "no effect without a delay of SACKs";
    }

    rules(self) {
        vec![
            (
                !matches!(self.window_share, WindowShare::AdvWinScale(..=-13)),
                "window_share = adv-win-scale must be at least -12, less leaves no window",
            ),
            (
                (1..=10_000).contains(&self.first_window_segments),
                "first_window_segments must be 1 to 10000",
            ),
            (
                self.initial_receive_window <= 10_000,
                "initial_receive_window must be at most 10000",
            ),
            (
                self.delayed_ack_min <= self.delayed_ack_max,
                "delayed_ack_min must not be more than delayed_ack_max",
            ),
            (
                self.delayed_ack_max <= DAY
                    && self.sack_compression_delay <= DAY
                    && self.sack_compression_slack <= DAY,
                "delayed_ack_max, sack_compression_delay and sack_compression_slack must be a day at most",
            ),
        ]
    }
}

choices! {
    /// When data are acknowledged.
    pub enum DelayedAck ("delayed ACK") {
        /// Linux 3.10: out-of-order data bring quick acknowledgements.
        Linux3 = "linux-3",
        /// Linux 6.x: compressed SACKs, no forced quick acknowledgements.
        Linux6 = "linux-6",
        /// Linux 6.12: as 6.x, with shorter delays: below the smallest timeout, and the estimate never above 200 ms.
        Linux612 = "linux-6.12",
        /// Every second full segment, others after `delayed_ack_max` (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
        Rfc = "rfc",
    }
}

choices! {
    /// How the receive buffer follows what the reader takes in a round trip (`tcp_rcv_space_adjust`), for how much it is made when
    /// the connection opens (`tcp_fixup_rcvbuf`), and what goes with it in the window that is offered.
    pub enum ReceiveBufferGrowth ("growth of the receive buffer") {
        /// Twice what was read: before Linux 3.14.
        TwiceRead = "twice-read",
        /// Twice what was read and 16 segments, threefold or fourfold where it rose by a quarter or a half; eight times the first
        /// window from the beginning: Linux 3.14 to 4.18.
        BySteps = "by-steps",
        /// Twice what was read and 16 segments, and twice as much more as it rose: later.
        ByRate = "by-rate",
    }
}

impl ReceiveBufferGrowth {
    /// The first window is bounded by segments, and so is the buffer made at first (before Linux 4.20).
    pub(crate) fn is_early(self) -> bool {
        self != ReceiveBufferGrowth::ByRate
    }
}

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
    pub(crate) fn window(self, space: i64, ratio: u32) -> i64 {
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
}
