//! Packets that the capture lacks.

use super::*;

#[test]
fn bytes_acknowledged_and_never_seen_are_losses_of_the_capture() {
    let mut script = Script::new(0, true);
    warm(&mut script);
    script
        .play(
            "101 data 10000+1000; 151 ack 13000 echo 101; 151.2 data 13000+1000; \
             201.2 ack 14000 echo 151.2",
        )
        // Of some other connection, or a broken one.
        .play("202 ack 1000000000 echo 151.2; 203 data 14000+1000; 253 ack 15000 echo 203");
    let seen = script.end();
    assert!(seen.rows.is_empty());
    assert_eq!(seen.row.capture_losses, 2);
}

#[test]
fn a_tail_lost_before_the_monitor_shows_by_the_senders_count() {
    for origin in SLIDES {
        let mut script = Script::new(origin, true);
        warm_far(&mut script);
        // Two segments and a probe never came by.
        script.id = script.id.wrapping_add(3);
        script.play("500 data 10000+1000; 500 ack 11000 echo 500; 550 data 11000+1000; 550 ack 12000 echo 550");
        let seen = script.end();
        assert_eq!(seen.ranges(origin), [(10_000, 11_000), (11_000, 12_000)]);
        let needed = (Need::Needed, Evidence::OriginalUnseen);
        assert_eq!(seen.needs(), [needed; 2]);
        // Nobody saw when these were sent before.
        assert_eq!(seen.perhaps, [(ms(100.9), ms(550.0))]);
    }
    // Nothing is missing: the sender had nothing to send.
    let mut script = Script::new(0, true);
    warm_far(&mut script);
    script.data(500.0, 10_000, 1000).ack(500.0, 11_000, 500.0);
    assert!(script.end().rows.is_empty());
}

/// A retransmission that never came by either is missing too; but an acknowledgement that the sender sent meanwhile bears
/// the number that it would send next, so that nothing beyond was sent before.
#[test]
fn what_is_missing_before_an_acknowledgement_of_the_sender_ends_where_that_begins() {
    let exchange = |acknowledges: bool| {
        let mut script = Script::new(0, true);
        warm_far(&mut script);
        // A segment and a probe of it never came by.
        script.id = script.id.wrapping_add(2);
        script.data(500.0, 10_000, 1000).ack(500.0, 11_000, 500.0);
        if acknowledges {
            script.data(520.0, 11_000, 0);
        }
        script.data(550.0, 11_000, 1000).ack(550.0, 12_000, 550.0);
        script.end().ranges(0)
    };
    assert_eq!(exchange(false), [(10_000, 11_000), (11_000, 12_000)]);
    assert_eq!(exchange(true), [(10_000, 11_000)]);
}

/// Round trips of 20 ms. The last of four segments is lost before the monitor and the first behind it: less than a round
/// trip after the third came by the first goes again, and the last when that is acknowledged.
#[test]
fn what_is_missing_before_the_first_hole_goes_again_was_new() {
    let exchange = |lost_after_hole: bool| {
        let mut script = Script::new(0, false);
        script.handshake(10.0, 10.0);
        for i in 0..10 {
            script.data(20.0 + f64::from(i) * 0.1, i * 1000, 1000);
            script.ack(30.0 + f64::from(i) * 0.1, (i + 1) * 1000, 0.0);
        }
        script.data(40.0, 10_000, 1000).data(42.0, 11_000, 1000);
        script.data(43.0, 12_000, 1000);
        if !lost_after_hole {
            script.id += 1;
        }
        script.play(
            "52 ack 10000 sack 11000-12000 echo 0; 53 ack 10000 sack 11000-13000 echo 0; \
             60 data 10000+1000; 70 ack 13000 echo 0; 80 data 13000+1000; 90 ack 14000 echo 0",
        );
        script.end().ranges(0)
    };
    assert_eq!(exchange(true), [(10_000, 11_000)], "nothing is missing");
    assert_eq!(exchange(false), [(10_000, 11_000), (13_000, 14_000)]);
}

/// Round trips of 20 ms. Four segments are lost before the monitor, a probe as well; a timeout sends the first of them again,
/// F-RTO two that are new, and the rest follow.
#[test]
fn what_frto_sends_beyond_a_lost_tail_is_new() {
    let mut script = Script::new(0, false);
    script.handshake(10.0, 10.0);
    for i in 0..10 {
        script.data(20.0 + f64::from(i) * 0.1, i * 1000, 1000);
        script.ack(30.0 + f64::from(i) * 0.1, (i + 1) * 1000, 0.0);
    }
    script.id += 5;
    script.play("400 data 10000+1000; 410 ack 11000 echo 0; 420 data 14000+1000; 420.1 data 15000+1000; \
             430 ack 11000 sack 14000-15000 echo 0; 430.1 ack 11000 sack 14000-16000 echo 0; \
             440 data 11000+1000; 440.1 data 12000+1000; 440.2 data 13000+1000; 450 ack 16000 echo 0");
    let seen = script.end();
    let again = [10, 11, 12, 13].map(|segment| (segment * 1000, (segment + 1) * 1000));
    assert_eq!(seen.ranges(0), again);
}

#[test]
fn packets_of_the_receiver_that_are_missing_were_acknowledgements() {
    for missed in [0, 1] {
        let mut script = Script::new(9, false);
        script.view.facts.sack = false;
        warm(&mut script);
        script.data(101.0, 10_000, 1000);
        script.ack_id += missed;
        script.data(901.0, 10_000, 1000).ack(951.0, 11_000, 0.0);
        let expected = match missed {
            0 => (Need::Needed, Evidence::HoleFilled),
            _ => (Need::Spurious, Evidence::AckLost),
        };
        assert_eq!(script.end().needs(), [expected]);
    }
}

#[test]
fn an_answer_that_says_nothing_new_is_for_a_duplicate() {
    let mut script = Script::new(0xffff_d700, false);
    warm(&mut script);
    script.play(
        "101 data 10000+1000; 401 data 10000+1000; 452 ack 11000 echo 0; 453 ack 11000 echo 0",
    );
    let needs = script.end().needs();
    assert_eq!(needs, [(Need::Spurious, Evidence::DuplicateAnswered)]);
}

#[test]
fn an_acknowledgement_at_once_is_not_for_a_lone_new_segment() {
    for (answer, expected) in [
        (351.5, (Need::Spurious, Evidence::DuplicateAnswered)),
        (430.0, (Need::Needed, Evidence::HoleFilled)),
    ] {
        let mut script = Script::new(0, false);
        warm(&mut script);
        script
            .play("101 data 10000+700; 301 data 10000+700")
            .ack(answer, 10_700, 0.0);
        assert_eq!(script.end().needs(), [expected]);
    }
}

#[test]
fn an_edge_that_jumps_had_its_later_holes_filled_before() {
    let mut script = Script::new(0x7fff_d800, false);
    script.view.facts.sack = false;
    warm(&mut script);
    for i in 10..15 {
        script.data(101.0, i * 1000, 1000);
    }
    script.play("151 ack 10000 echo 0; 151.1 ack 10000 echo 0; 151.2 ack 10000 echo 0; \
             151.3 ack 10000 echo 0; 401 data 10000+1000; 401.1 data 11000+1000; 451.2 ack 15000 echo 0");
    let needs = script.end().needs();
    assert_eq!(
        needs,
        [
            (Need::Needed, Evidence::HoleFilled),
            (Need::Spurious, Evidence::Frto)
        ]
    );
}
