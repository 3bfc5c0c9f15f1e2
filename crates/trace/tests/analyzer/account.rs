//! Whose the time of a connection was.

use std::collections::VecDeque;

use rexmit_time::Duration;
use rexmit_trace::account::{Owner, Share};
use rexmit_trace::rows::Connection;
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{Flags, Headers, SeqNum};

use crate::script::{analyse, with_sack, Script, FIN_ACK, SYN_ACK};

pub fn only(script: &Script) -> Connection {
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 1, "{rows:#?}");
    let row = *rows.connections[0].row.clone();
    let few = Settings {
        most_events: 4,
        ..Settings::default()
    };
    let without_log = &analyse(&script.packets, few).1.connections[0].row;
    assert_eq!(without_log.forward.account, row.forward.account);
    assert_eq!(without_log.backward.account, row.backward.account);
    row
}

/// Milliseconds of each owner.
pub fn told(shares: &[Share]) -> Vec<(Owner, i64)> {
    let ms = |share: &Share| share.length.as_nanos() / 1_000_000;
    shares
        .iter()
        .map(|share| (share.owner, ms(share)))
        .collect()
}

/// A connection that stays open, seen beside the client or, `at_server`, beside the server: a round trip is 40 ms.
pub fn open(at_server: bool) -> (Script, i64, i64) {
    let mut script = Script::new(40_000);
    let (to_server, to_client) = if at_server { (0, 40) } else { (40, 0) };
    script
        .send(true, Flags::SYN, 0)
        .wait(to_server)
        .send(false, SYN_ACK, 0)
        .wait(to_client)
        .send(true, Flags::ACK, 0);
    (script, to_server, to_client)
}

#[test]
fn a_server_thinks_wherever_the_monitor_stands() {
    for at_server in [false, true] {
        let (mut script, to_server, to_client) = open(at_server);
        script.send(true, Flags::ACK, 100).wait(to_server);
        // The request is acknowledged before it is answered.
        script.wait(20).send(false, Flags::ACK, 0);
        script.wait(2_480).send(false, Flags::ACK, 500);
        script.wait(to_client).send(true, Flags::ACK, 0);
        let row = only(&script);
        // What lies on the other side of the monitor is seen at the request, or at the response.
        let expected = [
            (Owner::Connecting, 40),
            (Owner::Server, 2_500),
            (Owner::RoundTrip, 40),
        ];
        assert_eq!(told(&row.backward.account), expected, "{at_server}");
        assert_eq!(told(&row.forward.account), expected, "{at_server}");
        let server = row.backward.account[1];
        assert_eq!((server.stretches, server.slow), (1, 1));
        assert_eq!(server.slow_least, Some(Duration::from_millis(2_500)));
    }
}

#[test]
fn a_client_is_silent_before_its_request_and_between_two() {
    let (mut script, to_server, to_client) = open(false);
    script.wait(700);
    for _ in 0..2 {
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 500).wait(to_client);
        script.send(true, Flags::ACK, 0).wait(3_000);
    }
    script.close();
    let row = only(&script);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::Client, 700),
        (Owner::BetweenRequests, 3_000),
        (Owner::RoundTrip, 80),
        (Owner::Closing, 3_040),
    ];
    assert_eq!(told(&row.backward.account), expected);
}

#[test]
fn a_way_that_takes_long_is_nobodys_silence() {
    let (mut script, _, _) = open(false);
    script.send(true, Flags::ACK, 100);
    // The acknowledgement takes longer than any receiver delays it.
    script.wait(1_100).send(false, Flags::ACK, 0);
    script.wait(10).send(false, Flags::ACK, 500);
    let row = only(&script);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::Server, 10),
        (Owner::RoundTrip, 1_100),
    ];
    assert_eq!(told(&row.backward.account), expected);
}

