//! Data that are sent again though no timer can have run out and no acknowledgement let them go.

use super::*;

/// Round trips of 50 ms: two segments, acknowledged, and ten more at 100 ms.
fn sent() -> Script {
    Script::new(50).play("0 new 0-2; 50 ack 2; 100 new 2-12")
}

#[test]
fn a_copy_before_any_timer_and_any_acknowledgement_has_no_known_cause() {
    assert_eq!(sent().again(102.0, 2).mechanisms(), ["unknown"]);
    // The second of a train of them, too.
    let both = sent().again(102.0, 2).again(102.1, 3);
    assert_eq!(both.mechanisms(), ["unknown", "unknown"]);
    // A round trip later it may have been a timer's.
    assert_ne!(sent().again(152.0, 2).mechanisms(), ["unknown"]);
}

#[test]
fn an_acknowledgement_that_misses_nothing_lets_nothing_go_again() {
    // Ten segments at 110 ms; what was sent before them is acknowledged at 150 ms.
    let part = || Script::new(50).play("0 new 0-2; 50 ack 2; 100 new 2-4; 110 new 4-14; 150 ack 4");
    assert_eq!(part().again(150.02, 4).mechanisms(), ["unknown"]);
    let holes = part()
        .play("155 ack 4 sack 5-6; 155.1 ack 4 sack 5-7; 155.2 ack 4 sack 5-8; 155.22 again 4");
    assert_eq!(holes.mechanisms(), ["rack"]);
}

#[test]
fn a_timer_counts_from_what_was_sent_first() {
    // The copy is 40 ms old, what was sent before it 130 ms.
    let tail = sent().new_data(190.0, 12..13).again(230.0, 12);
    assert_ne!(tail.mechanisms(), ["unknown"]);
}

#[test]
fn a_queue_on_the_way_may_have_held_the_first_copy() {
    let mut script = sent();
    script.slack = Duration::from_millis(1);
    let script = script.new_data(101.0, 12..13).again(103.0, 12);
    assert_ne!(script.mechanisms(), ["unknown"]);
}

#[test]
fn of_a_sender_heard_alone_the_smallest_timeout_is_the_bound() {
    let alone = || Script::of(&SenderFacts::default()).new_data(0.0, 0..1);
    assert_eq!(alone().again(175.0, 0).mechanisms(), ["unknown"]);
    let late = alone().again(206.0, 0).again(806.0, 0);
    assert_eq!(late.mechanisms(), ["rto", "rto"]);
}

#[test]
fn no_timer_ran_for_longer_than_it_had_been_set() {
    let late = Script::of(&SenderFacts::default()).play("0 new 0-1; 206 again 0");
    let timer = late.verdict(0).judged.timer.unwrap();
    assert!(timer <= Duration::from_millis(206), "{timer}");
}
