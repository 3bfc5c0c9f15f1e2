//! Windows XP and 2000. Their source is not public: what vendor documents do not say is an assumption, and says so.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    CongestionControl, DelayedAck, Estimator, IdleRestart, InitialWindow, Recovery, ReorderingUnit,
    RttSamples, TimeoutMarks, WindowShare,
};

pub(super) fn xp() -> Page {
    let mut page = Page::new(
        "windows-xp",
        "Windows XP and 2000 (2000 to 2008): the second duplicate ACK, timers of 100 ms",
    );
    state! { page;
        timers {
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
            retries = 5, "Microsoft KB 170359: TcpMaxDataRetransmissions = 5";
            retries_by_time = false, "Microsoft KB 170359: TcpMaxDataRetransmissions is a count";
            syn_retries = 2, "Microsoft KB 170359: TcpMaxConnectRetransmissions = 2";
            syn_linear_timeouts = 0, "Microsoft KB 170359: every timeout doubles";
        }

        loss {
            dupack_threshold = 2, "Microsoft, TCP/IP Implementation Details: TcpMaxDupAcks = 2; UNC 2007, Table I: D = 2";
            max_reordering = 2, "assumption: the threshold is fixed";
            reordering_unit = ReorderingUnit::Segments, "assumption: how far a SACK is above is counted in segments";
            limited_transmit = false, "assumption: RFC 3042 was not yet followed";
            frto = false, "assumption: RFC 4138 came with Windows Vista";
            forward_retransmit = false, "assumption: RFC 2018 §5: only what the SACKs show missing";
            timeout_marks = TimeoutMarks::All, "RFC 2581 §3.1";
        }

        congestion {
            undo = false, "assumption: RFC 3522 came later";
            recovery = Recovery::Pipe, "assumption: as RFC 3517 when the peer sends SACKs";
            congestion_control = CongestionControl::Reno, "RFC 2581; Microsoft on e2e-interest, 2 February 2006: the standard algorithms";
            hystart = false, "RFC 2581 §3.1: slow start ends at ssthresh";
            byte_counting = false, "RFC 2581 §3.1: one segment an ACK";
            initial_window = InitialWindow::Segments(2), "Microsoft, TCP/IP Implementation Details: slow start begins with two segments";
            slow_start_after_idle = true, "RFC 2581 §4.1";
            idle_restart = IdleRestart::WhenSent, "RFC 2581 §4.1";
        }

        segments {
            sack = true, "Microsoft, TCP/IP Implementation Details: SackOpts = 1";
            dsack = false, "assumption: RFC 2883 came with Windows Vista";
            timestamps = false, "Microsoft, TCP/IP Implementation Details: Tcp1323Opts offers none";
            window_scaling = false, "Microsoft, TCP/IP Implementation Details: Tcp1323Opts offers none";
            limit_output_bytes = None, "assumption: no such limit";
            pacing_rate = false, "assumption: no such limit";
            gso_segments = 1, "assumption: large send offload is off";
            retrans_collapse = false, "assumption: segments keep their bounds";
            send_buffer = [65_535, 65_535, 65_535], "assumption: a window without scaling; a blocking send is sent from the program's memory";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "Microsoft, TCP/IP Implementation Details: every second segment or 200 ms";
            delayed_ack_min = Duration::from_millis(200), "Microsoft, TCP/IP Implementation Details: TcpDelAckTicks = 2";
            delayed_ack_max = Duration::from_millis(200), "Microsoft, TCP/IP Implementation Details: TcpDelAckTicks = 2";
            receive_buffer = [17_520, 17_520, 17_520], "Microsoft, TCP/IP Implementation Details: TcpWindowSize on Ethernet";
            window_share = WindowShare::Whole, "Microsoft, TCP/IP Implementation Details: TcpWindowSize is the window";
            sack_compression_delay = Duration::ZERO, "RFC 2581 §4.2: an out-of-order segment is acknowledged at once";
        }
    }
    page
}

pub(super) fn xp_unc2007() -> Page {
    let mut page = xp().variant(
        "windows-xp-unc2007",
        "Windows XP with the smallest timeout that UNC 2007 prints",
    );
    state! { page;
        timers {
            min_rto = Duration::from_millis(200), "UNC 2007, Table I: minRTO 200 ms";
        }
    }
    page
}