#[test]
fn small_segments_wait_for_delayed_acknowledgements() {
    let (mut script, _, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(40);
    script.send(false, Flags::ACK, 50);
    for _ in 0..10 {
        // Two writes, of which the second waits for the acknowledgement of the first.
        script.send(true, Flags::ACK, 100).wait(80);
        script.send(false, Flags::ACK, 0);
        script.send(true, Flags::ACK, 20).wait(40);
        script.send(false, Flags::ACK, 50);
    }
    let row = only(&script);
    let nagle = row
        .forward
        .account
        .iter()
        .find(|share| share.owner == Owner::Nagle);
    assert_eq!(
        nagle.map(|share| share.length),
        Some(Duration::from_millis(800))
    );
}

#[test]
fn a_window_that_is_full_holds_up_a_sender() {
    for at_server in [false, true] {
        let (mut script, to_server, to_client) = open(at_server);
        script.send(true, Flags::ACK, 100).wait(to_server);
        for _ in 0..20 {
            // Two segments fill the window of the client, which it opens again a round trip later.
            script.send(false, Flags::ACK, 1_400);
            script.send(false, Flags::ACK, 1_400).wait(to_client);
            let small = |packet: Headers| Headers {
                window: 22,
                ..packet
            };
            let ack = small(script.packet(true, Flags::ACK, 0));
            script.put(ack).wait(to_server);
        }
        let row = only(&script);
        let largest = row.backward.account.iter().max_by_key(|share| share.length);
        let largest = largest.map(|share| share.owner);
        assert_eq!(
            largest,
            Some(Owner::ReceiverWindow),
            "{at_server}: {:?}",
            row.backward.account
        );
    }
}

#[test]
fn a_window_that_is_closed_is_full_whatever_its_scale() {
    // Without the SYNs nobody knows the scale of the windows.
    let mut script = Script::new(40_000);
    script.send(true, Flags::ACK, 100).wait(40);
    script.send(false, Flags::ACK, 1_400);
    script.send(true, Flags::ACK, 0).wait(40);
    for _ in 0..3 {
        script.send(false, Flags::ACK, 700);
        let closed = Headers {
            window: 0,
            ..script.packet(true, Flags::ACK, 0)
        };
        script.put(closed).wait(900);
        script.send(true, Flags::ACK, 0).wait(40);
    }
    script.send(false, Flags::ACK, 700);
    let row = only(&script);
    let told = told(&row.backward.account);
    assert!(told.contains(&(Owner::ReceiverWindow, 2_820)), "{told:?}");
}

#[test]
fn whoever_probes_a_window_has_not_heard_that_it_is_open() {
    let (mut script, _, to_client) = open(false);
    script.send(true, Flags::ACK, 100).wait(40);
    script.send(false, Flags::ACK, 1_000).wait(to_client);
    let window = |script: &mut Script, window: u16| {
        let packet = script.packet(true, Flags::ACK, 0);
        script.put(Headers { window, ..packet });
    };
    window(&mut script, 0);
    script.wait(500);
    // The update is lost behind the monitor.
    window(&mut script, 50_000);
    for _ in 0..2 {
        script.wait(5_000);
        let probe = script.packet(false, Flags::ACK, 0);
        script.put(Headers {
            seq: probe.seq + u32::MAX,
            ..probe
        });
        window(&mut script, 50_000);
    }
    script.wait(40).send(false, Flags::ACK, 1_000);
    let owners = told(&only(&script).backward.account);
    let full = owners
        .iter()
        .find(|(owner, _)| *owner == Owner::ReceiverWindow);
    assert!(full.is_some_and(|(_, ms)| *ms > 10_000), "{owners:?}");
}

#[test]
fn a_program_that_sends_a_little_now_and_then_is_late() {
    let (mut script, to_server, to_client) = open(true);
    script.send(true, Flags::ACK, 100).wait(to_server);
    for _ in 0..5 {
        script.send(false, Flags::ACK, 1_400).wait(to_client);
        script.send(true, Flags::ACK, 0).wait(500);
    }
    let row = only(&script);
    let server = row
        .backward
        .account
        .iter()
        .find(|share| share.owner == Owner::Server);
    // Four waits between five packets.
    assert_eq!(
        server.map(|share| share.length),
        Some(Duration::from_millis(4 * 540))
    );
}

#[test]
fn a_pair_of_writes_that_nobody_delays_takes_round_trips() {
    let (mut script, to_server, _) = open(false);
    for _ in 0..10 {
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 0);
        script.send(true, Flags::ACK, 20).wait(to_server);
        script.send(false, Flags::ACK, 50);
    }
    let row = only(&script);
    let told = told(&row.forward.account);
    assert!(told.iter().all(|share| share.0 != Owner::Nagle), "{told:?}");
}

