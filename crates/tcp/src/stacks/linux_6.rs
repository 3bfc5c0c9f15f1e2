//! Linux 6.1 and 6.12, which the lab also runs.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, Estimator, FrtoTest, IdleRestart,
    InitialWindow, MptcpBuffer, MptcpBurst, MptcpOptions, MptcpReinject, MptcpScheduler,
    MptcpTimer, PacketSizing, PartialUndo, ReceiveBufferGrowth, Recovery, Reneging, ReorderingUnit,
    RttSamples, SendBufferGrowth, ShutWindowLimit, TimeoutLeft, TimeoutMarks, Tlp, UndoStart,
    UndoWindow, WindowShare, WindowUse,
};

pub(super) fn page_6_1() -> Page {
    let mut page = Page::new(
        "linux-6.1",
        "Linux 6.1 (2022): RACK and tail loss probes, as the lab's kernel 6.1",
    );
    state! { page;
        timers {
            hz = 250, "CONFIG_HZ of Debian, and the lab's kernels unless built with another";
            wheel = Wheel::Levels, "kernel/time/timer.c calc_wheel_index, 6.1";
            estimator = Estimator::LinuxMicros, "net/ipv4/tcp_input.c tcp_rtt_estimator and tcp_ack_update_rtt, 6.1";
            min_rto = Duration::from_millis(200), "include/net/tcp.h TCP_RTO_MIN = HZ/5, 6.1; bounds the deviation";
            max_rto = Duration::from_secs(120), "include/net/tcp.h TCP_RTO_MAX, 6.1";
            initial_rto = Duration::from_secs(1), "include/net/tcp.h TCP_TIMEOUT_INIT, 6.1";
            fallback_rto = Duration::from_secs(3), "include/net/tcp.h TCP_TIMEOUT_FALLBACK, tcp_init_metrics, 6.1";
            srtt_shift = 3, "net/ipv4/tcp_input.c tcp_rtt_estimator, 6.1";
            rttvar_shift = 2, "net/ipv4/tcp_input.c tcp_rtt_estimator, 6.1; 1/32 when it rises as round trips shorten";
            srtt_factor = 1.0, "include/net/tcp.h __tcp_set_rto, 6.1";
            rttvar_factor = 4, "include/net/tcp.h __tcp_set_rto, 6.1: rttvar holds four deviations";
            rtt_samples = RttSamples::EachAck, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 6.1";
            rto_slop = Duration::ZERO, "include/net/tcp.h __tcp_set_rto, 6.1: nothing is added";
            timeout_left = TimeoutLeft::Micros, "net/ipv4/tcp_input.c tcp_rearm_rto, include/net/tcp.h tcp_rto_delta_us, 6.1";
            retries = 15, "include/net/tcp.h TCP_RETR2, 6.1";
            retries_by_time = true, "net/ipv4/tcp_timer.c retransmits_timed_out, 6.1";
            shut_window_limit = ShutWindowLimit::TwiceLongestTimeout, "net/ipv4/tcp_timer.c tcp_rtx_probe0_timed_out, 6.1";
            syn_retries = 6, "include/net/tcp.h TCP_SYN_RETRIES, 6.1";
        }

        loss {
            dupack_threshold = 3, "net/ipv4/tcp_ipv4.c tcp_sk_init, TCP_FASTRETRANS_THRESH, 6.1";
            max_reordering = 300, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            reordering_unit = ReorderingUnit::Bytes, "net/ipv4/tcp_input.c tcp_check_sack_reordering, tcp_force_fast_retransmit, 6.1";
            timeout_forgets_reordering = false, "net/ipv4/tcp_input.c tcp_enter_loss, 6.1: only in Disorder, and with as many SACKed";
            reneging = Reneging::Wait, "net/ipv4/tcp_input.c tcp_check_sack_reneging, 6.1";
            dsack_check = true, "net/ipv4/tcp_input.c tcp_dsack_seen, 6.1";
            sacked_count_again = false, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 6.1";
            rack = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_recovery = TCP_RACK_LOSS_DETECTION, 6.1";
            rack_static_reo_wnd = false, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_recovery, 6.1";
            rack_no_dupack_threshold = false, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_recovery, 6.1";
            limited_transmit = true, "include/net/tcp.h tcp_packets_in_flight, 6.1: SACKed segments count as delivered";
            tlp = Tlp::Rfc8985, "net/ipv4/tcp_output.c tcp_schedule_loss_probe; sysctl_tcp_early_retrans = 3, 6.1";
            tlp_probes_bare_fin = true, "net/ipv4/tcp_output.c tcp_send_loss_probe, 6.1";
            tlp_marks_retransmission = true, "net/ipv4/tcp_output.c __tcp_retransmit_skb, 6.1: TCPCB_EVER_RETRANS";
            frto = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_frto = 2, 6.1";
            frto_test = FrtoTest::Once, "net/ipv4/tcp_input.c tcp_enter_loss, tcp_process_loss, tcp_clean_rtx_queue, 6.1";
            timeout_marks = TimeoutMarks::Rack, "net/ipv4/tcp_input.c tcp_timeout_mark_lost, 6.1";
            ack_order = AckOrder::LossesFirst, "net/ipv4/tcp_input.c tcp_ack, tcp_identify_packet_loss, tcp_cong_control, tcp_set_xmit_timer, 6.1";
        }

        congestion {
            undo = true, "net/ipv4/tcp_input.c tcp_may_undo, 6.1";
            undo_start = UndoStart::InFlight, "net/ipv4/tcp_input.c tcp_init_undo, 6.1";
            partial_undo = PartialUndo::Recovery, "net/ipv4/tcp_input.c tcp_try_undo_partial, 6.1";
            undo_window = UndoWindow::Prior, "net/ipv4/tcp_input.c tcp_undo_cwnd_reduction, net/ipv4/tcp_cong.c tcp_reno_undo_cwnd, 6.1";
            retrans_stamp_cleanup = true, "net/ipv4/tcp_input.c tcp_is_non_sack_preventing_reopen, tcp_enter_recovery, 6.1";
            attempts_count = true, "net/ipv4/tcp_output.c tcp_retransmit_skb, 6.1";
            recovery = Recovery::PrrConservative, "net/ipv4/tcp_input.c tcp_cwnd_reduction, 6.1";
            congestion_control = CongestionControl::Cubic, "net/ipv4/Kconfig DEFAULT_TCP_CONG, 6.1";
            hystart = true, "net/ipv4/tcp_cubic.c hystart = 1, 6.1";
            cubic_heeds_boot = true, "net/ipv4/tcp_cubic.c cubictcp_acked, 6.1";
            cubic = CubicForm::Linux6, "net/ipv4/tcp_cubic.c, 6.1";
            byte_counting = true, "net/ipv4/tcp_cong.c tcp_slow_start, 6.1";
            initial_window = InitialWindow::Segments(10), "include/net/tcp.h TCP_INIT_CWND, 6.1";
            slow_start_after_idle = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            idle_restart = IdleRestart::WhenWritten, "include/net/tcp.h tcp_slow_start_after_idle_check, 6.1";
            window_use = WindowUse::Limited, "include/net/tcp.h tcp_is_cwnd_limited, net/ipv4/tcp_output.c tcp_cwnd_validate, 6.1";
            metrics = false, "assumption: off (tcp_no_metrics_save = 1), as on the lab's hosts; by default the kernel keeps what it learned";
        }

        segments {
            sack = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            dsack = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            timestamps = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            window_scaling = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            fin_exempt = true, "net/ipv4/tcp_output.c tcp_cwnd_test, 6.1";
            ecn_fallback = true, "net/ipv4/tcp_output.c tcp_ecn_clear_syn, net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_ecn_fallback = 1, 6.1";
            autocorking = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_autocorking = 1, 6.1";
            packet_overhead = 768, "net/ipv4/tcp.c tcp_stream_alloc_skb, SKB_TRUESIZE, 6.1, as the lab configures it: 192 + 256 + 320";
            scatter_gather = true, "net/ipv4/tcp.c tcp_sendmsg_locked: no difference since 4.17";
            linear_writes = false, "net/ipv4/tcp.c tcp_sendmsg_locked, skb_page_frag_refill: in pages since 4.17";
            header_room = 192, "include/net/tcp.h MAX_TCP_HEADER, 6.1, as the lab configures it: no wireless LAN, no tunnels";
            limit_output_bytes = Some(1_048_576), "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            small_queue_retransmits = true, "net/ipv4/tcp_output.c tcp_xmit_retransmit_queue, tcp_tsq_write, 6.1";
            pacing_rate = true, "net/ipv4/tcp_output.c tcp_small_queue_check, 6.1";
            gso_segments = 1, "the lab's links: gso_max_segs 1, offloads off";
            packet_sizing = PacketSizing::PacingRate, "net/ipv4/tcp_output.c tcp_tso_autosize, tcp_tso_should_defer, tcp_mss_split_point, 6.1";
            retrans_collapse = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            collapse_linear = false, "net/ipv4/tcp_output.c tcp_can_collapse, tcp_skb_shift, 6.1: pages as well";
            send_buffer = [4_096, 16_384, 4_194_304], "net/ipv4/tcp.c tcp_init, 6.1, with memory enough; as the lab sets it";
            send_buffer_growth = SendBufferGrowth::WhenSent, "net/ipv4/tcp_input.c tcp_sndbuf_expand, tcp_should_expand_sndbuf, 6.1";
        }

        receiver {
            prequeue = false, "net/ipv4/tcp_ipv4.c tcp_prequeue: removed in Linux 4.14";
            collapse_header_room = 0, "net/ipv4/tcp_input.c tcp_collapse: none since Linux 3.18";
            delayed_ack = DelayedAck::Linux6, "net/ipv4/tcp_input.c tcp_event_data_recv, __tcp_ack_snd_check, 6.1";
            delayed_ack_min = Duration::from_millis(40), "include/net/tcp.h TCP_DELACK_MIN, TCP_ATO_MIN, 6.1";
            delayed_ack_max = Duration::from_millis(200), "include/net/tcp.h TCP_DELACK_MAX, 6.1";
            receive_buffer = [4_096, 131_072, 6_291_456], "net/ipv4/tcp.c tcp_init, 6.1, with memory enough; as the lab sets it";
            moderate_receive_buffer = true, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.1";
            receive_buffer_growth = ReceiveBufferGrowth::ByRate, "net/ipv4/tcp_input.c tcp_rcv_space_adjust, 6.1; since 4.19";
            window_share = WindowShare::AdvWinScale(1), "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_adv_win_scale = 1, 6.1";
            sack_compression_delay = Duration::from_millis(1), "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_comp_sack_delay_ns, 6.1";
            sack_compression_slack = Duration::from_micros(100), "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_comp_sack_slack_ns, 6.1";
            sack_compression_most = 44, "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_comp_sack_nr, 6.1";
        }

        multipath {
            mptcp_scheduler = MptcpScheduler::LingerTime, "net/mptcp/protocol.c mptcp_subflow_get_send, 6.1";
            mptcp_burst_bytes = 65_428, "net/mptcp/protocol.c MPTCP_SEND_BURST_SIZE, 6.1: 65536 less the longest headers";
            mptcp_burst = MptcpBurst::Segment, "net/mptcp/protocol.c __mptcp_push_pending, 6.1: asks for each segment";
            mptcp_send_buffer = MptcpBuffer::Largest, "net/mptcp/protocol.h mptcp_propagate_sndbuf, 6.1";
            mptcp_reader_acknowledges = false, "net/mptcp/sockopt.c mptcp_sockopt_sync_locked, 6.1: leaves sk_rcvlowat alone";
            mptcp_subflow_nagle = true, "net/mptcp/protocol.c mptcp_push_release, tcp_push, 6.1";
            mptcp_reinject_on_timeout = MptcpReinject::Off, "net/ipv4/tcp_timer.c tcp_retransmit_timer, 6.1: knows nothing of other subflows";
            mptcp_reinject_on_probe = MptcpReinject::Off, "net/ipv4/tcp_output.c tcp_send_loss_probe, 6.1: knows nothing of other subflows; the lab's patch adds it";
            mptcp_reinject_on_recovery = MptcpReinject::Off, "net/ipv4/tcp_input.c tcp_enter_recovery, 6.1: knows nothing of other subflows";
            mptcp_timer = MptcpTimer::PendingTimer, "net/mptcp/protocol.c mptcp_set_timeout, __mptcp_retrans, 6.1";
            mptcp_stale_after = 4, "net/mptcp/ctrl.c mptcp_pernet_set_defaults, stale_loss_cnt, 6.1";
            mptcp_options = MptcpOptions::Rfc8684, "net/mptcp/options.c mptcp_established_options_dss, 6.1";
        }
    }
    page
}

