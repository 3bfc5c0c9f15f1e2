//! Solaris 10, from the sources of its descendant illumos.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    CongestionControl, DelayedAck, Estimator, IdleRestart, InitialWindow, Recovery, ReorderingUnit,
    RttSamples, TimeoutMarks, WindowShare,
};

pub(super) fn ten() -> Page {
    let mut page = Page::new(
        "solaris-10",
        "Solaris 10 (2005): 1.25 round trips in the timeout, which is at least 400 ms",
    );
    state! { page;
        timers {
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
            retries = 14, "illumos tcp_tunables.c tcp_ip_abort_interval = 8 min: as many as fit from 400 ms";
            retries_by_time = false, "assumption: a count that takes about as long as tcp_ip_abort_interval";
            syn_retries = 5, "illumos tcp_tunables.c tcp_ip_abort_cinterval = 3 min: as many as fit";
            syn_linear_timeouts = 0, "illumos tcp_timers.c tcp_timer: every timeout doubles";
        }

        loss {
            dupack_threshold = 3, "illumos tcp_tunables.c tcp_dupack_fast_retransmit";
            max_reordering = 3, "illumos tcp_tunables.c tcp_dupack_fast_retransmit: fixed";
            reordering_unit = ReorderingUnit::Segments, "assumption: how far a SACK is above is counted in segments";
            sacked_count_again = true, "assumption: an acknowledgement times the first segment, SACKed or not";
            limited_transmit = true, "illumos tcp_input.c TH_LIMIT_XMIT";
            forward_retransmit = false, "illumos tcp_output.c tcp_sack_rexmit: only what the SACKs show missing";
            timeout_marks = TimeoutMarks::All, "illumos tcp_timers.c tcp_timer, tcp_ss_rexmit: all from the first";
        }

        congestion {
            recovery = Recovery::Pipe, "illumos tcp_input.c and tcp_output.c tcp_sack_rexmit: tcp_pipe";
            congestion_control = CongestionControl::Reno, "illumos tcp_input.c tcp_input_data";
            byte_counting = false, "illumos tcp_input.c tcp_input_data: one segment an ACK";
            initial_window = InitialWindow::Rfc3390, "illumos tcp_tunables.c tcp_slow_start_initial = 4, with tcp.h TCP_SET_INIT_CWND";
            slow_start_after_idle = true, "illumos tcp_output.c tcp_wput_data, tcp_slow_start_after_idle";
            idle_restart = IdleRestart::WhenSent, "illumos tcp_output.c tcp_wput_data";
        }

        segments {
            sack = true, "illumos tcp_tunables.c tcp_sack_permitted = 2";
            dsack = false, "assumption: duplicates are not reported (RFC 2883)";
            timestamps = false, "illumos tcp_tunables.c tcp_tstamp_always = 0: only for a peer that offers them";
            window_scaling = true, "illumos tcp_tunables.c tcp_wscale_always = 1; Solaris 10 scales where the window asks for it";
            gso_segments = 1, "assumption: large send offload is off";
            retrans_collapse = true, "illumos tcp_output.c tcp_xmit_mp: sends again up to a full segment from the stream";
            collapse_linear = false, "illumos tcp_output.c tcp_xmit_mp: sends again from the stream";
            send_buffer = [49_152, 49_152, 49_152], "Solaris 10 Tunable Parameters Reference: tcp_xmit_hiwat";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "Solaris 10 Tunable Parameters Reference: tcp_deferred_acks_max = 2";
            delayed_ack_min = Duration::from_millis(100), "Solaris 10 Tunable Parameters Reference: tcp_deferred_ack_interval";
            delayed_ack_max = Duration::from_millis(100), "Solaris 10 Tunable Parameters Reference: tcp_deferred_ack_interval";
            receive_buffer = [49_152, 49_152, 49_152], "Solaris 10 Tunable Parameters Reference: tcp_recv_hiwat";
            window_share = WindowShare::Whole, "illumos tcp_input.c: the window is the room that is left";
        }
    }
    page
}

pub(super) fn ten_unc2007() -> Page {
    let mut page = ten().variant(
        "solaris-10-unc2007",
        "Solaris 10 with the timeout that UNC 2007 prints",
    );
    state! { page;
        timers {
            estimator = Estimator::Rfc6298, "UNC 2007, Table I: RTO = 1.25 srtt + 4 rttvar; section II: or minRTO, if that is less";
            rtt_samples = RttSamples::OncePerRoundTrip, "UNC 2007, sections V-A and V-B: Linux once per segment, most other OSes once per flight";
        }
    }
    page
}
