//! Every choice that makes one stack differ from another.

use rexmit_time::Duration;

use crate::clock::Wheel;

mod check;
mod choices;
mod multipath;
mod reflect;
mod sender;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use choices::FIRST_RATIO;
pub use choices::{
    CongestionControl, CubicForm, DelayedAck, EarlyRetransmit, Estimator, InitialWindow,
    ReceiveBufferGrowth, Recovery, RttSamples, TimeoutMarks, Tlp, WindowShare,
};
pub use multipath::{
    MptcpBuffer, MptcpBurst, MptcpOptions, MptcpReinject, MptcpScheduler, MptcpTimer,
};
pub use reflect::{Field, SettingError};
pub use sender::{
    AckOrder, FrtoTest, IdleRestart, PacketSizing, PartialUndo, Reneging, ReorderingUnit,
    SendBufferGrowth, ShutWindowLimit, TimeoutLeft, UndoStart, UndoWindow, WindowUse,
};
pub use value::Value;

use reflect::settings;

settings! {
    /// A stack's settings. `stacks` holds the pages of named stacks with a source for every value.
    ///
    /// A new setting is a field here, of a type that is a [`Value`], and a line on each page; a test names the pages
    /// without it. What must hold between settings stands in [`Settings::check`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Settings {
        // Clock
        /// Timer ticks a second (`HZ`).
        pub hz: u32,
        /// When timers fire.
        pub wheel: Wheel,

        // Round-trip time and timeout
        /// How the round-trip time is sampled and smoothed and the timeout formed.
        pub estimator: Estimator,
        /// Lower bound: in Linux of the deviation's part of the timeout, elsewhere of the timeout.
        pub min_rto: Duration,
        /// Upper bound of the timeout, back-off included.
        pub max_rto: Duration,
        /// Timeout before the first sample, of a SYN also (`TCP_TIMEOUT_INIT`).
        pub initial_rto: Duration,
        /// Timeout after a handshake that gave no sample (`TCP_TIMEOUT_FALLBACK`).
        pub fallback_rto: Duration,
        /// Gain of the smoothed round-trip time (b of UNC 2007, alpha of RFC 6298), as one part in two to this power.
        pub srtt_shift: u32,
        /// Gain of the deviation (a of UNC 2007, beta of RFC 6298), as one part in two to this power.
        pub rttvar_shift: u32,
        /// Factor of the smoothed round-trip time in the timeout (m).
        pub srtt_factor: f64,
        /// Factor of the deviation in the timeout (k).
        pub rttvar_factor: u32,
        /// Which segments are timed when timestamps do not time them.
        pub rtt_samples: RttSamples,
        /// Added to every timeout (FreeBSD's `tcp_rexmit_slop`).
        pub rto_slop: Duration,
        /// How what is left of the head's timeout is counted when the timer was set for something else.
        pub timeout_left: TimeoutLeft,

        // What is negotiated
        /// SACK (RFC 2018).
        pub sack: bool,
        /// D-SACK (RFC 2883).
        pub dsack: bool,
        /// Timestamps (RFC 7323).
        pub timestamps: bool,
        /// Window scaling (RFC 7323).
        pub window_scaling: bool,

        // Loss detection
        /// Duplicate acknowledgements that make a loss (`tcp_reordering`).
        pub dupack_threshold: u32,
        /// The threshold adapts to reordering up to this.
        pub max_reordering: u32,
        /// In what it is counted how far segments overtook each other.
        pub reordering_unit: ReorderingUnit,
        /// A timeout takes reordering for overrated in any case; else only after many duplicates.
        pub timeout_forgets_reordering: bool,
        /// What follows when an acknowledgement stops at a segment that was SACKed.
        pub reneging: Reneging,
        /// A D-SACK counts as many segments as it spans, and is doubted where more are reported than were sent again
        /// (`tcp_dsack_seen`); else each is believed, as of one segment.
        pub dsack_check: bool,
        /// A segment that was SACKed gives its round-trip time again, and counts as an original, when it is acknowledged.
        pub sacked_count_again: bool,
        /// Forward acknowledgement (`tcp_fack` before 4.15).
        pub fack: bool,
        /// RACK finds losses (`tcp_recovery` bit 0x1).
        pub rack: bool,
        /// RACK's reordering window does not adapt to D-SACK (`tcp_recovery` bit 0x2).
        pub rack_static_reo_wnd: bool,
        /// RACK does not act on three duplicate acknowledgements at once (`tcp_recovery` bit 0x4).
        pub rack_no_dupack_threshold: bool,
        /// Duplicate acknowledgements let new data go before they make a loss (RFC 3042).
        pub limited_transmit: bool,
        /// Early retransmit.
        pub early_retransmit: EarlyRetransmit,
        /// Tail loss probe.
        pub tlp: Tlp,
        /// A segment without data (a bare FIN) can be a probe.
        pub tlp_probes_bare_fin: bool,
        /// A segment that was a probe counts as sent again: its acknowledgement gives no round-trip time (since 3.14).
        pub tlp_marks_retransmission: bool,
        /// F-RTO (RFC 5682).
        pub frto: bool,
        /// Which timeouts F-RTO tests, and how often.
        pub frto_test: FrtoTest,
        /// A recovery starts when the head of the queue is older than a timeout (`tcp_head_timedout`, FACK only, before 3.16).
        pub head_timeout: bool,
        /// Retransmissions of a recovery that were lost are found by FACK (`tcp_mark_lost_retrans`, before 4.4).
        pub fack_lost_retransmits: bool,
        /// Below the highest SACK, segments not marked lost are sent again when no new data can be (before 4.11).
        pub forward_retransmit: bool,
        /// What a timeout marks lost.
        pub timeout_marks: TimeoutMarks,
        /// Undo by D-SACK and timestamps (Eifel, RFC 3522 and 4015).
        pub undo: bool,
        /// Which retransmissions count against the undo of a reduction that begins.
        pub undo_start: UndoStart,
        /// What is taken back when an acknowledgement in recovery proves that what it acknowledges was only late.
        pub partial_undo: PartialUndo,
        /// Which window an undo gives back.
        pub undo_window: UndoWindow,
        /// The time of the first retransmission is forgotten when a recovery begins and none is on its way; and without SACK
        /// when it waits beyond the recovery point (`tcp_retrans_stamp_cleanup`, `tcp_is_non_sack_preventing_reopen`).
        pub retrans_stamp_cleanup: bool,
        /// A retransmission that the host could not take counts for undo and give-up as one that left.
        pub attempts_count: bool,

        // Recovery and congestion control
        /// How much is sent in recovery.
        pub recovery: Recovery,
        /// Congestion control.
        pub congestion_control: CongestionControl,
        /// CUBIC leaves slow start by HyStart.
        pub hystart: bool,
        /// CUBIC heeds round-trip times in the five minutes after boot, too.
        pub cubic_heeds_boot: bool,
        /// Which generation of Linux's CUBIC and HyStart.
        pub cubic: CubicForm,
        /// Slow start counts segments acknowledged, not acknowledgements (RFC 3465; Linux since 3.13).
        pub byte_counting: bool,
        /// First window.
        pub initial_window: InitialWindow,
        /// The window shrinks after idle time (`tcp_slow_start_after_idle`).
        pub slow_start_after_idle: bool,
        /// When it is asked whether it does.
        pub idle_restart: IdleRestart,
        /// When the congestion window counts as used.
        pub window_use: WindowUse,
        /// A connection begins with what the last one to the same peer learned (`tcp_no_metrics_save` = 0).
        pub metrics: bool,

        // Sending
        /// In what order an acknowledgement is worked through.
        pub ack_order: AckOrder,
        /// A segment with a FIN leaves in spite of a full congestion window (`tcp_cwnd_test` before 6.10).
        pub fin_exempt: bool,
        /// A short unsent segment is filled up from the next one when it leaves (`tcp_grow_skb`, 6.10).
        pub fill_segments: bool,
        /// A short segment waits while packets are in the host (`tcp_autocorking`, 3.14).
        pub autocorking: bool,
        /// Bytes that a packet in a buffer counts besides its payload (`skb->truesize`).
        pub packet_overhead: u32,
        /// Packets gather pieces of pages (`NETIF_F_SG`); else each is one buffer, for which data of files are copied, too. A
        /// host that makes checksums in software cannot gather. No difference to TCP since 4.17.
        pub scatter_gather: bool,
        /// What a program writes lies in one buffer for a whole segment; since 4.17 in pages, whatever the device can.
        pub linear_writes: bool,
        /// Bytes that a packet's buffer reserves for headers of all layers (`MAX_TCP_HEADER`); buffers are sized by it.
        pub header_room: u32,
        /// Bytes of a socket that may wait in its host (`tcp_limit_output_bytes`); none where the stack has no such limit.
        pub limit_output_bytes: Option<u32>,
        /// Retransmissions heed the limit as well, and go on when a packet leaves the host (since 4.10).
        pub small_queue_retransmits: bool,
        /// Since when the limit follows the pacing rate (3.12).
        pub pacing_rate: bool,
        /// Segments a packet that leaves the host may hold; 1 without segmentation offload.
        pub gso_segments: u32,
        /// What packets of several segments are sized by, and when one waits to become larger.
        pub packet_sizing: PacketSizing,
        /// Small adjacent segments are joined when sent again (`tcp_retrans_collapse`).
        pub retrans_collapse: bool,
        /// Only those whose payload lies in one buffer that nobody else holds (`tcp_can_collapse`, before 4.13 or so).
        pub collapse_linear: bool,
        /// Timeouts of one segment before the connection is given up (`tcp_retries2`).
        pub retries: u32,
        /// They stand for the time that so many take from 200 ms on (`retransmits_timed_out`); else they are counted.
        pub retries_by_time: bool,
        /// After how long a connection is given up whose peer shut its window with data in flight.
        pub shut_window_limit: ShutWindowLimit,
        /// Timeouts of a SYN before the connection is given up (`tcp_syn_retries`).
        pub syn_retries: u32,
        /// Timeouts of a SYN that do not double (`tcp_syn_linear_timeouts`, 6.5).
        pub syn_linear_timeouts: u32,
        /// Smallest, first and largest send buffer, bytes (`tcp_wmem`).
        pub send_buffer: [u32; 3],
        /// How it grows.
        pub send_buffer_growth: SendBufferGrowth,

        // Receiving
        /// A reader that waits takes data in order itself as they come, so that they are never charged to the buffer
        /// (`tcp_prequeue`, `tcp_data_queue`; gone since 4.14).
        pub prequeue: bool,
        /// Bytes for headers that copies keep in front of their data where memory is short (`tcp_collapse`; none since
        /// 3.18).
        pub collapse_header_room: u32,
        /// When data are acknowledged.
        pub delayed_ack: DelayedAck,
        /// Shortest delay of an acknowledgement (`TCP_DELACK_MIN`, `TCP_ATO_MIN`).
        pub delayed_ack_min: Duration,
        /// Longest delay of an acknowledgement (`TCP_DELACK_MAX`).
        pub delayed_ack_max: Duration,
        /// Smallest, first and largest receive buffer, bytes (`tcp_rmem`).
        pub receive_buffer: [u32; 3],
        /// Segments that the first window holds at most, before Linux 4.20 (`tcp_select_initial_window`).
        pub first_window_segments: u32,
        /// The buffer follows what the reader takes (`tcp_moderate_rcvbuf`).
        pub moderate_receive_buffer: bool,
        /// How the buffer follows it, and for how much it is made at first.
        pub receive_buffer_growth: ReceiveBufferGrowth,
        /// How much of the buffer is window.
        pub window_share: WindowShare,
        /// SACKs are held back at most this long (`tcp_comp_sack_delay_ns`), zero without compression.
        pub sack_compression_delay: Duration,
        /// And with this slack (`tcp_comp_sack_slack_ns`).
        pub sack_compression_slack: Duration,
        /// And at most so many of them (`tcp_comp_sack_nr`).
        pub sack_compression_most: u32,

        // Multipath TCP
        /// Which subflow takes new data.
        pub mptcp_scheduler: MptcpScheduler,
        /// Bytes after which the scheduler by linger time chooses anew (`MPTCP_SEND_BURST_SIZE`).
        pub mptcp_burst_bytes: u32,
        /// How much stays on a subflow together.
        pub mptcp_burst: MptcpBurst,
        /// How the send buffer of the whole connection follows those of its subflows.
        pub mptcp_send_buffer: MptcpBuffer,
        /// More than a full segment is acknowledged at once only if the window grows by it or nobody can read it yet; the
        /// connection's reader acknowledges it otherwise (`sk_rcvlowat` of a subflow is 0).
        pub mptcp_reader_acknowledges: bool,
        /// Nagle's rule is asked by the subflow; else the connection alone asks it.
        pub mptcp_subflow_nagle: bool,
        /// What a timeout of a subflow sends again on another (`mptcp_reinject_data`).
        pub mptcp_reinject_on_timeout: MptcpReinject,
        /// What a tail loss probe of a subflow sends again on another (Probe or Wait 2017, section V).
        pub mptcp_reinject_on_probe: MptcpReinject,
        /// What a subflow sends again on another when it begins to repair a loss without a timeout: after fast or early
        /// retransmit, by FACK or RACK. No kernel does.
        pub mptcp_reinject_on_recovery: MptcpReinject,
        /// What the timer of the whole connection runs by.
        pub mptcp_timer: MptcpTimer,
        /// What blocks the peer's window or the send buffer is sent again on a faster subflow (`mptcp_rcv_buf_optimization`).
        pub mptcp_opportunistic: bool,
        /// The window of a subflow that blocks them so is halved, at most once a round trip (`mptcp_rcv_buf_optimization`).
        pub mptcp_penalise: bool,
        /// Periods of the connection's timer without a packet after which a subflow is given up for stale
        /// (`stale_loss_cnt`); 0 for never.
        pub mptcp_stale_after: u32,
        /// Which generation of options is on the wire.
        pub mptcp_options: MptcpOptions,
    }
}
