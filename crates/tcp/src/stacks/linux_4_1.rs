//! Linux 4.1 (June 2015) as the base of Multipath TCP v0.91 (multipath-tcp.org), the kernel of Probe or Wait 2017.
//!
//! Read in 3.16, 4.4 and multipath-tcp.org's v0.90 and v0.95, between which it lies: what is the same in the kernels
//! around it is taken to hold for it. What is not stated anew is as in 3.10.

use super::linux_3_10;
use super::page::{state, Page};
use crate::settings::{
    Estimator, MptcpBuffer, MptcpBurst, MptcpOptions, MptcpReinject, MptcpScheduler, MptcpTimer,
    ReceiveBufferGrowth, SendBufferGrowth, WindowUse,
};

pub(super) fn page() -> Page {
    let mut page = linux_3_10::page().variant(
        "linux-4.1",
        "Linux 4.1 (2015) with Multipath TCP v0.91: FACK, early retransmit, probes; no RACK",
    );
    state! { page;
        timers {
            estimator = Estimator::LinuxMicros, "net/ipv4/tcp_input.c tcp_rtt_estimator, tcp_ack_update_rtt, since 3.15: the time of sending first";
        }

        loss {
            max_reordering = 300, "net/ipv4/tcp_input.c sysctl_tcp_max_reordering, since 4.0";
            head_timeout = false, "removed before Linux 3.16";
            tlp_probes_bare_fin = true, "net/ipv4/tcp_output.c tcp_send_loss_probe, late 3.10.y and later";
            tlp_marks_retransmission = true, "net/ipv4/tcp_output.c __tcp_retransmit_skb, since 3.14: TCPCB_EVER_RETRANS";
        }

        congestion {
            cubic_heeds_boot = true, "net/ipv4/tcp_cubic.c bictcp_acked, since 3.11: ca->epoch_start";
            byte_counting = true, "net/ipv4/tcp_cong.c tcp_slow_start, since 3.13";
            window_use = WindowUse::Limited, "include/net/tcp.h tcp_is_cwnd_limited, net/ipv4/tcp_output.c tcp_cwnd_validate, since 3.16";
        }

        segments {
            scatter_gather = true, "assumption: the subflows' devices gather pieces of pages";
            linear_writes = false, "assumption: the subflows' segments lie in pages";
            header_room = 320, "include/net/tcp.h MAX_TCP_HEADER, with wireless LAN and tunnels";
            ecn_fallback = true, "net/ipv4/tcp_output.c tcp_ecn_clear_syn, sysctl_tcp_ecn_fallback = 1, since 4.1";
            autocorking = true, "net/ipv4/tcp.c sysctl_tcp_autocorking = 1, since 3.14";
            pacing_rate = true, "net/ipv4/tcp_output.c tcp_write_xmit, since 3.12; packets are paced by the queueing discipline fq only";
            send_buffer_growth = SendBufferGrowth::WhenSent, "net/ipv4/tcp_input.c tcp_sndbuf_expand, since 3.13";
        }

        receiver {
            prequeue = true, "net/ipv4/tcp_ipv4.c tcp_prequeue, sysctl_tcp_low_latency = 0, until 4.13; of plain TCP alone";
            collapse_header_room = 0, "net/ipv4/tcp_input.c tcp_collapse: none since Linux 3.18";
            first_window_segments = 20, "net/ipv4/tcp_output.c tcp_default_init_rwnd: twice TCP_INIT_CWND, 4.1";
            receive_buffer_growth = ReceiveBufferGrowth::BySteps, "net/ipv4/tcp_input.c tcp_rcv_space_adjust, tcp_fixup_rcvbuf, 4.1";
        }

        multipath {
            mptcp_scheduler = MptcpScheduler::LowestRtt, "net/mptcp/mptcp_sched.c get_available_subflow, v0.90";
            mptcp_burst = MptcpBurst::Segment, "net/mptcp/mptcp_output.c mptcp_write_xmit, v0.90";
            mptcp_send_buffer = MptcpBuffer::Sum, "include/net/mptcp.h mptcp_update_sndbuf, v0.9x";
            mptcp_subflow_nagle = false, "net/mptcp/mptcp_output.c mptcp_write_xmit, v0.90: the connection has asked it";
            mptcp_reinject_on_timeout = MptcpReinject::All, "net/mptcp/mptcp_output.c mptcp_reinject_data, mptcp_sub_retransmit_timer, v0.90";
            mptcp_reinject_on_probe = MptcpReinject::Off, "net/ipv4/tcp_output.c tcp_send_loss_probe, v0.90: the probe goes down its own subflow only; Probe or Wait 2017 proposes it";
            mptcp_reinject_on_recovery = MptcpReinject::Off, "net/mptcp/mptcp_output.c mptcp_reinject_data, v0.90: called on timeouts and lost interfaces only; Probe or Wait 2017, section II";
            mptcp_timer = MptcpTimer::TwiceLongestTimeout, "net/mptcp/mptcp_ctrl.c mptcp_set_rto, v0.90";
            mptcp_opportunistic = true, "net/mptcp/mptcp_sched.c mptcp_rcv_buf_optimization, v0.90";
            mptcp_penalise = true, "net/mptcp/mptcp_sched.c mptcp_rcv_buf_optimization, v0.90";
            mptcp_options = MptcpOptions::Rfc6824, "net/mptcp/mptcp_output.c mptcp_established_options, v0.90, with the checksum (mptcp_checksum = 1)";
        }
    }
    page
}
