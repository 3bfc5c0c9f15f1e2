//! Multipath TCP: subflows that belong together, and data that went again on another.

mod partial;

use proptest::prelude::*;
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Of, Rows};
use rexmit_trace::event::Direction;
use rexmit_trace::rows::{Connection, Evidence, Retransmission, Role, SenderRow};
use rexmit_trace::run::{Background, Inline, Next};
use rexmit_trace::settings::Settings;
use rexmit_wire::capture::Reader;
use rexmit_wire::mptcp::{Dss, Identity, Join, Mapping, MptcpOption, Version};
use rexmit_wire::Flags;

use crate::paths::{pcap, Paths, FULL};
use crate::script::SYN_ACK;

const WHOLE: usize = 65_535;
const REINJECT: usize = 8;

fn rows(file: &[u8]) -> Rows {
    let mut run = Inline::new(Reader::new(file).unwrap(), &Settings::default());
    let mut all = Rows::default();
    while let Some(mut rows) = run.next_rows() {
        all.append(&mut rows);
    }
    assert!(run.error().is_none());
    all.sort();
    all
}

fn reinjected(rows: &Rows) -> Vec<&Of<Retransmission>> {
    let all = rows.retransmissions.iter();
    all.filter(|of| of.row.mechanism == Mechanism::MptcpReinject)
        .collect()
}

/// The one that there is.
#[track_caller]
fn only(rows: &Rows) -> &Of<Retransmission> {
    let [one] = reinjected(rows)[..] else {
        panic!("{:#?}", rows.retransmissions)
    };
    one
}

/// What the sender of a subflow, whose client has this port, did and heard.
fn server(rows: &Rows, port: u16) -> &SenderRow {
    let mut all = rows.connections.iter();
    let found = all.find(|of| of.flow.src_port == port);
    &found.unwrap().row.backward
}

/// Two subflows; data at 0 and 1,000 on the first, at 2,000 on the second; the last of the first has not arrived.
fn two() -> Paths {
    let mut paths = Paths::new(1);
    paths.open(40_000);
    paths.wait(5).open(40_001);
    paths.send(0, 0);
    paths.send(0, 1_000);
    paths.send(1, 2_000);
    paths.wait(40);
    paths.data_ack = 1_000;
    paths.ack(0, 1_001).ack(1, 1_001);
    paths
}

fn subflows(rows: &Rows) -> Vec<(u64, u32, Option<Role>, Option<u8>)> {
    let mut all: Vec<_> = rows
        .connections
        .iter()
        .filter_map(|of| of.row.multipath)
        .map(|of| (of.connection, of.number, of.role, of.version))
        .collect();
    all.sort_by_key(|(connection, number, ..)| (*connection, *number));
    all
}

#[test]
fn data_that_went_again_on_another_subflow() {
    let mut paths = two();
    let again = paths.wait(200).now;
    paths.send(1, 1_000);
    paths.wait(40);
    paths.data_ack = 3_000;
    // The first subflow sends it again, too, and only then it arrives there.
    paths.ack(1, 2_001).wait(50).retransmission(0, 1_001, 1_000);
    paths.wait(40).ack(0, 2_001).close(0).close(1);
    let rows = rows(&paths.pcap(WHOLE));

    let reinjection = only(&rows);
    let row = &reinjection.row;
    assert_eq!(reinjection.flow.src_port, 40_001);
    assert_eq!((row.time, row.length, row.copy), (again, FULL, 1));
    assert_eq!(
        row.range.start.get(),
        (u32::MAX - 1_501).wrapping_add(1_001)
    );
    assert_eq!(row.range.len(), FULL);
    assert_eq!(row.first_sent, Some(again - Duration::from_millis(240)));
    assert_eq!(row.detection, Some(Duration::from_millis(240)));
    assert_eq!(row.recovery, Some(Duration::from_millis(40)));
    assert_eq!(row.need, Need::Needed);
    assert_eq!((row.flight_segments, row.flight_bytes), (2, 2_000));
    let of = row.multipath.as_ref().unwrap();
    let (flow, number) = of.first.unwrap();
    assert_eq!((flow.dst_port, number), (40_000, 1));

    let own: Vec<_> = rows
        .retransmissions
        .iter()
        .filter(|of| of.flow.src_port == 40_000)
        .collect();
    let [own] = own[..] else { panic!("{own:#?}") };
    assert_ne!(own.row.mechanism, Mechanism::MptcpReinject);
    assert_eq!(
        own.row.multipath.as_ref().unwrap().connection,
        of.connection
    );

    let id = of.connection;
    assert_eq!(
        subflows(&rows),
        [
            (id, 1, Some(Role::Initial), Some(1)),
            (id, 2, Some(Role::Join), Some(1))
        ]
    );
    assert!(rows
        .connections
        .iter()
        .any(|connection| connection.connection == id));
    let second = server(&rows, 40_001);
    let half = second;
    assert_eq!(half.retransmissions[REINJECT], [1, 0, 0]);
    assert_eq!(half.waited[REINJECT], Duration::from_millis(240));
    assert_eq!(half.data_bytes, Some(1_000));
}

