//! Whose the time of a connection was.

use rexmit_time::Duration;
use rexmit_trace::account::{Owner, Share};
use rexmit_trace::rows::Connection;
use rexmit_trace::settings::Settings;
use rexmit_wire::{Flags, Headers};

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
fn what_is_left_of_a_small_window_is_filled_by_a_timer() {
    for at_server in [false, true] {
        let (mut script, to_server, to_client) = open(at_server);
        script.send(true, Flags::ACK, 100).wait(to_server);
        for _ in 0..5 {
            script.send(false, Flags::ACK, 1_400).wait(to_client);
            let small = |packet: Headers| Headers {
                window: 3,
                ..packet
            };
            let ack = small(script.packet(true, Flags::ACK, 0));
            // 384 bytes are less than a segment: a sender waits for more (RFC 9293 §3.8.6.2.1).
            script.put(ack).wait(to_server + 208);
            script.send(false, Flags::ACK, 384).wait(to_client);
            script.send(true, Flags::ACK, 0).wait(to_server);
        }
        let owners = told(&only(&script).backward.account);
        let full = owners
            .iter()
            .find(|(whose, _)| *whose == Owner::ReceiverWindow);
        assert!(
            full.is_some_and(|(_, ms)| *ms >= 5 * 200),
            "{at_server}: {owners:?}"
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

/// A request long after the one before, three times sent again, and nothing comes back.
fn unheard() -> Script {
    let (mut script, to_server, _) = open(false);
    script.send(true, Flags::ACK, 100).wait(to_server);
    script.send(false, Flags::ACK, 500).wait(60_000);
    let request = script.packet(true, Flags::ACK, 100);
    script.send(true, Flags::ACK, 100);
    for wait in [300, 600, 1_200] {
        script.wait(wait).put(request);
    }
    script
}

#[test]
fn a_peer_is_gone_since_it_was_spoken_to() {
    let script = unheard();
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
pub fn most(script: &Script) -> Owner {
    let row = only(script);
    let most = row.backward.account.iter().max_by_key(|one| one.length);
    most.expect("shares").owner
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
fn a_reset_long_after_a_request_answers_none_of_its_copies() {
    let mut script = unheard();
    let reset = script.packet(false, Flags::RST, 0);
    script.wait(40).put(reset);
    let told = told(&only(&script).backward.account);
    let gone = told.iter().find(|(whose, _)| *whose == Owner::PeerGone);
    assert!(gone.is_some_and(|(_, ms)| *ms >= 2_100), "{told:?}");
    assert!(
        told.iter().any(|(whose, _)| *whose == Owner::Unanswered),
        "{told:?}"
    );
}
