//! The pattern rule: its text, and which packets it takes.

mod common;

use common::*;
use proptest::prelude::*;
use rexmit_loss::pattern::Pattern;
use rexmit_loss::{Bare, Decision};
use rexmit_tcp::Need;
use rexmit_time::Duration;

const MSS: usize = 1000;

/// A rule behind a server that has sent its SYN-ACK and will send `segments` full segments.
fn serving(pattern: &str, segments: usize) -> (Watched, Sender) {
    let sender = Sender::new(40_000, u32::MAX - 2_500, sized(segments * MSS, CLOSE));
    let mut watched = Watched::new(common::pattern(pattern));
    watched.send(&client_packet(40_000, 0x02, &[]));
    watched.send(&sender.syn_ack());
    (watched, sender)
}

/// The packets sent that are dropped, by their place among the cuts of the stream, for one script of places.
fn lost(pattern: &str, segments: usize, script: &[usize]) -> Vec<usize> {
    let (mut w, s) = serving(pattern, segments);
    let mut places = Vec::new();
    for (at, &place) in script.iter().enumerate() {
        let id = if place == segments + 1 {
            w.send(&s.fin())
        } else {
            w.send(&s.segment((place - 1) * MSS, place * MSS, false))
        };
        if w.fates[&id] == Some(Decision::Drop) {
            places.push(at);
        }
    }
    places
}

#[test]
fn positions_count_from_both_ends() {
    let all: Vec<usize> = (1..=10).collect();
    assert_eq!(lost("data 1", 10, &all), [0]);
    assert_eq!(lost("data 3 5..7", 10, &all), [2, 4, 5, 6]);
    assert_eq!(lost("data -1 -10", 10, &all), [0, 9]);
    assert_eq!(lost("data 8..-1", 10, &all), [7, 8, 9]);
    assert_eq!(lost("data -3..-2", 10, &all), [7, 8]);
    assert_eq!(lost("data -3..9", 10, &all), [7, 8]);
    assert!(lost("data 11 -11 -20..-11", 10, &all).is_empty());
    assert_eq!(lost("data -20..2", 10, &all), [0, 1]);
    assert!(lost("none", 10, &all).is_empty());
}

#[test]
fn transmissions_are_counted_for_each_position() {
    let script = [1, 2, 3, 2, 2, 3, 2];
    assert_eq!(lost("data 2", 3, &script), [1]);
    assert_eq!(lost("data 2#2", 3, &script), [3]);
    assert_eq!(lost("data 2#3 3#2", 3, &script), [4, 5]);
    assert_eq!(lost("data 1..3#2..3", 3, &script), [3, 4, 5]);
    assert_eq!(lost("data 2#4", 3, &script), [6]);
}

#[test]
fn a_bare_fin_has_its_own_name() {
    let script = [1, 2, 3, 4, 4];
    assert_eq!(lost("data fin", 3, &script), [3]);
    assert_eq!(lost("data fin#2 4", 3, &script), [4]);
}

#[test]
fn a_retransmission_that_joins_two_segments_counts_by_its_first_byte() {
    let (mut w, s) = serving("data 2#2 3#2", 3);
    w.segments(&s, &s.places(MSS));
    let joined = w.send(&s.segment(MSS, 3 * MSS, false));
    let second = w.send(&s.segment(2 * MSS, 3 * MSS, false));
    assert_eq!(w.dropped_ids(), [joined]);
    assert_eq!(w.fates[&second], Some(Decision::Accept), "its third time");
}

#[test]
fn a_transfer_ends_with_the_last_repair_though_a_retransmission_was_lost_after_all_had_left() {
    let (mut w, s) = serving("data 3#2", 3);
    w.segments(&s, &s.places(MSS));
    w.send(&s.fin());
    for _ in 0..2 {
        w.wait(Duration::from_millis(100));
        w.send(&s.segment(2 * MSS, 3 * MSS, false));
    }
    w.finish();
    let row = w.rows()[0];
    assert!(row.complete);
    assert_eq!(row.dropped_packets, 1);
    assert!(row.t_end.is_some(), "{row:?}");
    assert_eq!(row.t_end, row.t_retransmit);
}