/// A client's request and answer, then a packet of this size, sent again and again in vain.
fn in_vain(size: u32) -> Connection {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 500);
    let large = script.packet(true, Flags::ACK, size);
    script.send(true, Flags::ACK, size);
    script.send(true, Flags::ACK, 100).wait(to_server);
    if size > 100 {
        // What is small arrives, and is answered.
        let mut answer = script.packet(false, Flags::ACK, 0);
        answer.ack = large.seq;
        script.put(with_sack(answer, large.seq + size, 100));
    }
    for wait in [300, 600, 1_200, 2_400] {
        script.wait(wait).put(large);
    }
    only(&script)
}

#[test]
fn a_peer_is_gone_or_the_path_takes_no_such_packet() {
    for (size, owner) in [(1_400, Owner::PathMtu), (100, Owner::PeerGone)] {
        let row = in_vain(size);
        for side in [&row.forward, &row.backward] {
            let share = side.account.iter().find(|share| share.owner == owner);
            let length = share.map_or(Duration::ZERO, |share| share.length);
            assert!(length >= Duration::from_millis(4_500), "{:?}", side.account);
        }
    }
}

#[test]
fn full_packets_of_which_none_ever_arrives_are_too_large_for_the_path() {
    // Nothing comes from the client any more; in the second case packets that are not full are lost as well.
    for (last, owner) in [(1_400, Owner::PathMtu), (300, Owner::PeerGone)] {
        let (mut script, to_server, _) = open(true);
        script.send(true, Flags::ACK, 100).wait(to_server);
        let first = script.packet(false, Flags::ACK, 1_400);
        script.send(false, Flags::ACK, 1_400);
        script.send(false, Flags::ACK, last);
        for wait in [300, 600, 1_200, 2_400] {
            script.wait(wait).put(first);
        }
        let row = only(&script);
        let of = |share: &&Share| share.owner == owner;
        let share = row.backward.account.iter().find(of);
        let length = share.map_or(Duration::ZERO, |share| share.length);
        assert!(
            length >= Duration::from_millis(4_460),
            "{:?}",
            row.backward.account
        );
    }
}

/// A packet with time stamps.
fn stamped(script: &mut Script, from_client: bool, len: u32, (value, echo): (u32, u32)) {
    let packet = script.packet(from_client, Flags::ACK, len);
    let side = if from_client {
        &mut script.client
    } else {
        &mut script.server
    };
    *side += len;
    script.put(Headers {
        timestamps: Some(Timestamps { value, echo }),
        ..packet
    });
}

#[test]
fn what_left_long_before_it_came_by_was_on_its_way() {
    // The third answer takes 340 ms: the server was late by them, or the path.
    for (leaves, owner) in [(0, Owner::RoundTrip), (300, Owner::Server)] {
        let (mut script, to_server, _) = open(false);
        let mut clock = 1_000;
        for round in 0..4 {
            stamped(&mut script, true, 100, (clock, 500));
            let late = if round == 2 { 300 } else { 0 };
            script.wait(to_server + late);
            let left = if round == 2 { leaves } else { 0 };
            stamped(&mut script, false, 500, (clock + left, clock));
            clock += 40 + late as u32;
        }
        let owners = told(&only(&script).backward.account);
        let late = owners.iter().find(|(whose, _)| *whose == owner).unwrap();
        assert!(late.1 >= 295, "{owners:?}");
    }
}

#[test]
fn a_sender_has_heard_what_its_stamps_cannot_show() {
    let (mut script, _, to_client) = open(true);
    // As TLS 1.3 begins: the tickets leave before the request has come, which the server acknowledges late. So it echoes no
    // stamp of what the client sends meanwhile.
    stamped(&mut script, true, 80, (1_000, 500));
    let before_tickets = script.server;
    stamped(&mut script, false, 250, (600, 1_000));
    stamped(&mut script, true, 100, (1_000, 500));
    script.packets.last_mut().unwrap().1.ack = before_tickets;
    script.wait(to_client - 2);
    stamped(&mut script, true, 0, (1_040, 600));
    script.wait(2);
    stamped(&mut script, false, 0, (640, 1_000));
    script.wait(1_000);
    stamped(&mut script, false, 900, (1_640, 1_000));
    let row = only(&script);
    let server = (Owner::Server, 1_040);
    let told = told(&row.backward.account);
    assert!(told.contains(&server), "{told:?}");
}

