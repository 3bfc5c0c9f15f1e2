//! FreeBSD 14, macOS 15 and Windows 11: what each does of the same losses, by its sources.
//!
//! A round trip takes 100 ms. Ten segments leave at once, and as their acknowledgements come, ten more. Each stack that takes
//! samples by stamps has the round trip as 101 ms, of which a deviation of 50 ms dies away.

use rexmit_tcp::Mechanism::{self, Rack, Rto, RtoRecovery, Tlp};
use rexmit_testing::settings;

use super::script::{ms, Script};

type Repairs = Vec<(u64, u32, Mechanism)>;

/// What is sent again of twenty segments of which the last `lost` are.
fn of_tail(name: &str, lost: u32) -> Repairs {
    let lose: Vec<usize> = (20 - lost as usize..20).collect();
    let mut script = Script::new(settings(name, &[]), ms(100));
    let seen = script.transfer(20, &lose).into_iter();
    seen.filter_map(|(at, which, why)| Some((at, which, why?)))
        .collect()
}

/// A probe goes two round trips after the last segment was sent, at 100 ms; with its acknowledgement all before it is lost.
#[test]
fn stacks_with_probes_repair_a_tail_of_several_in_two_round_trips_more() {
    // FreeBSD's RACK stack and macOS count from the sending of the last segment, macOS adds 2 ms; Windows from the last
    // acknowledgement, at 200 ms.
    for (name, probe) in [
        ("freebsd-14-rack", 300),
        ("macos-15", 302),
        ("windows-11", 400),
    ] {
        for lost in 2..=5 {
            let repairs = of_tail(name, lost);
            assert_eq!(repairs[0], (probe, 19, Tlp), "{name}, {lost} lost");
            // The first of PRR's steps lets two go, each acknowledgement two more.
            let steps = [100, 100, 200, 200].map(|later| probe + later);
            let order = (20 - lost..19).zip(steps);
            let rest: Repairs = order.map(|(which, at)| (at, which, Rack)).collect();
            let first_alone = lost == 2;
            assert_eq!(repairs[1..], rest, "{name}, {lost} lost");
            assert!(first_alone || rest.len() > 1);
        }
    }
}

/// One lost: FreeBSD's RACK stack has 1.5 round trips and 40 ms, less than two; macOS two and 100 ms.
#[test]
fn a_probe_of_one_waits_for_a_delayed_acknowledgement() {
    assert_eq!(of_tail("freebsd-14-rack", 1), [(300, 19, Tlp)]);
    assert_eq!(of_tail("windows-11", 1), [(400, 19, Tlp)]);
    assert_eq!(of_tail("macos-15", 1), [(400, 19, Tlp)]);
    // On a short path the delay is all that counts.
    let alone = |name| {
        let mut script = Script::new(settings(name, &[]), ms(4));
        script.transfer(1, &[0])[1]
    };
    // 1.5 times 5 ms and 40 ms; 8 ms and 100 ms, a millisecond more as the first sample has it.
    assert_eq!(alone("freebsd-14-rack"), (47, 0, Some(Tlp)));
    assert_eq!(alone("macos-15"), (110, 0, Some(Tlp)));
}

/// FreeBSD's base stack has no probe: 101 ms, what is left of four deviations, and 200 ms, after the last acknowledgement.
#[test]
fn freebsd_s_base_stack_waits_for_the_timeout_and_sends_all_again() {
    for lost in 1..=5 {
        let repairs = of_tail("freebsd-14", lost);
        let (at, which, why) = repairs[0];
        assert!((501..=503).contains(&at), "{at}");
        assert_eq!((which, why), (20 - lost, Rto));
        assert_eq!(repairs.len() as u32, lost);
        assert!(repairs[1..].iter().all(|(.., why)| *why == RtoRecovery));
    }
}

/// Of four segments the third was SACKed before the timeout, and no acknowledgement says so again.
#[test]
fn a_timeout_forgets_sacks_where_the_scoreboard_is_freed() {
    let after = |name| {
        let changes = [("tlp", "off"), ("rack", "false")];
        let mut script = Script::new(settings(name, &changes), ms(100));
        script.write(4).sends(0..4);
        script.at(100).ack(0, &[(2, 3)]).is_silent();
        script.at(520).again(Rto, &[0]);
        script.at(620).ack(1, &[]);
        script
    };
    after("freebsd-14").again(RtoRecovery, &[1, 2]);
    after("macos-15").again(RtoRecovery, &[1, 2]);
    after("windows-11").again(RtoRecovery, &[1, 3]);
}

/// The last segment carries a FIN: FreeBSD's RACK stack and macOS send no probe then.
#[test]
fn with_a_fin_in_flight_some_send_no_probe() {
    let probes = |name| {
        let mut script = Script::new(settings(name, &[]), ms(100));
        script.write(2).close().next_all();
        script.at(1_000).sender.counters().probes
    };
    assert_eq!(probes("freebsd-14-rack"), 0);
    assert_eq!(probes("macos-15"), 0);
    assert!(probes("windows-11") > 0 && probes("linux-6.12") > 0);
}
