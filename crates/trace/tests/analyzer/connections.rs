//! What belongs to one connection, and what is known of it.

use rexmit_testing::flow;
use rexmit_time::Duration;
use rexmit_trace::rows::{Connection, Position};
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{Flags, Headers, SeqNum};

use crate::script::{analyse, with_sack, Script, RST, SYN_ACK};

fn only(script: &Script) -> Connection {
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 1, "{rows:#?}");
    *rows.connections[0].row.clone()
}

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_whole_connection_is_told_by_its_handshake() {
    let mut script = Script::new(40_000);
    script.handshake().exchange().exchange().close();
    let row = only(&script);
    assert_eq!(row.flow, flow(40_000));
    assert_eq!(row.end.since(row.start), ms(160));
    assert_eq!(row.handshake_rtt, Some((ms(40), ms(30))));
    assert!(!row.mid_stream && !row.one_sided && !row.evicted);
    assert_eq!(row.closed, "fin");
    let (client, server) = (&row.forward, &row.backward);
    assert_eq!((client.packets, client.bytes, client.segments), (7, 200, 2));
    assert_eq!(
        (server.packets, server.bytes, server.segments),
        (7, 3_000, 4)
    );
    assert_eq!((client.mss, client.window_scale), (Some(1_460), Some(7)));
    assert_eq!((server.mss, server.window_scale), (Some(1_400), Some(2)));
    assert!(client.sack_permitted && !client.timestamps && !client.mptcp);
    // The whole round trip, though the monitor sees a part of it for each sender.
    assert_eq!(client.monitor_delay, Some(ms(10)));
    assert_eq!(server.monitor_delay, Some(ms(30)));
    assert_eq!(client.position, Some(Position::Midway));
    let near = |got: Option<(Duration, Duration, Duration, u32)>, count| {
        let (least, average, most, samples) = got.unwrap();
        for length in [least, average, most] {
            assert!((length - ms(40)).as_nanos().abs() < 100, "{length}");
        }
        assert_eq!(samples, count);
    };
    near(client.rtt, 3);
    near(server.rtt, 3);
    assert_eq!(client.retransmissions, [[0; 3]; 10]);
}

#[test]
fn a_monitor_next_to_a_side_is_told() {
    let mut script = Script::new(40_000);
    script
        .send(true, Flags::SYN, 0)
        .wait(1)
        .send(false, SYN_ACK, 0)
        .wait(99)
        .send(true, Flags::ACK, 0);
    let row = only(&script);
    assert_eq!(row.forward.position, Some(Position::Receiver));
    assert_eq!(row.backward.position, Some(Position::Sender));
    assert_eq!(row.closed, "open");
}

#[test]
fn a_start_in_the_middle_makes_the_lower_port_the_server() {
    let mut script = Script::new(40_000);
    script.send(false, Flags::ACK, 1_000).wait(5).exchange();
    let row = only(&script);
    assert_eq!(row.flow, flow(40_000));
    assert!(row.mid_stream);
    assert_eq!((row.forward.bytes, row.backward.bytes), (100, 2_500));
    assert_eq!(row.handshake_rtt, None);
    assert_eq!(row.forward.mss, None);
}

#[test]
fn one_direction_alone_is_a_connection() {
    let mut script = Script::new(40_000);
    script.handshake().exchange().exchange();
    for from_client in [true, false] {
        let mut half = script.clone();
        let port = if from_client { 40_000 } else { 80 };
        half.packets
            .retain(|(_, headers)| headers.flow.src_port == port);
        let row = only(&half);
        assert!(row.one_sided && !row.mid_stream);
        assert_eq!(row.flow, flow(40_000));
        assert_eq!(half.rows().retransmissions, []);
    }
}

