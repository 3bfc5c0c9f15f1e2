//! The handshake, with and without losses.

use rexmit_tcp::connection::{Event, State};
use rexmit_tcp::Segment;

use crate::pair::{Fate, Pair};

fn syn(segment: &Segment) -> bool {
    segment.flags.syn()
}

fn near(times: &[f64], expected: &[f64], tolerance: f64) -> bool {
    times.len() == expected.len()
        && times
            .iter()
            .zip(expected)
            .all(|(time, expected)| (0.0..tolerance).contains(&(time - expected)))
}

#[test]
fn options_are_offered_and_answered() {
    let mut pair = Pair::new("linux-6.1", 0, 100.0);
    pair.run(140.0);
    let first = pair.log[0].sent.segment;
    assert_eq!((first.mss, first.window_scale), (Some(1460), Some(7)));
    assert_eq!(first.window, 64_240);
    assert!(first.sack_permitted && first.timestamps.is_some());
    let answer = pair.log[1].sent.segment;
    assert!(answer.flags.syn() && answer.flags.ack());
    // A multiple of the segment size with timestamps.
    assert_eq!(answer.window, 65_160);
    assert_eq!(
        answer.timestamps.map(|stamps| stamps.echo),
        first.timestamps.map(|stamps| stamps.value)
    );
    // The acknowledgement and then the request, at once.
    let third = pair.log[2].sent.segment;
    assert_eq!((third.len, third.window), (0, 502));
    assert_eq!(pair.log[3].sent.segment.len, 100);
    assert_eq!(pair.log[3].at_ms, 100.0);
    assert_eq!(pair.client.connection.state(), State::Established);
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second_and_doubling() {
    let mut pair = Pair::new("linux-6.1", 0, 100.0).with_path(|_| Fate::Lose);
    pair.run(200_000.0);
    let times = pair.times(false, syn);
    let expected = [0.0, 1e3, 3e3, 7e3, 15e3, 31e3, 63e3];
    // The timer wheel is late by a granule.
    assert!(near(&times, &expected, 3000.0), "{times:?}");
    assert!(near(&times[..2], &expected[..2], 33.0), "{times:?}");
    assert_eq!(pair.client.events, [Event::TimedOut, Event::Closed]);
}

#[test]
fn four_timeouts_of_a_syn_are_alike_in_6_12() {
    let mut pair = Pair::new("linux-6.12", 0, 100.0).with_path(|_| Fate::Lose);
    pair.run(400_000.0);
    let times = pair.times(false, syn);
    let expected = [0.0, 1e3, 2e3, 3e3, 4e3, 5e3, 7e3, 11e3, 19e3, 35e3, 67e3];
    assert!(near(&times, &expected, 3000.0), "{times:?}");
    assert!(near(&times[..6], &expected[..6], 170.0), "{times:?}");
}

#[test]
fn a_lost_syn_ack_is_sent_again_by_the_server_or_asked_for_by_the_client() {
    let mut lost = 0;
    let mut pair = Pair::new("linux-6.1", 0, 100.0).with_path(move |logged| {
        if logged.down && logged.sent.segment.flags.syn() && lost < 1 {
            lost += 1;
            return Fate::Lose;
        }
        Fate::Pass
    });
    pair.run(3000.0);
    // The client's second SYN comes before the server's timer and is answered; the timer begins anew.
    let answers = pair.times(true, syn);
    assert!(near(&answers, &[50.0, 1050.0], 40.0), "{answers:?}");
    assert_eq!(pair.server().connection.state(), State::Established);
}

#[test]
fn a_lost_third_segment_does_not_matter_if_data_follow() {
    let mut lost = false;
    let mut pair = Pair::new("linux-6.1", 10_000, 20.0).with_path(move |logged| {
        let plain = logged.sent.segment.flags.0 == 0x10 && logged.sent.segment.len == 0;
        if !logged.down && plain && !lost {
            lost = true;
            return Fate::Lose;
        }
        Fate::Pass
    });
    pair.run(10_000.0);
    assert_eq!(pair.client.read, 10_230);
    assert_eq!(pair.times(true, syn).len(), 1);
}

#[test]
fn the_round_trip_time_of_the_handshake_sets_the_timeout() {
    for (stack, rto_ms) in [("linux-6.1", 300), ("linux-6.12", 300), ("linux-3.10", 300)] {
        let mut pair = Pair::new(stack, 0, 100.0);
        pair.run(120.0);
        let sender = pair.client.connection.sender().expect("open");
        let rto = sender.rto().as_nanos() as f64 / 1e6;
        assert!((rto - f64::from(rto_ms)).abs() <= 5.0, "{stack}: {rto}");
    }
}

#[test]
fn a_refused_connection_is_reset() {
    let mut pair = Pair::new("linux-6.1", 0, 100.0);
    pair.settle();
    let syn = pair.log[0].sent.segment;
    let reset = Segment {
        ack: syn.seq + 1,
        flags: rexmit_wire::Flags(0x14),
        ..Segment::default()
    };
    pair.client.connection.on_segment(pair.now, &reset);
    pair.settle();
    assert_eq!(pair.client.events, [Event::Reset, Event::Closed]);
}
