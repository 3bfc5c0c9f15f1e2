//! What is measured beside retransmissions: handshakes, resets, windows, round trips.

use rexmit_time::Duration;
use rexmit_trace::event::Direction;
use rexmit_trace::measures::{ConnectionState, Handshake, Reset};
use rexmit_trace::rows::Connection;
use rexmit_wire::{Flags, Headers, SeqNum};

use crate::script::{with_sack, Script, FIN_ACK, RST, SYN_ACK};

const RST_ACK: Flags = Flags(Flags::RST.0 | Flags::ACK.0);

fn only(script: &Script) -> Connection {
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 1, "{rows:#?}");
    *rows.connections[0].row.clone()
}

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// As a reset is told: by whom, in which state, after which packet, after how many milliseconds.
fn told(reset: Option<Reset>) -> Option<(Direction, ConnectionState, &'static str, i64)> {
    reset.map(|reset| {
        let silence = reset.silence.as_nanos() / 1_000_000;
        (reset.by, reset.state, reset.after.as_str(), silence)
    })
}

#[test]
fn syns_without_an_answer_are_unanswered() {
    let mut script = Script::new(40_000);
    let syn = script.packet(true, Flags::SYN, 0);
    script.put(syn).wait(1_000).put(syn).wait(2_000).put(syn);
    let row = only(&script);
    assert_eq!(row.handshake, Handshake::Unanswered);
    assert_eq!(
        (row.forward.measures.syns, row.backward.measures.syns),
        (3, 0)
    );
    // What the client acknowledges was answered, though not by here.
    script
        .send(true, Flags::SYN, 0)
        .wait(40)
        .send(true, Flags::ACK, 0);
    assert_eq!(only(&script).handshake, Handshake::Unseen);
}

#[test]
fn a_syn_answered_by_a_reset_is_refused() {
    let mut script = Script::new(40_000);
    script.send(true, Flags::SYN, 0).wait(30);
    let reset = Headers {
        seq: SeqNum::new(0),
        ..script.packet(false, RST_ACK, 0)
    };
    script.put(reset);
    let row = only(&script);
    assert_eq!(row.handshake, Handshake::Refused);
    let expected = (
        Direction::Backward,
        ConnectionState::SynSent,
        "client SYN",
        30,
    );
    assert_eq!(told(row.reset), Some(expected));
    assert_eq!(
        (row.forward.measures.resets, row.backward.measures.resets),
        (0, 1)
    );
}

#[test]
fn a_reset_says_in_which_state_and_after_what_it_came() {
    use Direction::{Backward, Forward};
    let reset = |script: &Script, from_client| {
        let mut script = script.clone();
        script.wait(7).send(from_client, RST, 0);
        let row = only(&script);
        (row.handshake, told(row.reset).unwrap())
    };
    let mut script = Script::new(40_000);
    script
        .send(true, Flags::SYN, 0)
        .wait(30)
        .send(false, SYN_ACK, 0);
    let (handshake, got) = reset(&script, true);
    assert_eq!(handshake, Handshake::HalfOpen);
    assert_eq!(
        got,
        (Forward, ConnectionState::SynReceived, "server SYN-ACK", 7)
    );
    script.wait(10).send(true, Flags::ACK, 0);
    let (handshake, got) = reset(&script, false);
    assert_eq!(handshake, Handshake::Complete);
    assert_eq!(
        got,
        (Backward, ConnectionState::Established, "client ACK", 7)
    );
    script.send(true, Flags::ACK, 100);
    let (_, got) = reset(&script, false);
    assert_eq!(
        got,
        (Backward, ConnectionState::Established, "client data", 7)
    );
    script.wait(30).send(false, FIN_ACK, 0);
    let (_, got) = reset(&script, true);
    assert_eq!(got, (Forward, ConnectionState::HalfClosed, "server FIN", 7));
    script.wait(10).send(true, FIN_ACK, 0);
    let (_, got) = reset(&script, false);
    assert_eq!(got, (Backward, ConnectionState::Closed, "client FIN", 7));
    // A number of nobody's is counted, and says nothing.
    let stray = Headers {
        seq: script.server + (1 << 20),
        ..script.packet(false, RST, 0)
    };
    script.wait(1).put(stray);
    let row = only(&script);
    assert_eq!((row.reset, row.backward.measures.resets), (None, 1));
}

/// The client closes its window for half a second, and once more; the server probes.
fn closed_window(trouble: bool) -> Connection {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let shut = |script: &Script| Headers {
        window: 0,
        ..script.packet(true, Flags::ACK, 0)
    };
    for wait in [500, 40] {
        script.send(false, Flags::ACK, 1_000).wait(10);
        let closes = shut(&script);
        script.put(closes).wait(200);
        let probe = Headers {
            seq: script.server - 1,
            ..script.packet(false, Flags::ACK, 0)
        };
        if wait > 200 {
            script.put(probe).wait(1).put(closes).wait(wait - 201);
        } else {
            script.wait(wait - 200);
        }
        script.send(true, Flags::ACK, 0).wait(30);
    }
    if trouble {
        let sacked = with_sack(script.packet(true, Flags::ACK, 0), script.server, 100);
        script.send(false, Flags::ACK, 100).put(sacked);
    }
    only(&script)
}