#[test]
fn a_port_used_again_is_a_new_connection() {
    for close in [true, false] {
        let mut script = Script::new(40_000);
        script.handshake().exchange();
        if close {
            script.close();
        }
        script.wait(50);
        // Without a close, only a number far from the old ones begins something new.
        script.client = SeqNum::new(if close { 1_000 } else { 1 << 28 });
        script.server = SeqNum::new(77);
        script.handshake().exchange();
        let rows = script.rows();
        assert_eq!(rows.connections.len(), 2, "closed: {close}");
        assert_eq!(
            rows.connections[0].row.closed,
            if close { "fin" } else { "open" }
        );
        assert!(rows.connections.iter().all(|of| !of.row.mid_stream));
        assert_eq!(rows.connections[1].row.backward.bytes, 1_500);
        assert_eq!(rows.retransmissions, []);
        assert_ne!(
            rows.connections[0].connection,
            rows.connections[1].connection
        );
    }
}

#[test]
fn a_syn_sent_again_is_a_retransmission_of_the_same_connection() {
    let mut script = Script::new(40_000);
    let syn = script.packet(true, Flags::SYN, 0);
    script.put(syn).wait(1_000);
    script.handshake().exchange().close();
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 1);
    assert_eq!(
        rows.connections[0].row.handshake_rtt, None,
        "which one was answered?"
    );
    assert_eq!(rows.retransmissions.len(), 1);
    assert_eq!(rows.retransmissions[0].row.range, syn.range());
    // One that is never answered is told all the same.
    script.packets.truncate(2);
    assert_eq!(script.rows().retransmissions.len(), 1);
}

#[test]
fn a_syn_in_the_window_ends_nothing() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let mut syn = script.packet(true, Flags::SYN, 0);
    syn.seq += 500;
    script.put(syn).wait(1).exchange();
    let row = only(&script);
    assert_eq!(row.backward.bytes, 3_000);
    assert_eq!(script.rows().retransmissions, []);
}

#[test]
fn only_a_reset_that_fits_closes() {
    for (offset, closed) in [(0, "rst"), (1 << 24, "open")] {
        let mut script = Script::new(40_000);
        script.handshake().exchange();
        let mut reset = script.packet(false, RST, 0);
        reset.seq += offset;
        script.put(reset);
        assert_eq!(only(&script).closed, closed);
    }
    // A closed port's answer to a SYN has the number 0.
    let mut script = Script::new(40_000);
    script.send(true, Flags::SYN, 0).wait(1);
    let mut reset = script.packet(false, Flags(RST.0 | Flags::ACK.0), 0);
    reset.seq = SeqNum::new(0);
    script.put(reset);
    assert_eq!(only(&script).closed, "rst");
}

#[test]
fn a_reset_alone_is_no_connection() {
    let mut script = Script::new(40_000);
    script.send(true, RST, 0);
    assert!(script.rows().is_empty());
}

#[test]
fn packets_that_fit_nothing_are_left_out_until_there_are_many() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let mut far = script.packet(true, Flags::ACK, 100);
    far.seq += 1 << 31;
    for _ in 0..8 {
        script.put(far);
    }
    script.exchange();
    let row = only(&script);
    assert_eq!(row.forward.bytes, 200);
    // Packets that fit came between: only so many in a row tell that the connection has moved.
    for _ in 0..8 {
        script.put(far);
    }
    assert_eq!(script.rows().connections.len(), 1);
    script.put(far);
    assert_eq!(script.rows().connections.len(), 2);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_moves_nothing() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let mut ack = script.packet(true, Flags::ACK, 0);
    ack.ack += 1 << 28;
    script.put(ack).wait(1).exchange().close();
    assert_eq!(script.rows().retransmissions, []);
    let row = only(&script);
    assert_eq!(row.backward.unique_bytes, 3_000);
}

