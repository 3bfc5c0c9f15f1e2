//! Whose turn it was: programs, the set-up of TLS, what asks nothing, and what was never answered.

use rexmit_trace::account::Owner;
use rexmit_wire::headers::Record;
use rexmit_wire::{Flags, Headers};

use crate::account::{only, open, told};
use crate::script::{Script, FIN_ACK};

/// Data of a side that begin with a record of TLS.
fn record(script: &mut Script, from_client: bool, record: Record, len: u32) {
    let packet = Headers {
        record,
        ..script.packet(from_client, Flags::ACK, len)
    };
    script.send(from_client, Flags::ACK, len);
    script.packets.last_mut().unwrap().1 = packet;
}

/// A session that is set up: the server takes `late` ms to answer, the client `then` ms to go on.
fn session(at_server: bool, late: i64, then: i64) -> (Script, i64, i64) {
    let (mut script, to_server, to_client) = open(at_server);
    record(&mut script, true, Record::SetUp, 500);
    script.wait(to_server + late);
    record(&mut script, false, Record::SetUp, 1_400);
    // The rest of it begins within a record, or looks like data.
    record(&mut script, false, Record::None, 1_400);
    record(&mut script, false, Record::Data, 300);
    // More than one segment is acknowledged at once.
    script.wait(to_client).send(true, Flags::ACK, 0).wait(then);
    record(&mut script, true, Record::SetUp, 80);
    (script, to_server, to_client)
}

#[test]
fn programs_that_set_up_tls_are_told_from_their_work() {
    for at_server in [false, true] {
        let (mut script, to_server, to_client) = session(at_server, 1_200, 300);
        // The first request comes at leisure, the ticket of TLS 1.3 before it.
        script.wait(to_server);
        record(&mut script, false, Record::Data, 250);
        script.wait(to_client + 700);
        record(&mut script, true, Record::Data, 200);
        script.wait(to_server + 2_000);
        record(&mut script, false, Record::Data, 900);
        script.wait(to_client + 5_000);
        record(&mut script, true, Record::Data, 200);
        script.wait(to_server);
        record(&mut script, false, Record::Data, 900);
        let row = only(&script);
        let expected = [
            (Owner::Connecting, 40),
            (Owner::Client, 700),
            (Owner::BetweenRequests, 5_000),
            (Owner::Server, 2_000),
            (Owner::TlsSetUp, 1_500),
            (Owner::RoundTrip, if at_server { 120 } else { 160 }),
        ];
        assert_eq!(told(&row.backward.account), expected, "{at_server}");
        assert_eq!(told(&row.forward.account), expected, "{at_server}");
    }
}

#[test]
fn a_hello_that_is_never_answered_is_a_set_up() {
    let (mut script, to_server, _) = open(false);
    record(&mut script, true, Record::SetUp, 500);
    script.wait(to_server).send(false, Flags::ACK, 0);
    script.wait(5_000).send(true, FIN_ACK, 0);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::TlsSetUp, 5_000),
        (Owner::RoundTrip, 40),
    ];
    assert_eq!(told(&only(&script).forward.account), expected);
}

#[test]
fn what_asks_nothing_is_nobodys_turn() {
    let (mut script, to_server, to_client) = session(false, 0, 0);
    record(&mut script, true, Record::Data, 200);
    script.wait(to_server);
    record(&mut script, false, Record::Data, 900);
    script.wait(to_client + 5);
    // The client opens a window and says no more; the server says goodbye a minute later.
    record(&mut script, true, Record::Control, 35);
    script.wait(to_server).send(false, Flags::ACK, 0);
    script.wait(60_000);
    record(&mut script, false, Record::Control, 24);
    script.send(false, FIN_ACK, 0);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::RoundTrip, 85),
        (Owner::Closing, 60_040),
    ];
    assert_eq!(told(&only(&script).backward.account), expected);
}

#[test]
fn the_last_request_may_go_unanswered() {
    for reset in [None, Some(FIN_ACK), Some(Flags::RST)] {
        for before in 0..3 {
            let (mut script, to_server, to_client) = open(false);
            for _ in 0..before {
                script.send(true, Flags::ACK, 100).wait(to_server);
                script.send(false, Flags::ACK, 500).wait(to_client);
            }
            script.send(true, Flags::ACK, 100).wait(to_server);
            script.send(false, Flags::ACK, 0).wait(4_000);
            script.send(true, reset.unwrap_or(Flags::ACK), 0);
            let told = told(&only(&script).forward.account);
            assert!(told.contains(&(Owner::Unanswered, 4_000)), "{told:?}");
        }
    }
}

#[test]
fn who_only_ever_sends_waits_for_no_answer() {
    let (mut script, to_server, _) = open(false);
    for _ in 0..3 {
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 0).wait(1_000);
    }
    script.wait(4_000).send(true, FIN_ACK, 0);
    let told = told(&only(&script).forward.account);
    assert!(told.contains(&(Owner::Closing, 5_000)), "{told:?}");
}

#[test]
fn an_answer_that_does_not_come_this_far_is_none() {
    for says_more in [false, true] {
        let (mut script, to_server, _) = session(false, 0, 0);
        script.packets.last_mut().unwrap().1.record = Record::Data;
        let before = script.client;
        record(&mut script, true, Record::Data, 200);
        script.wait(to_server);
        // The tickets of TLS 1.3.
        record(&mut script, false, Record::Data, 500);
        let more = if says_more {
            script.packet(false, Flags::ACK, 0).seq + 1_400
        } else {
            script.packets.last_mut().unwrap().1.ack = before;
            script.server
        };
        script.send(true, Flags::ACK, 0);
        script.wait(4_000).send(true, FIN_ACK, 0).wait(to_server);
        let answer = Headers {
            seq: more,
            ..script.packet(false, Flags::ACK, 0)
        };
        script.put(answer);
        let told = told(&only(&script).backward.account);
        let unanswered = told.iter().find(|share| share.0 == Owner::Unanswered);
        assert!(unanswered.is_some_and(|share| share.1 >= 3_900), "{told:?}");
    }
}
