//! Linux's sysctls, which scenarios set, as settings of a stack.

use rexmit_time::Duration;

use super::{Page, StackError};
use crate::near::nearest;
use crate::settings::{
    CongestionControl, EarlyRetransmit, MptcpOptions, MptcpReinject, MptcpScheduler, Settings, Tlp,
    Value, WindowShare,
};

/// A sysctl that the stack takes but does not heed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The sysctl and its value.
    pub setting: String,
    /// Why it has no effect.
    pub why: String,
}

/// A sysctl's name, below `net.ipv4.` unless it is whole, the first release that has it, and what it does.
type SysctlRow = (&'static str, (u32, u32), Effect);

/// What a sysctl does to the settings.
#[derive(Clone, Copy)]
enum Effect {
    /// Anything but 0 switches a setting on.
    Switch(fn(&mut Settings) -> &mut bool),
    /// A number, from the first to the second.
    Number(u32, u32, fn(&mut Settings) -> &mut u32),
    /// A number of nanoseconds.
    Nanos(fn(&mut Settings) -> &mut Duration),
    /// Three numbers of bytes.
    Buffer(fn(&mut Settings) -> &mut [u32; 3]),
    /// None on what the model does, for this reason.
    Nothing(&'static str),
    /// The model does only what this value says.
    Only(&'static str),
    /// One of the functions below.
    Special(Special),
}

#[derive(Clone, Copy)]
enum Special {
    AdvWinScale,
    CongestionControl,
    EarlyRetrans,
    Ecn,
    Fack,
    LimitOutputBytes,
    MptcpScheduler,
    NoMetricsSave,
    Recovery,
    ReinjectOnTlp,
    RtoMin,
}

use Effect::{Buffer, Nanos, Nothing, Number, Only, Special as By, Switch};

const AFTER: &str = "it concerns what comes after a transfer";
const FIRST: (u32, u32) = (2, 4);

/// In the order of their names.
#[rustfmt::skip]
const TABLE: &[SysctlRow] = &[
    ("net.core.default_qdisc", FIRST, Nothing("the model's hosts have no queue but the link's")),
    ("net.core.rmem_default", FIRST, Nothing("TCP has its own: net.ipv4.tcp_rmem")),
    ("net.core.rmem_max", FIRST, Nothing("the model's programs do not ask for buffers")),
    ("net.core.wmem_default", FIRST, Nothing("TCP has its own: net.ipv4.tcp_wmem")),
    ("net.core.wmem_max", FIRST, Nothing("the model's programs do not ask for buffers")),
    ("net.mptcp.add_addr_timeout", (5, 11), Nothing("no address of the model's is announced")),
    ("net.mptcp.allow_join_initial_addr_port", (5, 14), Nothing("the model's client opens all subflows")),
    ("net.mptcp.checksum_enabled", (5, 14), Only("0")),
    ("net.mptcp.enabled", (5, 6), Only("1")),
    ("net.mptcp.mptcp_scheduler", FIRST, By(Special::MptcpScheduler)),
    ("net.mptcp.reinject_on_tlp", FIRST, By(Special::ReinjectOnTlp)),
    ("net.mptcp.scheduler", (6, 5), Only("default")),
    ("net.mptcp.stale_loss_cnt", (5, 15), Number(0, 255, |s| &mut s.multipath.mptcp_stale_after)),
    ("tcp_abort_on_overflow", FIRST, Nothing("no queue of the model's overflows with connections")),
    ("tcp_adv_win_scale", FIRST, By(Special::AdvWinScale)),
    ("tcp_app_win", FIRST, Only("31")),
    ("tcp_autocorking", (3, 14), Switch(|s| &mut s.segments.autocorking)),
    ("tcp_backlog_ack_defer", (6, 7), Only("1")),
    ("tcp_challenge_ack_limit", (3, 6), Nothing("nobody in the model sends stray segments")),
    ("tcp_comp_sack_delay_ns", (4, 18), Nanos(|s| &mut s.receiver.sack_compression_delay)),
    ("tcp_comp_sack_nr", (4, 18), Number(0, 255, |s| &mut s.receiver.sack_compression_most)),
    ("tcp_comp_sack_slack_ns", (5, 7), Nanos(|s| &mut s.receiver.sack_compression_slack)),
    ("tcp_congestion_control", (2, 6), By(Special::CongestionControl)),
    ("tcp_dsack", FIRST, Switch(|s| &mut s.segments.dsack)),
    ("tcp_early_retrans", (3, 5), By(Special::EarlyRetrans)),
    ("tcp_ecn", FIRST, By(Special::Ecn)),
    ("tcp_ecn_fallback", (4, 1), Switch(|s| &mut s.segments.ecn_fallback)),
    ("tcp_fack", FIRST, By(Special::Fack)),
    ("tcp_fastopen", (3, 6), Nothing("the model's programs do not ask for it")),
    ("tcp_fin_timeout", FIRST, Nothing(AFTER)),
    ("tcp_frto", FIRST, Switch(|s| &mut s.loss.frto)),
    ("tcp_invalid_ratelimit", (4, 0), Nothing("nobody in the model sends stray segments")),
    ("tcp_keepalive_intvl", FIRST, Nothing("the model's programs do not ask for it")),
    ("tcp_keepalive_probes", FIRST, Nothing("the model's programs do not ask for it")),
    ("tcp_keepalive_time", FIRST, Nothing("the model's programs do not ask for it")),
    ("tcp_limit_output_bytes", (3, 6), By(Special::LimitOutputBytes)),
    ("tcp_low_latency", FIRST, Nothing("it concerns the prequeue, which is a setting of the stack")),
    ("tcp_max_reordering", (4, 0), Number(1, u32::MAX, |s| &mut s.loss.max_reordering)),
    ("tcp_min_rtt_wlen", (4, 6), Only("300")),
    ("tcp_min_tso_segs", (3, 12), Only("2")),
    ("tcp_moderate_rcvbuf", (2, 6), Switch(|s| &mut s.receiver.moderate_receive_buffer)),
    ("tcp_mtu_probing", (2, 6), Only("0")),
    ("tcp_no_metrics_save", (2, 6), By(Special::NoMetricsSave)),
    ("tcp_notsent_lowat", (3, 12), Only("4294967295")),
    ("tcp_orphan_retries", FIRST, Only("0")),
    ("tcp_pacing_ca_ratio", (4, 4), Only("120")),
    ("tcp_pacing_ss_ratio", (4, 4), Only("200")),
    ("tcp_pingpong_thresh", (6, 7), Only("1")),
    ("tcp_recovery", (4, 4), By(Special::Recovery)),
    ("tcp_reordering", FIRST, Number(1, 300, |s| &mut s.loss.dupack_threshold)),
    ("tcp_retrans_collapse", FIRST, Switch(|s| &mut s.segments.retrans_collapse)),
    ("tcp_retries1", FIRST, Nothing("it asks for another route, and there is one")),
    ("tcp_retries2", FIRST, Number(0, 255, |s| &mut s.timers.retries)),
    ("tcp_rmem", FIRST, Buffer(|s| &mut s.receiver.receive_buffer)),
    ("tcp_rto_min_us", (6, 11), By(Special::RtoMin)),
    ("tcp_sack", FIRST, Switch(|s| &mut s.segments.sack)),
    ("tcp_shrink_window", (6, 1), Only("0")),
    ("tcp_slow_start_after_idle", (2, 6), Switch(|s| &mut s.congestion.slow_start_after_idle)),
    ("tcp_syn_linear_timeouts", (6, 5), Number(0, 127, |s| &mut s.timers.syn_linear_timeouts)),
    ("tcp_syn_retries", FIRST, Number(1, 127, |s| &mut s.timers.syn_retries)),
    ("tcp_synack_retries", FIRST, Only("5")),
    ("tcp_syncookies", FIRST, Nothing("no queue of the model's overflows with SYNs")),
    ("tcp_thin_dupack", (2, 6), Only("0")),
    ("tcp_thin_linear_timeouts", (2, 6), Only("0")),
    ("tcp_timestamps", FIRST, Switch(|s| &mut s.segments.timestamps)),
    ("tcp_tso_rtt_log", (5, 18), Only("9")),
    ("tcp_tso_win_divisor", (2, 6), Only("3")),
    ("tcp_tw_reuse", FIRST, Nothing(AFTER)),
    ("tcp_window_scaling", FIRST, Switch(|s| &mut s.segments.window_scaling)),
    ("tcp_wmem", FIRST, Buffer(|s| &mut s.segments.send_buffer)),
];

/// Puts the sysctl `name` over `settings`, which are those of `page` or came of them. Says so if it has no effect.
pub(super) fn apply(
    page: &Page,
    settings: &mut Settings,
    name: &str,
    value: &str,
) -> Result<Option<Ignored>, StackError> {
    let value = value.trim();
    let Some(&(_, since, effect)) = TABLE.iter().find(|(known, ..)| whole(known) == name) else {
        let names: Vec<String> = TABLE.iter().map(|(known, ..)| whole(known)).collect();
        let meant = nearest(&whole(name), names.iter().map(String::as_str))
            .map_or(String::new(), |meant| format!("; did you mean {meant}?"));
        return Err(StackError::Sysctl(format!(
            "the model does not know {name}{meant}"
        )));
    };
    let why = match release(page.name) {
        None => Some(format!("{} is not Linux", page.name)),
        Some(release) if release < since => {
            let (major, minor) = since;
            Some(format!("it came with Linux {major}.{minor}"))
        }
        Some(release) => effect
            .apply(release, settings, value)
            .map_err(|allowed| StackError::Sysctl(format!("{name} = {value}: must be {allowed}")))?
            .map(str::to_owned),
    };
    Ok(why.map(|why| Ignored {
        setting: format!("{name} = {value}"),
        why,
    }))
}

/// It speaks Multipath TCP as multipath-tcp.org's kernels do.
fn has_old_mptcp(settings: &Settings) -> bool {
    settings.multipath.mptcp_scheduler != MptcpScheduler::None
        && settings.multipath.mptcp_options == MptcpOptions::Rfc6824
}

/// A whole number from `least` to `most`, or what else must stand there.
fn number(value: &str, least: u32, most: u32) -> Result<u32, String> {
    match value.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("a whole number from {least} to {most}")),
    }
}

#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(known, ..)| *known).collect()
}

