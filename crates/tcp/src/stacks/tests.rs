use std::collections::BTreeMap;

use rexmit_time::Duration;

use super::{all, build, page, Ignored, StackError};
use crate::settings::{EarlyRetransmit, MptcpReinject, MptcpScheduler, Settings, Tlp};

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn with_sysctl(
    stack: &str,
    name: &str,
    value: &str,
) -> Result<(Settings, Vec<Ignored>), StackError> {
    build(stack, &pairs(&[]), &pairs(&[(name, value)]))
}

#[test]
fn every_setting_has_a_source_and_a_page_states_none_that_has_no_effect() {
    for page in all() {
        for setting in Settings::fields() {
            let source = page.source(&setting);
            let stated = source != setting.source;
            let (name, setting) = (page.name, setting.name);
            assert!(source.len() >= 8, "{name}: {setting}");
            assert!(
                !stated || !source.contains("no effect"),
                "{name}: {setting}"
            );
        }
    }
}

#[test]
fn every_page_makes_a_stack() {
    for page in all() {
        assert_eq!(page.settings.check(), Ok(()), "{}", page.name);
        assert!(!page.about.is_empty() && page.about.len() < 100);
        assert_eq!(super::page(page.name).unwrap().name, page.name);
    }
}

/// The values that UNC 2007 prints, for the stacks that stand for it.
#[test]
fn table_1_of_unc_2007() {
    // Stack, granularity (ms), initial RTO (ms), minRTO (ms), m, k, D.
    let table = [
        ("linux-2.4", 10, 3_000, 200, 1.0, 4, 3),
        ("windows-xp-unc2007", 100, 3_000, 200, 1.0, 4, 2),
        ("freebsd-5-unc2007", 10, 3_000, 1_200, 1.0, 4, 3),
        ("solaris-10", 10, 3_375, 400, 1.25, 4, 3),
        ("solaris-10-unc2007", 10, 3_375, 400, 1.25, 4, 3),
    ];
    for (name, granularity, initial, min, m, k, dupacks) in table {
        let settings = page(name).unwrap().settings;
        assert_eq!(1_000 / settings.timers.hz, granularity, "{name}");
        assert_eq!(
            settings.timers.initial_rto,
            Duration::from_millis(initial),
            "{name}"
        );
        assert_eq!(
            settings.timers.min_rto + settings.timers.rto_slop,
            Duration::from_millis(min),
            "{name}"
        );
        assert_eq!(settings.timers.srtt_factor, m, "{name}");
        assert_eq!(settings.timers.rttvar_factor, k, "{name}");
        assert_eq!(settings.loss.dupack_threshold, dupacks, "{name}");
        // b = 1/8 and a = 1/4 everywhere.
        assert_eq!(
            (settings.timers.srtt_shift, settings.timers.rttvar_shift),
            (3, 2),
            "{name}"
        );
    }
}

#[test]
fn an_unknown_stack_brings_the_one_perhaps_meant() {
    assert_eq!(
        page("linux-3.1").unwrap_err().to_string(),
        "there is no stack linux-3.1; did you mean linux-3.10?"
    );
    assert!(page("plan9").unwrap_err().to_string().contains("rfc"));
}

#[test]
fn overrides_win_over_sysctls() {
    let (settings, ignored) = build(
        "linux-6.12",
        &pairs(&[("min_rto", "80ms"), ("hz", "1000")]),
        &pairs(&[("net.ipv4.tcp_rto_min_us", "50000")]),
    )
    .unwrap();
    assert_eq!(settings.timers.min_rto, Duration::from_millis(80));
    assert_eq!(settings.timers.hz, 1000);
    assert_eq!(ignored, []);
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    let error = build("rfc", &pairs(&[("max_rto", "500ms")]), &pairs(&[])).unwrap_err();
    assert!(error.to_string().contains("max_rto"), "{error}");
    assert!(build("rfc", &pairs(&[("hz", "0")]), &pairs(&[])).is_err());
}

