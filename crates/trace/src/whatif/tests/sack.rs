//! Senders with SACK that do without, and the other way round.

use super::*;

/// Segments 0, 2 and 4 of a flight of ten are lost. SACK repairs them in a round trip, of which partial acknowledgements tell.
fn three_holes(script: &mut Script, mechanism: Mechanism) {
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for (from, to) in [(1, 2), (3, 4), (5, 6), (5, 10)] {
        // With SACK a window opens by data out of order, too.
        script.window += 1000;
        script.ack(at + 100, next, Some((next + from, next + to)));
    }
    for hole in [0, 2, 4] {
        script.retransmission(at + 100, next + hole, mechanism, NEEDED, 0);
    }
    script.ack(at + 200, next + 2, Some((next + 5, next + 10)));
    script.ack(at + 200, next + 4, Some((next + 5, next + 10)));
    script.ack(at + 200, next + 10, None);
}

#[test]
fn without_sack_each_further_hole_takes_a_round_trip() {
    let settings = ["no-sack", "no-sack,d=8", "sack"];
    for (stack, mechanism) in [
        ("linux-6.12", Mechanism::Rack),
        ("linux-2.4", Mechanism::Fack),
    ] {
        let mut script = Script::new(stack, &settings);
        three_holes(&mut script, mechanism);
        let rows = script.finish();
        let row = &rows["no-sack"];
        near(seconds(row), 0.2);
        assert_eq!((row.changes.fr_to_rto, row.changes.avoided), (0, 0));
        // No eighth duplicate: a timeout, after which slow start sends all of it.
        assert_eq!(rows["no-sack,d=8"].changes.fr_to_rto, 1);
        assert!(!rows.contains_key("sack"));
    }
}

#[test]
fn a_hole_that_waited_a_round_trip_with_sack_waits_no_longer_without() {
    let mut script = Script::new("linux-6.12", &["no-sack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for (from, to) in [(1, 2), (3, 4), (3, 10)] {
        script.ack(at + 100, next, Some((next + from, next + to)));
    }
    script.retransmission(at + 100, next, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 200, next + 2, Some((next + 3, next + 10)));
    script.retransmission(at + 200, next + 2, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 300, next + 10, None);
    assert!(script.finish().is_empty());
}

#[test]
fn holes_that_one_acknowledgement_closes_count_each() {
    let mut script = Script::new("linux-6.12", &["no-sack"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 10);
    for sacked in 3..6 {
        script.ack(at + 100, next, Some((next + 2, next + sacked)));
    }
    script.retransmission(at + 100, next, Mechanism::Rack, NEEDED, 0);
    script.retransmission(at + 100, next + 1, Mechanism::Rack, NEEDED, 0);
    // Needless, so no hole.
    script.retransmission(at + 100, next + 7, Mechanism::Rack, SPURIOUS, 0);
    script.ack(at + 200, next + 10, None);
    near(seconds(&script.finish()["no-sack"]), 0.1);
}

#[test]
fn without_sack_a_block_of_several_segments_is_one_duplicate() {
    let mut script = Script::new("linux-2.4", &["no-sack", "d=2"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 5);
    // Of four acknowledgements two arrive.
    script.ack(at + 100, next, Some((next + 1, next + 3)));
    script.ack(at + 110, next, Some((next + 1, next + 5)));
    script.retransmission(at + 110, next, Mechanism::FastRetransmit, NEEDED, 0);
    script.ack(at + 210, next + 5, None);
    let rows = script.finish();
    assert_eq!(rows["no-sack"].changes.fr_to_rto, 1);
    near(
        seconds(&rows["no-sack"]),
        0.185 + fast_retransmit_for_timeout(4.0) * 0.1,
    );
    near(seconds(&rows["d=2"]), -0.01);
}

#[test]
fn without_sack_nothing_is_probed() {
    let changes = |setting: &'static str| {
        let mut script = Script::new("linux-6.12", &[setting]);
        let (at, next) = script.settle();
        script.send(at, next, next + 1);
        script.retransmission(at + 202, next, Mechanism::Tlp, NEEDED, 0);
        script.ack(at + 302, next + 1, None);
        let rows = script.finish();
        (rows[setting].change, rows[setting].changes)
    };
    assert_eq!(changes("no-sack"), changes("no-tlp"));
}

#[test]
fn with_sack_a_further_hole_waits_for_no_partial_acknowledgement() {
    for (setting, stack, saved) in [
        // A round trip each, of which the sender stood still for all.
        ("sack", "windows-xp-unc2007", Some(-0.2)),
        ("no-sack", "windows-xp-unc2007", None),
        // What RACK would have seen is not known.
        ("sack", "linux-6.12", Some(-0.2)),
    ] {
        let mut script = Script::with(stack, &[setting], false);
        let (at, next) = script.settle();
        script.send(at, next, next + 10);
        for _ in 0..3 {
            script.ack(at + 100, next, None);
        }
        for (turn, hole) in [(0, 0), (1, 2), (2, 4)] {
            let now = at + 100 * (turn + 1);
            let segment = next + hole;
            script.retransmission(now, segment, Mechanism::FastRetransmit, NEEDED, 0);
            let upto = if hole == 4 { 10 } else { hole + 2 };
            script.ack(now + 100, next + upto, None);
        }
        let rows = script.finish();
        assert_eq!(rows.get(setting).map(|row| row.waited.as_secs_f64()), saved);
    }
}

#[test]
fn with_sack_what_duplicates_do_not_tell_stays_as_it_was() {
    // Whether RACK's time was over is not known, nor what FACK counts, nor why three were not enough.
    for (stack, duplicates) in [("linux-6.12", 1), ("linux-2.4", 1), ("linux-6.12", 3)] {
        let mut script = Script::with(stack, &["sack"], false);
        let (at, next) = script.settle();
        script.send(at, next, next + 5);
        for _ in 0..duplicates {
            script.ack(at + 100, next, None);
        }
        script.retransmission(at + 300, next, Mechanism::Rto, NEEDED, 0);
        script.ack(at + 400, next + 5, None);
        assert_eq!(script.finish().remove("sack"), None, "{stack} {duplicates}");
    }
}

#[test]
fn what_a_probe_brought_is_one_timeout_without_either() {
    let mut script = Script::new("linux-6.12", &["no-sack", "no-tlp,no-rack", "no-tlp"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 202, next + 1, Mechanism::Tlp, NEEDED, 0);
    script.ack(at + 302, next, Some((next + 1, next + 2)));
    script.retransmission(at + 302, next, Mechanism::Rack, NEEDED, 0);
    script.ack(at + 402, next + 2, None);
    let rows = script.finish();
    for name in ["no-sack", "no-tlp,no-rack"] {
        assert_eq!(rows[name].changes.fr_to_rto, 1, "{name}");
        assert_eq!(rows[name].change, rows["no-tlp"].change, "{name}");
    }
}

/// A stack that probes only with SACK does so with it.
#[test]
fn with_sack_a_tail_is_probed() {
    let mut script = Script::with("linux-6.12", &["sack"], false);
    let (at, next) = script.settle();
    script.send(at, next, next + 2);
    script.retransmission(at + 300, next, Mechanism::Rto, NEEDED, 0);
    script.ack(at + 400, next + 2, None);
    let row = &script.finish()["sack"];
    assert_eq!((row.changes.rto_to_fr, row.changes.fr_to_rto), (1, 0));
    // Two round trips and two ticks of a millisecond.
    near(
        seconds(row),
        -0.098 - fast_retransmit_for_timeout(4.0) * 0.1,
    );
}