#[test]
fn a_lost_packet_sent_again_is_one_retransmission_of_its_direction() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    // The second of ten is lost beyond the monitor; its hole is reported three times and filled.
    let lost = {
        script.send(false, Flags::ACK, 1_000);
        let lost = script.packet(false, Flags::ACK, 1_000);
        for _ in 0..9 {
            script.send(false, Flags::ACK, 1_000);
        }
        lost
    };
    script.wait(10);
    let received = lost.seq;
    for n in 1..=8 {
        let mut ack = script.packet(true, Flags::ACK, 0);
        ack.ack = received;
        script
            .put(with_sack(ack, received + 1_000, n * 1_000))
            .wait(1);
    }
    script.wait(22).put(lost).wait(10).send(true, Flags::ACK, 0);
    script.close();
    let rows = script.rows();
    assert_eq!(rows.retransmissions.len(), 1, "{rows:#?}");
    let retransmission = &rows.retransmissions[0];
    assert_eq!(retransmission.row.range, lost.range());
    assert_eq!(retransmission.flow, flow(40_000));
    assert_eq!(retransmission.connection, rows.connections[0].connection);
    let server = &rows.connections[0].row.backward;
    assert_eq!((server.bytes, server.unique_bytes), (12_500, 11_500));
    assert_eq!(server.retransmissions.iter().flatten().sum::<u32>(), 1);
    assert_eq!(
        rows.connections[0].row.forward.retransmissions,
        [[0; 3]; 10]
    );
}

#[test]
fn packets_captured_before_and_behind_a_router_are_no_retransmissions() {
    for most_events in [3, 512] {
        let mut script = Script::new(40_000);
        script.handshake();
        for _ in 0..30 {
            script.exchange();
        }
        script.close();
        let mut twice = Vec::new();
        for (id, (at, headers)) in (1..).zip(&script.packets) {
            let mut headers = *headers;
            headers.ip_id = Some(id);
            twice.push((*at, headers));
            if headers.flow.src_port == 80 {
                headers.ttl -= 1;
                twice.push((*at + ms(8), headers));
            }
        }
        twice.sort_by_key(|(at, _)| *at);
        let settings = Settings {
            most_events,
            ..Settings::default()
        };
        let rows = analyse(&twice, settings).1;
        assert_eq!(rows.retransmissions, [], "{most_events}");
        let row = &rows.connections[0].row;
        assert_eq!(row.forward.capture_duplicates, 0);
        assert_eq!(row.backward.capture_duplicates, 63);
        assert_eq!((row.backward.packets, row.backward.bytes), (63, 45_000));
        assert_eq!(row.backward.unique_bytes, 45_000);
        for (_, headers) in &mut twice {
            headers.ip_id = None;
        }
        let rows = analyse(&twice, Settings::default()).1;
        assert_eq!(rows.retransmissions, []);
        assert_eq!(rows.connections[0].row.backward.capture_duplicates, 63);
    }
}

#[test]
fn what_was_lost_before_the_monitor_shows_by_the_senders_count() {
    for counts in [true, false] {
        let mut script = Script::new(40_000);
        script.handshake().exchange().exchange();
        // The last of a response did not come by; a timeout later, it does.
        script.send(false, Flags::ACK, 1_000);
        let last = script.packet(false, Flags::ACK, 700);
        script.wait(10).send(true, Flags::ACK, 0);
        script.wait(400).put(last);
        script.server += 700;
        script.wait(10).send(true, Flags::ACK, 0).close();
        let mut id = 100;
        for (_, headers) in &mut script.packets {
            if headers.flow.src_port == 80 {
                let missed = headers.seq == last.seq && headers.payload_len == 700;
                id += if missed && counts { 2 } else { 1 };
                headers.ip_id = Some(id);
            }
            if let (Some(syn), true) = (&mut headers.syn, headers.flags.ack()) {
                // As Linux answers: a maximum segment size, SACK and a scale, no number yet.
                [(2, 4), (1, 1), (1, 1), (4, 2), (1, 1), (3, 3)]
                    .into_iter()
                    .for_each(|(kind, length)| syn.layout.push(kind, length));
                headers.ip_id = Some(0);
            }
        }
        let retransmissions = script.rows().retransmissions;
        let ranges: Vec<_> = retransmissions.iter().map(|of| of.row.range).collect();
        assert_eq!(ranges, if counts { vec![last.range()] } else { vec![] });
    }
}