#[test]
fn a_closed_window_is_the_receivers() {
    for trouble in [false, true] {
        let row = closed_window(trouble);
        let (client, server) = (&row.forward.measures, &row.backward.measures);
        assert_eq!((client.zero_windows, client.zero_window), (2, ms(540)));
        assert_eq!((server.zero_windows, server.zero_window), (0, ms(0)));
        assert_eq!(
            (client.window_probes, server.window_probes),
            (0, 1),
            "{trouble}"
        );
        assert_eq!(row.backward.probes, 1);
    }
}

#[test]
fn a_window_that_stays_closed_is_so_to_the_end() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let closes = Headers {
        window: 0,
        ..script.packet(true, Flags::ACK, 0)
    };
    script.put(closes).wait(300).put(closes);
    let row = only(&script);
    assert_eq!(row.forward.measures.zero_window, ms(300));
    // Who has sent a FIN has nothing more to send, and a reset's window is none.
    let mut script = Script::new(40_000);
    script
        .handshake()
        .exchange()
        .send(false, FIN_ACK, 0)
        .wait(10);
    let closes = Headers {
        window: 0,
        ..script.packet(true, Flags::ACK, 0)
    };
    let reset = Headers {
        window: 0,
        ..script.packet(true, RST, 0)
    };
    script.put(closes).wait(300).put(reset);
    assert_eq!(only(&script).forward.measures.zero_windows, 0);
}

/// The client offers three segments, and the server sends three a round trip, `rounds` times.
fn full_window(rounds: u32, begun: bool, trouble: bool) -> Connection {
    let mut script = Script::new(40_000);
    if begun {
        script.handshake();
    }
    let ack = |script: &Script| Headers {
        window: (3 * 1_400 / 128) + 1,
        ..script.packet(true, Flags::ACK, 0)
    };
    let first = ack(&script);
    script.put(first).wait(30);
    for _ in 0..rounds {
        (0..3).for_each(|_| {
            script.send(false, Flags::ACK, 1_400);
        });
        let acks = ack(&script.wait(10).clone());
        script.put(acks).wait(30);
    }
    if trouble {
        let sacked = with_sack(ack(&script), script.server, 100);
        script.send(false, Flags::ACK, 100).put(sacked);
    }
    only(&script)
}

#[test]
fn a_full_window_holds_its_sender_up() {
    for trouble in [false, true] {
        // From the last of three segments to the ACK's arrival at the server, whenever data follow.
        let row = full_window(5, true, trouble);
        let rounds = if trouble { 5 } else { 4 };
        let (client, server) = (&row.forward.measures, &row.backward.measures);
        assert_eq!(server.window_full, Some(ms(40 * rounds)), "{trouble}");
        assert!(client.window_full.is_none_or(|full| full == ms(0)));
        // Without a handshake nobody knows how far the window is shifted.
        let row = full_window(5, false, trouble);
        assert_eq!(row.backward.measures.window_full, None);
    }
}

#[test]
fn round_trips_have_a_median_and_a_95th_percentile() {
    for trouble in [false, true] {
        let mut script = Script::new(40_000);
        script.handshake();
        for round in 0..40 {
            let slow = if round % 10 == 9 { 400 } else { 0 };
            script.send(false, Flags::ACK, 1_000).wait(10 + slow);
            script.send(true, Flags::ACK, 0).wait(30);
        }
        if trouble {
            let sacked = with_sack(script.packet(true, Flags::ACK, 0), script.server, 100);
            script.send(false, Flags::ACK, 100).put(sacked);
        }
        let row = only(&script);
        let [median, p95] = row.backward.measures.rtt.unwrap();
        let near = |got: Duration, wanted: i64| {
            let off = (got - ms(wanted)).as_nanos().abs();
            assert!(
                off <= ms(wanted).as_nanos() / 50,
                "{got} for {wanted} ms, {trouble}"
            );
        };
        near(median, 40);
        near(p95, 440);
        assert_eq!(
            row.forward.measures.rtt.is_some(),
            row.forward.rtt.is_some()
        );
        let between = 39 * 40 + 3 * 400 + if trouble { 440 } else { 0 };
        assert_eq!(row.backward.measures.data, Some(ms(between)));
        assert_eq!(row.forward.measures.data, None);
    }
}

#[test]
fn bytes_sent_again_are_those_of_the_rows() {
    let mut script = Script::new(40_000);
    script.handshake().exchange();
    let lost = script.packet(false, Flags::ACK, 1_000);
    script
        .send(false, Flags::ACK, 1_000)
        .send(false, Flags::ACK, 500);
    let sacked = with_sack(script.packet(true, Flags::ACK, 0), lost.seq + 1_000, 500);
    let sacked = Headers {
        ack: lost.seq,
        ..sacked
    };
    script.wait(10).put(sacked).wait(300).put(lost).wait(10);
    script.send(true, Flags::ACK, 0).wait(30);
    let fin = script.packet(false, FIN_ACK, 0);
    script.send(false, FIN_ACK, 0).wait(600).put(fin).wait(10);
    script.send(true, FIN_ACK, 0);
    let rows = script.rows();
    let lengths = rows
        .retransmissions
        .iter()
        .map(|of| u64::from(of.row.length));
    assert_eq!(
        (rows.retransmissions.len(), lengths.sum::<u64>()),
        (2, 1_000)
    );
    assert_eq!(
        rows.connections[0]
            .row
            .backward
            .measures
            .bytes_retransmitted,
        1_000
    );
}