/// What the first subflow acknowledges without having sent it again had arrived.
#[test]
fn a_spurious_one() {
    let mut paths = two();
    paths.wait(200).send(1, 1_000);
    paths.wait(10).ack(0, 2_001).wait(30);
    paths.data_ack = 3_000;
    paths.ack(1, 2_001).close(0).close(1);
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    assert_eq!(reinjection.row.need, Need::Spurious);
    assert_eq!(reinjection.row.evidence, Evidence::SubflowAcked);
    let second = server(&rows, 40_001);
    assert_eq!(second.retransmissions[REINJECT], [0, 1, 0]);
    assert_eq!(rows.retransmissions.len(), 1);
}

/// The client has it by its own word.
#[test]
fn after_the_acknowledgement_of_its_data() {
    let mut paths = two();
    paths.data_ack = 3_000;
    paths.ack(0, 2_001).wait(5).send(1, 1_000);
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    assert_eq!(reinjection.row.need, Need::Spurious);
    assert_eq!(reinjection.row.evidence, Evidence::AlreadyAcked);
}

/// A server may join subflows, too, and names the client by the client's token.
#[test]
fn the_server_may_join() {
    let mut paths = Paths::new(1);
    paths.open(40_000);
    let second = paths.subflow(40_001);
    let token = Identity::of(paths.client_key, paths.version).token;
    let join = MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 1,
        token,
        nonce: 3,
    });
    let (isn, joins) = (paths.subflows[second].isn, paths.joins());
    paths
        .put(second, false, (isn, 0), Flags::SYN, 0, &[join])
        .wait(40)
        .put(
            second,
            true,
            (7, isn.wrapping_add(1)),
            SYN_ACK,
            0,
            &joins[1..2],
        )
        .put(
            second,
            false,
            (isn.wrapping_add(1), 8),
            Flags::ACK,
            0,
            &joins[2..],
        );
    paths.subflows[second].sent = 1;
    paths.send(0, 0);
    paths.wait(200).send(second, 0);
    let rows = rows(&paths.pcap(WHOLE));
    assert_eq!(subflows(&rows).iter().filter(|of| of.1 == 2).count(), 1);
    let reinjection = only(&rows);
    // The server is this subflow's client.
    assert_eq!(reinjection.flow.dst_port, 40_001);
    assert_eq!(reinjection.row.direction, Direction::Forward);
    let (flow, _) = reinjection.row.multipath.as_ref().unwrap().first.unwrap();
    assert_eq!((flow.src_port, flow.dst_port), (80, 40_000));
}

/// A kernel that gives a subflow up sends all again that is not acknowledged, and goes on when the first of it has filled
/// the
/// hole: one episode.
#[test]
fn what_follows_an_acknowledgement_belongs_to_what_went_before() {
    let mut paths = two();
    paths.wait(200).send(1, 1_000);
    paths.data_ack = 3_000;
    paths.wait(40).ack(1, 2_001);
    paths.send(1, 2_000);
    paths.wait(1).send(1, 2_000);
    let rows = rows(&paths.pcap(WHOLE));
    let episodes: Vec<_> = reinjected(&rows).iter().map(|of| of.row.episode).collect();
    assert_eq!(episodes, [u32::MAX; 3]);
    let second = server(&rows, 40_001);
    let waited = second.waited[REINJECT];
    // Until the first, from there until the next, and until the last.
    assert_eq!(waited, Duration::from_millis(240 + 40 + 1));
}

