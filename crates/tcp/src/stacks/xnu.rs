//! XNU, the kernel of macOS and iOS: 11417 (macOS 15.4, iOS 18.4), the first in which RACK is on. Earlier ones retransmit early
//! after a probe (`tcp_early_rexmt_check`), which the model does not.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, Estimator, InitialWindow, Recovery,
    RttSamples, TimeoutMarks, Tlp, TlpWait, UndoWindow, WindowShare,
};

pub(super) fn macos_15() -> Page {
    let mut page = Page::new(
        "macos-15",
        "macOS 15.4 and iOS 18.4 (2025): RACK and probes without a FIN; timeouts from 300 ms on",
    );
    state! { page;
        timers {
            hz = 1000, "bsd/netinet/tcp_var.h TCP_RETRANSHZ, xnu-11417";
            wheel = Wheel::Exact, "bsd/netinet/tcp_timer.c tcp_run_timerlist, xnu-11417: the list runs when its first timer is due";
            estimator = Estimator::Bsd, "bsd/netinet/tcp_input.c tcp_xmit_timer, xnu-11417; the model's samples begin 1 ms higher";
            min_rto = Duration::from_millis(100), "bsd/netinet/tcp_subr.c tcp_TCPTV_MIN, bsd/netinet/tcp_var.h TCP_REXMTVAL, xnu-11417";
            max_rto = Duration::from_secs(64), "bsd/netinet/tcp_timer.h TCPTV_REXMTMAX, xnu-11417";
            initial_rto = Duration::from_secs(1), "bsd/netinet/tcp_timer.h TCPTV_RTOBASE, xnu-11417";
            fallback_rto = Duration::from_secs(1), "bsd/netinet/tcp_timer.h TCPTV_RTOBASE, xnu-11417: until the first sample";
            srtt_shift = 3, "bsd/netinet/tcp_input.c tcp_xmit_timer, xnu-11417";
            rttvar_shift = 2, "bsd/netinet/tcp_input.c tcp_xmit_timer, xnu-11417";
            srtt_factor = 1.0, "bsd/netinet/tcp_var.h TCP_REXMTVAL, xnu-11417";
            rttvar_factor = 4, "bsd/netinet/tcp_var.h TCP_REXMTVAL, xnu-11417";
            rtt_samples = RttSamples::EachAck, "bsd/netinet/tcp_input.c tcp_compute_rtt, xnu-11417: by the stamps; without them one segment a round trip, which the model does not follow";
            rto_slop = Duration::from_millis(200), "bsd/netinet/tcp_timer.h TCPTV_REXMTSLOP, TCP_ADD_REXMTSLOP, xnu-11417";
            retries = 12, "bsd/netinet/tcp_timer.h TCP_MAXRXTSHIFT, xnu-11417";
            retries_by_time = false, "bsd/netinet/tcp_timer.c tcp_timers, TCPT_REXMT, xnu-11417: t_rxtshift";
            syn_retries = 10, "bsd/netinet/tcp_timer.h TCPTV_KEEP_INIT = 75 s, xnu-11417: as many as fit";
            syn_linear_timeouts = 4, "bsd/netinet/tcp_timer.c tcp_syn_backoff, xnu-11417";
        }

        loss {
            ack_order = AckOrder::LossesFirst, "bsd/netinet/tcp_input.c tcp_input, tcp_rack_detect_loss_and_arm_timer, xnu-11417";
            dupack_threshold = 3, "bsd/netinet/tcp_input.c tcprexmtthresh, xnu-11417; with little in flight it is lower (tcp_early_rexmt_check), which is left out";
            max_reordering = 3, "assumption: the threshold is fixed; bsd/netinet/tcp_input.c TF_PKTS_REORDERED delays a recovery instead";
            rack = true, "bsd/netinet/tcp_sysctls.c tcp_rack = 1, bsd/netinet/tcp_rack.c, xnu-11417; off in xnu-11215";
            rack_static_reo_wnd = false, "bsd/netinet/tcp_rack.c tcp_rack_update_reordering_window, xnu-11417";
            rack_no_dupack_threshold = false, "bsd/netinet/tcp_rack.c tcp_rack_reordering_window, xnu-11417";
            limited_transmit = true, "bsd/netinet/tcp_var.h ALLOW_LIMITED_TRANSMIT, xnu-11417";
            tlp = Tlp::Rfc8985, "bsd/netinet/tcp_output.c tcp_output, tcp_enable_tlp = 1, bsd/netinet/tcp_timer.c tcp_timers, TCPT_PTO, xnu-11417";
            tlp_wait = TlpWait::DelayedAck, "bsd/netinet/tcp_output.c tcp_output, xnu-11417: tcp_delack or 2 ms more than two round trips";
            tlp_from_sending = true, "bsd/netinet/tcp_output.c tcp_output, xnu-11417: set when new data are sent, and by nothing else";
            tlp_with_fin = false, "bsd/netinet/tcp_timer.c tcp_timers, TCPT_PTO, xnu-11417: in ESTABLISHED alone";
            tlp_marks_retransmission = true, "assumption: a probe gives no round-trip time; bsd/netinet/tcp_timer.c tcp_timers stops the one that is timed";
            timeout_marks = TimeoutMarks::All, "bsd/netinet/tcp_rack.c tcp_rack_loss_on_rto, xnu-11417: the head and what is older than a round trip; assumption: all is";
            timeout_forgets_sacks = true, "bsd/netinet/tcp_timer.c tcp_timers, TCPT_REXMT, xnu-11417: tcp_free_sackholes, tcp_segs_clear_sacked";
        }

        congestion {
            undo = true, "bsd/netinet/tcp_input.c tcp_bad_rexmt_check, xnu-11417: by timestamps and D-SACKs";
            undo_window = UndoWindow::Prior, "bsd/netinet/tcp_input.c tcp_bad_rexmt_restore_state, xnu-11417: snd_cwnd_prev";
            recovery = Recovery::Prr, "assumption: bsd/netinet/tcp_input.c sets the window to the threshold at once and counts what is in flight; PRR stands for it";
            congestion_control = CongestionControl::Cubic, "bsd/netinet/tcp_subr.c tcp_newtcpcb, xnu-11417";
            hystart = false, "bsd/netinet/tcp_cubic.c, xnu-11417: has none";
            cubic = CubicForm::Linux6, "assumption: RFC 9438 as its latest Linux has it; bsd/netinet/tcp_cubic.c";
            byte_counting = true, "bsd/netinet/tcp_input.c tcp_do_rfc3465 = 1, xnu-11417; two segments an ACK at most, which the model does not bound";
            initial_window = InitialWindow::Segments(10), "bsd/netinet/tcp_cc.h TCP_CC_CWND_INIT_PKTS, tcp_cubic_minor_fixes = 1, xnu-11417";
            slow_start_after_idle = false, "bsd/netinet/tcp_output.c tcp_output, TCP_CC_CWND_NONVALIDATED_PERIOD, xnu-11417: not within three minutes";
            metrics = false, "assumption: off; bsd/netinet/tcp_subr.c keeps what was learned with the route";
        }

        segments {
            sack = true, "bsd/netinet/tcp_sack.c tcp_do_sack = 1, xnu-11417";
            dsack = true, "bsd/netinet/tcp_input.c tcp_reass, t_dsack_lseq, xnu-11417";
            timestamps = true, "bsd/netinet/tcp_subr.c tcp_do_timestamps = 1, xnu-11417";
            window_scaling = true, "bsd/netinet/tcp_subr.c tcp_newtcpcb, TF_REQ_SCALE, xnu-11417";
            gso_segments = 1, "assumption: segmentation offload is off; by default it is on (bsd/netinet/tcp_output.c tcp_do_tso)";
            retrans_collapse = true, "bsd/netinet/tcp_output.c tcp_output, xnu-11417: sends again from the stream";
            collapse_linear = false, "bsd/netinet/tcp_output.c tcp_output, xnu-11417: sends again from the stream";
            send_buffer = [370_688, 370_688, 4_194_304], "bsd/netinet/tcp_usrreq.c tcp_sendspace, bsd/netinet/tcp_subr.c tcp_autosndbuf_max, xnu-11417; assumption: it grows as Linux's";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "bsd/netinet/tcp_cc.c tcp_cc_delay_ack, xnu-11417: every second segment; a stream may have less, which the model leaves out";
            delayed_ack_min = Duration::from_millis(100), "bsd/netinet/tcp_timer.c tcp_delack, xnu-11417";
            delayed_ack_max = Duration::from_millis(100), "bsd/netinet/tcp_timer.c tcp_delack, xnu-11417";
            receive_buffer = [556_032, 556_032, 4_194_240], "bsd/netinet/tcp_usrreq.c tcp_recvspace, bsd/netinet/tcp_subr.c tcp_autorcvbuf_max, tcp_set_max_rwinscale, xnu-11417: as a scale of 6 can say";
            moderate_receive_buffer = true, "bsd/netinet/tcp_input.c tcp_do_autorcvbuf = 1, xnu-11417; assumption: it grows as Linux's";
            window_share = WindowShare::Whole, "bsd/netinet/tcp_usrreq.c tcp_recvspace, xnu-11417: is the window";
        }
    }
    page
}