/// A name of the table as scenarios have it.
fn whole(known: &str) -> String {
    if known.contains('.') {
        known.to_owned()
    } else {
        format!("net.ipv4.{known}")
    }
}

/// The release of Linux that a stack's name has.
fn release(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("linux-")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl Effect {
    /// Sets what it sets and says why it has no effect, if so. The error is what must stand there instead of `value`.
    fn apply(
        self,
        release: (u32, u32),
        settings: &mut Settings,
        value: &str,
    ) -> Result<Option<&'static str>, String> {
        match self {
            Switch(setting) => *setting(settings) = number(value, 0, 255)? != 0,
            Number(least, most, setting) => *setting(settings) = number(value, least, most)?,
            Nanos(setting) => {
                let nanos = number(value, 0, 1_000_000_000)?;
                *setting(settings) = Duration::from_nanos(i64::from(nanos));
            }
            Buffer(setting) => {
                *setting(settings) = <[u32; 3]>::parse(value)
                    .filter(|three| three[0] > 0)
                    .ok_or_else(<[u32; 3]>::allowed)?;
            }
            Nothing(why) => return Ok(Some(why)),
            Only(only) if value == only => {}
            Only(only) => return Err(format!("{only}: the model knows no other")),
            By(special) => return special.apply(release, settings, value),
        }
        Ok(None)
    }
}