#[test]
fn the_older_version_has_its_own_hash() {
    let mut paths = Paths::new(1);
    paths.version = Version::V0;
    paths.open(40_000);
    paths.open(40_001);
    paths.send(0, 0);
    paths.send(1, 0);
    let rows = rows(&paths.pcap(WHOLE));
    let joined: Vec<_> = subflows(&rows)
        .iter()
        .map(|(.., version)| *version)
        .collect();
    assert_eq!(joined, [Some(0), Some(0)]);
    assert_eq!(reinjected(&rows).len(), 1);
}

/// A packet that the capture or the network doubles, and a subflow's own retransmission, are where they were.
#[test]
fn the_same_mapping_again_is_none() {
    let mut paths = two();
    paths
        .retransmission(1, 1, 2_000)
        .wait(300)
        .retransmission(0, 1_001, 1_000);
    paths.wait(40).ack(0, 2_001);
    let rows = rows(&paths.pcap(WHOLE));
    assert!(reinjected(&rows).is_empty());
    let retransmissions = rows.retransmissions.iter();
    assert_eq!(
        retransmissions
            .filter(|of| of.flow.src_port == 40_000)
            .count(),
        1
    );
}

/// The mapping of several packets is on the first only, or on all.
#[test]
fn packets_share_a_mapping() {
    for on_all in [false, true] {
        let mut paths = two();
        for n in 0..3 {
            let dss = [MptcpOption::Dss(paths.mapping(3_000, 2_001, 3_000))];
            let seq = paths.subflows[0].isn.wrapping_add(2_001 + n * FULL);
            let options = if on_all || n == 0 { &dss[..] } else { &[] };
            // Without an option at all, a packet is none of Multipath TCP's business.
            let other = [MptcpOption::Dss(Dss::default())];
            let options = if options.is_empty() {
                &other[..]
            } else {
                options
            };
            paths.put(0, false, (seq, 8), Flags::ACK, FULL, options);
        }
        paths.subflows[0].sent += 3 * FULL;
        paths.wait(100).send(1, 5_000);
        paths.send(1, 6_000);
        let rows = rows(&paths.pcap(WHOLE));
        let reinjection = only(&rows);
        assert_eq!(reinjection.row.detection, Some(Duration::from_millis(100)));
        let first = server(&rows, 40_000);
        assert_eq!(first.data_bytes, Some(5_000));
    }
}

/// Only a part of a packet was sent before.
#[test]
fn a_part_of_a_packet() {
    let mut paths = two();
    paths.wait(200).send(1, 1_500);
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    // Data at 1,500 were on the first subflow, those at 2,000 on this one, but at another place.
    assert_eq!(reinjection.row.range.len(), 1_000);
    assert_eq!(
        reinjection.row.multipath.as_ref().unwrap().first.unwrap().1,
        1
    );
}

#[test]
fn cut_options_are_no_data() {
    let mut paths = two();
    paths.wait(200).send(1, 1_000);
    for snap in 40..70 {
        let rows = rows(&paths.pcap(snap));
        assert!(reinjected(&rows).len() <= 1);
        assert_eq!(rows.connections.len(), 2);
    }
    // The TCP header and nothing of its options.
    assert!(subflows(&rows(&paths.pcap(40))).is_empty());
}

#[test]
fn plain_tcp_after_all() {
    let mut paths = Paths::new(1);
    let subflow = paths.subflow(40_000);
    let offer = MptcpOption::Capable(rexmit_wire::mptcp::Capable {
        version: 1,
        ..Default::default()
    });
    let isn = paths.subflows[subflow].isn;
    paths
        .put(subflow, true, (7, 0), Flags::SYN, 0, &[offer])
        .put(subflow, false, (isn, 8), SYN_ACK, 0, &[])
        .put(subflow, true, (8, isn.wrapping_add(1)), Flags::ACK, 0, &[]);
    let rows = rows(&paths.pcap(WHOLE));
    assert_eq!(rows.connections[0].row.multipath, None);
    assert!(rows.connections[0].row.forward.mptcp);
}

