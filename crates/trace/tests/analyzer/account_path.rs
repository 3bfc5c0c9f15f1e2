//! Whose the time was, where queues and clocks tell: what was on its way, and which way.

use std::collections::VecDeque;

use rexmit_trace::account::Owner;
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{Flags, Headers, SeqNum};

use crate::account::{most, only, open, told};
use crate::script::Script;

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
    // The third answer takes 340 ms: the server was late by them, or the path, back or both ways alike.
    for (leaves, owner) in [
        (0, Owner::RoundTrip),
        (150, Owner::RoundTrip),
        (300, Owner::Server),
    ] {
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
        for round in 0..20_u32 {
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

#[test]
fn data_that_come_in_time_show_beside_their_receiver_that_acknowledgements_queue() {
    // Beside the client: the server answers acknowledgements 60 ms late, with data that left in time or late.
    for (late, back) in [(0, true), (60, false)] {
        let (mut script, ..) = open(false);
        let mut clock = 1_000;
        for _ in 0..2 {
            stamped(&mut script, true, 100, (clock, 0));
            script.wait(500);
            stamped(&mut script, false, 500, (clock + 500, clock));
            clock += 500;
        }
        stamped(&mut script, true, 100, (clock, 0));
        let mut echoes = VecDeque::from([clock; 3]);
        for round in 0..40_u32 {
            script.wait(40);
            clock += 40;
            let echo = if round < 2 { clock - 40 } else { echoes[0] };
            for _ in 0..6 {
                let queue = if round < 2 { 0 } else { late };
                stamped(&mut script, false, 1_400, (clock - queue, echo));
                stamped(&mut script, true, 0, (clock, clock - queue));
            }
            echoes.pop_front();
            echoes.push_back(clock);
        }
        let shares = only(&script).backward.account;
        let full = shares.iter().find(|share| share.owner == Owner::PathRate);
        let full = full.expect("a queue");
        assert_eq!(full.other * 2 > full.length, back, "{shares:?}");
    }
}
