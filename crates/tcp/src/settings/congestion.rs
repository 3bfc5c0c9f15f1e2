//! How much may be in flight: congestion control, its reduction in recovery, and the undo of a reduction.

use super::reflect::group;
use super::value::{choices, Value};

group! {
    /// How much may be in flight: congestion control, its reduction in recovery, and the undo of a reduction.
    pub struct Congestion {
        /// How much is sent in recovery.
        pub recovery: Recovery = Recovery::NewReno, "RFC 6582";
        /// Congestion control.
        pub congestion_control: CongestionControl = CongestionControl::Reno, "RFC 5681 §3.1";
        /// CUBIC leaves slow start by HyStart.
        pub hystart: bool = false, "off";
        /// CUBIC heeds round-trip times in the five minutes after boot, too.
        pub cubic_heeds_boot: bool = true, "no effect without CUBIC";
        /// Which generation of Linux's CUBIC and HyStart.
        pub cubic: CubicForm = CubicForm::Linux3, "no effect without CUBIC";
        /// The phase in which BBR's cycle of gains begins, 0 to 7 but 1; drawn where none is said.
        pub bbr_phase: Option<u32> = None, "no effect without BBR";
        /// Slow start counts segments acknowledged, not acknowledgements (RFC 3465; Linux since 3.13).
        pub byte_counting: bool = false, "off";
        /// First window.
        pub initial_window: InitialWindow = InitialWindow::Rfc3390, "RFC 5681 §3.1, equation 1";
        /// The window shrinks after idle time (`tcp_slow_start_after_idle`).
        pub slow_start_after_idle: bool = false, "off";
        /// When it is asked whether it does.
        pub idle_restart: IdleRestart = IdleRestart::WhenSent, "RFC 5681 §4.1";
        /// When the congestion window counts as used.
        pub window_use: WindowUse = WindowUse::InFlight, "assumption: as Linux 3.10";
        /// A connection begins with what the last one to the same peer learned (`tcp_no_metrics_save` = 0).
        pub metrics: bool = false, "off, so that transfers do not depend on each other; RFC 9040 §4: optional";
        /// Undo by D-SACK and timestamps (Eifel, RFC 3522 and 4015).
        pub undo: bool = false, "off";
        /// Which retransmissions count against the undo of a reduction that begins.
        pub undo_start: UndoStart = UndoStart::Clean, "no effect unless reductions are undone";
        /// What is taken back when an acknowledgement in recovery proves that what it acknowledges was only late.
        pub partial_undo: PartialUndo = PartialUndo::Window, "no effect unless reductions are undone";
        /// Which window an undo gives back.
        pub undo_window: UndoWindow = UndoWindow::Threshold, "no effect unless reductions are undone";
        /// An undo moderates the window, and a recovery that was undone ends at the threshold at most (`tcp_undo_cwr`,
        /// `tcp_complete_cwr`, before Linux 2.6.39).
        pub undo_moderates: bool = false, "no effect unless reductions are undone";
        /// How much a moderated window leaves beyond what is in flight.
        pub max_burst: MaxBurst = MaxBurst::Reordering, "no effect unless the window is moderated";
        /// The time of the first retransmission is forgotten when a recovery begins and none is on its way; and without SACK
        /// when it waits beyond the recovery point (`tcp_retrans_stamp_cleanup`, `tcp_is_non_sack_preventing_reopen`).
        pub retrans_stamp_cleanup: bool = false, "no effect unless reductions are undone";
        /// A retransmission that the host could not take counts for undo and give-up as one that left.
        pub attempts_count: bool = false, "no effect unless reductions are undone, or retries stand for a time";
    }

    rules(self) {
        vec![
            (
                matches!(self.bbr_phase, None | Some(0 | 2..=7)),
                "bbr_phase must be 0 to 7 but 1, in which BBR drains",
            ),
            (
                !matches!(self.initial_window, InitialWindow::Segments(10_001..)),
                "initial_window must be at most 10000 segments",
            ),
        ]
    }
}

choices! {
    /// How much is sent in recovery.
    pub enum Recovery ("recovery") {
        /// RFC 6582: the window grows by a segment each duplicate acknowledgement.
        NewReno = "newreno",
        /// RFC 6675: what its pipe leaves of the halved window.
        Pipe = "pipe",
        /// Linux 2.4 to 3.1: one segment less each second acknowledgement (`tcp_cwnd_down`).
        RateHalving = "rate-halving",
        /// Proportional rate reduction of Linux 3.2 to about 5.10 (RFC 6937, slow-start bound).
        Prr = "prr",
        /// Proportional rate reduction of Linux 6.x: conservative unless a round makes progress.
        PrrConservative = "prr-conservative",
    }
}