/// An infinite mapping (RFC 8684 §3.7), a DATA_FIN alone, one of no length.
#[test]
fn mappings_of_nothing_are_harmless() {
    let mut paths = two();
    let mut infinite = paths.mapping(1_000, 1_001, 0);
    let numbers = (paths.subflows[1].isn.wrapping_add(1_001), 8);
    paths.put(
        1,
        false,
        numbers,
        Flags::ACK,
        FULL,
        &[MptcpOption::Dss(infinite)],
    );
    infinite.mapping = infinite.mapping.map(|mapping| Mapping {
        subflow_seq: 0,
        len: 1,
        ..mapping
    });
    infinite.fin = true;
    paths.put(
        0,
        false,
        numbers,
        Flags::ACK,
        0,
        &[MptcpOption::Dss(infinite)],
    );
    assert!(reinjected(&rows(&paths.pcap(WHOLE))).is_empty());
}

fn background(file: Vec<u8>, jobs: usize) -> Rows {
    let open = move || Reader::new(std::io::Cursor::new(file));
    let run = Background::new(open, &Settings::default(), jobs);
    let mut all = Rows::default();
    loop {
        match run.next(std::time::Duration::from_secs(1)) {
            Next::Rows(mut rows) => all.append(&mut rows),
            Next::Wait => {}
            Next::End(_, error) => {
                assert_eq!(error, None);
                all.sort();
                return all;
            }
        }
    }
}

/// Connections of three subflows each, all beside each other.
pub fn many(count: u16) -> Vec<(Time, Vec<u8>, u32)> {
    let mut packets = Vec::new();
    for n in 0..count {
        let mut paths = Paths::new(u64::from(n));
        paths.wait(i64::from(n));
        for subflow in 0..3 {
            paths.open(10_000 + 3 * n + subflow);
        }
        for place in 0..u64::from(3 + n % 5) {
            paths.send(place as usize % 3, place * u64::from(FULL));
        }
        paths.wait(250);
        for place in 0..u64::from(n % 3) {
            paths.send((place as usize + 1) % 3, place * u64::from(FULL));
        }
        for subflow in 0..3 {
            paths.close(subflow);
        }
        packets.append(&mut paths.packets);
    }
    packets.sort_by_key(|(at, ..)| *at);
    packets
}

#[test]
fn any_number_of_threads_joins_the_same() {
    let file = pcap(&many(200), WHOLE);
    let one = rows(&file);
    assert_eq!(one.connections.len(), 600);
    let all = subflows(&one);
    assert_eq!(all.len(), 600);
    for three in all.chunks(3) {
        let [(a, 1, ..), (b, 2, ..), (c, 3, ..)] = three else {
            panic!("{three:?}")
        };
        assert!(a == b && b == c);
    }
    assert_eq!(reinjected(&one).len(), 199);
    for jobs in [1, 2, 3, 8] {
        assert_eq!(background(file.clone(), jobs), one, "{jobs} threads");
    }
}

fn of_port(rows: &Rows, port: u16) -> &Connection {
    &rows
        .connections
        .iter()
        .find(|of| of.flow.src_port == port)
        .unwrap()
        .row
}

proptest! {
    /// Whatever goes where: the bytes that went first somewhere add up to those that were sent, and every packet
    /// that is new to its subflow and was sent elsewhere before is a re-injection.
    #[test]
    fn first_bytes_add_up(
        sends in proptest::collection::vec((0usize..3, 0u64..12), 1..60),
        acked in 0u64..12,
        snap in prop_oneof![Just(WHOLE), 40usize..80],
    ) {
        let mut paths = Paths::new(3);
        for n in 0..3 {
            paths.open(40_000 + n);
        }
        let mut sent = std::collections::BTreeMap::new();
        let mut again = 0;
        for (subflow, place) in sends {
            paths.wait(1).send(subflow, place * u64::from(FULL));
            again += usize::from(sent.insert(place, subflow).is_some());
        }
        paths.data_ack = acked * u64::from(FULL);
        paths.wait(40).ack(0, 1);
        let rows = rows(&paths.pcap(snap));
        if snap == WHOLE {
            let first: u64 = (0..3).map(|n| of_port(&rows, 40_000 + n).backward.data_bytes.unwrap()).sum();
            prop_assert_eq!(first, sent.len() as u64 * u64::from(FULL));
            let found = reinjected(&rows);
            let elsewhere = found.iter().filter(|of| of.row.first_sent.is_some());
            prop_assert_eq!(elsewhere.count(), again);
        }
        prop_assert_eq!(background(paths.pcap(snap), 2), rows);
    }
}