#[test]
fn one_direction_tells_no_more_than_when_the_client_was_answered() {
    let mut script = Script::new(40_000);
    script.send(true, Flags::SYN, 0).wait(40);
    script.send(true, Flags::ACK, 0).wait(300);
    script.send(true, Flags::ACK, 1_000).wait(160);
    script.send(true, Flags::ACK, 1_000);
    assert_eq!(
        told(&only(&script).forward.account),
        [(Owner::Connecting, 40), (Owner::Unknown, 460)]
    );
    // What the server acknowledges is of a client of which nothing came by.
    let mut script = Script::new(40_000);
    script.send(false, SYN_ACK, 0).wait(300);
    script.send(false, Flags::ACK, 0);
    assert_eq!(
        told(&only(&script).forward.account),
        [(Owner::Unknown, 300)]
    );
}

#[test]
fn what_a_sender_paces_is_of_what_lets_it_send() {
    // Beside the sender: a window of ten segments is filled, two of them at a time, every 5 ms of a round trip of 40 ms.
    for full in [true, false] {
        let (mut script, _, to_client) = open(true);
        script.send(true, Flags::ACK, 100);
        for _ in 0..20 {
            for _ in 0..5 {
                script.send(false, Flags::ACK, 1_460);
                script.send(false, Flags::ACK, 1_460).wait(5);
            }
            let window = if full { 115 } else { 1_000 };
            let ack = Headers {
                window,
                ..script.packet(true, Flags::ACK, 0)
            };
            script.wait(to_client).put(ack);
        }
        let row = only(&script);
        let most = row.backward.account.iter().max_by_key(|share| share.length);
        let sender = row
            .backward
            .account
            .iter()
            .find(|share| share.owner == Owner::Sender);
        let first = Duration::from_millis(20);
        let paced = sender.map_or(Duration::ZERO, |share| share.length);
        assert_eq!(
            most.map(|share| share.owner) == Some(Owner::ReceiverWindow) && paced <= first,
            full,
            "{:?}",
            row.backward.account
        );
    }
}

#[test]
fn what_a_client_says_without_an_answer_is_no_wait() {
    for (len, owner) in [(90, Owner::Messages), (1_460, Owner::Client)] {
        let (mut script, to_server, _) = open(false);
        for _ in 0..5 {
            script.send(true, Flags::ACK, len).wait(to_server);
            script.send(false, Flags::ACK, 0).wait(960);
        }
        script.send(true, Flags::ACK, len);
        let told = told(&only(&script).forward.account);
        assert!(told.contains(&(owner, 5_000)), "{told:?}");
    }
}

#[test]
fn a_reset_in_place_of_an_answer_is_none_however_fast_it_comes() {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 500).wait(60_000);
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100).wait(to_server);
    let reset = Headers {
        seq: request.ack,
        ..script.packet(false, Flags::RST, 0)
    };
    script.put(reset);
    let account = only(&script).backward.account;
    assert!(
        account.iter().any(|share| share.owner == Owner::Unanswered),
        "{account:?}"
    );
}

#[test]
fn a_peer_is_gone_since_it_was_spoken_to() {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 500).wait(60_000);
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100);
    for wait in [300, 600, 1_200] {
        script.wait(wait).put(request);
    }
    let told = told(&only(&script).backward.account);
    assert!(told.contains(&(Owner::PeerGone, 2_100)), "{told:?}");
    assert!(told.contains(&(Owner::BetweenRequests, 60_000)), "{told:?}");
}

#[test]
fn a_peer_that_does_not_answer_a_fin_is_gone_since_that() {
    let (mut script, to_server, to_client) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server + 5_000);
    script.send(false, Flags::ACK, 500).wait(to_client);
    let fin = script.packet(true, FIN_ACK, 0);
    script.put(fin);
    for wait in [200, 400] {
        script.wait(wait).put(fin);
    }
    let told = told(&only(&script).backward.account);
    assert!(told.contains(&(Owner::PeerGone, 600)), "{told:?}");
    assert!(told.contains(&(Owner::Server, 5_000)), "{told:?}");
}

#[test]
fn a_server_that_answers_the_syn_again_has_not_taken_the_connection() {
    let (mut script, to_server, _) = open(false);
    let answer = script.packets[1].1;
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100);
    for wait in [200, 400] {
        script.wait(wait).put(request);
    }
    script.wait(400).put(answer);
    script.send(true, Flags::ACK, 0);
    script.put(request).wait(to_server);
    script.send(false, Flags::ACK, 500);
    let told = told(&only(&script).backward.account);
    assert!(told.contains(&(Owner::Connecting, 1_040)), "{told:?}");
}