/// The first SYN was not answered; the next offers neither timestamps nor a scale, as macOS does.
#[test]
fn what_is_agreed_on_is_in_the_syn_that_was_answered() {
    let signature = |script: &Script| only(script).forward.syn_signature;
    let syn = |script: &Script, value, layout: &[(u8, u8)]| {
        let mut syn = script.packet(true, Flags::SYN, 0);
        syn.timestamps = value;
        if let Some(options) = &mut syn.syn {
            options.timestamps = value.is_some();
            options.window_scale = options.window_scale.filter(|_| value.is_some());
            layout
                .iter()
                .for_each(|&(kind, length)| options.layout.push(kind, length));
        }
        syn
    };
    let stamps = |value, echo| Some(Timestamps { value, echo });
    let full = [(2, 4), (3, 3), (8, 10), (4, 2)];
    let run = |echo: Option<u32>| {
        let mut script = Script::new(40_000);
        let first = syn(&script, stamps(77, 0), &full);
        let next = syn(&script, None, &full[..1]);
        script.put(first).wait(1_000).put(next);
        script.client += 1;
        script.wait(30);
        let mut answer = script.packet(false, SYN_ACK, 0);
        answer.timestamps = echo.and_then(|echo| stamps(5, echo));
        if let Some(options) = &mut answer.syn {
            options.timestamps = echo.is_some();
            options.window_scale = options.window_scale.filter(|_| echo.is_some());
        }
        script.put(answer);
        script.server += 1;
        script.wait(10).send(true, Flags::ACK, 0);
        script
    };
    // The answer echoes the first one's stamp, though it comes after the next.
    let row = only(&run(Some(77)));
    assert!(row.forward.timestamps && row.forward.window_scale == Some(7));
    let row = only(&run(None));
    assert!(!row.forward.timestamps && row.forward.window_scale.is_none());
    // What tells the system is the first one in either case.
    assert_eq!(signature(&run(None)), signature(&run(Some(77))));
    assert!(signature(&run(None)).unwrap().ends_with("mss,ws,ts,sok"));
}

/// A capture of both directions of a port holds the SYN and the SYN-ACK twice.
#[test]
fn a_syn_that_the_capture_holds_twice_is_sent_once() {
    for (micros, id, retransmissions) in [
        (1, Some(9), 0),
        (400, Some(0), 0),
        (400, None, 0),
        (600, Some(0), 0),
        (9_000, None, 0),
        (11_000, Some(0), 2),
    ] {
        let mut script = Script::new(40_000);
        let mut twice = |from_client, flags: Flags, wait: i64| {
            let packet = Headers {
                ip_id: id,
                ..script.packet(from_client, flags, 0)
            };
            script.send(from_client, flags, 0);
            script.packets.last_mut().unwrap().1 = packet;
            script.now += Duration::from_micros(micros);
            script.put(packet).wait(wait);
        };
        twice(true, Flags::SYN, 30);
        twice(false, SYN_ACK, 10);
        script.send(true, Flags::ACK, 0).exchange();
        let rows = script.rows();
        assert_eq!(
            rows.retransmissions.len(),
            retransmissions,
            "{micros} {id:?}"
        );
        let row = &rows.connections[0].row;
        let doubled = u32::from(retransmissions == 0);
        assert_eq!(row.forward.capture_duplicates, doubled);
        assert_eq!(row.backward.capture_duplicates, doubled);
        assert_eq!(row.handshake_rtt.is_some(), retransmissions == 0);
    }
}

/// A SYN-ACK that a timer sent again, and that came by together with the first after a delay, has a stamp of its own.
#[test]
fn a_syn_ack_with_another_stamp_is_no_double() {
    for (stamp, retransmissions) in [(5, 0), (1_005, 1)] {
        let mut script = Script::new(40_000);
        script.send(true, Flags::SYN, 0).wait(1_030);
        let mut answer = script.packet(false, SYN_ACK, 0);
        answer.ip_id = Some(0);
        for value in [5, stamp] {
            answer.timestamps = Some(Timestamps { value, echo: 1 });
            script.put(answer);
            script.now += Duration::from_micros(10);
        }
        script.server += 1;
        script.wait(10).send(true, Flags::ACK, 0).exchange();
        assert_eq!(script.rows().retransmissions.len(), retransmissions);
    }
}

