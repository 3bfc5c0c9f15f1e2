//! The pattern rule over HTTP responses whose connections have several subflows.

mod common;

use common::{packet, padded, sized, Watched, ACK, CLOSE, FIN_ACK, SYN_ACK};
use proptest::prelude::*;
use rexmit_loss::pattern::Pattern;
use rexmit_loss::Decision;
use rexmit_tcp::Need;
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Join, Mapping, MptcpOption, Version};

const MSS: usize = 1000;
const KEYS: [u64; 2] = [11, 12];
/// What the server acknowledges of each connection's client.
const ACKS: [u64; 2] = [0x1111_2222_3333_4444, 0x5555_6666_7777_8888];

/// Subflows of two connections: ports of the client tell them apart.
struct Server {
    w: Watched,
    streams: [Vec<u8>; 2],
}

impl Server {
    /// Connections of which each sends one response of so many full segments.
    fn new(pattern: &str, segments: usize, extra: &str) -> Self {
        let stream = sized(segments * MSS, extra);
        Server {
            w: Watched::new(common::pattern(pattern)),
            streams: [stream.clone(), stream],
        }
    }

    fn capable(&mut self, port: u16, connection: usize) {
        let option = MptcpOption::Capable(Capable {
            version: 1,
            sender_key: Some(KEYS[connection]),
            ..Capable::default()
        });
        self.w
            .send(&packet(port, 0, SYN_ACK, &padded(&option), &[]));
    }

    /// A subflow joins; its first packet with an acknowledgement of data says which connection.
    fn join(&mut self, port: u16, connection: usize) {
        let option = MptcpOption::Join(Join::SynAck {
            backup: false,
            address_id: 1,
            hmac: 1,
            nonce: 1,
        });
        self.w
            .send(&packet(port, 0, SYN_ACK, &padded(&option), &[]));
        let option = MptcpOption::Dss(Dss {
            fin: false,
            data_ack: Some(DataNumber::Full(ACKS[connection])),
            mapping: None,
        });
        self.w.send(&packet(port, 1, ACK, &padded(&option), &[]));
    }

    fn dss(&self, connection: usize, place: usize, (seq, len, fin): (u32, usize, bool)) -> Vec<u8> {
        let first = Identity::of(KEYS[connection], Version::V1)
            .idsn
            .wrapping_add(1);
        padded(&MptcpOption::Dss(Dss {
            fin,
            data_ack: Some(DataNumber::Full(ACKS[connection])),
            mapping: Some(Mapping {
                data_seq: DataNumber::Full(first.wrapping_add(place as u64)),
                subflow_seq: seq,
                len: (len + usize::from(fin)) as u16,
                checksum: None,
            }),
        }))
    }

    /// Segment `number` (from 1) of a connection's stream, as segment `sub` of its subflow `port`. Whether it passes.
    fn segment(&mut self, port: u16, connection: usize, number: usize, sub: u32) -> bool {
        let place = (number - 1) * MSS;
        let seq = 1 + (sub - 1) * MSS as u32;
        let options = self.dss(connection, place, (seq, MSS, false));
        let payload = self.streams[connection][place..place + MSS].to_vec();
        let id = self.w.send(&packet(port, seq, ACK, &options, &payload));
        self.w.fates[&id] == Some(Decision::Accept)
    }

    /// The end of the data, with no byte.
    fn end(&mut self, port: u16, connection: usize) {
        let all = self.streams[connection].len();
        let options = self.dss(connection, all, (0, 0, true));
        self.w.send(&packet(port, 1, ACK, &options, &[]));
    }
}

/// Two connections: 1 on the ports 1, 2 and 3, opened in this order; 2 on the ports 5 and 6.
fn two(pattern: &str) -> Server {
    let mut s = Server::new(pattern, 6, CLOSE);
    s.capable(1, 0);
    s.capable(5, 1);
    // Each says what it acknowledges with its first data.
    assert!(s.segment(1, 0, 1, 1));
    assert!(s.segment(5, 1, 1, 1));
    s.join(2, 0);
    s.join(6, 1);
    s.join(3, 0);
    s
}

#[test]
fn positions_count_on_a_path_of_one_response() {
    let mut s = two("path 2 data 2; path 3 data 1#2; path 1 data 3");
    assert!(s.segment(2, 0, 2, 1), "path 2's first");
    assert!(s.segment(1, 0, 3, 2), "path 1's second");
    assert!(s.segment(3, 0, 4, 1), "path 3's first");
    assert!(!s.segment(2, 0, 5, 2), "path 2's second");
    assert!(!s.segment(3, 0, 4, 1), "path 3's first, again");
    assert!(s.segment(3, 0, 4, 1), "and a third time");
    assert!(
        s.segment(6, 1, 2, 1),
        "of the other connection path 2's first"
    );
    assert!(!s.segment(6, 1, 3, 2));
}