#[test]
fn nothing_but_pure_acknowledgements_behind_the_request_counts() {
    let (mut w, s) = serving("ack 1 3..4", 4);
    let handshake = w.send(&client_packet(40_000, ACK, &[]));
    let request = w.send(&client_packet(40_000, 0x18, b"GET / HTTP/1.0\r\n\r\n"));
    w.send(&s.segment(0, MSS, false));
    let acks: Vec<u64> = (0..5)
        .map(|_| w.send(&client_packet(40_000, ACK, &[])))
        .collect();
    let fin = w.send(&client_packet(40_000, FIN_ACK, &[]));
    assert_eq!(w.dropped_ids(), [acks[0], acks[2], acks[3]]);
    assert!([handshake, request, fin]
        .iter()
        .all(|id| w.fates[id] == Some(Decision::Accept)));
    assert_eq!(w.bare(), [Bare::Ack(1), Bare::Ack(3), Bare::Ack(4)]);
}

#[test]
fn openings_and_requests_are_named_by_their_transmission() {
    let mut w = Watched::new(common::pattern("data syn-ack#2; ack syn#1..2 request#1"));
    let s = Sender::new(40_000, 1_000, sized(MSS, CLOSE));
    let syns = [0; 4].map(|_| w.send(&client_at(40_000, 0, SYN, &[])));
    // Another connection begins with another number.
    let other = w.send(&client_at(40_000, 5, SYN, &[]));
    let answers = [0; 3].map(|_| w.send(&s.syn_ack()));
    let handshake = w.send(&client_packet(40_000, ACK, &[]));
    let requests = [1, 1, 4].map(|seq| w.send(&client_at(40_000, seq, ACK, b"GET")));
    let lost = [
        syns[0],
        syns[1],
        other,
        answers[1],
        requests[0],
        requests[2],
    ];
    assert_eq!(w.dropped_ids(), lost);
    assert_eq!(w.fates[&handshake], Some(Decision::Accept));
    let (syn, syn_ack) = (Bare::Syn, Bare::SynAck(2));
    let request = Bare::Request(1);
    assert_eq!(
        w.bare(),
        [syn(1), syn(2), syn(1), syn_ack, request, request]
    );
}

#[test]
fn acknowledgements_count_anew_behind_the_next_request() {
    let (mut w, _) = serving("ack 1", 4);
    let request = |seq| client_at(40_000, seq, 0x18, b"GET / HTTP/1.1\r\n\r\n");
    let ack = client_packet(40_000, ACK, &[]);
    let sent: Vec<u64> = [&request(1), &ack, &ack, &request(19), &ack]
        .map(|bytes| w.send(bytes))
        .to_vec();
    assert_eq!(w.dropped_ids(), [sent[1], sent[4]]);
}

#[test]
fn a_tail_rule_does_not_mind_the_other_direction() {
    let s = Sender::new(40_000, 7, response(5_000, CLOSE));
    let rows = |both: bool| {
        let mut w = Watched::new(sequence(2));
        let client = |w: &mut Watched, flags: u8, payload: &[u8]| {
            if both {
                w.send(&client_packet(40_000, flags, payload));
            } else {
                w.now += Duration::from_micros(1);
            }
        };
        client(&mut w, 0x02, &[]);
        w.send(&s.syn_ack());
        client(&mut w, 0x18, b"GET / HTTP/1.0\r\n\r\n");
        for to in s.places(MSS).windows(2) {
            w.segments(&s, to);
            client(&mut w, ACK, &[]);
        }
        w.send(&s.fin());
        client(&mut w, FIN_ACK, &[]);
        w.finish();
        w.events
    };
    assert_eq!(rows(true), rows(false));
}

#[test]
fn rows_and_events_say_what_was_lost_and_when_it_came_back() {
    let (mut w, s) = serving("data 2 2#2 -1; ack 5", 5);
    let segment = |place: usize| s.segment((place - 1) * MSS, place * MSS, place == 5);
    for place in 1..=5 {
        w.send(&segment(place));
    }
    w.send(&segment(2));
    w.send(&segment(5));
    w.send(&segment(2));
    w.finish();
    let needs: Vec<_> = w.carried().iter().map(|carried| carried.need).collect();
    assert_eq!(needs, [Some(Need::Needed); 3]);
    let dropped: Vec<_> = w.carried().iter().map(|carried| carried.dropped).collect();
    assert_eq!(
        dropped,
        [true, false, false],
        "the first copy of 2 is lost too"
    );
    assert_eq!(w.drops().len(), 3);
    let rows = w.rows();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let us =
        |time: Option<rexmit_time::Time>| time.map(|time| (time - row.t_start).as_nanos() / 1000);
    assert_eq!((row.dropped_segments, row.dropped_packets), (2, 3));
    assert_eq!((us(row.t_drop), us(row.t_retransmit)), (Some(1), Some(5)));
    assert_eq!((us(row.t_end), row.retransmissions), (Some(7), 3));
    assert!(row.exact && row.complete && row.notes.is_empty(), "{row:?}");
}