#[test]
fn a_part_that_the_sender_has_not_is_refused() {
    for (stack, name, value) in [
        ("linux-3.10", "rack", "true"),
        ("linux-3.10", "tlp", "rfc8985"),
        ("linux-6.1", "fack", "true"),
        ("linux-6.1", "recovery", "newreno"),
        ("freebsd-5", "timeout_marks", "rack"),
    ] {
        let error = build(stack, &pairs(&[(name, value)]), &pairs(&[])).unwrap_err();
        assert!(error.to_string().contains("ack_order = "), "{error}");
    }
}

#[test]
fn early_retrans_is_a_mode_of_3_10_and_a_switch_of_6_1() {
    let name = "net.ipv4.tcp_early_retrans";
    for (mode, early, tlp) in [
        ("0", EarlyRetransmit::Off, Tlp::Off),
        ("1", EarlyRetransmit::Immediate, Tlp::Off),
        ("2", EarlyRetransmit::Delayed, Tlp::Off),
        ("3", EarlyRetransmit::Delayed, Tlp::Draft),
        ("4", EarlyRetransmit::Off, Tlp::Draft),
    ] {
        let (settings, ignored) = with_sysctl("linux-3.10", name, mode).unwrap();
        assert_eq!(
            (settings.loss.early_retransmit, settings.loss.tlp),
            (early, tlp)
        );
        assert_eq!(ignored, []);
        let (settings, ignored) = with_sysctl("linux-6.1", name, mode).unwrap();
        assert_eq!(settings.loss.early_retransmit, EarlyRetransmit::Off);
        let on = mode == "3" || mode == "4";
        assert_eq!(settings.loss.tlp == Tlp::Rfc8985, on);
        assert_eq!(ignored.len(), usize::from(mode != "0" && mode != "4"));
    }
    assert!(with_sysctl("linux-3.10", name, "5").is_err());
}

#[test]
fn sysctls_reach_their_settings() {
    let set = |stack, name, value| with_sysctl(stack, name, value).unwrap().0;
    assert!(!set("linux-6.1", "net.ipv4.tcp_sack", "0").segments.sack);
    assert!(!set("linux-6.1", "net.ipv4.tcp_recovery", "0").loss.rack);
    let recovery = set("linux-6.1", "net.ipv4.tcp_recovery", "7");
    assert!(recovery.loss.rack_static_reo_wnd && recovery.loss.rack_no_dupack_threshold);
    assert!(!set("linux-3.10", "net.ipv4.tcp_fack", "0").loss.fack);
    assert_eq!(
        set("linux-6.1", "net.ipv4.tcp_reordering", "5")
            .loss
            .dupack_threshold,
        5
    );
    assert_eq!(
        set("linux-6.1", "net.ipv4.tcp_wmem", "4096\t8192\t65536")
            .segments
            .send_buffer,
        [4096, 8192, 65_536]
    );
    assert_eq!(
        set("linux-6.1", "net.ipv4.tcp_comp_sack_delay_ns", "0")
            .receiver
            .sack_compression_delay,
        Duration::ZERO
    );
}

#[test]
fn what_has_no_effect_is_named_and_what_is_unknown_refused() {
    let why = |stack, name, value| with_sysctl(stack, name, value).unwrap().1[0].why.clone();
    assert!(why("linux-6.1", "net.ipv4.tcp_fack", "1").contains("4.15"));
    assert!(why("linux-6.12", "net.ipv4.tcp_adv_win_scale", "2").contains("6.6"));
    assert!(why("freebsd-5", "net.ipv4.tcp_sack", "0").contains("not Linux"));
    assert!(why("linux-2.4", "net.ipv4.tcp_early_retrans", "3").contains("came with Linux 3.5"));
    assert!(why("linux-6.1", "net.ipv4.tcp_no_metrics_save", "0").contains("keeps nothing"));
    let error = |stack, name, value| with_sysctl(stack, name, value).unwrap_err().to_string();
    assert_eq!(
        error("linux-6.1", "net.ipv4.tcp_sacks", "0"),
        "the model does not know net.ipv4.tcp_sacks; did you mean net.ipv4.tcp_sack?"
    );
    assert!(error("linux-6.1", "tcp_sack", "0").contains("did you mean net.ipv4.tcp_sack"));
    assert!(why("linux-6.1", "net.core.rmem_max", "4194304").contains("do not ask"));
    assert!(error("linux-3.10", "net.ipv4.tcp_congestion_control", "bbr").contains("Linux 4.9"));
    assert!(error("linux-3.10", "net.ipv4.tcp_congestion_control", "dctcp").contains("Linux 3.18"));
    assert!(error("linux-6.1", "net.ipv4.tcp_congestion_control", "vegas").contains("reno, cubic"));
    assert!(error("linux-6.1", "net.ipv4.tcp_sack", "yes").contains("whole number"));
    assert!(error("linux-3.10", "net.ipv4.tcp_thin_dupack", "1").contains("must be 0"));
}

