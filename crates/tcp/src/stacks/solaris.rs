//! Solaris 10, from the sources of its descendant illumos.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, EarlyRetransmit, Estimator, FrtoTest,
    IdleRestart, InitialWindow, PacketSizing, PartialUndo, ReceiveBufferGrowth, Recovery, Reneging,
    ReorderingUnit, RttSamples, SendBufferGrowth, ShutWindowLimit, TimeoutLeft, TimeoutMarks, Tlp,
    UndoStart, UndoWindow, WindowShare, WindowUse,
};

pub(super) fn ten() -> Page {
    let mut page = Page::new(
        "solaris-10",
        "Solaris 10 (2005): 1.25 round trips in the timeout, which is at least 400 ms",
    );
    state! { page;
        hz = 100, "illumos usr/src/uts/common/conf/param.c hz; UNC 2007, Table I: 10 ms";
        wheel = Wheel::Exact, "assumption: timers fire at the tick asked for";

        estimator = Estimator::Solaris, "illumos tcp_input.c tcp_set_rto, tcp.c tcp_init_values";
        min_rto = Duration::from_millis(400), "illumos tcp_tunables.c tcp_rexmit_interval_min; UNC 2007, Table I";
        max_rto = Duration::from_secs(60), "illumos tcp_tunables.c tcp_rexmit_interval_max";
        initial_rto = Duration::from_millis(3_375), "illumos tcp.c tcp_init_values; UNC 2007, Table I";
        fallback_rto = Duration::from_millis(3_375), "illumos tcp.c tcp_init_values: until the first sample";
        srtt_shift = 3, "illumos tcp_input.c tcp_set_rto";
        rttvar_shift = 2, "illumos tcp_input.c tcp_set_rto";
        srtt_factor = 1.25, "illumos tcp_input.c tcp_set_rto: sa/8 + sa/32; UNC 2007, Table I: m = 1.25";
        rttvar_factor = 4, "illumos tcp_input.c tcp_set_rto";
        rtt_samples = RttSamples::EachAck, "illumos tcp_input.c tcp_input_data: every mblk has its time (b_prev)";
        rto_slop = Duration::ZERO, "illumos tcp_tunables.c tcp_rexmit_interval_extra = 0";
        timeout_left = TimeoutLeft::Ticks, "no effect: the timer has no other use but the timeout";

        sack = true, "illumos tcp_tunables.c tcp_sack_permitted = 2";
        dsack = false, "assumption: duplicates are not reported (RFC 2883)";
        timestamps = false, "illumos tcp_tunables.c tcp_tstamp_always = 0: only for a peer that offers them";
        window_scaling = true, "illumos tcp_tunables.c tcp_wscale_always = 1; Solaris 10 scales where the window asks for it";

        dupack_threshold = 3, "illumos tcp_tunables.c tcp_dupack_fast_retransmit";
        max_reordering = 3, "illumos tcp_tunables.c tcp_dupack_fast_retransmit: fixed";
        reordering_unit = ReorderingUnit::Segments, "assumption: how far a SACK is above is counted in segments";
        timeout_forgets_reordering = true, "no effect: the threshold is fixed";
        reneging = Reneging::Timeout, "assumption: as Linux 3.10";
        dsack_check = false, "no effect: nothing is undone";
        sacked_count_again = true, "assumption: an acknowledgement times the first segment, SACKed or not";
        fack = false, "Linux alone has it";
        rack = false, "never came";
        rack_static_reo_wnd = false, "no effect: there is no RACK";
        rack_no_dupack_threshold = false, "no effect: there is no RACK";
        limited_transmit = true, "illumos tcp_input.c TH_LIMIT_XMIT";
        early_retransmit = EarlyRetransmit::Off, "never came";
        tlp = Tlp::Off, "never came";
        tlp_probes_bare_fin = false, "no effect: there are no probes";
        tlp_marks_retransmission = false, "no effect: there are no probes";
        frto = false, "never came";
        frto_test = FrtoTest::EachAdvance, "no effect: there is no F-RTO";
        head_timeout = false, "Linux alone has it";
        fack_lost_retransmits = false, "Linux alone has it";
        forward_retransmit = false, "illumos tcp_output.c tcp_sack_rexmit: only what the SACKs show missing";
        timeout_marks = TimeoutMarks::All, "illumos tcp_timers.c tcp_timer, tcp_ss_rexmit: all from the first";
        undo = false, "never came";
        undo_start = UndoStart::Clean, "no effect: nothing is undone";
        partial_undo = PartialUndo::Window, "no effect: nothing is undone";
        undo_window = UndoWindow::Threshold, "no effect: nothing is undone";
        retrans_stamp_cleanup = false, "assumption: as Linux 3.10";
        attempts_count = false, "no effect: nothing is undone, and retries are counted";

        recovery = Recovery::Pipe, "illumos tcp_input.c and tcp_output.c tcp_sack_rexmit: tcp_pipe";
        congestion_control = CongestionControl::Reno, "illumos tcp_input.c tcp_input_data";
        hystart = false, "never came";
        cubic_heeds_boot = true, "no effect: congestion control is Reno";
        cubic = CubicForm::Linux3, "no effect: congestion control is Reno";
        byte_counting = false, "illumos tcp_input.c tcp_input_data: one segment an ACK";
        initial_window = InitialWindow::Rfc3390, "illumos tcp_tunables.c tcp_slow_start_initial = 4, with tcp.h TCP_SET_INIT_CWND";
        slow_start_after_idle = true, "illumos tcp_output.c tcp_wput_data, tcp_slow_start_after_idle";
        idle_restart = IdleRestart::WhenSent, "illumos tcp_output.c tcp_wput_data";
        window_use = WindowUse::InFlight, "assumption: as Linux 3.10";
        metrics = false, "assumption: off";

        ack_order = AckOrder::RecoveryFirst, "illumos tcp_input.c tcp_input_data: tcp_dupack_cnt begins a recovery; assumption: the rest as Linux 3.10";
        fin_exempt = true, "assumption: a FIN takes no room in the congestion window";
        fill_segments = false, "Linux alone has it";
        autocorking = false, "Linux alone has it";
        packet_overhead = 0, "assumption: buffers count payload";
        scatter_gather = true, "assumption: buffers count payload";
        linear_writes = false, "assumption: buffers count payload";
        header_room = 0, "assumption: buffers count payload";
        limit_output_bytes = None, "Linux alone has it";
        small_queue_retransmits = false, "no effect: there is no such limit";
        pacing_rate = false, "Linux alone has it";
        gso_segments = 1, "assumption: large send offload is off";
        packet_sizing = PacketSizing::Window, "no effect: a packet is a segment";
        retrans_collapse = true, "illumos tcp_output.c tcp_xmit_mp: sends again up to a full segment from the stream";
        collapse_linear = false, "illumos tcp_output.c tcp_xmit_mp: sends again from the stream";
        retries = 14, "illumos tcp_tunables.c tcp_ip_abort_interval = 8 min: as many as fit from 400 ms";
        retries_by_time = false, "assumption: a count that takes about as long as tcp_ip_abort_interval";
        shut_window_limit = ShutWindowLimit::LongestTimeout, "assumption: as Linux 3.10";
        syn_retries = 5, "illumos tcp_tunables.c tcp_ip_abort_cinterval = 3 min: as many as fit";
        syn_linear_timeouts = 0, "illumos tcp_timers.c tcp_timer: every timeout doubles";
        send_buffer = [49_152, 49_152, 49_152], "Solaris 10 Tunable Parameters Reference: tcp_xmit_hiwat";
        send_buffer_growth = SendBufferGrowth::WhenFreed, "no effect: the buffer has one size";

        prequeue = false, "Linux alone has it";
        collapse_header_room = 0, "no effect: nothing is copied";
        delayed_ack = DelayedAck::Rfc, "Solaris 10 Tunable Parameters Reference: tcp_deferred_acks_max = 2";
        delayed_ack_min = Duration::from_millis(100), "Solaris 10 Tunable Parameters Reference: tcp_deferred_ack_interval";
        delayed_ack_max = Duration::from_millis(100), "Solaris 10 Tunable Parameters Reference: tcp_deferred_ack_interval";
        receive_buffer = [49_152, 49_152, 49_152], "Solaris 10 Tunable Parameters Reference: tcp_recv_hiwat";
        first_window_segments = 10, "no effect: Linux alone has it";
        moderate_receive_buffer = false, "never came to Solaris 10";
        receive_buffer_growth = ReceiveBufferGrowth::ByRate, "no effect: the buffer does not follow the reader";
        window_share = WindowShare::Whole, "illumos tcp_input.c: the window is the room that is left";
        sack_compression_delay = Duration::ZERO, "Linux alone has it";
        sack_compression_slack = Duration::ZERO, "no effect: SACKs are not held back";
        sack_compression_most = 0, "no effect: SACKs are not held back";
    }
    page.without_multipath("came in no release");
    page
}

pub(super) fn ten_unc2007() -> Page {
    let mut page = ten().variant(
        "solaris-10-unc2007",
        "Solaris 10 with the timeout that UNC 2007 prints",
    );
    state! { page;
        estimator = Estimator::Rfc6298, "UNC 2007, Table I: RTO = 1.25 srtt + 4 rttvar; section II: or minRTO, if that is less";
        rtt_samples = RttSamples::OncePerRoundTrip, "UNC 2007, sections V-A and V-B: Linux once per segment, most other OSes once per flight";
    }
    page
}