#[test]
fn what_the_path_doubles_repairs_nothing() {
    for (again, repairs) in [(1, false), (100, true)] {
        let (mut script, to_server, _) = open(false);
        script.send(true, Flags::ACK, 100).wait(to_server);
        for number in 0..20 {
            let packet = Headers {
                ip_id: Some(1 + number),
                ..script.packet(false, Flags::ACK, 1_460)
            };
            script.send(false, Flags::ACK, 1_460);
            script.packets.last_mut().unwrap().1 = packet;
            script.wait(3).put(Headers {
                ip_id: Some(number + again),
                ..packet
            });
            script.send(true, Flags::ACK, 0).wait(to_server);
        }
        let account = only(&script).backward.account;
        let repair = |share: &Share| share.owner == Owner::RecoveryFast;
        assert_eq!(account.iter().any(repair), repairs, "{account:?}");
    }
}

#[test]
fn spurious_repairs_are_no_policers() {
    // Every 800 ms the path holds up all there is for 300 ms: the sender sends the last packet of its answer again, in vain.
    let (mut script, to_server, to_client) = open(true);
    for _ in 0..8 {
        script.send(true, Flags::ACK, 100).wait(to_server);
        for _ in 0..9 {
            script.send(false, Flags::ACK, 1_460);
        }
        let last = script.packet(false, Flags::ACK, 1_460);
        script.send(false, Flags::ACK, 1_460).wait(260);
        script.put(last).wait(40);
        script.send(true, Flags::ACK, 0).wait(to_client);
        let again = with_sack(script.packet(true, Flags::ACK, 0), last.seq, 1_460);
        script.put(again).wait(500);
    }
    let told = told(&only(&script).backward.account);
    assert!(
        told.iter().all(|share| share.0 != Owner::Policer),
        "{told:?}"
    );
}

#[test]
fn windows_that_are_filled_whatever_their_size_tell_their_scale() {
    for slow in [true, false] {
        let mut script = Script::new(40_000);
        script.send(true, Flags::ACK, 100).wait(40);
        script.send(false, Flags::ACK, 100);
        for n in 0..20_u16 {
            // A window is scaled by 7. Either it is filled, or it grows and the sender sends no more than before.
            let window = if slow { 40 + n % 7 * 3 } else { 40 + n * 9 };
            let ack = Headers {
                window,
                ..script.packet(true, Flags::ACK, 0)
            };
            script.put(ack).wait(40);
            let room = if slow {
                u32::from(window) * 128
            } else {
                40 * 128
            };
            for _ in 0..room / 1_400 {
                script.send(false, Flags::ACK, 1_400);
            }
            script.wait(500);
        }
        let row = only(&script);
        let told = told(&row.backward.account);
        let full = told.iter().find(|share| share.0 == Owner::ReceiverWindow);
        assert_eq!(full.is_some_and(|share| share.1 > 7_000), slow, "{told:?}");
        assert_eq!(full.is_some(), slow, "{told:?}");
    }
}

#[test]
fn what_was_lost_before_it_came_by_may_have_been_sent_at_any_time() {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 1_400);
    script.send(true, Flags::ACK, 0).wait(500);
    script.server += 2_800;
    script.send(false, Flags::ACK, 1_400);
    let told = told(&only(&script).backward.account);
    assert!(told.contains(&(Owner::Unknown, 500)), "{told:?}");
}

#[test]
fn a_sender_that_sends_smaller_packets_at_last_has_found_a_path_that_takes_no_larger_ones() {
    // Of the same size other packets arrive, or none does; or the same packet arrives at last.
    for (before, last, owner) in [
        (500, 536, Owner::PathMtu),
        (1_400, 536, Owner::RecoveryTimer),
        (500, 1_400, Owner::RecoveryTimer),
    ] {
        let (mut script, to_server, to_client) = open(true);
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, before).wait(to_client);
        script.send(true, Flags::ACK, 0);
        let large = script.packet(false, Flags::ACK, 1_400);
        script.send(false, Flags::ACK, 1_400);
        script.send(false, Flags::ACK, 300).wait(to_client);
        let hole = Headers {
            ack: large.seq,
            ..script.packet(true, Flags::ACK, 0)
        };
        script.put(with_sack(hole, large.seq + 1_400, 300));
        for wait in [3_000, 6_000] {
            script.wait(wait).put(large);
        }
        let last = Headers {
            payload_len: last,
            ..large
        };
        script.wait(12_000).put(last).wait(to_client);
        script.send(true, Flags::ACK, 0);
        let account = only(&script).backward.account;
        let share = account.iter().find(|share| share.owner == owner);
        let length = share.map_or(Duration::ZERO, |share| share.length);
        assert!(length >= Duration::from_millis(20_900), "{account:?}");
    }
}