choices! {
    /// Congestion control.
    pub enum CongestionControl ("congestion control") {
        /// RFC 5681.
        Reno = "reno",
        /// RFC 9438.
        Cubic = "cubic",
        /// Linked increases of Multipath TCP's subflows, RFC 6356; of plain TCP and one subflow: Reno, as the next two.
        Lia = "lia",
        /// Opportunistic linked increases (Khalili and others, 2012).
        Olia = "olia",
        /// Balanced linked adaptation (Peng and others, 2014).
        Balia = "balia",
        /// BBR, version 1, which paces (Cardwell and others, 2016; Linux since 4.9).
        Bbr = "bbr",
        /// DCTCP, which takes marks for queues of data centres (RFC 8257; Linux since 3.18).
        Dctcp = "dctcp",
    }
}

impl CongestionControl {
    /// Windows of segments that a send buffer is to hold that grows with what is sent (`sndbuf_expand`).
    pub(crate) fn buffered_windows(self) -> u8 {
        match self {
            // The window may grow in recovery as well.
            CongestionControl::Bbr => 3,
            _ => 2,
        }
    }

    /// It needs congestion marks: it asks for them, and all its packets may be marked (`TCP_CONG_NEEDS_ECN`).
    pub(crate) fn needs_marks(self) -> bool {
        self == CongestionControl::Dctcp
    }

    /// It asks how the other subflows of its connection do.
    pub(crate) fn is_coupled(self) -> bool {
        matches!(
            self,
            CongestionControl::Lia | CongestionControl::Olia | CongestionControl::Balia
        )
    }
}

choices! {
    /// Which generation of Linux's CUBIC.
    pub enum CubicForm ("CUBIC") {
        /// 3.10: HyStart in milliseconds or ticks.
        Linux3 = "linux-3",
        /// 6.x: HyStart in microseconds.
        Linux6 = "linux-6",
    }
}

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
}

choices! {
    /// When it is asked whether the window shrinks after idle time.
    pub enum IdleRestart ("restart after idle time") {
        /// When a segment leaves (`tcp_event_data_sent`).
        WhenSent = "when-sent",
        /// When data are written, and when the peer's window changes (`tcp_slow_start_after_idle_check`).
        WhenWritten = "when-written",
    }
}

choices! {
    /// When the congestion window counts as used (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`).
    pub enum WindowUse ("use of the window") {
        /// When it is full but for three segments as an acknowledgement comes.
        InFlight = "in-flight",
        /// When it held the sender back within the last window of data; in slow start when half of it was used.
        Limited = "limited",
    }
}

choices! {
    /// Which retransmissions count against the undo of a reduction that begins (`tcp_init_undo`, `tcp_enter_loss`).
    pub enum UndoStart ("start of undo") {
        /// Those in flight; without any, undo needs nothing more. A timeout after retransmissions is never undone.
        Clean = "clean",
        /// Those in flight, a probe among them; without any, the first is waited for. Timeouts are as other reductions.
        InFlight = "in-flight",
    }
}

choices! {
    /// What is taken back when an acknowledgement in recovery proves that what it acknowledges was only late
    /// (`tcp_try_undo_partial`).
    pub enum PartialUndo ("partial undo") {
        /// The window, and the recovery goes on.
        Window = "window",
        /// The recovery, once no retransmission is in flight.
        Recovery = "recovery",
    }
}

choices! {
    /// How much a moderated window leaves beyond what is in flight (`tcp_max_burst`).
    pub enum MaxBurst ("burst of a moderated window") {
        /// Three segments.
        Three = "three",
        /// As many segments as the reordering reckoned with.
        Reordering = "reordering",
    }
}

choices! {
    /// Which window an undo gives back.
    pub enum UndoWindow ("window of an undo") {
        /// The threshold at least, and with Reno twice the threshold (`tcp_undo_cwr`, 3.10).
        Threshold = "threshold",
        /// With Reno the window before the reduction (`tcp_reno_undo_cwnd`).
        Prior = "prior",
    }
}
