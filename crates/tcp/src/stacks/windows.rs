//! Windows: XP and 2000, and 11. Their source is not public: what vendor documents do not say is an assumption, and says so.

use rexmit_time::Duration;

use super::page::{state, Page};
use crate::clock::Wheel;
use crate::settings::{
    AckOrder, CongestionControl, CubicForm, DelayedAck, Estimator, IdleRestart, InitialWindow,
    Recovery, ReorderingUnit, RttSamples, TimeoutMarks, Tlp, TlpWait, WindowShare,
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

pub(super) fn eleven() -> Page {
    let mut page = Page::new(
        "windows-11",
        "Windows 11 and Server 2022 (2021), their Internet template: RACK, probes, PRR and CUBIC",
    );
    state! { page;
        timers {
            hz = 100, "assumption: ticks of 10 ms";
            wheel = Wheel::Exact, "assumption: timers fire at the tick asked for";
            estimator = Estimator::Rfc6298, "assumption: RFC 6298";
            min_rto = Duration::from_millis(300), "Get-NetTCPSetting, template Internet: MinRto(ms) 300";
            max_rto = Duration::from_secs(60), "assumption: RFC 6298 §2.5";
            initial_rto = Duration::from_secs(1), "Get-NetTCPSetting, template Internet, Server 2022: InitialRto(ms) 1000";
            fallback_rto = Duration::from_secs(1), "Get-NetTCPSetting, template Internet, Server 2022: InitialRto(ms) 1000";
            rtt_samples = RttSamples::EachAck, "RFC 8985 §6.1: every segment has its time";
            retries = 5, "Microsoft KB 170359: TcpMaxDataRetransmissions = 5; assumption: still";
            retries_by_time = false, "Microsoft KB 170359: TcpMaxDataRetransmissions is a count";
            syn_retries = 4, "Get-NetTCPSetting, Server 2022: MaxSynRetransmissions 4";
            syn_linear_timeouts = 0, "Microsoft KB 170359: every timeout doubles";
        }

        loss {
            ack_order = AckOrder::LossesFirst, "RFC 8985 §6.2: losses are found first";
            dupack_threshold = 3, "assumption: RFC 8985 §6.2, DupThresh = 3";
            reordering_unit = ReorderingUnit::Segments, "assumption: how far a SACK is above is counted in segments";
            rack = true, "Microsoft, Announcing New Transport Advancements in the Anniversary Update (2016): RACK; netsh int tcp show supplemental, Windows 11; assumption: whatever the round trip";
            limited_transmit = true, "assumption: SACKed segments count as delivered (RFC 9937)";
            tlp = Tlp::Rfc8985, "Microsoft, Announcing New Transport Advancements in the Anniversary Update (2016): TLP; assumption: with RACK, as RFC 8985 §7";
            tlp_wait = TlpWait::Draft, "Microsoft, Announcing New Transport Advancements in the Anniversary Update (2016): cites draft-dukkipati-tcpm-tcp-loss-probe";
            tlp_probes_bare_fin = true, "assumption: RFC 8985 §7.2, the last segment whatever it holds";
            tlp_marks_retransmission = true, "assumption: RFC 6298 §3, Karn's rule";
            frto = true, "Microsoft, Windows Vista manual, Next Generation TCP/IP stack: RFC 4138";
            timeout_marks = TimeoutMarks::All, "assumption: RFC 6675 §5.1";
        }

        congestion {
            undo = false, "assumption: no more than F-RTO undoes";
            recovery = Recovery::Prr, "netsh int tcp show global, Windows 11: Proportional Rate Reduction enabled; assumption: the slow-start bound of RFC 6937";
            congestion_control = CongestionControl::Cubic, "Get-NetTCPSetting, template Internet: CongestionProvider CUBIC";
            hystart = false, "netsh int tcp show global, Windows 11: HyStart enabled; assumption: left out, as RFC 9406 is not Linux's HyStart";
            cubic = CubicForm::Linux6, "assumption: RFC 9438 as its latest Linux has it";
            byte_counting = true, "assumption: RFC 3465";
            initial_window = InitialWindow::Segments(10), "Get-NetTCPSetting, template Internet: InitialCongestionWindow(MSS) 10";
            slow_start_after_idle = false, "Get-NetTCPSetting, template Internet: CwndRestart False";
            idle_restart = IdleRestart::WhenSent, "Get-NetTCPSetting, template Internet: CwndRestart False";
        }

        segments {
            sack = true, "Microsoft, Windows Vista manual, Next Generation TCP/IP stack: RFC 3517";
            dsack = true, "Microsoft, Windows Vista manual, Next Generation TCP/IP stack: RFC 2883";
            timestamps = false, "Get-NetTCPSetting, template Internet: Timestamps Disabled";
            window_scaling = true, "Microsoft, Receive Window Auto-Tuning (2007)";
            limit_output_bytes = None, "assumption: no such limit";
            pacing_rate = false, "netsh int tcp show global, Windows 11: Pacing Profile off";
            gso_segments = 1, "assumption: large send offload is off";
            retrans_collapse = false, "assumption: segments keep their bounds";
            send_buffer = [65_536, 1_048_576, 4_194_304], "assumption: room for any window of the scenarios; it follows the ideal send backlog";
        }

        receiver {
            delayed_ack = DelayedAck::Rfc, "Get-NetTCPSetting, template Internet: DelayedAckFrequency 2";
            delayed_ack_min = Duration::from_millis(40), "Get-NetTCPSetting, template Internet: DelayedAckTimeout(ms) 40";
            delayed_ack_max = Duration::from_millis(40), "Get-NetTCPSetting, template Internet: DelayedAckTimeout(ms) 40";
            receive_buffer = [65_535, 65_535, 16_776_960], "captures: 65535 and a scale of 8 in its SYN; Microsoft, Receive Window Auto-Tuning (2007): up to 16 MB";
            moderate_receive_buffer = true, "Microsoft, Receive Window Auto-Tuning (2007); assumption: it grows as Linux's";
            window_share = WindowShare::Whole, "assumption: the buffer is the window";
        }
    }
    page
}
