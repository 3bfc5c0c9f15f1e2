//! What is said of a connection does not depend on where it was kept, and what makes room for others.

use proptest::prelude::*;
use rexmit_time::{Duration, Time};
use rexmit_wire::headers::{SynOptions, Timestamps};
use rexmit_wire::{Flags, Headers, SeqNum, SeqRange};

use super::*;
use crate::testing;

fn packet(port: u16, from_client: bool, flags: Flags, seq: u32, ack: u32) -> Headers {
    let flow = testing::flow(port);
    Headers {
        seq: SeqNum::new(seq),
        ack: SeqNum::new(ack),
        window: 60_000,
        flags,
        syn: flags.syn().then(SynOptions::default),
        ..testing::bare(if from_client { flow } else { flow.reversed() })
    }
}

prop_compose! {
    /// Few different packets, so that many are repetitions and answers.
    fn some_packet()(
        (port, from_client, flags) in (
            prop_oneof![4 => 80u16..83, 1 => Just(40_000)],
            any::<bool>(),
            prop_oneof![
                6 => Just(Flags::SYN.0), 4 => Just(Flags::SYN.0 | Flags::ACK.0), 2 => Just(Flags::ACK.0),
                2 => Just(Flags::RST.0 | Flags::ACK.0), 1 => Just(Flags::FIN.0 | Flags::ACK.0), 1 => any::<u8>(),
            ],
        ),
        (seq, ack) in (prop_oneof![8 => Just(5u32), 1 => 4u32..8, 1 => any::<u32>()], prop_oneof![4 => Just(6u32), 1 => 0u32..9]),
        (len, ttl) in (prop_oneof![8 => Just(0), 1 => Just(10)], prop_oneof![9 => Just(64u8), 1 => 62u8..66]),
        wait in prop_oneof![
            8 => 0i64..3_000_000_000, 1 => 9_000_000_000i64..12_000_000_000, 1 => -1_000_000_000i64..1_000_000_000_000,
        ],
        stamps in prop_oneof![4 => Just(None), 1 => (0u32..3, 0u32..2).prop_map(Some)],
        block in proptest::option::weighted(0.02, (0u32..9, 1u32..3)),
        ip_id in prop_oneof![Just(None), (0u16..9).prop_map(Some)],
    ) -> (Duration, Headers) {
        let headers = Headers {
            payload_len: len,
            ttl,
            ip_id,
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            sack: block.iter().map(|(start, len)| SeqRange::new(SeqNum::new(*start), *len)).collect(),
            ..packet(port, from_client, Flags(flags), seq, ack)
        };
        (Duration::from_nanos(wait), headers)
    }
}

impl Analyzer {
    /// Keeps no connection as one that has only begun.
    fn unfold_all(&mut self) {
        for slot in 0..self.openings.slots() {
            if let Some(hash) = self.openings.hash_of(slot) {
                self.unfold(slot, hash);
            }
        }
    }
}

proptest! {
    #[test]
    fn it_is_the_same_where_a_connection_is_kept(
        packets in proptest::collection::vec(some_packet(), 1..60),
        sweep in proptest::option::of(1usize..9),
        most_events in prop_oneof![3 => Just(512usize), 1 => 1usize..20],
    ) {
        let run = |at_once: bool| {
            let mut analyzer = Analyzer::new(Settings { most_events, ..Settings::default() });
            let mut now = Time::ZERO + Duration::from_secs(5_000);
            for (number, (wait, headers)) in packets.iter().enumerate() {
                now += *wait;
                analyzer.packet(now, headers);
                if at_once {
                    analyzer.unfold_all();
                }
                if sweep.is_some_and(|every| number % every == 0) {
                    analyzer.expire(now, 100);
                }
            }
            let left = analyzer.connections();
            analyzer.finish(u64::MAX);
            let mut rows = Rows::default();
            analyzer.drain(&mut rows);
            rows.sort();
            (left, analyzer.counters(), rows)
        };
        prop_assert_eq!(run(true), run(false));
    }
}