#[test]
fn a_transfer_whose_retransmissions_are_all_lost_is_not_complete() {
    let (mut w, s) = serving("data 1#1..9", 1);
    for _ in 0..4 {
        w.send(&s.segment(0, MSS, true));
    }
    w.finish();
    let rows = w.rows();
    assert!(!rows[0].complete && !rows[0].exact);
    assert_eq!(rows[0].dropped_packets, 4);
}

#[test]
fn errors_say_what_where_and_what_instead() {
    let position =
        "expected a position such as 5, -1 (the last), 5..7, fin, syn-ack, or 5#2 (its second transmission)";
    let early = "ends too early, expected burst, data or ack";
    for (text, wrong) in [
        (
            "dat 3",
            "\"dat\" at column 1, expected path, burst, data or ack",
        ),
        ("data 3 x..4", &format!("\"x..4\" at column 8, {position}")),
        (
            "data 7..5",
            "\"7..5\" at column 6, expected a range that does not run backwards",
        ),
        ("data 0", "\"0\" at column 6"),
        ("data 5#0", "a transmission from 1"),
        ("data 5#3..2", "a transmission from 1"),
        (
            "data 1; ack -2",
            "\"-2\" at column 13, expected an acknowledgement's number such as 3 or 4..9, syn, request, or syn#2",
        ),
        ("path 1 data syn-ack", "expected syn and syn-ack without a path and a burst"),
        ("burst 2 ack syn", "expected syn and syn-ack without a path and a burst"),
        ("ack syn#0", "a transmission from 1"),
        ("data syn", "\"syn\" at column 6"),
        ("ack syn-ack", "\"syn-ack\" at column 5"),
        ("ack", "ends too early"),
        (
            "data 1;",
            "ends too early, expected path, burst, data or ack",
        ),
        ("none; data 1", "\"none\" at column 1"),
        // Scopes that make no sense.
        (
            "path x data 1",
            "\"x\" at column 6, expected a number from 1",
        ),
        (
            "data 1; path 0 data 1",
            "\"0\" at column 14, expected a number from 1",
        ),
        (
            "burst 1..2 data 1",
            "\"1..2\" at column 7, expected a number from 1",
        ),
        (
            "burst 1 path 1 data 1",
            "\"path\" at column 9, expected data or ack",
        ),
        (
            "path 1 path 2 data 1",
            "\"path\" at column 8, expected burst, data or ack",
        ),
        ("path 1", early),
        ("path", "ends too early, expected a number from 1"),
        ("path 1; data 1", early),
        (
            "path 1 none",
            "\"none\" at column 8, expected burst, data or ack",
        ),
    ] {
        let error = text.parse::<Pattern>().unwrap_err().to_string();
        assert!(error.contains(wrong), "{text}: {error}");
    }
}

/// An item of a `data` clause; `named` are those that are no positions.
fn word(named: &'static [&'static str]) -> impl Strategy<Value = String> {
    let at = prop_oneof![1i64..500, -500i64..0];
    let span = (at, 0i64..20).prop_map(|(from, more)| {
        let to = if from < 0 {
            (from + more).min(-1)
        } else {
            from + more
        };
        if from == to {
            from.to_string()
        } else {
            format!("{from}..{to}")
        }
    });
    let times = prop_oneof![
        Just(String::new()),
        (2u32..6).prop_map(|k| format!("#{k}")),
        (1u32..4, 1u32..4).prop_map(|(k, more)| format!("#{k}..{}", k + more)),
    ];
    let named = proptest::sample::select(named).prop_map(str::to_owned);
    (prop_oneof![4 => span, 1 => named], times).prop_map(|(which, times)| which + &times)
}

