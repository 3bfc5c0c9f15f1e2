//! Timeouts, by timers that are longer, shorter, or tick otherwise.

use super::*;

#[test]
fn a_needed_timeout_waits_for_the_other_timer() {
    let mut script = Script::new(
        "linux-2.4",
        &[
            "min_rto=100ms",
            "min_rto=400ms",
            "k=2",
            "min_rto=200ms",
            "m=1.25",
        ],
    );
    timeout(&mut script, 300);
    let rows = script.finish();
    // The deviation of the first sample decays in whole ticks of 10 ms, and stops three above the minimum.
    near(seconds(&rows["min_rto=100ms"]), -0.07);
    near(seconds(&rows["min_rto=400ms"]), 0.2);
    // Two and a half ticks, of which the kernel keeps two.
    near(seconds(&rows["m=1.25"]), 0.02);
    // The deviation has settled at the minimum, and the minimum is the sender's own.
    assert_eq!(rows.len(), 3);
    let row = &rows["min_rto=100ms"];
    assert_eq!(row.changes.avoided, 0);
    assert_eq!(row.changes.rto_to_fr, 0);
    assert_eq!(row.changes.spurious_rto_caused, 0);
}

/// Four segments out that are late, a spurious timeout, and the acknowledgement of the originals `after` it.
fn late(script: &mut Script, after: u64) {
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    for lost in 0..3 {
        script.retransmission(at + 300, next + lost, Rto, SPURIOUS, 0);
    }
    script.ack(at + 300 + after, next + 4, None);
}

#[test]
fn f_rto_takes_a_spurious_timeout_back_and_a_stack_that_does_so_loses_it() {
    let changes = |page, setting: &'static str, sack, after| {
        let mut script = Script::with(page, &[setting], sack);
        late(&mut script, after);
        script.finish().remove(setting)
    };
    let saved = changes("linux-2.4", "frto", true, 20).unwrap();
    assert!(saved.change < Duration::ZERO && saved.waited == Duration::ZERO);
    assert_eq!(saved.changes.avoided, 2, "but the first");
    let lost = changes("linux-3.10", "no-frto", true, 20).unwrap();
    assert_eq!(lost.change, -saved.change);
    // What came a round trip later may have been brought by the retransmission: without SACK it proves nothing.
    assert_eq!(changes("freebsd-5", "frto", false, 101), None);
    // Without timestamps nothing else tells it.
    assert_eq!(changes("windows-xp", "undo", true, 20), None);
}

#[test]
fn a_second_timeout_doubles_the_difference() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 1);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 900, next, Rto, NEEDED, 0);
    script.ack(at + 1000, next + 1, None);
    let row = &script.finish()["min_rto=100ms"];
    near(seconds(row), -0.07 - 0.14);
    assert_eq!(row.waited, Duration::from_millis(-70 - 140));
}

#[test]
fn nothing_is_saved_of_what_nothing_acknowledged() {
    let mut script = Script::new("linux-2.4", &["default"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 4);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 900, next, Rto, NEEDED, 0);
    // What is behind it arrives.
    script.ack(at + 1000, next, Some((next + 1, next + 4)));
    assert_eq!(script.finish().len(), 0);
}

#[test]
fn a_timer_of_long_ticks_fires_where_one_begins() {
    // A timer of one tick fires 5 ms after it is set, before the acknowledgement, or 80 ms after.
    for (set, caused) in [(3_095, 1), (3_020, 0)] {
        let mut script = Script::new("windows-xp-unc2007", &["min_rto=100ms"]);
        script.replay.facts.handshake_rtt = Some(Duration::from_millis(10));
        for turn in 0..30 {
            script.send(100 * u64::from(turn) + 10, turn, turn + 1);
            script.ack(100 * u64::from(turn) + 20, turn + 1, None);
        }
        script.send(set, 30, 31);
        script.ack(set + 10, 31, None);
        // A timeout that shows where ticks begin.
        script.send(9_110, 31, 32);
        script.retransmission(9_400, 31, Rto, NEEDED, 0);
        script.ack(9_410, 32, None);
        let row = &script.finish()["min_rto=100ms"];
        assert_eq!(row.changes.spurious_rto_caused, caused, "set at {set}");
    }
}

#[test]
fn what_was_lost_behind_a_spurious_timeout_is_sent_again_with_it() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    // The first arrived, and its acknowledgement is late. The second was lost.
    script.retransmission(at + 300, next, Rto, SPURIOUS, 0);
    script.ack(at + 350, next + 1, None);
    script.retransmission(at + 350, next + 1, RtoRecovery, NEEDED, 0);
    script.ack(at + 450, next + 2, None);
    let rows = script.finish();
    assert_eq!(rows["min_rto=100ms"].waited, Duration::from_millis(-70));
}

#[test]
fn a_round_trip_is_as_many_ticks_as_the_stack_counts() {
    // 10 ms or 60 ms within a tick of 100 ms are none once a timer has shown where ticks begin, whatever is nearer.
    for trip in [10, 60] {
        let mut script = Script::new("windows-xp-unc2007", &["min_rto=100ms"]);
        script.replay.facts.handshake_rtt = Some(Duration::from_millis(10));
        for turn in 0..30 {
            script.send(100 * u64::from(turn) + 10, turn, turn + 1);
            script.ack(100 * u64::from(turn) + 10 + trip, turn + 1, None);
        }
        script.send(3_010, 30, 31);
        script.retransmission(3_200, 30, Rto, NEEDED, 0);
        script.ack(3_210, 31, None);
        // The timeout of one tick instead of two.
        near(seconds(&script.finish()["min_rto=100ms"]), -0.1);
    }
}

