//! Timeouts that proved spurious, and round trips of a handshake that was repeated.

use super::*;

/// Of a Linux 6.x: ten segments, new data as the probe, and a timeout for the first.
fn after_timeout() -> Script {
    let mut script = Script::new(50);
    let linux = Chosen::parse(&["linux-6"]).unwrap();
    script.judges = Judges::within(&script.judges.facts, linux, Recycled::default());
    script.play("0 new 0-10; 104 new 10-11; 356 again 0")
}

#[test]
fn a_host_without_frto_goes_on_after_what_was_only_late() {
    let script =
        after_timeout().play("400 ack 2; 400 again 2; 400 again 3; 401 ack 4; 401 again 4");
    let expected = ["rto", "rto-recovery", "rto-recovery", "rto-recovery"];
    assert_eq!(script.mechanisms(), expected);
}

#[test]
fn a_host_that_sent_new_data_then_has_frto() {
    // What comes later is no part of that timeout.
    let script = after_timeout().play("400 ack 2; 400 new 11-13; 450 ack 2 sack 3-6; 450 again 2");
    assert_eq!(script.mechanisms(), ["rto", "rack"]);
}

/// What the segments are called that are sent again when the first one and the probe were acknowledged.
fn called(segments: core::ops::RangeInclusive<u32>) -> Vec<&'static str> {
    let script = after_timeout().ack(400.0, 1, &[(10, 11)]);
    let script = segments.fold(script, |script, segment| script.again(400.0, segment));
    script.mechanisms().split_off(1)
}

#[test]
fn more_than_was_delivered_is_no_beginning_recovery() {
    // PRR: two were delivered, two may go. The window after a timeout was one segment, and has grown by two.
    assert_eq!(called(1..=2), ["rack", "rack"]);
    assert_eq!(called(1..=3), ["rto-recovery"; 3]);
}

#[test]
fn a_recovery_does_not_begin_with_silence() {
    let probed = || after_timeout().ack(400.0, 0, &[(10, 11)]);
    let at_once = probed().again(400.0, 1);
    assert_eq!(at_once.mechanisms(), ["rto", "rack"]);
    let later = probed().ack(410.0, 1, &[(10, 11)]).again(410.0, 1);
    assert_eq!(later.mechanisms(), ["rto", "rto-recovery"]);
}

#[test]
fn a_timeout_whose_retransmission_came_twice_is_undone_and_rack_goes_on() {
    // The report covers what this acknowledgement takes off (`tcp_sacktag_one`).
    let script = after_timeout()
        .ack_twice(406.0, 1, &[], Some(0))
        .play("406 again 1; 406 again 2");
    assert_eq!(script.mechanisms(), ["rto", "rack", "rack"]);
}

/// A SYN at 0 and 1000 ms, its answer at 2500 ms that echoes the stamp of the first or none, and a timeout of the first data.
fn timer_after_repeated_syn(echo: Option<u32>) -> Option<Duration> {
    let mut script = Script::of(&SenderFacts {
        isn: Some(SeqNum::new(ISN)),
        client: true,
        mss: MSS,
        syns: 2,
        ..SenderFacts::default()
    });
    for (ms, stamp, kind) in [
        (0.0, 7_000, SentKind::New),
        (1_000.0, 8_000, SentKind::Retransmission(0)),
    ] {
        script.judges.event(&SenderEvent::Sent(Sent {
            flags: Flags::SYN,
            stamp: echo.map(|_| stamp),
            ..testing::sent(at(ms), SeqRange::new(SeqNum::new(ISN), 1), kind)
        }));
    }
    script.retransmissions = 1;
    script.judges.event(&SenderEvent::Acked(Acked {
        echo,
        ..testing::acked(at(2_500.0), seq(0))
    }));
    let timeout = if echo.is_some() { 7_500.0 } else { 3_000.0 };
    let script = script
        .new_data(2_500.0, 0..3)
        .again(2_500.0 + timeout + 4.0, 0);
    let verdict = script.verdict(1).judged;
    assert_eq!(verdict.mechanism, Mechanism::Rto);
    verdict.timer
}

#[test]
fn a_repeated_syn_is_timed_by_the_stamp_that_its_answer_echoes() {
    // RFC 6298 §2.2: a sample of 2.5 s makes a timeout of 7.5 s; without stamps it is the fallback (§5.7).
    let near = |timer: Option<Duration>, ms: i64| {
        let off = timer.unwrap() - Duration::from_millis(ms);
        assert!(off.as_nanos().abs() < 20_000_000, "{timer:?}");
    };
    near(timer_after_repeated_syn(Some(7_000)), 7_500);
    near(timer_after_repeated_syn(None), 3_000);
}
