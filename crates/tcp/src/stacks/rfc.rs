//! The standards, and nothing that one stack alone does.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, EarlyRetransmit, Estimator, FrtoTest,
    IdleRestart, InitialWindow, PacketSizing, PartialUndo, ReceiveBufferGrowth, Recovery, Reneging,
    ReorderingUnit, RttSamples, SendBufferGrowth, ShutWindowLimit, TimeoutLeft, TimeoutMarks, Tlp,
    UndoStart, UndoWindow, WindowShare, WindowUse,
};

pub(super) fn page() -> Page {
    let mut page = Page::new(
        "rfc",
        "the standards' core: RFC 5681, 6298, 6675, 2883 and 7323; no RACK, no probes",
    );
    state! { page;
        hz = 1000, "assumption: a clock of 1 ms; RFC 6298 §4 asks for 100 ms or finer";
        wheel = Wheel::Exact, "RFC 6298 §5: a timer expires when its time is over";

        estimator = Estimator::Rfc6298, "RFC 6298 §2";
        min_rto = Duration::from_secs(1), "RFC 6298 §2.4: rounded up to 1 second";
        max_rto = Duration::from_secs(60), "RFC 6298 §2.5: at least 60 seconds";
        initial_rto = Duration::from_secs(1), "RFC 6298 §2.1";
        fallback_rto = Duration::from_secs(3), "RFC 6298 §5.7";
        srtt_shift = 3, "RFC 6298 §2.3: alpha = 1/8";
        rttvar_shift = 2, "RFC 6298 §2.3: beta = 1/4";
        srtt_factor = 1.0, "RFC 6298 §2.3";
        rttvar_factor = 4, "RFC 6298 §2.3: K = 4";
        rtt_samples = RttSamples::OncePerRoundTrip, "RFC 6298 §3: at least one a round trip";
        rto_slop = Duration::ZERO, "RFC 6298 §2.3: nothing is added";
        timeout_left = TimeoutLeft::Ticks, "no effect: the timer has no other use but the timeout";

        sack = true, "RFC 2018";
        dsack = true, "RFC 2883";
        timestamps = true, "RFC 7323 §3";
        window_scaling = true, "RFC 7323 §2";

        dupack_threshold = 3, "RFC 5681 §3.2, RFC 6675 §2: DupThresh = 3";
        max_reordering = 3, "RFC 6675 §2: DupThresh is fixed";
        reordering_unit = ReorderingUnit::Segments, "assumption: RFC 6675 §4 IsLost counts bytes as well";
        timeout_forgets_reordering = true, "no effect: the threshold is fixed";
        reneging = Reneging::Timeout, "assumption: what RFC 2018 §8 asks for at a timeout is done at once";
        dsack_check = false, "no effect: nothing is undone";
        sacked_count_again = true, "no effect: one segment is timed at a time";
        fack = false, "no standard";
        rack = false, "left out: RFC 8985 is what linux-6.1 and linux-6.12 do";
        rack_static_reo_wnd = false, "no effect: RACK is off";
        rack_no_dupack_threshold = false, "no effect: RACK is off";
        limited_transmit = true, "RFC 3042, RFC 5681 §3.2";
        early_retransmit = EarlyRetransmit::Off, "left out: RFC 5827 is experimental";
        tlp = Tlp::Off, "left out: RFC 8985 §7 is what linux-6.1 and linux-6.12 do";
        tlp_probes_bare_fin = false, "no effect: there are no probes";
        tlp_marks_retransmission = false, "no effect: there are no probes";
        frto = false, "left out: RFC 5682 is optional";
        frto_test = FrtoTest::EachAdvance, "no effect: there is no F-RTO";
        head_timeout = false, "no standard";
        fack_lost_retransmits = false, "no standard";
        forward_retransmit = true, "RFC 6675 §4, NextSeg rule 3";
        timeout_marks = TimeoutMarks::All, "RFC 5681 §3.1, RFC 6675 §5.1: all without SACK are sent again";
        undo = false, "left out: RFC 3522 and 4015 are optional";
        undo_start = UndoStart::Clean, "no effect: nothing is undone";
        partial_undo = PartialUndo::Window, "no effect: nothing is undone";
        undo_window = UndoWindow::Threshold, "no effect: nothing is undone";
        retrans_stamp_cleanup = false, "assumption: as Linux 3.10";
        attempts_count = false, "no effect: nothing is undone, and retries are counted";

        recovery = Recovery::Pipe, "RFC 6675 §5";
        congestion_control = CongestionControl::Reno, "RFC 5681 §3.1";
        hystart = false, "RFC 5681 §3.1: slow start ends at ssthresh";
        cubic_heeds_boot = true, "no effect: congestion control is Reno";
        cubic = CubicForm::Linux6, "no effect: congestion control is Reno";
        byte_counting = true, "RFC 5681 §3.1, equation 2, as RFC 3465 recommends";
        initial_window = InitialWindow::Rfc3390, "RFC 5681 §3.1, equation 1";
        slow_start_after_idle = true, "RFC 5681 §4.1";
        idle_restart = IdleRestart::WhenSent, "RFC 5681 §4.1";
        window_use = WindowUse::InFlight, "assumption: as Linux 3.10";
        metrics = false, "RFC 9040 §4: optional";

        ack_order = AckOrder::RecoveryFirst, "RFC 5681 §3.2, RFC 6675 §5: counting begins a recovery; assumption: the rest as Linux 3.10";
        fin_exempt = true, "assumption: a FIN takes no room in the congestion window";
        fill_segments = false, "Linux alone has it";
        autocorking = false, "Linux alone has it";
        packet_overhead = 0, "assumption: buffers count payload";
        scatter_gather = true, "assumption: buffers count payload";
        linear_writes = false, "assumption: buffers count payload";
        header_room = 0, "assumption: buffers count payload";
        limit_output_bytes = None, "no standard: a host's own affair";
        small_queue_retransmits = false, "no effect: there is no such limit";
        pacing_rate = false, "no standard: a host's own affair";
        gso_segments = 1, "no standard: a packet is a segment";
        packet_sizing = PacketSizing::Window, "no effect: a packet is a segment";
        retrans_collapse = false, "assumption: segments keep their bounds; RFC 9293 §3.7.5 allows repacking";
        collapse_linear = true, "no effect: segments keep their bounds";
        retries = 15, "RFC 1122 §4.2.3.5: R2 of at least 100 seconds, as Linux counts";
        retries_by_time = false, "assumption: a count; RFC 1122 §4.2.3.5 allows either";
        shut_window_limit = ShutWindowLimit::LongestTimeout, "assumption: as Linux 3.10";
        syn_retries = 6, "RFC 1122 §4.2.3.5: R2 of at least 3 minutes for a SYN, to the nearest doubling";
        syn_linear_timeouts = 0, "RFC 6298 §5.5: every timeout doubles";
        send_buffer = [65_536, 1_048_576, 4_194_304], "assumption: room for any window of the scenarios";
        send_buffer_growth = SendBufferGrowth::WhenFreed, "assumption: as Linux 3.10";

        prequeue = false, "Linux alone has it";
        collapse_header_room = 0, "no effect: nothing is copied";
        delayed_ack = DelayedAck::Rfc, "RFC 5681 §4.2";
        delayed_ack_min = Duration::from_millis(200), "assumption: one delay, the customary 200 ms";
        delayed_ack_max = Duration::from_millis(200), "assumption: the customary 200 ms; RFC 1122 §4.2.3.2 allows 500 ms";
        receive_buffer = [65_536, 1_048_576, 4_194_304], "assumption: room for any window of the scenarios";
        first_window_segments = 10, "no effect: no standard bounds it";
        moderate_receive_buffer = false, "no standard: a host's own affair";
        receive_buffer_growth = ReceiveBufferGrowth::ByRate, "no effect: the buffer does not follow the reader";
        window_share = WindowShare::Whole, "RFC 9293 §3.8.6: the window is the room that is left";
        sack_compression_delay = Duration::ZERO, "RFC 5681 §4.2: an out-of-order segment is acknowledged at once";
        sack_compression_slack = Duration::ZERO, "no effect: SACKs are not held back";
        sack_compression_most = 0, "no effect: SACKs are not held back";
    }
    page.without_multipath("assumption: none; RFC 8684 leaves scheduling to implementations");
    page
}
