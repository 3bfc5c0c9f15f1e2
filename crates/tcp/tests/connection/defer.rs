//! Listeners that defer accepting until data come.

use rexmit_sim::apps::Browser;
use rexmit_sim::App;
use rexmit_tcp::connection::{DeferAccept, Event, Socket, State};
use rexmit_testing::{Lab, Plan};

use crate::{broke, page};

/// A server that defers for so many timeouts.
fn plan(stack: &str, timeouts: u32, repeats: bool) -> Plan {
    let browser = || App::Browser(Browser::new(0));
    Plan {
        apps: [browser(), browser()],
        defer_accept: Some(DeferAccept { timeouts, repeats }),
        ..page(stack, 0, 100.0)
    }
}

/// What it makes of a client that speaks after `think_ms`.
fn deferred(stack: &str, timeouts: u32, repeats: bool, think_ms: f64) -> Lab {
    let mut lab: Lab = Lab::open(plan(stack, timeouts, repeats));
    lab.run(think_ms);
    let taken = lab.with(lab.client, |now, tcp| tcp.write(now, 100, false));
    assert_eq!(taken, 100);
    lab.run(think_ms + 400.0);
    lab
}

/// When the server's SYN-ACKs left, in tenths of a second.
fn syn_acks(lab: &Lab) -> Vec<i64> {
    let times = lab.times(lab.server, |segment| segment.flags.syn());
    times.iter().map(|time| (time / 100.0) as i64).collect()
}

fn server_read(lab: &Lab) -> u64 {
    match lab.world.app(lab.server) {
        App::Browser(browser) => browser.received,
        _ => panic!("no browser"),
    }
}

#[test]
fn data_end_the_handshake_that_an_acknowledgement_did_not() {
    let lab = deferred("linux-6.12", 3, false, 2_500.0);
    assert_eq!(
        crate::states(&lab),
        (State::Established, State::Established)
    );
    // Since 2.6.32 the first timeouts repeat nothing.
    assert_eq!((server_read(&lab), syn_acks(&lab)), (100, vec![0]));
    // All that while the server was silent: the wait counts as the round-trip time of the SYN-ACK.
    let srtt = lab.server().sender().unwrap().timing().srtt().unwrap();
    assert!(srtt.as_nanos() > 2_400_000_000, "{srtt:?}");
}

#[test]
fn timeouts_repeat_the_syn_ack_and_its_answer_is_taken() {
    for (stack, repeats, think_ms, times) in [
        // Timeouts after 1 s and 2 s more: the second is the last.
        ("linux-6.12", false, 6_000.0, vec![0, 30]),
        // Early Linux repeats at every timeout and waits for data.
        ("linux-2.4", true, 10_000.0, vec![0, 30, 90]),
    ] {
        let lab = deferred(stack, 2, repeats, think_ms);
        assert_eq!((server_read(&lab), syn_acks(&lab)), (100, times), "{stack}");
        assert_eq!(lab.server().state(), State::Established, "{stack}");
    }
}

#[test]
fn early_linux_forgets_a_client_that_stays_silent() {
    let lab = deferred("linux-2.4", 2, true, 400_000.0);
    assert_eq!(broke(lab.world.app(lab.server)), Some(Event::TimedOut));
    // What it says then is answered by a reset.
    assert_eq!(broke(lab.world.app(lab.client)), Some(Event::Reset));
    assert_eq!(syn_acks(&lab).len(), 6);
}

#[test]
fn a_handshake_that_nobody_answers_is_given_up_as_ever() {
    let lost = |packet: &rexmit_sim::Packet| !packet.from.is_client();
    let mut lab: Lab = Lab::open(plan("linux-6.12", 4, false)).losing(lost);
    lab.run(3_000.0);
    // Nothing was acknowledged: every timeout repeats the SYN-ACK.
    assert!(syn_acks(&lab).len() >= 3, "{:?}", syn_acks(&lab));
}