#[test]
fn a_reinjection_has_no_position_and_repairs_the_transfer() {
    let mut s = two("path 2 data 1; path 3 data 1");
    assert!(!s.segment(2, 0, 2, 1));
    assert!(s.segment(3, 0, 2, 1), "data that went first on path 2");
    assert!(!s.segment(3, 0, 3, 2), "path 3's first packet of new data");
    for number in 4..=6 {
        assert!(s.segment(1, 0, number, number as u32 - 2));
    }
    assert!(s.segment(1, 0, 3, 5));
    s.end(1, 0);
    s.end(2, 0);
    s.w.finish();
    let carried = s.w.carried();
    let again: Vec<_> = carried
        .iter()
        .map(|one| (one.data.start, one.need))
        .collect();
    let needed = Some(Need::Needed);
    assert_eq!(again, [(1000, needed), (2000, needed)]);
    let rows = s.w.rows();
    let row = rows.iter().find(|row| row.flow.dst_port == 1).unwrap();
    assert!(row.complete && row.exact, "{row:?}");
    assert_eq!(
        (row.segments, row.dropped_segments, row.retransmissions),
        (6, 2, 2)
    );
    assert_eq!(row.fin_on_data, Some(false));
}

#[test]
fn responses_are_bursts_and_clauses_without_a_path_count_bytes() {
    let mut s = Server::new("burst 2 data -1; path 1 burst 2 data 1", 2, "");
    s.capable(1, 0);
    let again = s.streams[0].clone();
    s.streams[0].extend(again);
    let fates: Vec<bool> = (1..=4).map(|n| s.segment(1, 0, n, n as u32)).collect();
    assert_eq!(fates, [true, true, false, false]);
}

#[test]
fn plain_tcp_has_one_path_and_its_fin_goes_again() {
    let mut s = Server::new("path 1 data 2; path 2 data 1; data fin#2", 3, CLOSE);
    s.w.send(&packet(9, 0, SYN_ACK, &[], &[]));
    let stream = s.streams[0].clone();
    let mut fates = Vec::new();
    for number in 0..3 {
        let payload = &stream[number * MSS..(number + 1) * MSS];
        let seq = 1 + (number * MSS) as u32;
        fates.push(s.w.send(&packet(9, seq, ACK, &[], payload)));
    }
    let fin = 1 + 3 * MSS as u32;
    fates.push(s.w.send(&packet(9, fin, FIN_ACK, &[], &[])));
    fates.push(s.w.send(&packet(9, fin, FIN_ACK, &[], &[])));
    assert_eq!(s.w.dropped_ids(), [fates[1], fates[4]]);
}

#[test]
fn acknowledgements_count_on_their_path() {
    let mut s = two("path 2 ack 2; burst 2 ack 1");
    let client = |s: &mut Server, port, len: usize| -> bool {
        let id =
            s.w.send(&common::client_packet(port, ACK, &vec![b'G'; len]));
        s.w.fates[&id] == Some(Decision::Accept)
    };
    client(&mut s, 1, 30);
    // A reset acknowledges, too, and has no number.
    s.w.send(&common::client_packet(2, common::RST | ACK, &[]));
    let fates = [2, 1, 2, 6, 2].map(|port| client(&mut s, port, 0));
    assert_eq!(fates, [true, true, false, true, true]);
    // The second request: its acknowledgements count anew.
    client(&mut s, 2, 30);
    let fates = [1, 2, 2].map(|port| client(&mut s, port, 0));
    assert_eq!(fates, [false, true, false]);
}

#[test]
fn what_no_length_tells_is_named() {
    let needs = |text: &str| text.parse::<Pattern>().unwrap().needs_rehearsal();
    for (text, named) in [
        (
            "path 1 data 3 5..7#2; burst 2 data -1 fin; path 2 ack 3",
            None,
        ),
        ("data 1; path 2 data 3 -1", Some("path 2 data -1")),
        ("path 2 data 1..-3", Some("path 2 data 1..-3")),
        ("path 1 burst 1 data fin", Some("path 1 burst 1 data fin")),
    ] {
        assert_eq!(needs(text).as_deref(), named);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is sent on whatever subflow, the rule survives, and every packet has one fate.
    #[test]
    fn no_packet_makes_the_rule_panic(
        sent in proptest::collection::vec(
            (1u16..8, any::<u32>(), any::<u8>(), any::<(bool, u64, u32, u16)>(), 0usize..2000), 0..40,
        ),
    ) {
        let mut s = two("path 2 data 1..9#1..3; burst 1 data -1; path 1 ack 1");
        for (port, seq, flags, (near, number, subflow_seq, len), bytes) in &sent {
            let first = Identity::of(KEYS[0], Version::V1).idsn.wrapping_add(1);
            let number = if *near { first.wrapping_add(number % 9000) } else { *number };
            let dss = MptcpOption::Dss(Dss {
                fin: len % 3 == 0,
                data_ack: Some(DataNumber::Low(subflow_seq.wrapping_mul(3))),
                mapping: Some(Mapping {
                    data_seq: DataNumber::Full(number),
                    subflow_seq: *subflow_seq,
                    len: *len,
                    checksum: None,
                }),
            });
            let mut option = Vec::new();
            dss.write(&mut option);
            option.resize(option.len().next_multiple_of(4), 1);
            let payload = vec![b'H'; *bytes];
            s.w.send(&packet(*port, *seq, *flags, &option, &payload));
            s.w.send(&common::client_packet(*port, *flags, &payload[..bytes % 3]));
        }
        s.w.finish();
    }
}
