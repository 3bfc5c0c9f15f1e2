//! When acknowledgements leave.

use rexmit_wire::Flags;

use crate::script::{Script, FULL};

/// Indexes of the segments that were acknowledged at once.
fn acked_at_once(script: &mut Script, count: u32) -> Vec<u32> {
    script.at(100.0).acks();
    (0..count)
        .filter(|&index| !script.full(index).acks().is_empty())
        .collect()
}

#[test]
fn linux_acknowledges_sixteen_segments_at_once_then_every_second() {
    let at_once = acked_at_once(&mut Script::steady("linux-6.1"), 24);
    assert_eq!(
        at_once,
        [&(0..16).collect::<Vec<_>>()[..], &[17, 19, 21, 23]].concat()
    );
    // As its window grows with the first seven, as many more are acknowledged at once.
    let at_once = acked_at_once(&mut Script::steady("linux-6.12"), 28);
    assert_eq!(
        at_once,
        [&(0..23).collect::<Vec<_>>()[..], &[24, 26]].concat()
    );
    // Its first window holds ten segments, so five are acknowledged at once, and those with which the window grows.
    let at_once = acked_at_once(&mut Script::steady("linux-3.10"), 20);
    assert_eq!(
        at_once,
        [&(0..14).collect::<Vec<_>>()[..], &[15, 17, 19]].concat()
    );
}

#[test]
fn a_plain_receiver_acknowledges_every_second_segment() {
    let at_once = acked_at_once(&mut Script::new("rfc"), 8);
    assert_eq!(at_once, [1, 3, 5, 7]);
}

#[test]
fn a_lone_segment_waits_40_ms_and_the_timer_fires_as_its_wheel_turns() {
    // 40 ms are 10 ticks at 250 Hz: fired at the 10th tick in 3.10, at the end of it since 4.8.
    for (stack, ticks) in [("linux-3.10", 10), ("linux-6.1", 11), ("linux-6.12", 11)] {
        let mut script = Script::warm(stack);
        script.at(1000.0).full(20);
        assert_eq!(script.acks(), [], "{stack}");
        let due = script.tick_after(1000.0, ticks);
        script.at(due - 0.001);
        assert_eq!(script.acks(), [], "{stack}");
        script.at(due);
        assert_eq!(script.acks(), [(due, 21 * FULL)], "{stack}");
    }
}

#[test]
fn a_plain_receiver_waits_as_long_as_it_is_told() {
    let mut script = Script::with("rfc", &[("delayed_ack_max", "500ms")], 7);
    script.at(10.0).full(0);
    assert_eq!(script.acks(), []);
    script.at(600.0);
    let acks = script.acks();
    assert_eq!(acks.len(), 1);
    assert!((509.0..512.0).contains(&acks[0].0), "{acks:?}");
}

#[test]
fn a_pushed_full_segment_is_acknowledged_when_it_is_read_since_6_1() {
    for (stack, at_once) in [
        ("linux-3.10", false),
        ("linux-6.1", true),
        ("linux-6.12", true),
    ] {
        let mut script = Script::warm(stack);
        script.segment(20 * FULL, FULL, Flags::PSH);
        assert_eq!(!script.acks().is_empty(), at_once, "{stack}");
    }
}

#[test]
fn a_small_segment_is_acknowledged_when_it_is_read() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::warm(stack);
        script.segment(20 * FULL, 100, Flags::PSH);
        assert_eq!(script.acks(), [(1000.0, 20 * FULL + 100)], "{stack}");
    }
}

#[test]
fn data_sent_soon_after_data_came_make_the_session_interactive() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::warm(stack);
        script.segment(20 * FULL, 100, Flags::PSH).acks();
        script.receiver.header();
        script
            .at(1001.0)
            .receiver
            .data_sent(rexmit_time::Time::from_nanos(11_001_500_000));
        script.segment(20 * FULL + 100, 100, Flags::PSH);
        assert_eq!(script.acks(), [], "{stack}");
        script.at(1300.0);
        assert_eq!(script.acks().len(), 1, "{stack}");
        // The timer ended the interactive session.
        script.segment(20 * FULL + 200, 100, Flags::PSH);
        assert_eq!(script.acks().len(), 1, "{stack}");
    }
}

#[test]
fn the_acknowledgement_of_a_bare_fin_waits() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::warm(stack);
        script.segment(20 * FULL, 0, Flags::FIN);
        assert_eq!(script.acks(), [], "{stack}");
        script.at(1100.0);
        let acks = script.acks();
        assert_eq!(acks.len(), 1, "{stack}");
        assert_eq!(acks[0].1, 20 * FULL + 1);
        assert!(
            acks[0].0 > 1036.0 && acks[0].0 <= 1044.0,
            "{stack}: {acks:?}"
        );
    }
}

#[test]
fn a_fin_on_a_full_segment_is_acknowledged_at_once() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12", "rfc"] {
        let mut script = Script::warm(stack);
        script.segment(20 * FULL, FULL, Flags::FIN);
        assert_eq!(script.acks(), [(1000.0, 21 * FULL + 1)], "{stack}");
        assert_eq!(script.receiver.readable(), 0);
    }
}

#[test]
fn out_of_order_data_bring_quick_acknowledgements_in_3_10_only() {
    for (stack, quick) in [("linux-3.10", 12), ("linux-6.1", 0), ("linux-6.12", 0)] {
        let mut script = Script::warm(stack);
        script.full(21).full(20);
        assert_eq!(script.acks().len(), 2, "{stack}");
        let at_once = (22..40)
            .take_while(|&index| !script.full(index).acks().is_empty())
            .count();
        assert_eq!(at_once, quick, "{stack}");
    }
}

#[test]
fn after_a_pause_acknowledgements_are_quick_again() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::warm(stack);
        // More than the timeout of 300 ms after the last data.
        script.at(1500.0).full(20);
        assert_eq!(script.acks().len(), 1, "{stack}");
    }
}
