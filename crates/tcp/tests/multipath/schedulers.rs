//! The schedulers of multipath-tcp.org's kernels, by name.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rexmit_tcp::stacks;

use super::duo::{Duo, Sent};

const MSS: u32 = 1428;

fn with(scheduler: &str, changes: &[(&str, &str)], delays_ms: &[i64]) -> Duo {
    let mut all = vec![("mptcp_scheduler", scheduler)];
    all.extend_from_slice(changes);
    Duo::new("linux-4.1", &all, delays_ms)
}

fn segments(range: impl IntoIterator<Item = u64>) -> Vec<u64> {
    range.into_iter().map(|n| n * u64::from(MSS)).collect()
}

/// Of equal round trips the subflow counts that was opened last.
#[test]
fn lowest_rtt_takes_the_newest_of_equals() {
    let mut duo = with("lowest-rtt", &[], &[20, 20]);
    duo.write(13 * MSS);
    assert_eq!(duo.carried(1), segments(0..10));
    assert_eq!(duo.carried(0), segments(10..13));
}

#[test]
fn round_robin_gives_each_a_segment_in_turn() {
    let mut duo = with("round-robin", &[], &[20, 300]);
    duo.write(7 * MSS);
    assert_eq!(duo.carried(0), segments([0, 2, 4, 6]));
    assert_eq!(duo.carried(1), segments([1, 3, 5]));
    // Three paths, and the next burst goes on where the last one ended.
    let mut duo = with("round-robin", &[], &[20, 30, 40]);
    duo.write(4 * MSS);
    assert_eq!(duo.carried(0), segments([0, 3]));
    duo.write(2 * MSS);
    assert_eq!(duo.carried(1), segments([1, 4]));
    assert_eq!(duo.carried(2), segments([2, 5]));
}

/// One whose window is full is passed over.
#[test]
fn round_robin_fills_windows() {
    let mut duo = with("round-robin", &[], &[20, 300]);
    duo.write(40 * MSS);
    assert_eq!(duo.log().len(), 20);
    duo.run_for(50);
    assert_eq!(duo.carried(1).len(), 10);
    assert!(duo.carried(0).len() > 20);
}

#[test]
fn redundant_sends_everything_on_every_path() {
    let mut duo = with("redundant", &[], &[20, 30]);
    duo.write(8 * MSS);
    assert_eq!(duo.all(0), segments(0..8));
    assert_eq!(duo.all(1), segments(0..8));
    duo.run_for(100);
    assert_eq!(duo.read(), (8 * u64::from(MSS), 20));
}

/// What one path loses the other brings: nobody waits for a timeout.
#[test]
fn redundant_needs_no_retransmission() {
    let lost = |sent: &Sent| sent.path == 0 && sent.data >= 6 * u64::from(MSS);
    let mut duo = with("redundant", &[], &[20, 30]).losing(lost);
    duo.write(8 * MSS).run_for(600);
    assert_eq!(duo.read(), (8 * u64::from(MSS), 30));
}

/// A subflow skips what was acknowledged by the other.
#[test]
fn redundant_skips_what_has_arrived() {
    let mut duo = with("redundant", &[], &[20, 300]);
    duo.write(60 * MSS).run_for(1_000);
    assert_eq!(duo.read().0, 60 * u64::from(MSS));
    let slow = duo.all(1);
    assert!(slow.len() < 40, "{}", slow.len());
    assert!(slow.windows(2).all(|two| two[0] < two[1]));
}

/// A window of 26 segments: while one goes over 300 ms the fast path, whose window doubles each 40, could fill it many times
/// over. BLEST leaves the slow path alone, where the default fills it, and is done sooner.
#[test]
fn blest_leaves_a_path_that_would_block() {
    let narrow = [
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 80000 80000"),
        ("mptcp_opportunistic", "false"),
        ("mptcp_penalise", "false"),
    ];
    let done = |scheduler: &str| {
        let mut duo = with(scheduler, &narrow, &[20, 300]);
        duo.write(60 * MSS).run_for(3_000);
        assert_eq!(duo.read().0, 60 * u64::from(MSS));
        (duo.carried(1).len(), duo.read().1)
    };
    let (blest, default) = (done("blest"), done("lowest-rtt"));
    assert_eq!(blest.0, 0);
    assert!(default.0 > 0);
    assert!(blest.1 < default.1, "{blest:?} {default:?}");
}

/// With room for everything it is the default.
#[test]
fn blest_is_the_default_where_nothing_blocks() {
    let sent = |scheduler: &str| {
        let mut duo = with(
            scheduler,
            &[("receive_buffer", "4096 60000000 60000000")],
            &[20, 30],
        );
        duo.write(15 * MSS).run_for(500);
        duo.log()
    };
    assert_eq!(sent("blest"), sent("lowest-rtt"));
}

/// Schedulers are of one generation or the other.
#[test]
fn upstream_has_none_of_them() {
    for scheduler in ["lowest-rtt", "round-robin", "redundant", "blest"] {
        let changes = BTreeMap::from([("mptcp_scheduler".to_owned(), scheduler.to_owned())]);
        let error = stacks::build("linux-6.12", &changes, &BTreeMap::new()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("linux-4.1") && error.contains(scheduler),
            "{error}"
        );
        assert!(stacks::build("linux-4.1", &changes, &BTreeMap::new()).is_ok());
    }
    let changes = BTreeMap::from([("mptcp_scheduler".to_owned(), "linger-time".to_owned())]);
    assert!(stacks::build("linux-4.1", &changes, &BTreeMap::new()).is_err());
}

proptest! {
    /// Whatever is lost on the way, with every scheduler and trigger everything comes, once and in order.
    #[test]
    fn everything_comes_with_every_scheduler(
        scheduler in prop::sample::select(vec!["lowest-rtt", "round-robin", "redundant", "blest"]),
        control in prop::sample::select(vec!["cubic", "reno", "lia", "olia", "balia"]),
        triggers in prop::collection::vec(prop::sample::select(vec!["off", "head", "all"]), 3),
        delays in prop::collection::vec(1_i64..200, 2..4),
        lost in prop::collection::vec(0_u64..400, 0..60),
        segments in 1_u32..120,
    ) {
        let changes = [
            ("congestion_control", control),
            ("mptcp_reinject_on_timeout", triggers[0]),
            ("mptcp_reinject_on_probe", triggers[1]),
            ("mptcp_reinject_on_recovery", triggers[2]),
        ];
        let mut count = 0;
        let mut duo = with(scheduler, &changes, &delays).losing(move |_| {
            count += 1;
            lost.contains(&count)
        });
        duo.write(segments * MSS).run_for(120_000);
        prop_assert_eq!(duo.read().0, u64::from(segments * MSS));
    }
}