/// Two SYNs that a delay held up come together, and so do the answers to them, which are alike to the bit. So do those to
/// the copies of a SYN that the network doubled: that one was sent once.
#[test]
fn a_syn_ack_that_answers_a_second_syn_is_no_double() {
    let drafts = [(None, 0), (Some(8), 2), (Some(7), 1)];
    // The clock may not have gone on in between.
    let twice = drafts.map(|draft| [(1, draft), (0, draft)]);
    for (waits, (second, retransmissions)) in twice.into_iter().flatten() {
        let mut script = Script::new(40_000);
        let answer = Headers {
            ip_id: Some(0),
            ..script.packet(false, SYN_ACK, 0)
        };
        let answer = Headers {
            ack: script.client + 1,
            ..answer
        };
        for id in [Some(7), second] {
            if let Some(id) = id {
                let syn = Headers {
                    ip_id: Some(id),
                    ..script.packet(true, Flags::SYN, 0)
                };
                script.put(syn);
                script.now += Duration::from_micros(10 * waits);
            }
            script.put(answer);
            script.now += Duration::from_micros(40 * waits);
        }
        script.client += 1;
        script.server += 1;
        script.wait(10).send(true, Flags::ACK, 0).exchange();
        let found = script.rows().retransmissions.len();
        assert_eq!(found, retransmissions, "{second:?}");
    }
}

/// A host that gets no answer drops options from its later SYNs: a Mac's then look like another system's.
#[test]
fn the_first_of_several_syns_names_the_system() {
    let mac = [2, 1, 3, 1, 1, 8, 4, 0];
    let mut script = Script::new(40_000);
    for options in [&mac[..], &[2, 4, 0]] {
        let mut syn = script.packet(true, Flags::SYN, 0);
        syn.window = 65_535;
        let offer = syn.syn.as_mut().unwrap();
        options.iter().for_each(|kind| offer.layout.push(*kind, 2));
        if !options.contains(&3) {
            (offer.window_scale, offer.timestamps) = (None, false);
        }
        let now = script.now;
        script.packets.push((now, syn));
        script.wait(1_000);
    }
    let row = only(&script);
    assert_eq!(row.forward.syn_system, Some("mac-os-x"));
    let signature = row.forward.syn_signature.unwrap();
    assert!(
        signature.ends_with("mss,nop,ws,nop,nop,ts,sok,eol"),
        "{signature}"
    );
}

#[test]
fn segments_that_left_as_one_packet_are_counted_as_the_wire_has_them() {
    let mut script = Script::new(40_000);
    script.handshake();
    script.send(false, Flags::ACK, 14_000).wait(10);
    script.send(false, Flags::ACK, 1_400).wait(10);
    let row = only(&script);
    assert_eq!((row.backward.segments, row.backward.wire_segments), (2, 11));
    assert_eq!((row.forward.segments, row.forward.wire_segments), (0, 0));
}

/// A capture that records each packet four times, of a host that numbers its packets and of one that does not.
#[test]
fn copies_that_the_capture_made_are_neither_packets_nor_acknowledgements() {
    let mut script = Script::new(1);
    script.handshake();
    let mut id = 0;
    for round in 0..6 {
        for from_client in [true, false] {
            for len in [100, 0] {
                if len == 0 && from_client {
                    continue;
                }
                id += 1;
                let packet = Headers {
                    ip_id: Some(if from_client { 0 } else { id }),
                    ..script.packet(from_client, Flags::ACK, len)
                };
                script.send(from_client, Flags::ACK, len);
                let (at, _) = *script.packets.last().unwrap();
                let last = script.packets.len() - 1;
                script.packets[last].1 = packet;
                script.packets.extend([(at, packet); 3]);
            }
        }
        script.wait(10 + round);
    }
    let rows = script.rows();
    let row = &rows.connections[0].row;
    assert_eq!((row.forward.segments, row.backward.segments), (6, 6));
    assert_eq!((row.forward.bytes, row.forward.unique_bytes), (600, 600));
    assert_eq!(row.backward.packets, 1 + 12);
    assert_eq!(
        (
            row.forward.capture_duplicates,
            row.backward.capture_duplicates
        ),
        (18, 36)
    );
    assert!(rows.retransmissions.is_empty());
}
