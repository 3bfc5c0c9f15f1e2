//! FreeBSD: 5.2.1, for the FreeBSD 5.2 of UNC 2007; and 14, its base stack and its RACK stack, read as OPNsense ships them.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, Estimator, IdleRestart, InitialWindow,
    Recovery, RttSamples, TimeoutMarks, Tlp, TlpWait, UndoWindow, WindowShare,
};

pub(super) fn five() -> Page {
    let mut page = Page::new(
        "freebsd-5",
        "FreeBSD 5.2.1 (2004): NewReno without SACK, 200 ms added to every timeout",
    );
    state! { page;
        timers {
            hz = 100, "sys/kern/subr_param.c HZ, 5.2.1 on i386";
            wheel = Wheel::Exact, "sys/kern/kern_timeout.c, 5.2.1";
            estimator = Estimator::Bsd, "sys/netinet/tcp_input.c tcp_xmit_timer, 5.2.1";
            min_rto = Duration::from_millis(30), "sys/netinet/tcp_timer.h TCPTV_MIN = 3 ticks, 5.2.1; UNC 2007's Table I has 1200 ms with the slop (freebsd-5-unc2007)";
            max_rto = Duration::from_secs(64), "sys/netinet/tcp_timer.h TCPTV_REXMTMAX, 5.2.1";
            initial_rto = Duration::from_secs(3), "sys/netinet/tcp_timer.h TCPTV_RTOBASE, 5.2.1";
            fallback_rto = Duration::from_secs(3), "sys/netinet/tcp_timer.h TCPTV_RTOBASE, 5.2.1";
            srtt_shift = 3, "sys/netinet/tcp_input.c tcp_xmit_timer, 5.2.1";
            rttvar_shift = 2, "sys/netinet/tcp_input.c tcp_xmit_timer, 5.2.1";
            srtt_factor = 1.0, "sys/netinet/tcp_var.h TCP_REXMTVAL, 5.2.1";
            rttvar_factor = 4, "sys/netinet/tcp_var.h TCP_REXMTVAL, 5.2.1";
            rtt_samples = RttSamples::OncePerRoundTrip, "sys/netinet/tcp_output.c t_rtttime, t_rtseq, 5.2.1";
            rto_slop = Duration::from_millis(200), "sys/netinet/tcp_timer.h TCPTV_CPU_VAR, TCPT_RANGESET, 5.2.1";
            retries = 12, "sys/netinet/tcp_timer.h TCP_MAXRXTSHIFT, 5.2.1";
            retries_by_time = false, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 5.2.1: t_rxtshift";
            syn_retries = 8, "sys/netinet/tcp_timer.h TCPTV_KEEP_INIT = 75 s, 5.2.1: as many as fit";
            syn_linear_timeouts = 4, "sys/netinet/tcp_timer.c tcp_syn_backoff, 5.2.1";
        }

        loss {
            dupack_threshold = 3, "sys/netinet/tcp_input.c tcprexmtthresh, 5.2.1";
            max_reordering = 3, "sys/netinet/tcp_input.c tcprexmtthresh, 5.2.1: fixed";
            limited_transmit = false, "sys/netinet/tcp_input.c tcp_do_rfc3042 = 0, 5.2.1";
            timeout_marks = TimeoutMarks::All, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 5.2.1: snd_nxt = snd_una";
        }

        congestion {
            undo = true, "sys/netinet/tcp_input.c t_badrxtwin, 5.2.1: the model undoes by timestamps";
            undo_window = UndoWindow::Prior, "sys/netinet/tcp_input.c tcp_input, 5.2.1: snd_cwnd_prev";
            recovery = Recovery::NewReno, "sys/netinet/tcp_input.c tcp_newreno_partial_ack, 5.2.1";
            congestion_control = CongestionControl::Reno, "sys/netinet/tcp_input.c, 5.2.1";
            byte_counting = false, "sys/netinet/tcp_input.c, 5.2.1: one segment an ACK";
            initial_window = InitialWindow::Segments(1), "sys/netinet/tcp_input.c ss_fltsz = 1, 5.2.1; assumption: RFC 3390 was not yet the default";
            slow_start_after_idle = true, "sys/netinet/tcp_output.c tcp_output, 5.2.1: idle for a timeout";
            idle_restart = IdleRestart::WhenSent, "sys/netinet/tcp_output.c tcp_output, 5.2.1";
            metrics = false, "assumption: off; sys/netinet/tcp_hostcache.c keeps what was learned, 5.2.1";
        }

        segments {
            timestamps = true, "sys/netinet/tcp_subr.c tcp_do_rfc1323 = 1, 5.2.1";
            window_scaling = true, "sys/netinet/tcp_subr.c tcp_do_rfc1323 = 1, 5.2.1";
            gso_segments = 1, "segmentation offload came with FreeBSD 7";
            retrans_collapse = true, "sys/netinet/tcp_output.c tcp_output, 5.2.1: sends again a full segment from the stream";
            collapse_linear = false, "sys/netinet/tcp_output.c tcp_output, 5.2.1: sends again from the stream";
            send_buffer = [32_768, 32_768, 32_768], "sys/netinet/tcp_usrreq.c tcp_sendspace, 5.2.1";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "sys/netinet/tcp_input.c DELAY_ACK, 5.2.1";
            delayed_ack_min = Duration::from_millis(100), "sys/netinet/tcp_timer.h TCPTV_DELACK, 5.2.1";
            delayed_ack_max = Duration::from_millis(100), "sys/netinet/tcp_timer.h TCPTV_DELACK, 5.2.1";
            receive_buffer = [65_536, 65_536, 65_536], "sys/netinet/tcp_usrreq.c tcp_recvspace, 5.2.1";
            window_share = WindowShare::Whole, "sys/netinet/tcp_input.c, 5.2.1: sbspace";
        }
    }
    page
}

