//! Listeners that defer accepting until data come.

use rexmit_tcp::connection::{DeferAccept, Event, Socket, State};

use crate::pair::{Fate, Pair};

/// A client that speaks after `think_ms`, if at all, and a server that defers for so many timeouts.
fn deferred(stack: &str, timeouts: u32, repeats: bool, think_ms: f64) -> Pair {
    let mut pair = Pair::new(stack, 0, 100.0);
    pair.request = 0;
    pair.defer_accept = Some(DeferAccept { timeouts, repeats });
    pair.client.closes = false;
    pair.run(think_ms);
    let now = pair.now;
    assert_eq!(pair.client.connection.write(now, 100, false), 100);
    pair.run(think_ms + 400.0);
    pair
}

/// When the server's SYN-ACKs left, in tenths of a second.
fn syn_acks(pair: &Pair) -> Vec<i64> {
    let times = pair.times(true, |segment| segment.flags.syn());
    times.iter().map(|time| (time / 100.0) as i64).collect()
}

#[test]
fn data_end_the_handshake_that_an_acknowledgement_did_not() {
    let mut pair = deferred("linux-6.12", 3, false, 2_500.0);
    assert_eq!(pair.client.connection.state(), State::Established);
    assert_eq!(pair.server().connection.state(), State::Established);
    assert_eq!(pair.server().read, 100);
    // Since 2.6.32 the first timeouts repeat nothing.
    assert_eq!(syn_acks(&pair), [0]);
    // All that while the server was silent: the wait counts as the round-trip time of the SYN-ACK.
    let srtt = pair.server().connection.sender().unwrap().srtt().unwrap();
    assert!(srtt.as_nanos() > 2_400_000_000, "{srtt:?}");
}

#[test]
fn the_last_timeout_repeats_the_syn_ack_and_its_answer_is_taken() {
    let mut pair = deferred("linux-6.12", 2, false, 6_000.0);
    // Timeouts after 1 s and 2 s more: the second is the last.
    assert_eq!(syn_acks(&pair), [0, 30]);
    let server = pair.server();
    assert!(server.events.contains(&Event::Established));
    assert_eq!(server.read, 100);
}

#[test]
fn early_linux_repeats_at_every_timeout_and_waits_for_data() {
    let mut pair = deferred("linux-2.4", 2, true, 10_000.0);
    assert_eq!(syn_acks(&pair), [0, 30, 90]);
    assert_eq!(pair.server().read, 100);
}

#[test]
fn early_linux_forgets_a_client_that_stays_silent() {
    let mut pair = deferred("linux-2.4", 2, true, 400_000.0);
    assert_eq!(pair.server().events, [Event::TimedOut, Event::Closed]);
    // What it says then is answered by a reset.
    assert!(pair.client.saw(Event::Reset));
    assert_eq!(syn_acks(&pair).len(), 6);
}

#[test]
fn a_handshake_that_nobody_answers_is_given_up_as_ever() {
    let mut lost = Pair::new("linux-6.12", 0, 100.0).with_path(|logged| match logged.down {
        true => Fate::Lose,
        false => Fate::Pass,
    });
    lost.defer_accept = Some(DeferAccept {
        timeouts: 4,
        repeats: false,
    });
    lost.run(3_000.0);
    // Nothing was acknowledged: every timeout repeats the SYN-ACK.
    assert!(syn_acks(&lost).len() >= 3, "{:?}", syn_acks(&lost));
}
