//! The ways in which a connection ends.

use rexmit_tcp::connection::{Event, Socket, State};
use rexmit_tcp::Segment;
use rexmit_time::Duration;

use crate::pair::{Fate, Logged, Pair};

/// Open, the request read, nobody closes by himself.
fn open(stack: &str) -> Pair {
    let mut pair = Pair::new(stack, 0, 20.0);
    pair.client.closes = false;
    pair.run(40.0);
    pair.server().closes = false;
    pair.run(200.0);
    assert_eq!(pair.server().read, 100);
    pair
}

fn states(pair: &mut Pair) -> (State, State) {
    (
        pair.client.connection.state(),
        pair.server().connection.state(),
    )
}

#[test]
fn one_side_closes_and_then_the_other() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    pair.client.connection.close(now);
    pair.run(205.0);
    assert_eq!(states(&mut pair), (State::FinWait1, State::Established));
    pair.run(300.0);
    assert_eq!(states(&mut pair), (State::FinWait2, State::CloseWait));
    let now = pair.now;
    pair.server().connection.close(now);
    pair.run(305.0);
    assert_eq!(states(&mut pair), (State::FinWait2, State::LastAck));
    pair.run(325.0);
    assert_eq!(states(&mut pair), (State::TimeWait, State::Closed));
    assert!(pair.client.saw(Event::Closed) && pair.server().saw(Event::Closed));
    pair.run(59_000.0);
    assert_eq!(states(&mut pair).0, State::TimeWait);
    pair.run(62_000.0);
    assert_eq!(states(&mut pair).0, State::Closed);
}

#[test]
fn both_close_at_once() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    pair.client.connection.close(now);
    pair.server().connection.close(now);
    pair.run(211.0);
    assert_eq!(states(&mut pair), (State::Closing, State::Closing));
    pair.run(225.0);
    assert_eq!(states(&mut pair), (State::TimeWait, State::TimeWait));
}

#[test]
fn a_half_closed_connection_still_carries_data() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    pair.client.connection.shutdown(now);
    pair.run(300.0);
    assert!(pair.server().saw(Event::PeerClosed));
    let now = pair.now;
    assert_eq!(pair.server().connection.write(now, 30_000, false), 30_000);
    pair.run(600.0);
    assert_eq!(pair.client.read, 30_000);
    assert_eq!(states(&mut pair), (State::FinWait2, State::CloseWait));
}

#[test]
fn a_lost_fin_is_sent_again_and_time_wait_acknowledges_it() {
    let mut lost = 0;
    let mut pair = open("linux-6.1").with_path(move |logged| {
        // The server's FIN, and then the client's acknowledgement of it.
        let fin = logged.down && logged.sent.segment.flags.fin();
        let answer = !logged.down && lost == 1;
        if (fin && lost == 0) || answer {
            lost += 1;
            return Fate::Lose;
        }
        Fate::Pass
    });
    let now = pair.now;
    pair.client.connection.shutdown(now);
    pair.run(300.0);
    let now = pair.now;
    pair.server().connection.close(now);
    pair.run(5000.0);
    assert_eq!(states(&mut pair), (State::TimeWait, State::Closed));
    let fins = pair.times(true, |segment| segment.flags.fin());
    assert!(fins.len() >= 3, "{fins:?}");
}

#[test]
fn unread_data_make_a_close_a_reset() {
    let mut pair = open("linux-6.1");
    pair.client.reads = false;
    let now = pair.now;
    pair.server().connection.write(now, 1000, false);
    pair.run(220.0);
    assert_eq!(pair.client.connection.readable(), 1000);
    let now = pair.now;
    pair.client.connection.close(now);
    assert_eq!(pair.client.connection.state(), State::Closed);
    pair.run(300.0);
    assert!(pair.server().saw(Event::Reset));
    assert!(pair
        .sent(false)
        .last()
        .is_some_and(|l| l.sent.segment.flags.rst()));
}

#[test]
fn data_for_a_closed_socket_are_reset() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    pair.client.connection.close(now);
    pair.run(300.0);
    assert_eq!(states(&mut pair).0, State::FinWait2);
    let now = pair.now;
    pair.server().connection.write(now, 1000, false);
    pair.run(400.0);
    assert_eq!(states(&mut pair), (State::Closed, State::Closed));
    assert!(pair.server().saw(Event::Reset));
}

#[test]
fn a_fin_overtaken_by_data_waits_for_them() {
    let mut held = false;
    let mut pair = Pair::new("linux-6.1", 5000, 20.0).with_path(move |logged| {
        if logged.down && logged.sent.segment.len == 1448 && !held {
            held = true;
            return Fate::Late(Duration::from_millis(5));
        }
        Fate::Pass
    });
    pair.run(1000.0);
    assert_eq!(pair.client.read, 5230);
    let closed: Vec<_> = pair
        .client
        .events
        .iter()
        .filter(|&&event| event == Event::PeerClosed)
        .collect();
    assert_eq!(closed.len(), 1);
    assert_eq!(pair.client.connection.state(), State::Closed);
}

#[test]
fn a_segment_for_nobody_is_reset() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    pair.client.connection.close(now);
    pair.run(205.0);
    pair.server()
        .connection
        .close(now + Duration::from_millis(5));
    pair.run(100_000.0);
    assert_eq!(states(&mut pair), (State::Closed, State::Closed));
    let stray = Segment {
        flags: rexmit_wire::Flags::ACK,
        ..Segment::default()
    };
    let now = pair.now;
    pair.client.connection.on_segment(now, &stray);
    let reset = pair.client.connection.poll_transmit(now).expect("a reset");
    assert!(reset.segment.flags.rst());
}

#[test]
fn an_abort_resets_whatever_waits() {
    let mut pair = open("linux-6.1");
    let now = pair.now;
    let server = &mut pair.server().connection;
    assert_eq!(server.write(now, 20_000, false), 20_000);
    server.abort(now);
    pair.run(230.0);
    assert_eq!(states(&mut pair), (State::Closed, State::Closed));
    assert!(pair.client.saw(Event::Reset));
    // Others answer acknowledgements that were under way; they have no number to acknowledge.
    let own = |segment: &Segment| segment.flags.rst() && segment.flags.ack();
    assert_eq!(pair.times(true, own).len(), 1);
    // Nothing is there to be reset any more.
    let now = pair.now;
    pair.server().connection.abort(now);
    pair.run(300.0);
    assert_eq!(pair.times(true, own).len(), 1);
}

/// An acknowledgement that leaves before data has their number, not the one behind them.
#[test]
fn acknowledgements_are_numbered_in_the_order_of_leaving() {
    for stack in ["rfc", "windows-xp", "linux-2.4", "linux-6.12"] {
        for close_ms in 60..180 {
            let mut pair = Pair::new(stack, 200_000, 20.0);
            pair.client.closes = false;
            pair.run(f64::from(close_ms));
            let now = pair.now;
            pair.client.connection.close(now);
            pair.run(f64::from(close_ms) + 15.0);
            let mut next = None;
            for Logged { sent, .. } in pair.sent(true) {
                let segment = &sent.segment;
                let known = next.is_none_or(|next| !segment.seq.is_after(next));
                assert!(
                    known,
                    "{stack}: {segment:?} at {close_ms} ms, next is {next:?}"
                );
                let end = segment.end();
                next = next.filter(|next| end.is_before(*next)).or(Some(end));
            }
        }
    }
}
