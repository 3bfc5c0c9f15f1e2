//! What holds for any packets.

use std::sync::Arc;

use proptest::prelude::*;
use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Analyzer, Rows};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::headers::{Record, Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, Headers, SeqNum, SeqRange};

use crate::script::{analyse, Script};

/// Numbers near each other and near the wrap, so that packets meet.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => (0u32..40).prop_map(|n| n.wrapping_mul(500).wrapping_sub(5_000)),
        1 => any::<u32>(),
    ]
}

prop_compose! {
    fn packet()(
        (port, from_client, flags) in (0u16..3, any::<bool>(), prop_oneof![
            6 => Just(Flags::ACK.0), 1 => Just(Flags::SYN.0), 1 => Just(Flags::SYN.0 | Flags::ACK.0),
            1 => Just(Flags::FIN.0 | Flags::ACK.0), 1 => any::<u8>(),
        ]),
        (seq, ack) in (number(), number()),
        len in prop_oneof![2 => Just(0), 4 => Just(500), 1 => 0u32..70_000, 1 => any::<u32>()],
        wait in prop_oneof![8 => 0i64..30_000_000, 1 => -50_000_000i64..2_000_000_000_000, 1 => any::<i64>()],
        stamps in proptest::option::of(any::<(u32, u32)>()),
        blocks in proptest::collection::vec((number(), number()), 0..4),
        ip_id in proptest::option::of(0u16..4),
        record in 0u8..4,
    ) -> (Duration, Headers) {
        let flags = Flags(flags);
        let template = Script::new(40_000 + port).packet(from_client, Flags::ACK, len);
        let headers = Headers {
            seq: SeqNum::new(seq),
            ack: SeqNum::new(ack),
            flags,
            ip_id,
            record: Record::of_bits(record),
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            sack: blocks
                .into_iter()
                .map(|(start, end)| SeqRange { start: SeqNum::new(start), end: SeqNum::new(end) })
                .collect::<Sack>(),
            syn: flags.syn().then(SynOptions::default),
            ..template
        };
        (Duration::from_nanos(wait), headers)
    }
}

/// Each packet at its time, from the waits before them.
fn timed(packets: Vec<(Duration, Headers)>) -> Vec<(Time, Headers)> {
    let mut now = Time::ZERO + Duration::from_secs(1_000);
    let at = |(wait, headers)| {
        now += wait;
        (now, headers)
    };
    packets.into_iter().map(at).collect()
}

proptest! {
    #[test]
    fn every_packet_is_counted_once(
        packets in proptest::collection::vec(packet(), 0..150),
        most_connections in 1usize..4,
        most_events in 1usize..40,
    ) {
        let packets = timed(packets);
        let settings = Settings { most_connections, most_events, ..Settings::default() };
        let (analyzer, rows) = analyse(&packets, settings.clone());
        let counters = analyzer.counters();
        prop_assert_eq!(&counters.failures.named, &[]);
        prop_assert_eq!(counters.packets, packets.len() as u64);
        prop_assert_eq!(counters.connections, rows.connections.len() as u64);
        let evicted = rows.connections.iter().filter(|of| of.row.evicted).count();
        prop_assert_eq!(counters.evicted, evicted as u64);
        // What the capture holds twice is no packet of a side.
        let sides = rows.connections.iter().flat_map(|of| [&of.row.forward, &of.row.backward]);
        let seen: u64 = sides.map(|side| side.packets + u64::from(side.capture_duplicates)).sum();
        prop_assert_eq!(seen + counters.strays + counters.stray_resets, counters.packets);
        for of in &rows.connections {
            prop_assert!(of.row.start <= of.row.end);
            for side in [&of.row.forward, &of.row.backward] {
                let shares = side.account.iter().fold(Duration::ZERO, |sum, share| sum + share.length);
                prop_assert_eq!(shares, of.row.end.since(of.row.start));
            }
        }
        for of in &rows.retransmissions {
            prop_assert!(rows.connections.iter().any(|c| c.connection == of.connection && c.flow == of.flow));
        }
        let told: u32 = rows.connections.iter()
            .flat_map(|of| [&of.row.forward, &of.row.backward])
            .flat_map(|half| half.retransmissions.iter().flatten())
            .sum();
        prop_assert_eq!(told as usize, rows.retransmissions.len());
        // The same again, swept at odd times.
        let mut swept = Analyzer::new(settings);
        let mut again = rexmit_trace::analyzer::Rows::default();
        for (n, (at, headers)) in packets.iter().enumerate() {
            swept.packet(*at, headers);
            if n % 5 == 0 {
                swept.expire(*at, 2);
                swept.drain(&mut again);
            }
        }
        prop_assert!(swept.connections() <= most_connections);
    }

    /// docs/reference/glossary.md, "Waiting": parts sum to the whole, nobody waits longer than there was time, and no setting saves
    /// more.
    #[test]
    fn no_more_is_waited_than_there_was_time_and_no_more_saved_than_waited(
        packets in proptest::collection::vec(packet(), 0..150),
        most_events in 1usize..40,
    ) {
        let plan = Plan::parse(&["default"]).unwrap();
        let settings = Settings { most_events, whatif: Some(Arc::new(plan)), ..Settings::default() };
        let (_, rows) = analyse(&timed(packets), settings);
        for of in &rows.connections {
            let waited = of.row.waited();
            prop_assert!(Duration::ZERO <= waited && waited <= of.row.end.since(of.row.start));
            let mine = rows.retransmissions.iter().filter(|row| row.connection == of.connection);
            let mut sides = [Duration::ZERO; 2];
            for row in mine {
                prop_assert!(row.row.waited >= Duration::ZERO);
                prop_assert!(row.row.detection.is_none_or(|detection| row.row.waited <= detection.max(Duration::ZERO)));
                sides[row.row.direction as usize] += row.row.waited;
            }
            for (half, rows) in [&of.row.forward, &of.row.backward].into_iter().zip(sides) {
                let counted = half.waited.iter().fold(Duration::ZERO, |sum, of| sum + *of);
                prop_assert!(counted <= rows, "{counted} of {rows}");
            }
            let mut saved = std::collections::BTreeMap::new();
            for whatif in rows.whatif.iter().filter(|row| row.connection == of.connection) {
                *saved.entry(whatif.row.setting).or_insert(Duration::ZERO) += -whatif.row.waited;
            }
            prop_assert!(saved.values().all(|saved| *saved <= waited), "{saved:?} of {waited}");
        }
    }

    #[test]
    fn connections_do_not_touch_each_other(packets in proptest::collection::vec(packet(), 0..150)) {
        let packets = timed(packets);
        let (_, mut together) = analyse(&packets, Settings::default());
        let mut apart = Rows::default();
        for port in 40_000..40_003 {
            let own = |headers: &Headers| [headers.flow.src_port, headers.flow.dst_port].contains(&port);
            let own: Vec<_> = packets.iter().filter(|(_, headers)| own(headers)).copied().collect();
            apart.append(&mut analyse(&own, Settings::default()).1);
        }
        for rows in [&mut together, &mut apart] {
            rows.sort();
        }
        let rows = |rows: Rows| {
            let connections: Vec<_> = rows.connections.into_iter().map(|of| of.row).collect();
            let retransmissions: Vec<_> = rows.retransmissions.into_iter().map(|of| of.row).collect();
            let whatif: Vec<_> = rows.whatif.into_iter().map(|of| of.row).collect();
            (connections, retransmissions, whatif)
        };
        prop_assert_eq!(rows(together), rows(apart));
    }
}