#[test]
fn the_patch_s_sysctl_is_a_setting_of_stacks_with_multipath_tcp() {
    let name = "net.mptcp.reinject_on_tlp";
    for stack in ["linux-4.1", "linux-6.1", "linux-6.12"] {
        for (value, what) in [
            ("0", MptcpReinject::Off),
            ("1", MptcpReinject::Head),
            ("2", MptcpReinject::All),
        ] {
            let (settings, ignored) = with_sysctl(stack, name, value).unwrap();
            assert_eq!(settings.multipath.mptcp_reinject_on_probe, what);
            assert!(ignored.is_empty());
        }
        let own = page(stack).unwrap().settings;
        assert_eq!(own.multipath.mptcp_reinject_on_probe, MptcpReinject::Off);
    }
    let (settings, ignored) = with_sysctl("linux-3.10", name, "1").unwrap();
    assert_eq!(
        settings.multipath.mptcp_reinject_on_probe,
        MptcpReinject::Off
    );
    assert!(ignored[0].why.contains("no Multipath TCP"));
    assert!(with_sysctl("linux-6.12", name, "3").is_err());
}

#[test]
fn sysctls_stand_in_order_each_once() {
    assert!(super::sysctl::names().is_sorted_by(|a, b| a < b));
}

#[test]
fn values_beyond_reckoning_are_refused() {
    for (name, value) in [
        ("rto_slop", "120s"),
        ("srtt_factor", "1e9"),
        ("rttvar_factor", "4294967295"),
        ("fallback_rto", "100000s"),
        ("dupack_threshold", "2147483648"),
        ("initial_window", "4294967295"),
        ("gso_segments", "4294967295"),
        ("packet_overhead", "4294967295"),
        ("header_room", "2147483648"),
        ("retries", "256"),
        ("syn_linear_timeouts", "4294967295"),
        ("window_share", "adv-win-scale -31"),
        ("sack_compression_delay", "100000s"),
    ] {
        let set = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let error = build("linux-3.10", &set, &BTreeMap::new()).unwrap_err();
        assert!(
            error.to_string().contains(name),
            "{name} = {value}: {error}"
        );
    }
}

/// The line of multipath-tcp.org names its schedulers and coupled congestion controls by sysctl; upstream has neither.
#[test]
fn the_old_line_has_schedulers_and_coupled_congestion_controls() {
    let scheduler = "net.mptcp.mptcp_scheduler";
    for (word, chosen) in [
        ("default", MptcpScheduler::LowestRtt),
        ("roundrobin", MptcpScheduler::RoundRobin),
        ("redundant", MptcpScheduler::Redundant),
        ("blest", MptcpScheduler::Blest),
    ] {
        let (settings, ignored) = with_sysctl("linux-4.1", scheduler, word).unwrap();
        assert_eq!(settings.multipath.mptcp_scheduler, chosen);
        assert!(ignored.is_empty());
    }
    assert!(with_sysctl("linux-4.1", scheduler, "otias").is_err());
    for stack in ["linux-3.10", "linux-6.12"] {
        let error = with_sysctl(stack, scheduler, "blest").unwrap_err();
        assert!(error.to_string().contains("linux-4.1"), "{error}");
    }
    let control = "net.ipv4.tcp_congestion_control";
    for word in ["lia", "olia", "balia"] {
        let (settings, _) = with_sysctl("linux-4.1", control, word).unwrap();
        assert_eq!(settings.get("congestion_control").as_deref(), Some(word));
        for stack in ["linux-3.10", "linux-6.12"] {
            let error = with_sysctl(stack, control, word).unwrap_err().to_string();
            assert!(error.contains("linux-4.1"), "{error}");
        }
    }
}
