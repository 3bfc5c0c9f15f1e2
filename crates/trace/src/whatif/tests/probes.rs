//! Tail loss probes, and RACK.

use super::*;

#[test]
fn a_probe_repairs_the_last_segment_before_the_timeout() {
    let mut script = Script::new("linux-2.4", &["tlp", "no-tlp"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.ack(at + 100, next + 1, None);
    script.retransmission(at + 400, next + 1, Rto, NEEDED, 0);
    script.ack(at + 500, next + 2, None);
    let rows = script.finish();
    // One packet out: the probe falls together with the timeout, half a tick of which the capture has not shown, but does
    // not lower the rate to one segment.
    let row = &rows["tlp"];
    assert_eq!(row.changes.rto_to_fr, 1);
    near(seconds(row), -0.005 - fast_for_timeout());
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_probe_finds_the_loss_of_many_a_round_trip_later() {
    let mut script = Script::new("linux-2.4", &["tlp", "tlp,rack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.retransmission(at + 400, next + 1, RtoRecovery, NEEDED, 0);
    script.retransmission(at + 400, next + 2, RtoRecovery, NEEDED, 0);
    script.ack(at + 400, next + 1, None);
    script.ack(at + 500, next + 3, None);
    // Two round trips and 2 ms to the probe, one to its answer, against the timer's 300.
    let rows = script.finish();
    let row = &rows["tlp,rack"];
    near(seconds(row), 0.002 - fast_for_timeout());
    // One SACK is too little for FACK: the timer runs out, but later, half a tick early.
    let row = &rows["tlp"];
    assert_eq!(row.changes.rto_to_fr, 0);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), 0.202 + 0.295 - 0.3);
}

#[test]
fn without_probes_a_probed_loss_waits_for_the_timer() {
    let mut script = Script::new("linux-6.12", &["no-tlp", "tlp", "k=2", "rto_min=50ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.ack(at + 100, next + 1, None);
    script.send(at + 100, next + 2, next + 3);
    script.retransmission(at + 302, next + 2, Tlp, NEEDED, 0);
    script.ack(at + 402, next + 3, None);
    let rows = script.finish();
    let row = &rows["no-tlp"];
    assert_eq!(row.changes.fr_to_rto, 1);
    // The wheel is four ticks late on average.
    near(seconds(row), 0.098 + 0.016 + fast_for_timeout());
    // A timer of 152 ms, in ticks of 4 and up to eight of them late, is over before the probe, which goes in its place.
    near(seconds(&rows["rto_min=50ms"]), -0.044);
    assert_eq!(rows.len(), 2);
}

#[test]
fn without_rack_what_a_probe_found_waits_for_the_timer_after_it() {
    let mut script = Script::new("linux-6.12", &["no-rack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 202, next + 1, Tlp, NEEDED, 0);
    script.ack(at + 302, next, Some((next + 1, next + 2)));
    script.retransmission(at + 302, next, Rack, NEEDED, 0);
    script.ack(at + 402, next + 2, None);
    let row = &script.finish()["no-rack"];
    assert_eq!(row.changes.fr_to_rto, 1);
    assert_eq!(row.changes.rto_to_fr, 0);
    // From the probe on, and the wheel is four ticks late.
    near(seconds(row), 0.3 + 0.016 - 0.1 + fast_for_timeout());
}

#[test]
fn rack_finds_a_loss_with_one_segment_after_it() {
    let mut script = Script::new("linux-2.4", &["rack"]);
    let (at, next) = script.settle();
    script
        .send(at, next, next + 1)
        .send(at + 1, next + 1, next + 2);
    script.ack(at + 101, next, Some((next + 1, next + 2)));
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["rack"];
    assert_eq!(row.changes.rto_to_fr, 1);
    // The round trip of what came after it, and a quarter of one.
    near(seconds(row), -(0.3 - 0.125) - fast_for_timeout());
}

/// RACK waits for reordered segments while nothing is repaired, and in a recovery only if some were seen.
#[test]
fn in_recovery_rack_finds_a_lost_retransmission_at_once() {
    let change = |reordered: bool| {
        let mut script = Script::new("linux-2.4", &["rack"]);
        let (mut at, mut next) = script.settle();
        if reordered {
            script.send(at, next, next + 2);
            script.ack(at + 100, next, Some((next + 1, next + 2)));
            script.ack(at + 101, next + 2, None);
            (at, next) = (at + 200, next + 2);
        }
        script.send(at, next, next + 2);
        script.retransmission(at + 300, next, Rto, NEEDED, 0);
        script.send(at + 310, next + 2, next + 3);
        script.ack(at + 410, next, Some((next + 2, next + 3)));
        script.retransmission(at + 900, next, Rto, NEEDED, 0);
        script.ack(at + 1_000, next + 3, None);
        seconds(&script.finish()["rack"])
    };
    near(change(true) - change(false), 0.025 - 0.01);
}