pub(super) fn five_unc2007() -> Page {
    let mut page = five().variant(
        "freebsd-5-unc2007",
        "FreeBSD 5 with the smallest timeout that UNC 2007 prints",
    );
    state! { page;
        timers {
            min_rto = Duration::from_secs(1), "UNC 2007, Table I: minRTO 1200 ms, of which 200 ms are the slop";
        }
    }
    page
}

pub(super) fn fourteen() -> Page {
    let mut page = Page::new(
        "freebsd-14",
        "FreeBSD 14 (2023), base stack: SACK, PRR and CUBIC, no probes; 200 ms added to every timeout",
    );
    state! { page;
        timers {
            hz = 1000, "sys/kern/subr_param.c HZ, 14; 100 in a virtual machine (HZ_VM)";
            wheel = Wheel::Exact, "sys/netinet/tcp_timer.c tcp_timer_activate, 14: C_HARDCLOCK, at a tick";
            estimator = Estimator::Bsd, "sys/netinet/tcp_input.c tcp_do_segment, tcp_xmit_timer, 14: a tick more than the stamps say";
            min_rto = Duration::from_millis(30), "sys/netinet/tcp_timer.h TCPTV_MIN = hz/33, 14";
            max_rto = Duration::from_secs(64), "sys/netinet/tcp_timer.h TCPTV_REXMTMAX, 14";
            initial_rto = Duration::from_secs(1), "sys/netinet/tcp_timer.h TCPTV_RTOBASE, 14";
            fallback_rto = Duration::from_secs(1), "sys/netinet/tcp_timer.h TCPTV_RTOBASE, 14: until the first sample";
            srtt_shift = 3, "sys/netinet/tcp_input.c tcp_xmit_timer, 14";
            rttvar_shift = 2, "sys/netinet/tcp_input.c tcp_xmit_timer, 14";
            srtt_factor = 1.0, "sys/netinet/tcp_var.h TCP_REXMTVAL, 14";
            rttvar_factor = 4, "sys/netinet/tcp_var.h TCP_REXMTVAL, 14";
            rtt_samples = RttSamples::OncePerRoundTrip, "sys/netinet/tcp_input.c tcp_do_segment, t_rtttime, t_rtseq, 14: without timestamps";
            rto_slop = Duration::from_millis(200), "sys/netinet/tcp_timer.h TCPTV_CPU_VAR, TCPT_RANGESET, 14";
            retries = 12, "sys/netinet/tcp_timer.c tcp_retries = TCP_MAXRXTSHIFT, 14";
            retries_by_time = false, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 14: t_rxtshift";
            syn_retries = 6, "sys/netinet/tcp_timer.h TCPTV_KEEP_INIT = 75 s, 14: as many as fit";
            syn_linear_timeouts = 0, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 14: tcp_rexmit_initial doubles; the slop that it adds to each of a SYN is left out";
        }

        loss {
            dupack_threshold = 3, "sys/netinet/tcp_input.c tcprexmtthresh, 14";
            max_reordering = 3, "sys/netinet/tcp_input.c tcprexmtthresh, 14: fixed";
            limited_transmit = true, "sys/netinet/tcp_input.c tcp_do_rfc3042 = 1, 14";
            forward_retransmit = false, "assumption: only what the SACKs show missing (sys/netinet/tcp_sack.c tcp_sack_output)";
            timeout_marks = TimeoutMarks::All, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 14: snd_nxt = snd_una";
            timeout_forgets_sacks = true, "sys/netinet/tcp_timer.c tcp_timer_rexmt, 14: tcp_free_sackholes";
        }

        congestion {
            undo = true, "sys/netinet/tcp_input.c tcp_do_segment, t_badrxtwin, 14: of a first timeout; the model undoes by timestamps and D-SACKs";
            undo_window = UndoWindow::Prior, "sys/netinet/tcp_input.c cc_cong_signal, CC_RTO_ERR, 14: snd_cwnd_prev";
            recovery = Recovery::Prr, "sys/netinet/tcp_input.c tcp_do_prr_ack, tcp_do_prr = 1, 14; where it finds a new hole it sends less";
            congestion_control = CongestionControl::Cubic, "FreeBSD 14.0 Release Notes: CUBIC is the default; sys/netinet/cc/cc_cubic.c";
            hystart = false, "sys/netinet/cc/cc_cubic.c cubic_ack_received, 14: HyStart++ only where it is allowed (CCF_HYSTART_ALLOWED)";
            cubic = CubicForm::Linux6, "assumption: RFC 9438 as its latest Linux has it";
            byte_counting = true, "sys/netinet/tcp_input.c tcp_do_rfc3465 = 1, 14; two segments an ACK at most (tcp_abc_l_var), which the model does not bound";
            initial_window = InitialWindow::Segments(10), "sys/netinet/tcp_input.c tcp_initcwnd_segments = 10, 14";
            slow_start_after_idle = true, "sys/netinet/tcp_output.c tcp_default_output, cc_after_idle, 14: idle for a timeout";
            idle_restart = IdleRestart::WhenSent, "sys/netinet/tcp_output.c tcp_default_output, 14";
            metrics = false, "assumption: off; sys/netinet/tcp_hostcache.c keeps what was learned, 14";
        }

        segments {
            sack = true, "sys/netinet/tcp_sack.c tcp_do_sack = 1, 14";
            dsack = true, "sys/netinet/tcp_sack.c tcp_update_dsack_list, 14";
            timestamps = true, "sys/netinet/tcp_subr.c tcp_do_rfc1323 = 1, 14";
            window_scaling = true, "sys/netinet/tcp_subr.c tcp_do_rfc1323 = 1, 14";
            gso_segments = 1, "assumption: segmentation offload is off; by default it is on (sys/netinet/tcp_output.c tcp_do_tso)";
            retrans_collapse = true, "sys/netinet/tcp_output.c tcp_default_output, 14: sends again a full segment from the stream";
            collapse_linear = false, "sys/netinet/tcp_output.c tcp_default_output, 14: sends again from the stream";
            send_buffer = [32_768, 32_768, 2_097_152], "sys/netinet/tcp_usrreq.c tcp_sendspace, sys/netinet/tcp_output.c tcp_autosndbuf_max, 14; assumption: it grows as Linux's";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "sys/netinet/tcp_input.c DELAY_ACK, 14";
            delayed_ack_min = Duration::from_millis(40), "sys/netinet/tcp_timer.h TCPTV_DELACK = hz/25, 14";
            delayed_ack_max = Duration::from_millis(40), "sys/netinet/tcp_timer.h TCPTV_DELACK = hz/25, 14";
            receive_buffer = [65_536, 65_536, 2_097_152], "sys/netinet/tcp_input.c tcp_recvspace, tcp_autorcvbuf_max, 14";
            moderate_receive_buffer = true, "sys/netinet/tcp_input.c tcp_do_autorcvbuf = 1, 14; assumption: it grows as Linux's";
            window_share = WindowShare::Whole, "sys/netinet/tcp_input.c tcp_do_segment, 14: sbspace";
        }
    }
    page
}

