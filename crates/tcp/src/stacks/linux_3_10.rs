//! Linux 3.10.4 (August 2013), the kernel of the tail loss probe paper.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, EarlyRetransmit, Estimator, FrtoTest,
    IdleRestart, InitialWindow, MaxBurst, PacketSizing, PartialUndo, ReceiveBufferGrowth, Recovery,
    Reneging, ReorderingUnit, RttSamples, SendBufferGrowth, ShutWindowLimit, TimeoutLeft,
    TimeoutMarks, Tlp, UndoStart, UndoWindow, WindowShare, WindowUse,
};

pub(super) fn page() -> Page {
    let mut page = Page::new(
        "linux-3.10",
        "Linux 3.10 (2013): FACK, delayed early retransmit, the first tail loss probes",
    );
    state! { page;
        timers {
            hz = 250, "assumption: CONFIG_HZ of Debian and Ubuntu; Red Hat has 1000";
            wheel = Wheel::Slack, "kernel/timer.c apply_slack, 3.10";
            estimator = Estimator::LinuxTicks, "net/ipv4/tcp_input.c tcp_rtt_estimator and tcp_ack_update_rtt, 3.10";
            min_rto = Duration::from_millis(200), "include/net/tcp.h TCP_RTO_MIN = HZ/5, 3.10; bounds the deviation";
            max_rto = Duration::from_secs(120), "include/net/tcp.h TCP_RTO_MAX, 3.10";
            initial_rto = Duration::from_secs(1), "include/net/tcp.h TCP_TIMEOUT_INIT, 3.10";
            fallback_rto = Duration::from_secs(3), "include/net/tcp.h TCP_TIMEOUT_FALLBACK, tcp_init_metrics, 3.10";
            srtt_shift = 3, "net/ipv4/tcp_input.c tcp_rtt_estimator, 3.10";
            rttvar_shift = 2, "net/ipv4/tcp_input.c tcp_rtt_estimator, 3.10; 1/32 when it rises as round trips shorten";
            srtt_factor = 1.0, "include/net/tcp.h __tcp_set_rto, 3.10";
            rttvar_factor = 4, "include/net/tcp.h __tcp_set_rto, 3.10: rttvar holds four deviations";
            rtt_samples = RttSamples::EachAck, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 3.10";
            rto_slop = Duration::ZERO, "include/net/tcp.h __tcp_set_rto, 3.10: nothing is added";
            timeout_left = TimeoutLeft::Ticks, "net/ipv4/tcp_input.c tcp_rearm_rto, 3.10";
            retries = 15, "include/net/tcp.h TCP_RETR2, 3.10";
            retries_by_time = true, "net/ipv4/tcp_timer.c retransmits_timed_out, 3.10";
            shut_window_limit = ShutWindowLimit::LongestTimeout, "net/ipv4/tcp_timer.c tcp_retransmit_timer, 3.10";
            syn_retries = 6, "include/net/tcp.h TCP_SYN_RETRIES, 3.10";
        }

        loss {
            dupack_threshold = 3, "include/net/tcp.h TCP_FASTRETRANS_THRESH, 3.10";
            max_reordering = 127, "include/net/tcp.h TCP_MAX_REORDERING, 3.10";
            reordering_unit = ReorderingUnit::Segments, "net/ipv4/tcp_input.c tcp_update_reordering, 3.10";
            timeout_forgets_reordering = true, "net/ipv4/tcp_input.c tcp_enter_loss, 3.10";
            reneging = Reneging::Timeout, "net/ipv4/tcp_input.c tcp_check_sack_reneging, 3.10";
            dsack_check = false, "net/ipv4/tcp_input.c tcp_check_dsack, 3.10";
            sacked_count_again = true, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 3.10";
            fack = true, "net/ipv4/tcp_input.c sysctl_tcp_fack = 1, 3.10";
            limited_transmit = true, "include/net/tcp.h tcp_packets_in_flight, 3.10: SACKed segments count as delivered";
            early_retransmit = EarlyRetransmit::Delayed, "net/ipv4/tcp_input.c sysctl_tcp_early_retrans = 3, 3.10";
            tlp = Tlp::Draft, "net/ipv4/tcp_output.c tcp_schedule_loss_probe, tcp_send_loss_probe, 3.10";
            tlp_probes_bare_fin = false, "net/ipv4/tcp_output.c tcp_send_loss_probe, 3.10.4: skb->len > 0";
            tlp_marks_retransmission = false, "net/ipv4/tcp_output.c tcp_send_loss_probe, __tcp_retransmit_skb, 3.10";
            frto = true, "net/ipv4/tcp_input.c sysctl_tcp_frto = 2, tcp_process_loss, 3.10";
            frto_test = FrtoTest::EachAdvance, "net/ipv4/tcp_input.c tcp_enter_loss, tcp_process_loss, 3.10";
            head_timeout = true, "net/ipv4/tcp_input.c tcp_head_timedout, tcp_timeout_skbs, 3.10";
            fack_lost_retransmits = true, "net/ipv4/tcp_input.c tcp_mark_lost_retrans, 3.10";
            forward_retransmit = true, "net/ipv4/tcp_output.c tcp_can_forward_retransmit, 3.10";
            timeout_marks = TimeoutMarks::All, "net/ipv4/tcp_input.c tcp_enter_loss, 3.10";
            ack_order = AckOrder::RecoveryFirst, "net/ipv4/tcp_input.c tcp_ack, tcp_fastretrans_alert, 3.10";
        }

        congestion {
            undo = true, "net/ipv4/tcp_input.c tcp_may_undo, 3.10";
            undo_start = UndoStart::Clean, "net/ipv4/tcp_input.c tcp_enter_loss, tcp_enter_recovery, 3.10";
            partial_undo = PartialUndo::Window, "net/ipv4/tcp_input.c tcp_try_undo_partial, 3.10";
            undo_window = UndoWindow::Threshold, "net/ipv4/tcp_input.c tcp_undo_cwr, 3.10";
            undo_moderates = false, "net/ipv4/tcp_input.c tcp_undo_cwr, tcp_end_cwnd_reduction, 3.10: not since 2.6.39";
            max_burst = MaxBurst::Reordering, "include/net/tcp.h tcp_max_burst, 3.10";
            retrans_stamp_cleanup = false, "net/ipv4/tcp_input.c tcp_try_undo_recovery, 3.10: the window is moderated instead";
            attempts_count = false, "net/ipv4/tcp_output.c tcp_retransmit_skb, 3.10";
            recovery = Recovery::Prr, "net/ipv4/tcp_input.c tcp_cwnd_reduction, 3.10";
            congestion_control = CongestionControl::Cubic, "net/ipv4/Kconfig DEFAULT_TCP_CONG, 3.10";
            hystart = true, "net/ipv4/tcp_cubic.c hystart = 1, 3.10";
            cubic_heeds_boot = false, "net/ipv4/tcp_cubic.c bictcp_acked, 3.10.4: tcp_time_stamp - epoch_start < HZ, where time begins at -300 s and there is no epoch yet; mended in 3.11";
            cubic = CubicForm::Linux3, "net/ipv4/tcp_cubic.c, 3.10";
            byte_counting = false, "net/ipv4/tcp_cong.c tcp_slow_start, 3.10: one segment an ACK";
            initial_window = InitialWindow::Segments(10), "include/net/tcp.h TCP_INIT_CWND, 3.10";
            slow_start_after_idle = true, "net/ipv4/tcp_output.c sysctl_tcp_slow_start_after_idle = 1, 3.10";
            idle_restart = IdleRestart::WhenSent, "net/ipv4/tcp_output.c tcp_event_data_sent, 3.10";
            window_use = WindowUse::InFlight, "net/ipv4/tcp_cong.c tcp_is_cwnd_limited, net/ipv4/tcp_output.c tcp_cwnd_validate, 3.10";
            metrics = false, "assumption: off (tcp_no_metrics_save = 1), as on the lab's hosts; by default the kernel keeps what it learned";
        }

        segments {
            sack = true, "net/ipv4/tcp_input.c sysctl_tcp_sack = 1, 3.10";
            dsack = true, "net/ipv4/tcp_input.c sysctl_tcp_dsack = 1, 3.10";
            timestamps = true, "net/ipv4/tcp_input.c sysctl_tcp_timestamps = 1, 3.10";
            window_scaling = true, "net/ipv4/tcp_input.c sysctl_tcp_window_scaling = 1, 3.10";
            fin_exempt = true, "net/ipv4/tcp_output.c tcp_cwnd_test, 3.10";
            packet_overhead = 1_280, "net/ipv4/tcp.c sk_stream_alloc_skb, SKB_TRUESIZE, 3.10, of a packet in pages: 1024 + 256";
            scatter_gather = false, "net/ipv4/tcp.c tcp_sendpage, 3.10: asks for NETIF_F_SG and for checksums, which the lab's links do not make";
            linear_writes = true, "net/ipv4/tcp.c tcp_sendmsg, select_size, 3.10";
            header_room = 304, "include/net/tcp.h MAX_TCP_HEADER, 3.10.4: 128 + 128 + 48";
            limit_output_bytes = Some(131_072), "net/ipv4/tcp_output.c sysctl_tcp_limit_output_bytes, 3.10";
            small_queue_retransmits = false, "net/ipv4/tcp_output.c tcp_write_xmit, tcp_tsq_handler, 3.10: new data alone";
            gso_segments = 1, "assumption: offloads are off, as on the lab's links";
            packet_sizing = PacketSizing::Window, "net/ipv4/tcp_output.c tcp_tso_should_defer, tcp_mss_split_point, 3.10";
            retrans_collapse = true, "net/ipv4/tcp_output.c sysctl_tcp_retrans_collapse = 1, 3.10";
            collapse_linear = true, "net/ipv4/tcp_output.c tcp_can_collapse, 3.10";
            send_buffer = [4_096, 16_384, 4_194_304], "net/ipv4/tcp.c tcp_init, 3.10, with memory enough";
            send_buffer_growth = SendBufferGrowth::WhenFreed, "net/ipv4/tcp_input.c tcp_fixup_sndbuf, tcp_new_space, 3.10";
        }

        receiver {
            prequeue = true, "net/ipv4/tcp_ipv4.c tcp_prequeue, sysctl_tcp_low_latency = 0, 3.10";
            collapse_header_room = 304, "net/ipv4/tcp_input.c tcp_collapse, skb_headroom, 3.10: as header_room";
            delayed_ack = DelayedAck::Linux3, "net/ipv4/tcp_input.c tcp_event_data_recv, __tcp_ack_snd_check, 3.10";
            delayed_ack_min = Duration::from_millis(40), "include/net/tcp.h TCP_DELACK_MIN, TCP_ATO_MIN, 3.10";
            delayed_ack_max = Duration::from_millis(200), "include/net/tcp.h TCP_DELACK_MAX, 3.10";
            receive_buffer = [4_096, 87_380, 6_291_456], "net/ipv4/tcp.c tcp_init, 3.10, with memory enough";
            first_window_segments = 10, "net/ipv4/tcp_output.c tcp_select_initial_window: TCP_DEFAULT_INIT_RCVWND, 3.10";
            moderate_receive_buffer = true, "net/ipv4/tcp_input.c sysctl_tcp_moderate_rcvbuf = 1, 3.10";
            receive_buffer_growth = ReceiveBufferGrowth::TwiceRead, "net/ipv4/tcp_input.c tcp_rcv_space_adjust, tcp_fixup_rcvbuf, 3.10";
            window_share = WindowShare::AdvWinScale(1), "net/ipv4/tcp_input.c sysctl_tcp_adv_win_scale = 1, 3.10";
        }
    }
    page
}
