//! Windows XP and 2000. Their source is not public: what vendor documents do not say is an assumption, and says so.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, EarlyRetransmit, Estimator, FrtoTest,
    IdleRestart, InitialWindow, PacketSizing, PartialUndo, ReceiveBufferGrowth, Recovery, Reneging,
    ReorderingUnit, RttSamples, SendBufferGrowth, ShutWindowLimit, TimeoutLeft, TimeoutMarks, Tlp,
    UndoStart, UndoWindow, WindowShare, WindowUse,
};

pub(super) fn xp() -> Page {
    let mut page = Page::new(
        "windows-xp",
        "Windows XP and 2000 (2000 to 2008): the second duplicate ACK, timers of 100 ms",
    );
    state! { page;
        hz = 10, "UNC 2007, Table I: timer granularity 100 ms";
        wheel = Wheel::Exact, "assumption: timers fire at the tick asked for";

        estimator = Estimator::Rfc6298, "assumption: RFC 2988; Microsoft on e2e-interest, 2 February 2006: the standard algorithms";
        min_rto = Duration::from_millis(300), "assumption: three ticks; UNC 2007's Table I has 200 ms (windows-xp-unc2007)";
        max_rto = Duration::from_secs(240), "Microsoft KB 170359: doubles up to 240 seconds";
        initial_rto = Duration::from_secs(3), "Microsoft KB 170359, TcpInitialRtt: 3 seconds";
        fallback_rto = Duration::from_secs(3), "Microsoft KB 170359, TcpInitialRtt: 3 seconds";
        srtt_shift = 3, "UNC 2007, Table I: b = 0.125";
        rttvar_shift = 2, "UNC 2007, Table I: a = 0.25";
        srtt_factor = 1.0, "UNC 2007, Table I: m = 1";
        rttvar_factor = 4, "UNC 2007, Table I: k = 4";
        rtt_samples = RttSamples::OncePerRoundTrip, "assumption: one segment timed at a time, as RFC 2988 §3 has it";
        rto_slop = Duration::ZERO, "assumption: nothing is added, as in RFC 2988";
        timeout_left = TimeoutLeft::Ticks, "no effect: the timer has no other use but the timeout";

        sack = true, "Microsoft, TCP/IP Implementation Details: SackOpts = 1";
        dsack = false, "assumption: RFC 2883 came with Windows Vista";
        timestamps = false, "Microsoft, TCP/IP Implementation Details: Tcp1323Opts offers none";
        window_scaling = false, "Microsoft, TCP/IP Implementation Details: Tcp1323Opts offers none";

        dupack_threshold = 2, "Microsoft, TCP/IP Implementation Details: TcpMaxDupAcks = 2; UNC 2007, Table I: D = 2";
        max_reordering = 2, "assumption: the threshold is fixed";
        reordering_unit = ReorderingUnit::Segments, "assumption: how far a SACK is above is counted in segments";
        timeout_forgets_reordering = true, "no effect: the threshold is fixed";
        reneging = Reneging::Timeout, "assumption: as Linux 3.10";
        dsack_check = false, "no effect: nothing is undone";
        sacked_count_again = true, "no effect: one segment is timed at a time";
        fack = false, "assumption: Linux alone has it";
        rack = false, "came later";
        rack_static_reo_wnd = false, "no effect: there is no RACK";
        rack_no_dupack_threshold = false, "no effect: there is no RACK";
        limited_transmit = false, "assumption: RFC 3042 was not yet followed";
        early_retransmit = EarlyRetransmit::Off, "came later";
        tlp = Tlp::Off, "came later";
        tlp_probes_bare_fin = false, "no effect: there are no probes";
        tlp_marks_retransmission = false, "no effect: there are no probes";
        frto = false, "assumption: RFC 4138 came with Windows Vista";
        frto_test = FrtoTest::EachAdvance, "no effect: there is no F-RTO";
        head_timeout = false, "assumption: Linux alone has it";
        fack_lost_retransmits = false, "assumption: Linux alone has it";
        forward_retransmit = false, "assumption: RFC 2018 §5: only what the SACKs show missing";
        timeout_marks = TimeoutMarks::All, "RFC 2581 §3.1";
        undo = false, "assumption: RFC 3522 came later";
        undo_start = UndoStart::Clean, "no effect: nothing is undone";
        partial_undo = PartialUndo::Window, "no effect: nothing is undone";
        undo_window = UndoWindow::Threshold, "no effect: nothing is undone";
        retrans_stamp_cleanup = false, "assumption: as Linux 3.10";
        attempts_count = false, "no effect: nothing is undone, and retries are counted";

        recovery = Recovery::Pipe, "assumption: as RFC 3517 when the peer sends SACKs";
        congestion_control = CongestionControl::Reno, "RFC 2581; Microsoft on e2e-interest, 2 February 2006: the standard algorithms";
        hystart = false, "RFC 2581 §3.1: slow start ends at ssthresh";
        cubic_heeds_boot = true, "no effect: congestion control is Reno";
        cubic = CubicForm::Linux3, "no effect: congestion control is Reno";
        byte_counting = false, "RFC 2581 §3.1: one segment an ACK";
        initial_window = InitialWindow::Segments(2), "Microsoft, TCP/IP Implementation Details: slow start begins with two segments";
        slow_start_after_idle = true, "RFC 2581 §4.1";
        idle_restart = IdleRestart::WhenSent, "RFC 2581 §4.1";
        window_use = WindowUse::InFlight, "assumption: as Linux 3.10";
        metrics = false, "assumption: off";

        ack_order = AckOrder::RecoveryFirst, "assumption: RFC 2581 §3.2 by counting; the rest as Linux 3.10";
        fin_exempt = true, "assumption: a FIN takes no room in the congestion window";
        fill_segments = false, "Linux alone has it";
        autocorking = false, "Linux alone has it";
        packet_overhead = 0, "assumption: buffers count payload";
        scatter_gather = true, "assumption: buffers count payload";
        linear_writes = false, "assumption: buffers count payload";
        header_room = 0, "assumption: buffers count payload";
        limit_output_bytes = None, "assumption: no such limit";
        small_queue_retransmits = false, "no effect: there is no such limit";
        pacing_rate = false, "assumption: no such limit";
        gso_segments = 1, "assumption: large send offload is off";
        packet_sizing = PacketSizing::Window, "no effect: a packet is a segment";
        retrans_collapse = false, "assumption: segments keep their bounds";
        collapse_linear = true, "no effect: segments keep their bounds";
        retries = 5, "Microsoft KB 170359: TcpMaxDataRetransmissions = 5";
        retries_by_time = false, "Microsoft KB 170359: TcpMaxDataRetransmissions is a count";
        shut_window_limit = ShutWindowLimit::LongestTimeout, "assumption: as Linux 3.10";
        syn_retries = 2, "Microsoft KB 170359: TcpMaxConnectRetransmissions = 2";
        syn_linear_timeouts = 0, "Microsoft KB 170359: every timeout doubles";
        send_buffer = [65_535, 65_535, 65_535], "assumption: a window without scaling; a blocking send is sent from the program's memory";
        send_buffer_growth = SendBufferGrowth::WhenFreed, "no effect: the buffer has one size";

        prequeue = false, "Linux alone has it";
        collapse_header_room = 0, "no effect: nothing is copied";
        delayed_ack = DelayedAck::Rfc, "Microsoft, TCP/IP Implementation Details: every second segment or 200 ms";
        delayed_ack_min = Duration::from_millis(200), "Microsoft, TCP/IP Implementation Details: TcpDelAckTicks = 2";
        delayed_ack_max = Duration::from_millis(200), "Microsoft, TCP/IP Implementation Details: TcpDelAckTicks = 2";
        receive_buffer = [17_520, 17_520, 17_520], "Microsoft, TCP/IP Implementation Details: TcpWindowSize on Ethernet";
        first_window_segments = 10, "no effect: Linux alone has it";
        moderate_receive_buffer = false, "came with Windows Vista";
        receive_buffer_growth = ReceiveBufferGrowth::ByRate, "no effect: the buffer does not follow the reader";
        window_share = WindowShare::Whole, "Microsoft, TCP/IP Implementation Details: TcpWindowSize is the window";
        sack_compression_delay = Duration::ZERO, "RFC 2581 §4.2: an out-of-order segment is acknowledged at once";
        sack_compression_slack = Duration::ZERO, "no effect: SACKs are not held back";
        sack_compression_most = 0, "no effect: SACKs are not held back";
    }
    page.without_multipath("came in no release");
    page
}

pub(super) fn xp_unc2007() -> Page {
    let mut page = xp().variant(
        "windows-xp-unc2007",
        "Windows XP with the smallest timeout that UNC 2007 prints",
    );
    state! { page;
        min_rto = Duration::from_millis(200), "UNC 2007, Table I: minRTO 200 ms";
    }
    page
}