/// Beside the client: a response to a request of 100 bytes, which was lost `times` times.
fn lost_request(times: u32) -> Connection {
    let (mut script, to_server, _) = open(false);
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100);
    for wait in (0..times).map(|n| 1_000 << n) {
        script.wait(wait).put(request);
    }
    script.wait(to_server).send(false, Flags::ACK, 0);
    script.wait(10).send(false, Flags::ACK, 500);
    only(&script)
}

#[test]
fn a_repair_is_one_until_it_has_arrived() {
    let row = lost_request(1);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::Server, 10),
        (Owner::RecoveryTimer, 1_040),
    ];
    assert_eq!(told(&row.backward.account), expected);
    assert_eq!(told(&row.forward.account), expected);
    let timer = row.backward.account[2];
    assert_eq!(timer.other, timer.length, "the server waited for it");
}

#[test]
fn what_arrives_after_the_last_byte_was_sent_is_on_its_way() {
    let (mut script, to_server, _) = open(false);
    for _ in 0..6 {
        script.send(true, Flags::ACK, 1_400);
    }
    // A link takes 50 ms for each of them, and the server answers when it has the last.
    let mut ack = script.packet(false, Flags::ACK, 0);
    ack.ack = ack.ack - 6 * 1_400;
    script.wait(to_server - 40);
    for _ in 0..5 {
        ack.ack += 1_400;
        script.wait(50).put(ack);
    }
    script.wait(30).send(false, Flags::ACK, 500);
    let row = only(&script);
    let expected = [
        (Owner::Connecting, 40),
        (Owner::Server, 30),
        (Owner::PathRate, 250),
    ];
    assert_eq!(told(&row.backward.account), expected);
}

#[test]
fn new_data_that_a_probe_sends_waited_for_the_congestion_window() {
    for (full, owner) in [(true, Owner::SlowStart), (false, Owner::Sender)] {
        let (mut script, to_server, _) = open(false);
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 50);
        let size = if full { 1_460 } else { 700 };
        for _ in 0..4 {
            script.send(true, Flags::ACK, size);
        }
        // Twice the round trip, and nothing came back.
        script.wait(90).send(true, Flags::ACK, size).wait(to_server);
        script.send(false, Flags::ACK, 0);
        script
            .send(true, Flags::ACK, 1_460)
            .send(true, Flags::ACK, 1_460);
        let row = only(&script);
        let waited = row
            .forward
            .account
            .iter()
            .find(|share| share.owner == owner);
        let least = Duration::from_millis(90);
        assert!(
            waited.is_some_and(|share| share.longest >= least),
            "{:?}",
            row.forward.account
        );
    }
}

#[test]
fn a_window_that_grows_by_a_segment_a_round_trip_is_the_congestion_window() {
    for (grows, owner) in [(true, Owner::SlowStart), (false, Owner::Sender)] {
        let (mut script, to_server, _) = open(false);
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 50);
        for trip in 0..40 {
            for _ in 0..20 + if grows { trip } else { 0 } {
                script.send(true, Flags::ACK, 1_460);
            }
            script.wait(to_server).send(false, Flags::ACK, 0);
        }
        let row = only(&script);
        let most = row.forward.account.iter().max_by_key(|share| share.length);
        assert_eq!(
            most.map(|share| share.owner),
            Some(owner),
            "{:?}",
            row.forward.account
        );
    }
}

/// What has most of the server's direction.
fn most(script: &Script) -> Owner {
    let row = only(script);
    let most = row.backward.account.iter().max_by_key(|one| one.length);
    most.expect("shares").owner
}