/// The handshake and a request on this port.
fn established(analyzer: &mut Analyzer, port: u16, now: Time) {
    let syn_ack = Flags(Flags::SYN.0 | Flags::ACK.0);
    for (from_client, flags, seq, ack) in [
        (true, Flags::SYN, 0, 0),
        (false, syn_ack, 0, 1),
        (true, Flags::ACK, 1, 1),
    ] {
        analyzer.packet(now, &packet(port, from_client, flags, seq, ack));
    }
}

#[test]
fn a_flood_puts_out_none_but_its_own() {
    let most_connections = 100;
    let mut analyzer = Analyzer::new(Settings {
        most_connections,
        ..Settings::default()
    });
    let now = Time::ZERO + Duration::from_secs(1_000);
    for port in 0..50 {
        established(&mut analyzer, 100 + port, now);
    }
    for port in 0..10_000 {
        analyzer.packet(now, &packet(1_000 + port, true, Flags::SYN, 0, 0));
    }
    assert_eq!(analyzer.connections(), most_connections);
    let counters = analyzer.counters();
    assert_eq!(
        (counters.evicted, counters.evicted_openings),
        (9_950, 9_950)
    );
    analyzer.finish(u64::MAX);
    let mut rows = Rows::default();
    analyzer.drain(&mut rows);
    let evicted = |of: &&Of<Box<crate::rows::Connection>>| of.row.evicted;
    assert!(rows
        .connections
        .iter()
        .filter(evicted)
        .all(|of| of.flow.src_port >= 1_000));
}

#[test]
fn a_new_connection_finds_room_among_many_idle_ones() {
    let most_connections = 80;
    let mut analyzer = Analyzer::new(Settings {
        most_connections,
        ..Settings::default()
    });
    let now = Time::ZERO + Duration::from_secs(1_000);
    for port in 0..80 {
        established(&mut analyzer, 100 + port, now);
    }
    // Ten begin at a time, and each has its answer only when the others have begun.
    let syn_ack = Flags(Flags::SYN.0 | Flags::ACK.0);
    for (from_client, flags, seq, ack) in [
        (true, Flags::SYN, 0, 0),
        (false, syn_ack, 0, 1),
        (true, Flags::ACK, 1, 1),
    ] {
        for port in 0..10 {
            analyzer.packet(now, &packet(1_000 + port, from_client, flags, seq, ack));
        }
    }
    let counters = analyzer.counters();
    assert_eq!((counters.connections, counters.evicted), (90, 10));
    assert_eq!(counters.evicted_openings, 0);
}

#[test]
fn whoever_keeps_most_makes_room_for_what_others_keep() {
    let mut analyzer = Analyzer::new(Settings::default());
    let mut now = Time::ZERO + Duration::from_secs(1_000);
    let data = |port, seq| Headers {
        payload_len: 1,
        ..packet(port, false, Flags::ACK, seq, 1)
    };
    for port in 100..110 {
        established(&mut analyzer, port, now);
        // Sent again once, and never acknowledged.
        for seq in [1, 1].into_iter().chain(1..400) {
            now = now + Duration::from_micros(10);
            analyzer.packet(now, &data(port, seq));
        }
    }
    let lighten = |analyzer: &mut Analyzer| room::lighten(&mut [&mut *analyzer], 1);
    lighten(&mut analyzer);
    assert_eq!(analyzer.counters().evicted, 0);
    let few = analyzer.kept();
    assert!(few > 1_000 && few < 10_000, "{few}");
    for seq in 400..70_000 {
        now = now + Duration::from_micros(10);
        analyzer.packet(now, &data(105, seq));
    }
    assert!(analyzer.kept() > 70_000);
    lighten(&mut analyzer);
    assert_eq!(analyzer.counters().evicted, 1);
    assert!(analyzer.kept() < few);
    let mut rows = Rows::default();
    analyzer.drain(&mut rows);
    assert_eq!(rows.connections[0].flow.src_port, 105);
}