/// 6.12's page is 6.1's where the sources are the same in both: each statement names what it was read in, and what
/// was read in 6.1 was read in 6.12 as well.
pub(super) fn page_6_12() -> Page {
    let mut page = page_6_1().variant(
        "linux-6.12",
        "Linux 6.12 (2024): as 6.1, with another receive window and linear SYN timeouts",
    );
    state! { page;
        timers {
            min_rto = Duration::from_millis(200), "net/ipv4/tcp_ipv4.c tcp_sk_init, sysctl_tcp_rto_min_us, 6.12; bounds the deviation";
            syn_linear_timeouts = 4, "net/ipv4/tcp_ipv4.c tcp_sk_init, 6.12";
        }

        segments {
            fin_exempt = false, "net/ipv4/tcp_output.c tcp_cwnd_test, 6.12";
            fill_segments = true, "net/ipv4/tcp_output.c tcp_grow_skb, 6.12";
            packet_overhead = 832, "net/core/skbuff.c SKB_SMALL_HEAD_CACHE_SIZE, 6.12, as the lab configures it: 256 + 256 + 320";
        }

        receiver {
            delayed_ack = DelayedAck::Linux612, "net/ipv4/tcp_output.c tcp_send_delayed_ack, tcp_delack_max, 6.12";
            window_share = WindowShare::ScalingRatio, "include/net/tcp.h tcp_win_from_space, 6.12; since 6.6";
        }

        multipath {
            mptcp_burst = MptcpBurst::Fragment, "net/mptcp/protocol.c __subflow_push_pending, 6.12";
            mptcp_send_buffer = MptcpBuffer::Sum, "net/mptcp/protocol.h __mptcp_sync_sndbuf, 6.12";
            mptcp_reader_acknowledges = true, "net/mptcp/sockopt.c mptcp_sockopt_sync_locked, 6.12: sk_rcvlowat is 0";
        }
    }
    page
}
