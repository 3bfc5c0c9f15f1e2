//! Linux 2.4.32, for the Linux 2.4.x of UNC 2007.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, DelayedAck, Estimator, IdleRestart, InitialWindow, MaxBurst,
    PartialUndo, ReceiveBufferGrowth, Recovery, Reneging, ReorderingUnit, RttSamples,
    SendBufferGrowth, ShutWindowLimit, TimeoutMarks, UndoStart, UndoWindow, WindowShare, WindowUse,
};

pub(super) fn page() -> Page {
    let mut page = Page::new(
        "linux-2.4",
        "Linux 2.4 (2001 to 2005): FACK and rate-halving, timers of 10 ms",
    );
    state! { page;
        timers {
            hz = 100, "include/asm-i386/param.h HZ, 2.4.32";
            wheel = Wheel::Exact, "kernel/timer.c, 2.4.32: no slack";
            estimator = Estimator::LinuxTicks, "net/ipv4/tcp_input.c tcp_rtt_estimator, 2.4.32";
            min_rto = Duration::from_millis(200), "include/net/tcp.h TCP_RTO_MIN = HZ/5, 2.4.32; bounds the deviation";
            max_rto = Duration::from_secs(120), "include/net/tcp.h TCP_RTO_MAX, 2.4.32";
            initial_rto = Duration::from_secs(3), "include/net/tcp.h TCP_TIMEOUT_INIT, 2.4.32";
            fallback_rto = Duration::from_secs(3), "net/ipv4/tcp_input.c tcp_init_metrics, 2.4.32";
            srtt_shift = 3, "net/ipv4/tcp_input.c tcp_rtt_estimator, 2.4.32";
            rttvar_shift = 2, "net/ipv4/tcp_input.c tcp_rtt_estimator, 2.4.32; 1/32 when it rises as round trips shorten";
            srtt_factor = 1.0, "net/ipv4/tcp_input.c tcp_set_rto, 2.4.32";
            rttvar_factor = 4, "net/ipv4/tcp_input.c tcp_set_rto, 2.4.32: rttvar holds four deviations";
            rtt_samples = RttSamples::EachAck, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 2.4.32";
            rto_slop = Duration::ZERO, "net/ipv4/tcp_input.c tcp_set_rto, 2.4.32: nothing is added";
            retries = 15, "include/net/tcp.h TCP_RETR2, 2.4.32";
            retries_by_time = true, "assumption: a span; net/ipv4/tcp_timer.c tcp_write_timeout, 2.4.32, counts 15, and 8 of a socket without an owner, which takes as long from 200 ms on";
            shut_window_limit = ShutWindowLimit::LongestTimeout, "net/ipv4/tcp_timer.c tcp_retransmit_timer, 2.4.32";
            syn_retries = 5, "include/net/tcp.h TCP_SYN_RETRIES, 2.4.32";
        }

        loss {
            dupack_threshold = 3, "include/net/tcp.h TCP_FASTRETRANS_THRESH, 2.4.32";
            max_reordering = 127, "include/net/tcp.h TCP_MAX_REORDERING, 2.4.32";
            reordering_unit = ReorderingUnit::Segments, "net/ipv4/tcp_input.c tcp_update_reordering, 2.4.32";
            timeout_forgets_reordering = true, "net/ipv4/tcp_input.c tcp_enter_loss, 2.4.32";
            reneging = Reneging::Timeout, "net/ipv4/tcp_input.c tcp_check_sack_reneging, 2.4.32";
            dsack_check = false, "net/ipv4/tcp_input.c tcp_sacktag_write_queue, 2.4.32";
            sacked_count_again = true, "net/ipv4/tcp_input.c tcp_clean_rtx_queue, 2.4.32";
            fack = true, "net/ipv4/tcp_input.c sysctl_tcp_fack = 1, 2.4.32";
            limited_transmit = true, "include/net/tcp.h tcp_packets_in_flight, 2.4.32: SACKed segments count as delivered";
            frto = false, "net/ipv4/tcp_input.c sysctl_tcp_frto = 0, 2.4.32";
            head_timeout = true, "net/ipv4/tcp_input.c tcp_head_timedout, 2.4.32";
            fack_lost_retransmits = true, "net/ipv4/tcp_input.c tcp_sacktag_write_queue (lost_retrans), 2.4.32";
            forward_retransmit = true, "net/ipv4/tcp_output.c tcp_xmit_retransmit_queue, 2.4.32";
            timeout_marks = TimeoutMarks::All, "net/ipv4/tcp_input.c tcp_enter_loss, 2.4.32";
            ack_order = AckOrder::RecoveryFirst, "net/ipv4/tcp_input.c tcp_ack, tcp_fastretrans_alert, 2.4.32";
        }

        congestion {
            undo = true, "net/ipv4/tcp_input.c tcp_may_undo, 2.4.32";
            undo_start = UndoStart::Clean, "net/ipv4/tcp_input.c tcp_enter_loss, tcp_fastretrans_alert, 2.4.32";
            partial_undo = PartialUndo::Window, "net/ipv4/tcp_input.c tcp_try_undo_partial, 2.4.32";
            undo_window = UndoWindow::Threshold, "net/ipv4/tcp_input.c tcp_undo_cwr, 2.4.32";
            undo_moderates = true, "net/ipv4/tcp_input.c tcp_undo_cwr, tcp_complete_cwr, 2.4.32";
            max_burst = MaxBurst::Three, "include/net/tcp.h tcp_max_burst, 2.4.32";
            retrans_stamp_cleanup = false, "net/ipv4/tcp_input.c tcp_try_undo_recovery, 2.4.32: the window is moderated instead";
            attempts_count = false, "net/ipv4/tcp_output.c tcp_retransmit_skb, 2.4.32";
            recovery = Recovery::RateHalving, "net/ipv4/tcp_input.c tcp_cwnd_down, 2.4.32";
            congestion_control = CongestionControl::Reno, "net/ipv4/tcp_input.c reno_cong_avoid, 2.4.32; BIC is off by default";
            byte_counting = false, "net/ipv4/tcp_input.c reno_cong_avoid, 2.4.32: one segment an ACK";
            initial_window = InitialWindow::Linux24, "net/ipv4/tcp_input.c tcp_init_cwnd, 2.4.32";
            slow_start_after_idle = true, "net/ipv4/tcp_output.c tcp_cwnd_restart, 2.4.32: always";
            idle_restart = IdleRestart::WhenSent, "net/ipv4/tcp_output.c tcp_event_data_sent, 2.4.32";
            window_use = WindowUse::InFlight, "net/ipv4/tcp_output.c tcp_cwnd_validate, 2.4.32; assumption: with room for three segments, as 3.10";
            metrics = false, "assumption: off, so that transfers do not depend on each other; by default the kernel keeps what it learned";
        }

        segments {
            sack = true, "net/ipv4/tcp_input.c sysctl_tcp_sack = 1, 2.4.32";
            dsack = true, "net/ipv4/tcp_input.c sysctl_tcp_dsack = 1, 2.4.32";
            timestamps = true, "net/ipv4/tcp_input.c sysctl_tcp_timestamps = 1, 2.4.32";
            window_scaling = true, "net/ipv4/tcp_input.c sysctl_tcp_window_scaling = 1, 2.4.32";
            fin_exempt = true, "include/net/tcp.h tcp_snd_test, 2.4.32";
            packet_overhead = 368, "net/core/skbuff.c alloc_skb, include/net/tcp.h tcp_alloc_pskb, 2.4.32: MAX_TCP_HEADER and struct sk_buff (assumption: 160 bytes on i386)";
            scatter_gather = true, "net/ipv4/tcp.c tcp_sendpage, 2.4.32: assumption: the device gathers and makes checksums";
            linear_writes = false, "net/core/skbuff.c alloc_skb, 2.4.32: a buffer is charged as asked for, not as allocated, so it costs what pages do";
            header_room = 208, "include/net/tcp.h MAX_TCP_HEADER, 2.4.32: 128 + 32 + 48; assumption: Ethernet, and IPv6 or tunnels";
            gso_segments = 1, "segmentation offload came with Linux 2.6";
            retrans_collapse = true, "net/ipv4/tcp_output.c sysctl_tcp_retrans_collapse = 1, 2.4.32";
            collapse_linear = true, "net/ipv4/tcp_output.c tcp_retransmit_skb, 2.4.32: not what lies in pages, and what does not is then below half a segment";
            send_buffer = [4_096, 16_384, 131_072], "net/ipv4/tcp.c sysctl_tcp_wmem, 2.4.32";
            send_buffer_growth = SendBufferGrowth::Linux24, "net/ipv4/tcp_input.c tcp_fixup_sndbuf, tcp_new_space, 2.4.32";
        }

        receiver {
            prequeue = false, "assumption: its windows were not held against a real 2.4";
            collapse_header_room = 208, "net/ipv4/tcp_input.c tcp_collapse, skb_headroom, 2.4.32: as header_room";
            delayed_ack = DelayedAck::Linux3, "net/ipv4/tcp_input.c tcp_event_data_recv, 2.4.32: as later";
            delayed_ack_min = Duration::from_millis(40), "include/net/tcp.h TCP_DELACK_MIN, 2.4.32";
            delayed_ack_max = Duration::from_millis(200), "include/net/tcp.h TCP_DELACK_MAX, 2.4.32";
            receive_buffer = [4_096, 87_380, 174_760], "net/ipv4/tcp.c sysctl_tcp_rmem, 2.4.32";
            first_window_segments = 4, "net/ipv4/tcp_output.c tcp_select_initial_window: init_cwnd, 2.4.32";
            moderate_receive_buffer = false, "assumption: off by default in 2.4";
            receive_buffer_growth = ReceiveBufferGrowth::TwiceRead, "net/ipv4/tcp_input.c tcp_fixup_rcvbuf, 2.4.32: the first buffer and window as in 3.10";
            window_share = WindowShare::AdvWinScale(2), "net/ipv4/tcp_input.c sysctl_tcp_adv_win_scale = 2, 2.4.32";
        }
    }
    page
}