#[test]
fn what_queues_in_the_host_of_its_sender_is_the_senders() {
    // Beside the sender, a segment more in each round trip of 40 ms: stamped when they left the host, or 30 ms before.
    for (queue, owner) in [(30, Owner::Sender), (0, Owner::SlowStart)] {
        let (mut script, ..) = open(true);
        stamped(&mut script, true, 100, (1_000, 0));
        let mut sent = VecDeque::new();
        let mut due = 0;
        for ms in 0..800u32 {
            let now = 1_000 + ms;
            while sent.front().is_some_and(|(at, _)| at + 40 <= ms) {
                let (_, end): (u32, SeqNum) = sent.pop_front().expect("one");
                let ack = Headers {
                    ack: end,
                    timestamps: Some(Timestamps {
                        value: now,
                        echo: now - 40,
                    }),
                    ..script.packet(true, Flags::ACK, 0)
                };
                script.put(ack);
            }
            while due <= ms * 1_000 {
                stamped(&mut script, false, 1_460, (now, now - queue));
                sent.push_back((ms, script.server));
                due += 40_000 / (10 + ms / 40);
            }
            script.wait(1);
        }
        assert_eq!(most(&script), owner);
    }
}

#[test]
fn stamps_tell_how_far_a_sender_is_whose_handshake_did_not_come_by() {
    // Beside the sender, ten segments a round trip, which takes 40 ms and then 100.
    for stamps in [true, false] {
        let mut script = Script::new(40_000);
        let mut now = 1_000;
        for round in 0..20 {
            for _ in 0..10 {
                if stamps {
                    stamped(&mut script, false, 1_460, (now, now));
                } else {
                    script.send(false, Flags::ACK, 1_460);
                }
            }
            let trip = if round < 2 { 40 } else { 100 };
            now += trip;
            script.wait(trip.into());
            if stamps {
                let newest = script.server;
                script.server = newest - 1_460;
                stamped(&mut script, true, 0, (now, now - trip));
                script.server = newest;
                stamped(&mut script, true, 0, (now, now - trip));
            } else {
                script.send(true, Flags::ACK, 0);
            }
        }
        let owner = if stamps {
            Owner::PathRate
        } else {
            Owner::Unknown
        };
        assert_eq!(most(&script), owner);
    }
}

#[test]
fn a_peer_that_answers_no_keep_alive_is_gone_since_the_first() {
    for answered in [true, false] {
        let (mut script, to_server, to_client) = open(false);
        script.send(true, Flags::ACK, 100).wait(to_server);
        script.send(false, Flags::ACK, 500).wait(to_client);
        script.send(true, Flags::ACK, 0).wait(20_000);
        let next = script.packet(true, Flags::ACK, 0);
        for _ in 0..3 {
            let keep_alive = Headers {
                seq: next.seq - 1,
                ..next
            };
            script.put(keep_alive).wait(40);
            if answered {
                script.send(false, Flags::ACK, 0);
            }
            script.wait(960);
        }
        script.send(true, Flags::RST, 0);
        let told = told(&only(&script).backward.account);
        let gone = |(owner, ms): &(_, _)| *owner == Owner::PeerGone && *ms == 3_000;
        assert_eq!(told.iter().any(gone), !answered, "{told:?}");
    }
}

/// Round trips of so many segments of the server.
fn rounds(script: &mut Script, flights: &[u32], trip: i64) {
    for &flight in flights {
        for _ in 0..flight {
            script.send(false, Flags::ACK, 1_400);
        }
        script.wait(trip).send(true, Flags::ACK, 0);
    }
}

#[test]
fn a_sender_that_was_idle_begins_slowly_again() {
    for (idle, owner) in [(2_000, Owner::SlowStart), (10, Owner::Sender)] {
        let (mut script, ..) = open(true);
        script.send(true, Flags::ACK, 100);
        rounds(&mut script, &[4, 8, 16, 32, 32, 32, 32, 32, 32, 32], 40);
        script.wait(idle).send(true, Flags::ACK, 100);
        rounds(&mut script, &[4, 4, 8, 16, 32], 40);
        let shares = only(&script).backward.account;
        let slow = shares.iter().find(|share| share.owner == owner);
        // The first takes 120 ms, and what does not grow from then on is its sender's.
        let least = if owner == Owner::Sender { 350 } else { 240 };
        assert!(
            slow.is_some_and(|share| share.length.as_nanos() >= least * 1_000_000),
            "{idle}: {shares:?}"
        );
    }
}

