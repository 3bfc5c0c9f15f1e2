//! The handshake, with and without losses.

use rexmit_tcp::connection::{Connection, Event, Local, State};
use rexmit_tcp::Segment;
use rexmit_testing::{settings, BEGIN};
use rexmit_wire::{Flags, SeqNum};

use crate::{broke, fetch};

fn syn(segment: &Segment) -> bool {
    segment.flags.syn()
}

#[track_caller]
fn near(times: &[f64], expected: &[f64], tolerance: f64) {
    let close = |(time, expected): (&f64, &f64)| (0.0..tolerance).contains(&(time - expected));
    let all = times.len() == expected.len() && times.iter().zip(expected).all(close);
    assert!(all, "{times:?}");
}

#[test]
fn options_are_offered_and_answered() {
    let mut lab = fetch("linux-6.1", 0, 100.0);
    lab.run(140.0);
    let up: Vec<_> = lab.sent(lab.client).collect();
    let first = up[0].1.segment();
    assert_eq!((first.mss, first.window_scale), (Some(1460), Some(7)));
    assert_eq!(first.window, 64_240);
    assert!(first.sack_permitted && first.timestamps.is_some());
    let answer = lab.sent(lab.server).next().unwrap().1.segment();
    assert!(answer.flags.syn() && answer.flags.ack());
    // A multiple of the segment size with timestamps.
    assert_eq!(answer.window, 65_160);
    let echo = answer.timestamps.map(|stamps| stamps.echo);
    assert_eq!(echo, first.timestamps.map(|stamps| stamps.value));
    // The acknowledgement and then the request, at once.
    let third = up[1].1.segment();
    assert_eq!((third.len, third.window), (0, 502));
    assert_eq!((up[2].0, up[2].1.segment().len), (100.0, 100));
    assert_eq!(lab.client().state(), State::Established);
}

/// The timer wheel is late by a granule; four timeouts of a SYN are alike in 6.12.
#[test]
fn a_lost_syn_is_sent_again_after_a_second_and_doubling() {
    let late = [0.0, 1e3, 2e3, 3e3, 4e3, 5e3, 7e3, 11e3, 19e3, 35e3, 67e3];
    for (stack, expected, first, granule) in [
        (
            "linux-6.1",
            &[0.0, 1e3, 3e3, 7e3, 15e3, 31e3, 63e3][..],
            2,
            33.0,
        ),
        ("linux-6.12", &late, 6, 170.0),
    ] {
        let mut lab = fetch(stack, 0, 100.0).losing(|_| true);
        lab.run(400_000.0);
        let times = lab.times(lab.client, syn);
        near(&times, expected, 3000.0);
        near(&times[..first], &expected[..first], granule);
        assert_eq!(broke(lab.world.app(lab.client)), Some(Event::TimedOut));
        assert_eq!(lab.client().state(), State::Closed);
    }
}

#[test]
fn a_lost_syn_ack_is_sent_again_by_the_server_or_asked_for_by_the_client() {
    let mut left = 1;
    let mut lab = fetch("linux-6.1", 0, 100.0).losing(move |packet| {
        let lost = left > 0 && !packet.from.is_client() && syn(packet.segment());
        left -= u32::from(lost);
        lost
    });
    // The client's second SYN comes before the server's timer and is answered; the timer begins anew.
    lab.run(3000.0);
    near(&lab.times(lab.server, syn), &[50.0, 1050.0], 40.0);
    assert_eq!(lab.server().state(), State::Established);
}

/// The first data flight after lost SYN-ACKs (`tcp_init_transfer`): two retransmissions make it one segment, where a timeout was among them.
/// A repeated SYN that is answered counts as a retransmission, and is none of the server's timeouts.
#[test]
fn a_syn_ack_sent_twice_again_begins_with_one_segment() {
    for (stack, lost, flight) in [
        ("linux-6.1", 1, 10),
        ("linux-6.1", 2, 1),
        ("linux-6.1", 3, 1),
        ("linux-6.12", 1, 10),
        ("linux-6.12", 2, 1),
    ] {
        let mut left = lost;
        let mut lab = fetch(stack, 100_000, 100.0).losing(move |packet| {
            let loses = left > 0 && !packet.from.is_client() && syn(packet.segment());
            left -= u32::from(loses);
            loses
        });
        lab.run(20_000.0);
        let data = lab.times(lab.server, |segment| segment.len > 0);
        let first = data.iter().filter(|time| **time < data[0] + 50.0).count();
        assert_eq!(first, flight, "{stack}: {lost} SYN-ACKs lost");
    }
}

#[test]
fn a_lost_third_segment_does_not_matter_if_data_follow() {
    let mut left = 1;
    let mut lab = fetch("linux-6.1", 10_000, 20.0).losing(move |packet| {
        let plain = packet.segment().flags == Flags::ACK && packet.segment().len == 0;
        let lost = left > 0 && packet.from.is_client() && plain;
        left -= u32::from(lost);
        lost
    });
    assert_eq!(lab.run(10_000.0).read(), 10_230);
    assert_eq!(lab.times(lab.server, syn).len(), 1);
}

#[test]
fn the_round_trip_time_of_the_handshake_sets_the_timeout() {
    for stack in ["linux-6.1", "linux-6.12", "linux-3.10"] {
        let mut lab = fetch(stack, 0, 100.0);
        let rto = lab
            .run(120.0)
            .client()
            .sender()
            .expect("open")
            .timing()
            .rto();
        assert!(
            (rto.as_nanos() - 300_000_000).abs() <= 5_000_000,
            "{stack}: {rto}"
        );
    }
}

#[test]
fn a_refused_connection_is_reset() {
    let stack = rexmit_sim::Stack::new(settings("linux-6.1", &[]));
    let local = Local::ethernet(SeqNum::new(u32::MAX));
    let mut client = Connection::connect(stack.settings, stack.clock, &local, BEGIN);
    let reset = Segment {
        ack: client.poll_transmit(BEGIN).unwrap().segment.seq + 1,
        flags: Flags(0x14),
        ..Segment::default()
    };
    client.on_segment(BEGIN, &reset);
    let told: Vec<Event> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(told, [Event::Reset, Event::Closed]);
}