fn text() -> impl Strategy<Value = String> {
    let acks = proptest::collection::vec((1u64..300, 0u64..9), 0..5);
    let data = word(&["fin", "syn-ack"]);
    (proptest::collection::vec(data, 0..8), acks).prop_map(|(data, acks)| {
        let acks: Vec<String> = acks
            .iter()
            .map(|&(from, more)| match more {
                0 if from < 10 => format!("syn#{}", from + 1),
                0 if from < 20 => format!("request#{}", from + 1),
                0 => from.to_string(),
                _ => format!("{from}..{}", from + more),
            })
            .collect();
        let clause = |name: &str, items: &[String]| {
            (!items.is_empty()).then(|| format!("{name} {}", items.join(" ")))
        };
        let clauses: Vec<String> = [clause("data", &data), clause("ack", &acks)]
            .into_iter()
            .flatten()
            .collect();
        if clauses.is_empty() {
            "none".to_owned()
        } else {
            clauses.join("; ")
        }
    })
}

fn scope() -> impl Strategy<Value = String> {
    let number = |name: &'static str| {
        prop_oneof![
            Just(String::new()),
            (1u32..40).prop_map(move |n| format!("{name} {n} "))
        ]
    };
    (number("path"), number("burst")).prop_map(|(path, burst)| path + &burst)
}

/// Clauses of several scopes: those of data, then those of acknowledgements, no two alike in a row.
fn scoped() -> impl Strategy<Value = String> {
    let data = (scope(), proptest::collection::vec(word(&["fin"]), 1..4));
    let acks = (scope(), 1u64..50);
    let data = proptest::collection::vec(data, 0..4);
    (data, proptest::collection::vec(acks, 0..3)).prop_map(|(mut data, mut acks)| {
        data.dedup_by(|a, b| a.0 == b.0);
        acks.dedup_by(|a, b| a.0 == b.0);
        let data = data
            .iter()
            .map(|(scope, items)| format!("{scope}data {}", items.join(" ")));
        let acks = acks
            .iter()
            .map(|(scope, number)| format!("{scope}ack {number}"));
        let clauses: Vec<String> = data.chain(acks).collect();
        if clauses.is_empty() {
            "none".to_owned()
        } else {
            clauses.join("; ")
        }
    })
}

#[test]
fn clauses_of_paths_and_bursts_are_of_no_http_transfer() {
    let pattern: Pattern = "path 1 data 1; burst 1 data fin; path 1 burst 1 ack 1"
        .parse()
        .unwrap();
    assert!(pattern.has_scopes() && pattern.needs_client() && pattern.names_fin());
    assert!(!pattern.drops_data(1, 9, 1) && !pattern.drops_fin(1));
    assert!(!"data 1; ack 1".parse::<Pattern>().unwrap().has_scopes());
    let apart: Pattern = "path 2 data 1; path 2 data 3".parse().unwrap();
    assert_eq!(apart.to_string(), "path 2 data 1 3");
}

proptest! {
    #[test]
    fn what_is_printed_is_what_was_read(text in text()) {
        let pattern: Pattern = text.parse().unwrap();
        prop_assert_eq!(pattern.to_string(), text);
    }

    #[test]
    fn scopes_are_printed_as_they_were_read(text in scoped()) {
        let pattern: Pattern = text.parse().unwrap();
        prop_assert_eq!(pattern.to_string(), text);
    }

    #[test]
    fn spaces_and_the_order_of_clauses_do_not_matter(text in text()) {
        let pattern: Pattern = text.parse().unwrap();
        let mut clauses: Vec<&str> = text.split(';').collect();
        clauses.reverse();
        let turned = clauses.join("\t;\n ").replace(' ', "  ");
        prop_assert_eq!(turned.parse::<Pattern>().unwrap(), pattern);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,40}|[data ck0-9.#;fin-]{0,40}|((path|burst|data|ack|1|;) ){0,9}") {
        if let Err(error) = text.parse::<Pattern>() {
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
        }
    }
}

#[test]
fn what_passed_once_is_spurious_though_a_later_copy_is_dropped() {
    let (mut w, s) = serving("data 2#2", 3);
    let segment = |from: usize, to: usize| s.segment(from * MSS, to * MSS, false);
    w.send(&segment(0, 1));
    for _ in 0..3 {
        w.send(&segment(1, 2));
    }
    let told = |w: &Watched| -> Vec<_> {
        let carried = w.carried();
        carried.iter().map(|one| (one.need, one.dropped)).collect()
    };
    let spurious = Some(Need::Spurious);
    assert_eq!(told(&w), [(spurious, true), (spurious, false)]);
    // Of a packet that goes on with bytes that were never sent the receiver lacks some.
    w.send(&segment(1, 3));
    assert_eq!(told(&w)[2], (Some(Need::Needed), false));
}