#[test]
fn what_is_added_to_every_timeout_is_part_of_the_shortest_that_is_inferred() {
    let saved = |page: &str, shortest: f64| {
        let mut script = Script::new("freebsd-5", &["min_rto=100ms"]);
        let own = rexmit_tcp::stacks::page(page).unwrap().settings;
        let inferred = Parameters {
            min_rto_s: Some(Inferred {
                value: shortest,
                low: shortest - 0.01,
                high: shortest + 0.01,
            }),
            ..Parameters::default()
        };
        script.replay.sender_is(&Arc::new(own), &inferred);
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        let waited = (shortest * 1e3).round() as u64;
        script.retransmission(at + waited, next, Rto, NEEDED, 0);
        script.ack(at + waited + 100, next + 1, None);
        let rows = script.finish();
        rows.get("min_rto=100ms").map(seconds)
    };
    // A second and the 200 ms on top of it, whatever the page says: 100 ms and 200 ms are 900 ms sooner.
    near(saved("freebsd-5-unc2007", 1.2).unwrap(), -0.9);
    near(saved("freebsd-5", 1.2).unwrap(), -0.9);
}

#[test]
fn what_is_added_to_every_timeout_does_not_double() {
    // A stack with 200 ms on top of every timeout, and a minimum of a second.
    let after = |answer: u64| {
        let mut script = Script::new("freebsd-5", &["min_rto=100ms"]);
        let mut own = rexmit_tcp::stacks::page("freebsd-5").unwrap().settings;
        own.timers.min_rto = Duration::from_secs(1);
        script
            .replay
            .sender_is(&Arc::new(own), &Parameters::default());
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        script.retransmission(at + 1_200, next, Rto, NEEDED, 0);
        script.ack(at + 1_200 + answer, next + 1, None);
        script.finish()["min_rto=100ms"].changes.spurious_rto_caused
    };
    // The other timer of 100 ms and 200 ms is one of 200 ms and 200 ms after its timeout.
    assert_eq!(after(380), 0);
    assert_eq!(after(420), 1);
}

#[test]
fn an_earlier_repair_saves_no_more_than_the_wait_for_the_sender_s_own() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 1);
    // The head is lost; the sender writes on, and stands still for the last 40 ms only.
    script.send(at + 260, next + 1, next + 2);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["min_rto=100ms"];
    // Its own data, of 260 ms, are acknowledged 100 ms later in any case.
    near(seconds(row), -0.04);
    assert_eq!(row.waited, Duration::from_millis(-40));
}

#[test]
fn an_inferred_parameter_is_the_senders_own_where_its_stacks_cannot_be() {
    let setting = ["min_rto=100ms", "min_rto=400ms"];
    let inferred = |low, high| Parameters {
        min_rto_s: Some(Inferred {
            value: 0.4,
            low,
            high,
        }),
        ..Parameters::default()
    };
    let settings = Arc::new(rexmit_tcp::stacks::page("linux-2.4").unwrap().settings);
    let mut script = Script::new("linux-2.4", &setting);
    script.replay.sender_is(&settings, &inferred(0.39, 0.41));
    timeout(&mut script, 500);
    let rows = script.finish();
    assert!(!rows.contains_key("min_rto=400ms"));
    near(seconds(&rows["min_rto=100ms"]), -0.27);
    let mut script = Script::new("linux-2.4", &setting);
    script.replay.sender_is(&settings, &inferred(0.19, 0.41));
    timeout(&mut script, 300);
    near(seconds(&script.finish()["min_rto=400ms"]), 0.2);
}

#[test]
fn windows_bounds_the_timeout_and_not_the_deviation() {
    let mut script = Script::with(
        "windows-xp-unc2007",
        &["min_rto=100ms", "min_rto=400ms", "k=1"],
        false,
    );
    timeout(&mut script, 200);
    let rows = script.finish();
    // The granularity of 100 ms is the deviation's least term.
    assert!(!rows.contains_key("min_rto=100ms"));
    near(seconds(&rows["min_rto=400ms"]), 0.2);
}

#[test]
fn a_spurious_timeout_is_avoided_by_a_longer_timer() {
    let mut script = Script::new(
        "linux-2.4",
        &["min_rto=300ms", "min_rto=600ms", "min_rto=100ms"],
    );
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.retransmission(at + 300, next, Rto, SPURIOUS, 0);
    script.ack(at + 450, next + 1, None);
    script.retransmission(at + 450, next + 1, RtoRecovery, SPURIOUS, 0);
    script.ack(at + 450, next + 8, None);
    let rows = script.finish();
    // 400 ms are too short for an answer after 450, 700 are not.
    assert!(!rows.contains_key("min_rto=300ms"));
    assert!(!rows.contains_key("min_rto=100ms"));
    let row = &rows["min_rto=600ms"];
    assert_eq!(row.changes.avoided, 2);
    assert_eq!(row.changes.spurious_rto_avoided, 1);
    assert_eq!(row.changes.spurious_fr_avoided, 0);
    // One sample of 450 ms among a hundred of 100 makes the average.
    near(seconds(row), -timeout_avoided(4.0) * 0.1 * 1.0);
}

#[test]
fn a_shorter_timer_runs_out_before_a_late_acknowledgement() {
    let mut script = Script::new(
        "linux-2.4",
        &["min_rto=100ms", "min_rto=150ms", "min_rto=50ms,k=2"],
    );
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.ack(at + 240, next + 8, None);
    let rows = script.finish();
    let row = &rows["min_rto=100ms"];
    assert_eq!(row.changes.spurious_rto_caused, 1);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), timeout_avoided(4.0) * (0.1 + 0.0014));
    assert_eq!(rows["min_rto=50ms,k=2"].changes.spurious_rto_caused, 1);
    assert!(!rows.contains_key("min_rto=150ms"));
}
