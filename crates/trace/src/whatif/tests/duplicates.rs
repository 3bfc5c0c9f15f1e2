//! Losses that duplicates find, or do not.

use super::*;

#[test]
fn fast_retransmit_takes_the_place_of_a_timeout_when_two_duplicates_are_enough() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4", "smart", "d=3"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.ack(at + 100, next, Some((next + 1, next + 2)));
    script.ack(at + 110, next, Some((next + 1, next + 3)));
    script.retransmission(at + 300, next, Rto, NEEDED, 0);
    script.ack(at + 400, next + 3, None);
    let rows = script.finish();
    let row = &rows["d=2"];
    assert_eq!(row.changes.rto_to_fr, 1);
    assert_eq!(row.changes.fr_to_rto, 0);
    assert_eq!(row.changes.avoided, 0);
    near(seconds(row), -0.19 - fast_for_timeout());
    // Three outstanding: one duplicate is enough.
    assert_eq!(rows["smart"].changes.rto_to_fr, 1);
    near(seconds(&rows["smart"]), -0.2 - fast_for_timeout());
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_fast_retransmit_becomes_a_timeout_when_its_duplicates_do_not_reach() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4", "d=5"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 5);
    for late in 0..4_u32 {
        script.ack(
            at + 100 + 10 * u64::from(late),
            next,
            Some((next + 1, next + 2 + late)),
        );
        if late == 2 {
            script.retransmission(at + 120, next, FastRetransmit, NEEDED, 0);
        }
    }
    script.ack(at + 220, next + 5, None);
    let rows = script.finish();
    near(seconds(&rows["d=2"]), -0.01);
    // The fourth duplicate came ten milliseconds later, and no fifth: the timer of 300 ms runs out, half a tick early.
    near(seconds(&rows["d=4"]), 0.01);
    assert_eq!(rows["d=4"].changes.fr_to_rto, 0);
    assert_eq!(rows["d=5"].changes.fr_to_rto, 1);
    near(seconds(&rows["d=5"]), 0.175 + fast_for_timeout());
}

#[test]
fn fack_counts_what_lies_before_the_highest_sack() {
    let mut script = Script::new("linux-2.4", &["d=4", "d=2"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 6);
    // Two lost; the second SACK reaches the third segment after the head.
    script.ack(at + 100, next, Some((next + 2, next + 3)));
    script.ack(at + 110, next, Some((next + 2, next + 4)));
    script.retransmission(at + 110, next, Fack, NEEDED, 0);
    script.ack(at + 120, next, Some((next + 2, next + 5)));
    script.ack(at + 210, next + 6, None);
    let rows = script.finish();
    near(seconds(&rows["d=4"]), 0.01);
    near(seconds(&rows["d=2"]), -0.01);
}

#[test]
fn reordering_makes_spurious_fast_retransmits_with_a_small_threshold() {
    let settings = ["d=2", "d=4", "rack", "min_rto=100ms"];
    let mut script = Script::new("linux-2.4", &settings);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    script.ack(at + 100, next, Some((next + 1, next + 2)));
    script.ack(at + 105, next, Some((next + 1, next + 3)));
    script.ack(at + 110, next + 8, None);
    let rows = script.finish();
    assert_eq!(rows["d=2"].changes.spurious_fr_caused, 1);
    near(seconds(&rows["d=2"]), fast_retransmit_avoided(4.0) * 0.1);
    // A quarter of a round trip had not gone by.
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_larger_threshold_avoids_a_spurious_fast_retransmit() {
    let mut script = Script::new("linux-2.4", &["d=2", "d=4"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    for late in 0..3_u32 {
        script.ack(at + 100, next, Some((next + 1, next + 2 + late)));
    }
    script.retransmission(at + 100, next, FastRetransmit, SPURIOUS, 0);
    script.ack(at + 110, next + 8, None);
    let rows = script.finish();
    assert_eq!(rows["d=4"].changes.avoided, 1);
    assert_eq!(rows["d=4"].changes.spurious_fr_avoided, 1);
    near(seconds(&rows["d=4"]), -fast_retransmit_avoided(4.0) * 0.1);
    assert!(!rows.contains_key("d=2"));
}

#[test]
fn a_shorter_timer_overtakes_a_fast_retransmit() {
    let mut script = Script::new("linux-2.4", &["min_rto=100ms"]);
    let (at, next) = script.settle();
    script.send(at, next, next + 8);
    for late in 0..3_u32 {
        script.ack(at + 250, next, Some((next + 1, next + 2 + late)));
    }
    script.retransmission(at + 250, next, FastRetransmit, NEEDED, 0);
    script.ack(at + 350, next + 8, None);
    let row = &script.finish()["min_rto=100ms"];
    assert_eq!(row.changes.fr_to_rto, 1);
    near(seconds(row), -0.025 + fast_for_timeout());
}

#[test]
fn without_sack_every_duplicate_counts() {
    let mut script = Script::with("windows-xp-unc2007", &["d=3"], false);
    let (at, next) = script.settle();
    script.send(at, next, next + 3);
    script.ack(at + 100, next, None).ack(at + 100, next, None);
    script.retransmission(at + 100, next, FastRetransmit, NEEDED, 0);
    script.ack(at + 200, next + 3, None);
    let row = &script.finish()["d=3"];
    assert_eq!(row.changes.fr_to_rto, 1);
    // Two ticks of 100 ms, less half of one.
    near(seconds(row), 0.05 + fast_for_timeout());
}