impl Special {
    /// As [`Effect::apply`].
    fn apply(
        self,
        release: (u32, u32),
        settings: &mut Settings,
        value: &str,
    ) -> Result<Option<&'static str>, String> {
        match self {
            Special::AdvWinScale => {
                let scale: i32 = value
                    .parse()
                    .ok()
                    .filter(|scale| (-31..=31).contains(scale))
                    .ok_or("a whole number from -31 to 31")?;
                if release >= (6, 6) {
                    return Ok(Some("taken and ignored: the window is the share of payload in what arrives since Linux 6.6"));
                }
                settings.receiver.window_share = WindowShare::AdvWinScale(scale);
            }
            Special::CongestionControl => {
                let chosen =
                    CongestionControl::parse(value).ok_or_else(CongestionControl::allowed)?;
                if chosen.is_coupled() && !has_old_mptcp(settings) {
                    return Err(format!(
                        "reno or cubic: {value} is of multipath-tcp.org's kernels (linux-4.1); as stack.congestion_control \
                         the model has it everywhere"
                    ));
                }
                let since = match chosen {
                    CongestionControl::Bbr => (4, 9),
                    CongestionControl::Dctcp => (3, 18),
                    _ => FIRST,
                };
                if release < since {
                    let (major, minor) = since;
                    return Err(format!(
                        "reno or cubic: {value} came with Linux {major}.{minor}"
                    ));
                }
                settings.congestion.congestion_control = chosen;
            }
            Special::EarlyRetrans => return early_retrans(release, settings, value),
            // With 2, as kernels have it, a host takes ECN and does not ask for it; both hosts have one setting here.
            Special::Ecn => settings.segments.ecn = number(value, 0, 2)? == 1,
            Special::Fack => {
                let on = number(value, 0, 255)? != 0;
                if release < (4, 15) {
                    settings.loss.fack = on;
                } else if on {
                    return Ok(Some("taken and ignored: FACK was removed in Linux 4.15"));
                }
            }
            Special::LimitOutputBytes => {
                settings.segments.limit_output_bytes = Some(number(value, 0, i32::MAX as u32)?);
            }
            Special::MptcpScheduler => {
                let scheduler = match value {
                    "default" => MptcpScheduler::LowestRtt,
                    "roundrobin" => MptcpScheduler::RoundRobin,
                    "redundant" => MptcpScheduler::Redundant,
                    "blest" => MptcpScheduler::Blest,
                    _ => return Err("default, roundrobin, redundant or blest".to_owned()),
                };
                if !has_old_mptcp(settings) {
                    return Err(
                        "left out: it is of multipath-tcp.org's kernels (stack linux-4.1)"
                            .to_owned(),
                    );
                }
                settings.multipath.mptcp_scheduler = scheduler;
            }
            Special::NoMetricsSave => {
                let keeps = number(value, 0, 1)? == 0;
                if keeps && release >= (6, 0) {
                    return Ok(Some(
                        "the model keeps nothing of one connection for the next with this stack",
                    ));
                }
                settings.congestion.metrics = keeps;
            }
            Special::Recovery => {
                let bits = number(value, 0, 255)?;
                settings.loss.rack = bits & 1 != 0;
                settings.loss.rack_static_reo_wnd = bits & 2 != 0;
                settings.loss.rack_no_dupack_threshold = bits & 4 != 0;
            }
            Special::ReinjectOnTlp => {
                let probe = match number(value, 0, 2)? {
                    0 => MptcpReinject::Off,
                    1 => MptcpReinject::Head,
                    _ => MptcpReinject::All,
                };
                if settings.multipath.mptcp_scheduler == MptcpScheduler::None {
                    return Ok(Some("the stack has no Multipath TCP"));
                }
                settings.multipath.mptcp_reinject_on_probe = probe;
            }
            Special::RtoMin => {
                let micros = number(value, 1, i32::MAX as u32)?;
                settings.timers.min_rto = Duration::from_micros(i64::from(micros));
            }
        }
        Ok(None)
    }
}

/// Early retransmit and probes until 4.10, probes alone since 4.11 (`tcp_early_retrans`).
fn early_retrans(
    release: (u32, u32),
    settings: &mut Settings,
    value: &str,
) -> Result<Option<&'static str>, String> {
    let mode = number(value, 0, 4)?;
    if release >= (4, 11) {
        settings.loss.tlp = if mode >= 3 { Tlp::Rfc8985 } else { Tlp::Off };
        return Ok(match mode {
            1 | 2 => Some("early retransmit is ignored (removed in Linux 4.11 for RACK); it switches tail loss probes off"),
            3 => Some("early retransmit is ignored (removed in Linux 4.11 for RACK); it switches tail loss probes on"),
            _ => None,
        });
    }
    settings.loss.early_retransmit = match mode {
        0 | 4 => EarlyRetransmit::Off,
        1 => EarlyRetransmit::Immediate,
        _ => EarlyRetransmit::Delayed,
    };
    settings.loss.tlp = if mode >= 3 { Tlp::Draft } else { Tlp::Off };
    Ok(None)
}