#[test]
fn an_acknowledgement_of_several_segments_comes_when_they_have_arrived() {
    // Of one segment it may be held back while the client thinks, of three it is not.
    for (segments, owner) in [(3, Owner::RoundTrip), (1, Owner::BetweenRequests)] {
        let (mut script, ..) = open(true);
        for trip in [40, 40, 140, 140, 140] {
            script.send(true, Flags::ACK, 100);
            for _ in 0..segments {
                script.send(false, Flags::ACK, 1_400);
            }
            script.wait(trip);
        }
        script.send(true, Flags::ACK, 100);
        let shares = told(&only(&script).backward.account);
        let longer = shares.iter().find(|(whose, _)| *whose == owner);
        assert!(
            longer.is_some_and(|(_, ms)| *ms >= 300),
            "{segments}: {shares:?}"
        );
    }
}

#[test]
fn an_acknowledgement_of_all_that_was_sent_shows_no_queue() {
    // Held back for 60 ms, or one by one as a link passes them.
    for (held, owner) in [(true, Owner::SlowStart), (false, Owner::PathRate)] {
        let (mut script, ..) = open(true);
        script.send(true, Flags::ACK, 100);
        for flight in [4u32, 8, 16, 32] {
            let acked = script.server;
            for _ in 0..flight {
                script.send(false, Flags::ACK, 1_400);
            }
            script.wait(100);
            for number in 1..flight {
                let ack = Headers {
                    ack: acked + 1_400 * number,
                    ..script.packet(true, Flags::ACK, 0)
                };
                if !held {
                    script.put(ack);
                }
            }
            script.send(true, Flags::ACK, 0);
        }
        assert_eq!(most(&script), owner, "held: {held}");
    }
}

#[test]
fn a_clock_is_believed_after_a_request_was_sent_again() {
    let (mut script, to_server, _) = open(false);
    let mut clock = 1_000;
    for round in 0..8 {
        let request = script.client;
        stamped(&mut script, true, 100, (clock, clock));
        let late = if round > 3 { 100 } else { 0 };
        script.wait(to_server + late);
        if round == 4 {
            let (packet, seq) = (script.packet(true, Flags::ACK, 100), request);
            script.put(Headers { seq, ..packet }).wait(10);
        }
        stamped(&mut script, false, 500, (clock + 20, clock));
        clock += 40 + late as u32 + if round == 4 { 10 } else { 0 };
    }
    let shares = told(&only(&script).backward.account);
    // No more than the clock's ticks.
    let server = shares.iter().find(|(whose, _)| *whose == Owner::Server);
    assert!(server.is_none_or(|(_, ms)| *ms < 8), "{shares:?}");
}

#[test]
fn a_reset_long_after_a_request_answers_none_of_its_copies() {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 500).wait(60_000);
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100);
    for wait in [300, 600, 1_200] {
        script.wait(wait).put(request);
    }
    let reset = script.packet(false, Flags::RST, 0);
    script.wait(to_server).put(reset);
    let told = told(&only(&script).backward.account);
    let gone = told.iter().find(|(whose, _)| *whose == Owner::PeerGone);
    assert!(gone.is_some_and(|(_, ms)| *ms >= 2_100), "{told:?}");
    assert!(
        told.iter().any(|(whose, _)| *whose == Owner::Unanswered),
        "{told:?}"
    );
}

#[test]
fn a_queue_is_of_the_way_on_which_packets_wait() {
    // Beside the server: acknowledgements arrive 60 ms late, and left in time or late.
    for (late, back) in [(60, true), (0, false)] {
        let (mut script, ..) = open(true);
        let mut clock = 1_000;
        for _ in 0..2 {
            stamped(&mut script, true, 100, (clock, 0));
            stamped(&mut script, false, 500, (clock, clock));
            script.wait(500);
            clock += 500;
        }
        stamped(&mut script, true, 100, (clock, 0));
        for round in 0..80_u32 {
            let begun = script.server;
            for _ in 0..10 {
                stamped(&mut script, false, 1_400, (clock, clock));
            }
            let queue = if round < 2 { 0 } else { 60 };
            script.wait(40 + i64::from(queue));
            clock += 40 + queue;
            for number in 1..=10 {
                let ack = Headers {
                    ack: begun + 1_400 * number,
                    timestamps: Some(Timestamps {
                        value: clock - late.min(queue),
                        echo: clock - 40 - queue,
                    }),
                    ..script.packet(true, Flags::ACK, 0)
                };
                script.put(ack);
            }
        }
        let shares = only(&script).backward.account;
        let full = shares.iter().find(|share| share.owner == Owner::PathRate);
        let full = full.expect("a queue");
        assert_eq!(full.other * 2 > full.length, back, "{shares:?}");
    }
}