/// What the RACK stack replaces of the base stack: it is a stack of its own (`tcp_functions_default`), which shares the
/// receiver and the congestion control.
pub(super) fn fourteen_rack() -> Page {
    let mut page = fourteen().variant(
        "freebsd-14-rack",
        "FreeBSD 14 (2023), RACK stack (functions_default=rack): probes; timeouts of 4 s at most",
    );
    state! { page;
        timers {
            wheel = Wheel::Exact, "sys/netinet/tcp_hpts.c, 14: slots of 10 us; the model rounds to ticks of 1 ms";
            estimator = Estimator::Bsd, "sys/netinet/tcp_stacks/rack.c RACK_REXMTVAL, 14; assumption: in milliseconds, where it has microseconds";
            min_rto = Duration::from_millis(30), "sys/netinet/tcp_stacks/rack.c rack_rto_min, 14";
            max_rto = Duration::from_secs(4), "sys/netinet/tcp_stacks/rack.c rack_rto_max, 14";
            initial_rto = Duration::from_secs(1), "sys/netinet/tcp_stacks/rack.c rack_timeout_rxt, RACK_INITIAL_RTO, 14";
            srtt_factor = 1.0, "sys/netinet/tcp_stacks/rack.c RACK_REXMTVAL, 14";
            rttvar_factor = 4, "sys/netinet/tcp_stacks/rack.c RACK_REXMTVAL, 14";
            rtt_samples = RttSamples::EachAck, "sys/netinet/tcp_stacks/rack.c rack_update_rsm, r_tim_lastsent, 14: every segment has its time";
            rto_slop = Duration::from_millis(200), "sys/netinet/tcp_stacks/rack.c rack_timeout_rxt, RACK_TCPT_RANGESET, timer_slop, 14; assumption: it is the base stack's 200 ms";
        }

        loss {
            ack_order = AckOrder::LossesFirst, "assumption: losses are found first; sys/netinet/tcp_stacks/rack.c rack_process_ack";
            rack = true, "sys/netinet/tcp_stacks/rack.c rack_calc_thresh_rack, 14: a quarter of the latest round trip more; three SACKs above are enough";
            tlp = Tlp::Rfc8985, "sys/netinet/tcp_stacks/rack.c rack_timer_start, 14; it may probe twice (rack_tlp_limit), the model once";
            tlp_wait = TlpWait::Draft, "sys/netinet/tcp_stacks/rack.c rack_calc_thresh_tlp, TLP_USE_TWO_ONE, rack_tlp_min, rack_delayed_ack_time, 14";
            tlp_from_sending = true, "sys/netinet/tcp_stacks/rack.c rack_timer_start, 14: time_since_sent of the last segment";
            tlp_with_fin = false, "sys/netinet/tcp_stacks/rack.c rack_timer_start, 14: RACK_HAS_FIN";
            tlp_marks_retransmission = true, "sys/netinet/tcp_stacks/rack.c rack_update_rsm, 14: r_rtr_cnt";
            timeout_marks = TimeoutMarks::All, "assumption: all is sent again; sys/netinet/tcp_stacks/rack.c rack_timeout_rxt, rack_remxt_tmr, 14";
            timeout_forgets_sacks = false, "assumption: kept at a first timeout; sys/netinet/tcp_stacks/rack.c rack_remxt_tmr";
        }

        congestion {
            recovery = Recovery::Prr, "sys/netinet/tcp_stacks/rack.c rack_send_a_lot_in_prr = 1, rack_disable_prr = 0, 14; its burst mitigation is left out";
        }
    }
    page
}
