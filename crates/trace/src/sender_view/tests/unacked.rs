//! What nothing acknowledged by the end, and how large the packets were that something acknowledged.

use super::*;
use crate::measures::Unacked;

/// Packets of 200 bytes that are acknowledged, the last at 150 ms, and then one of 1000 bytes.
fn begun() -> Script {
    let mut script = Script::new(0xffff_ff00, false);
    script.handshake(0.0, 40.0);
    script.data(40.0, 0, 200).ack(80.0, 200, 40.0);
    script.data(110.0, 200, 200).ack(150.0, 400, 110.0);
    script.data(160.0, 400, 1000);
    script
}

fn unacked(script: Script) -> Option<Unacked> {
    script.end().row.measures.unacked
}

#[test]
fn a_peer_that_answered_once_more_got_what_was_smaller() {
    let mut script = begun();
    // The 200 bytes behind it arrive, and are reported.
    script.data(160.1, 1_400, 200);
    script.sack(200.1, 400, &[(1_400, 1_600)], 160.1);
    script.data(360.0, 400, 1000).data(760.0, 400, 1000);
    let expected = Unacked {
        sends: 3,
        unanswered: 2,
        silence: Duration::from_micros(559_900),
        size: 1000,
        acked_size: 200,
        last: ms(760.0),
        tried: Duration::from_millis(600),
        all_full: true,
    };
    assert_eq!(unacked(script), Some(expected));
}

#[test]
fn of_a_packet_that_a_card_cut_up_the_last_part_came_through() {
    let mut script = Script::new(0, false);
    script.handshake(0.0, 40.0);
    script.data(40.0, 0, 200).ack(80.0, 200, 40.0);
    script.data(110.0, 200, 200).ack(150.0, 400, 110.0);
    script.data(160.0, 400, 1_300);
    script.sack(200.1, 400, &[(1_400, 1_700)], 160.0);
    script.data(360.0, 400, 1000).data(760.0, 400, 1000);
    let unacked = unacked(script).unwrap();
    assert_eq!((unacked.size, unacked.acked_size), (1000, 300));
}

#[test]
fn a_peer_that_is_gone_answers_no_copy() {
    let mut script = begun();
    script.data(360.0, 400, 1000).data(760.0, 400, 500);
    let expected = Unacked {
        sends: 3,
        unanswered: 3,
        silence: Duration::from_millis(610),
        size: 500,
        acked_size: 200,
        last: ms(760.0),
        tried: Duration::from_millis(600),
        all_full: false,
    };
    assert_eq!(unacked(script), Some(expected));
}

#[test]
fn nothing_is_told_of_what_was_acknowledged_or_sent_once_or_of_a_closed_window() {
    assert_eq!(unacked(begun()), None);
    let mut script = begun();
    script.data(360.0, 400, 1000).ack(400.0, 1_400, 360.0);
    assert_eq!(unacked(script), None);
    let mut script = begun();
    let closed = Event {
        ack: script.origin + 400,
        window: 0,
        ..script.event(200.0, Direction::Forward)
    };
    script.view.ack(&closed, &[]);
    script.data(360.0, 400, 1000).data(760.0, 400, 1000);
    assert_eq!(unacked(script), None);
}

#[test]
fn a_reset_that_ends_it_answers_no_copy() {
    for (resets, unanswered) in [([900.0, 901.0], 3), ([170.0, 900.0], 0)] {
        let mut script = begun();
        script.data(360.0, 400, 1000).data(760.0, 400, 1000);
        for at in resets {
            let reset = Event {
                flags: Flags::RST,
                ..script.event(at, Direction::Forward)
            };
            script.view.ack(&reset, &[]);
        }
        assert_eq!(unacked(script).unwrap().unanswered, unanswered);
    }
}
