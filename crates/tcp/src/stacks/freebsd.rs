//! FreeBSD 5.2.1, for the FreeBSD 5.2 of UNC 2007.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    CongestionControl, DelayedAck, Estimator, IdleRestart, InitialWindow, Recovery, RttSamples,
    TimeoutMarks, UndoWindow, WindowShare,
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
