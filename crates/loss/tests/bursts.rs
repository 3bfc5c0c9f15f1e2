//! Transfers that were told, over hand-made packets of two subflows and of plain TCP.

mod common;

use std::net::{IpAddr, Ipv4Addr};

use common::{packet, padded, Watched, ACK, FIN_ACK, SYN_ACK};
use proptest::prelude::*;
use rexmit_loss::{Carried, Decision, Event, Settings, Stretches, Told, Totals};
use rexmit_tcp::Need;
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Join, Mapping, MptcpOption, Version};

const MSS: u64 = 1000;
const KEY: u64 = 0x0123_4567_89ab_cdef;
/// Across the wrap of sequence numbers.
const ISNS: [u32; 2] = [u32::MAX - 1_500, 77];

fn client(path: u32) -> [u8; 4] {
    [10, 0, path as u8, 2]
}

/// A server with bursts of `SEGMENTS` segments, and the rule that watches it.
struct Talk {
    w: Watched,
    version: u8,
}

/// A packet with data: its path, where it begins in its subflow and in the stream, both in segments.
#[derive(Clone, Copy)]
struct Data {
    path: u32,
    sub: u64,
    data: u64,
}

const fn data(path: u32, sub: u64, data: u64) -> Data {
    Data { path, sub, data }
}

impl Talk {
    /// Two bursts of `segments` segments; rehearsed with these packets by burst and path, or being rehearsed.
    fn new(pattern: &str, segments: u64, totals: Option<[[u64; 2]; 2]>) -> Self {
        let told = Told {
            bytes: vec![segments * MSS; 2],
            clients: [1, 2]
                .map(|path| IpAddr::V4(Ipv4Addr::from(client(path))))
                .to_vec(),
            lossless: totals.map(|rows| Totals::new(rows.map(|row| row.to_vec()).to_vec())),
        };
        let settings = Settings {
            stretches: Stretches::Told(told),
            ..common::pattern(pattern)
        };
        Talk {
            w: Watched::new(settings),
            version: 1,
        }
    }

    fn server_sends(&mut self, path: u32, seq: u32, flags: u8, options: &[u8], len: u64) -> u64 {
        let isn = ISNS[path as usize - 1];
        let payload = vec![0; len as usize];
        let mut bytes = packet(40_000, isn.wrapping_add(seq), flags, options, &payload);
        bytes[16..20].copy_from_slice(&client(path));
        self.w.send(&bytes)
    }

    fn client_sends(&mut self, path: u32, flags: u8, len: usize) -> u64 {
        let mut bytes = common::client_packet(40_000, flags, &vec![0; len]);
        bytes[12..16].copy_from_slice(&client(path));
        self.w.send(&bytes)
    }

    /// Opens both subflows of a Multipath TCP connection, on path 1 first.
    fn mptcp(mut self) -> Self {
        let capable = MptcpOption::Capable(Capable {
            version: self.version,
            sender_key: Some(KEY),
            ..Capable::default()
        });
        self.server_sends(1, 0, SYN_ACK, &padded(&capable), 0);
        let join = MptcpOption::Join(Join::SynAck {
            backup: false,
            address_id: 1,
            hmac: 1,
            nonce: 1,
        });
        self.server_sends(2, 0, SYN_ACK, &padded(&join), 0);
        self
    }

    /// Opens a connection of plain TCP on path 2.
    fn tcp(mut self) -> Self {
        self.server_sends(2, 0, SYN_ACK, &[], 0);
        self
    }

    fn number(&self, place: u64) -> u64 {
        let version = Version::of(self.version).unwrap();
        let first = Identity::of(KEY, version).idsn.wrapping_add(1);
        first.wrapping_add(place)
    }

    /// A segment with a mapping of its own.
    fn send(&mut self, sent: Data) -> u64 {
        let number = self.number(sent.data * MSS);
        self.send_mapped(sent, (sent.sub * MSS, DataNumber::Full(number), MSS))
    }

    /// A segment whose mapping says that `len` bytes of the subflow from `from` on are data from `number` on.
    fn send_mapped(&mut self, sent: Data, (from, number, len): (u64, DataNumber, u64)) -> u64 {
        let options = mapping(number, from as u32 + 1, len as u16, false);
        let seq = (sent.sub * MSS) as u32 + 1;
        self.server_sends(sent.path, seq, ACK, &options, MSS)
    }

    fn plain(&mut self, path: u32, segment: u64) -> u64 {
        self.server_sends(path, (segment * MSS) as u32 + 1, ACK, &[], MSS)
    }

    fn carried(&self) -> Vec<&Carried> {
        self.w.carried()
    }

    /// Path, burst and position of every packet with data.
    fn places(&self) -> Vec<(u32, u32, Option<u64>)> {
        let carried = self.carried().into_iter();
        carried.map(|c| (c.path, c.stretch, c.position)).collect()
    }

    /// Packets of new data, by burst and path.
    fn counts(&self) -> [[u64; 2]; 2] {
        let mut counts = [[0; 2]; 2];
        for one in self.carried().iter().filter(|one| one.need.is_none()) {
            let row = &mut counts[one.stretch as usize - 1];
            row[one.path as usize - 1] += 1;
            assert_eq!(one.position, Some(row[one.path as usize - 1]));
        }
        counts
    }
}

/// The option that `len` numbers of a subflow from `subflow_seq` on are data from `data_seq` on, with the end of data or not.
fn mapping(data_seq: DataNumber, subflow_seq: u32, len: u16, fin: bool) -> Vec<u8> {
    padded(&MptcpOption::Dss(Dss {
        fin,
        data_ack: Some(DataNumber::Low(9)),
        mapping: Some(Mapping {
            data_seq,
            subflow_seq,
            len,
            checksum: None,
        }),
    }))
}

/// Three segments a burst: of the first two go on path 1 and one on path 2, of the second one and two.
const SCRIPT: [Data; 6] = [
    data(1, 0, 0),
    data(2, 0, 1),
    data(1, 1, 2),
    data(2, 1, 3),
    data(1, 2, 4),
    data(2, 2, 5),
];

const TOTALS: [[u64; 2]; 2] = [[2, 1], [1, 2]];

/// Which packets of the script are dropped.
fn lost(pattern: &str) -> Vec<usize> {
    let mut t = Talk::new(pattern, 3, Some(TOTALS)).mptcp();
    let sent: Vec<u64> = SCRIPT.iter().map(|sent| t.send(*sent)).collect();
    let dropped = |at: &usize| t.w.fates[&sent[*at]] == Some(Decision::Drop);
    (0..sent.len()).filter(dropped).collect()
}

#[test]
fn a_rehearsal_counts_by_burst_and_path_and_drops_nothing() {
    let mut t = Talk::new("data 1..-1; path 1 ack 1", 3, None).mptcp();
    for sent in SCRIPT {
        t.send(sent);
        t.client_sends(sent.path, ACK, 0);
    }
    assert_eq!(t.counts(), [[2, 1], [1, 2]]);
    assert!(t.w.dropped_ids().is_empty());
    let places = [
        (1, 1, Some(1)),
        (2, 1, Some(1)),
        (1, 1, Some(2)),
        (2, 2, Some(1)),
        (1, 2, Some(1)),
        (2, 2, Some(2)),
    ];
    assert_eq!(t.places(), places);
    let bytes: Vec<_> = t.carried().iter().map(|c| c.data.clone()).collect();
    assert_eq!(bytes[5], 5 * MSS..6 * MSS);
    assert!(t
        .carried()
        .iter()
        .all(|c| c.need.is_none() && !c.reinjected && c.highest));
}

#[test]
fn positions_count_within_a_path_a_burst_both_or_all() {
    assert_eq!(lost("path 1 burst 1 data 2"), [2]);
    assert_eq!(lost("path 1 data 3"), [4]);
    assert_eq!(lost("burst 2 data 1 3"), [3, 5]);
    assert_eq!(lost("data 2 5"), [1, 4]);
    assert_eq!(lost("path 2 burst 2 data -1"), [5]);
    assert_eq!(lost("path 2 burst 2 data -2..-1"), [3, 5]);
    assert_eq!(
        lost("path 1 burst 2 data -1; path 2 burst 1 data -1"),
        [1, 4]
    );
    assert_eq!(lost("burst 1 data -1"), [2]);
    assert_eq!(lost("path 2 data -3"), [1]);
    assert_eq!(lost("data -1"), [5]);
    assert!(lost("path 1 burst 2 data 2 -2").is_empty());
    assert!(lost("none").is_empty());
}

#[test]
fn a_retransmission_belongs_to_its_packet_on_its_own_subflow() {
    let mut t = Talk::new("path 1 burst 1 data -1#1..2", 3, Some(TOTALS)).mptcp();
    for sent in &SCRIPT[..3] {
        t.send(*sent);
    }
    let again: Vec<u64> = (0..2).map(|_| t.send(SCRIPT[2])).collect();
    assert_eq!(t.w.fates[&again[0]], Some(Decision::Drop));
    assert_eq!(t.w.fates[&again[1]], Some(Decision::Accept));
    assert_eq!(
        t.places()[2..],
        [(1, 1, Some(2)), (1, 1, Some(2)), (1, 1, Some(2))]
    );
    let c = t.carried();
    assert!(c[3].was_dropped && c[3].highest && !c[3].reinjected && c[3].need.is_some());
    assert_eq!(
        (c[3].need, c[4].need),
        (Some(Need::Needed), Some(Need::Needed))
    );
    assert_eq!(c[3].first_sent, Some(c[2].at));
    assert_eq!(c[3].first_path, Some(1));
    assert_eq!(t.counts()[0], [2, 1], "a retransmission is no new packet");
    // A further one: now a copy has passed.
    t.send(SCRIPT[2]);
    assert_eq!(t.carried()[5].need, Some(Need::Spurious));
}

#[test]
fn a_reinjection_takes_no_position_and_is_not_dropped() {
    let pattern = "path 1 burst 1 data -1#1..3; path 2 data 2";
    let mut t = Talk::new(pattern, 3, Some(TOTALS)).mptcp();
    for sent in &SCRIPT[..3] {
        t.send(*sent);
    }
    // The lost segment goes on path 2, under the number that new data would have had.
    let there = t.send(data(2, 1, 2));
    assert_eq!(t.w.fates[&there], Some(Decision::Accept));
    let c = t.carried();
    assert_eq!((c[3].path, c[3].position), (2, None));
    assert!(c[3].reinjected && c[3].was_dropped && c[3].highest);
    assert_eq!((c[3].first_path, c[3].first_sent), (Some(1), Some(c[2].at)));
    assert_eq!(c[3].need, Some(Need::Needed));
    // What goes on path 1 then is needed there, but not by the reader of the data.
    t.send(SCRIPT[2]);
    assert_eq!(t.carried()[4].need, Some(Need::Spurious));
    // The re-injection itself goes again: the second time on path 2, and still without a position.
    t.send(data(2, 1, 2));
    assert_eq!(t.places()[5], (2, 1, None));
    assert!(!t.carried()[5].reinjected && t.carried()[5].need.is_some());
    // New data goes on counting: this is the second packet of new data on path 2.
    let new = t.send(data(2, 2, 3));
    assert_eq!(t.w.fates[&new], Some(Decision::Drop));
    assert_eq!(t.counts(), [[2, 1], [0, 1]]);
}

#[test]
fn data_sent_anew_on_the_same_subflow_are_a_reinjection_too() {
    let mut t = Talk::new("none", 3, None).mptcp();
    t.send(data(1, 0, 0));
    t.send(data(1, 1, 0));
    let c = t.carried();
    assert!(c[1].reinjected);
    assert_eq!((c[1].position, c[1].first_path), (None, Some(1)));
}

#[test]
fn several_packets_may_share_a_mapping_and_others_have_none() {
    let mut t = Talk::new("none", 3, None).mptcp();
    let number = |t: &Talk, place| DataNumber::Low(t.number(place) as u32);
    // Packets of one buffer, each with the whole buffer's mapping.
    for segment in 0..2 {
        let all = (0, number(&t, 0), 2 * MSS);
        t.send_mapped(data(1, segment, segment), all);
    }
    // One with a mapping that goes beyond it, and one that says nothing more.
    let all = (2 * MSS, number(&t, 2 * MSS), 2 * MSS);
    t.send_mapped(data(1, 2, 2), all);
    t.plain(1, 3);
    let places: Vec<u64> = t.carried().iter().map(|c| c.data.start / MSS).collect();
    assert_eq!(places, [0, 1, 2, 3]);
    // Of what no mapping covers nothing can be said.
    t.plain(1, 4);
    assert_eq!(t.carried().len(), 4);
    assert_eq!(t.w.rule.unmapped(), 1);
}

#[test]
fn the_end_of_data_is_no_byte_and_an_endless_mapping_is_the_rest() {
    let mut t = Talk::new("none", 3, None).mptcp();
    let number = |t: &Talk, place| DataNumber::Full(t.number(place));
    let options = mapping(number(&t, 0), 1, 0, false);
    t.server_sends(1, 1, ACK, &options, MSS);
    t.plain(1, 1);
    let options = mapping(number(&t, 2 * MSS), 0, 1, true);
    t.server_sends(1, 2 * MSS as u32 + 1, ACK, &options, 0);
    assert_eq!(t.places(), [(1, 1, Some(1)), (1, 1, Some(2))]);
    assert_eq!(t.w.rule.unmapped(), 0);
}

#[test]
fn the_end_of_data_behind_a_segment_takes_none_of_the_next_one_s_bytes() {
    let mut t = Talk::new("none", 3, None).mptcp();
    t.send(SCRIPT[0]);
    let number = DataNumber::Full(t.number(5 * MSS));
    let options = mapping(number, 1, MSS as u16 + 1, true);
    t.server_sends(2, 1, ACK, &options, MSS);
    t.send(data(2, 1, 0));
    let places: Vec<u64> = t.carried().iter().map(|c| c.data.start / MSS).collect();
    assert_eq!(places, [0, 5, 0]);
}

#[test]
fn the_old_version_s_keys_are_hashed_its_way() {
    let mut t = Talk::new("none", 3, None);
    t.version = 0;
    let mut t = t.mptcp();
    t.send(SCRIPT[0]);
    t.send(SCRIPT[1]);
    assert_eq!(t.places(), [(1, 1, Some(1)), (2, 1, Some(1))]);
}

#[test]
fn a_connection_that_falls_back_counts_as_plain_tcp() {
    let mut t = Talk::new("path 1 data -1", 3, Some([[3, 0], [3, 0]]));
    let capable = MptcpOption::Capable(Capable {
        version: 1,
        sender_key: Some(KEY),
        ..Capable::default()
    });
    t.server_sends(1, 0, SYN_ACK, &padded(&capable), 0);
    let sent: Vec<u64> = (0..6).map(|segment| t.plain(1, segment)).collect();
    assert_eq!(t.w.dropped_ids(), [sent[5]]);
}

#[test]
fn plain_tcp_goes_on_its_one_path_and_others_are_none_of_it() {
    let pattern = "path 2 burst 2 data -1; burst 1 data 1#2";
    let mut t = Talk::new(pattern, 3, Some([[0, 3], [0, 3]])).tcp();
    let mut sent: Vec<u64> = (0..6).map(|segment| t.plain(2, segment)).collect();
    sent.push(t.plain(2, 0));
    assert_eq!(t.w.dropped_ids(), [sent[5], sent[6]]);
    // Its FIN, with no data, and packets of a connection that nobody saw begin.
    t.server_sends(2, 6 * MSS as u32 + 1, FIN_ACK, &[], 0);
    t.plain(1, 0);
    assert_eq!(t.carried().len(), 7);
    // What comes behind the bursts belongs to none.
    t.plain(2, 6);
    assert_eq!(t.carried().len(), 7);
    // The highest number sent is the FIN's now.
    t.plain(2, 3);
    assert!(!t.carried()[7].highest);
}

#[test]
fn acknowledgements_count_behind_the_burst_s_first_packet() {
    let pattern = "path 2 burst 2 ack 2; path 1 ack 1; burst 1 ack 3";
    let mut t = Talk::new(pattern, 3, Some(TOTALS)).mptcp();
    t.client_sends(1, ACK, 0);
    let mut acks = Vec::new();
    for (at, sent) in SCRIPT.iter().enumerate() {
        t.send(*sent);
        if at == 3 {
            t.client_sends(2, ACK, 10);
        }
        acks.push(t.client_sends(sent.path, ACK, 0));
    }
    // Path 1's first, the third of burst 1 on any path, path 2's second of burst 2.
    assert_eq!(t.w.dropped_ids(), [acks[0], acks[2], acks[5]]);
    let is_told = |event: &&Event| matches!(event, Event::BareDropped(_));
    assert_eq!(t.w.events.iter().filter(is_told).count(), 3);
}

#[test]
fn what_a_pattern_names_must_have_been_sent() {
    let totals = Totals::new(vec![vec![41, 39], vec![40, 1]]);
    let wrong = |pattern: &str| match totals.check(&pattern.parse().unwrap()) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    for good in [
        "none",
        "data 1 121 -121",
        "path 1 burst 2 data 40 -40..-1",
        "path 2 burst 2 data -1#1..9",
        "path 2 data 40",
        "path 1 ack 900",
        "data syn-ack#2; ack syn request",
    ] {
        assert_eq!(wrong(good), "");
    }
    assert_eq!(
        wrong("data 1; path 2 burst 2 data 1 2"),
        "the loss pattern's \"path 2 burst 2 data 2\" names a packet that is never sent; without loss there are, of new \
         data, in burst 1: 41 packets on path 1, 39 on path 2; burst 2: 40 packets on path 1, 1 on path 2"
    );
    for bad in [
        "data 122",
        "path 2 burst 2 data -2",
        "path 1 data 82..90",
        "burst 1 data 70..90",
    ] {
        assert!(wrong(bad).contains(bad), "{bad}: {}", wrong(bad));
    }
}

#[test]
fn a_run_with_other_packets_than_the_rehearsal_shows() {
    let rehearsal = Totals::new(vec![vec![41, 39], vec![40, 40]]);
    let run = Totals::new(vec![vec![41, 39], vec![41, 39]]);
    let said = |pattern: &str| -> Vec<String> {
        let differences = run.differences(&pattern.parse().unwrap(), &rehearsal);
        differences.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        said("path 1 burst 2 data -1 -2"),
        ["path 1 burst 2 had 41 packets of new data, 40 without loss"]
    );
    for same in [
        "burst 2 data -1",
        "data -1",
        "path 1 burst 2 data 7",
        "path 2 burst 2 data 39",
    ] {
        assert!(said(same).is_empty(), "{same}");
    }
    assert_eq!(said("path 2 burst 2 data 40").len(), 1);
}

proptest! {
    /// Whatever is sent in whatever order: the rule's account is the plain one.
    #[test]
    fn every_packet_is_accounted_for(sent in proptest::collection::vec((1u32..3, 0u64..8), 0..60)) {
        let mut t = Talk::new("none", 4, None).mptcp();
        // Each path has numbers of its own, given as data first go there.
        let mut on = [Vec::new(), Vec::new()];
        let mut first = [None; 8];
        let mut counts = [[0u64; 2]; 2];
        for (place, (path, segment)) in sent.iter().enumerate() {
            let own: &mut Vec<u64> = &mut on[*path as usize - 1];
            let times = sent[..place].iter().filter(|earlier| **earlier == (*path, *segment)).count();
            let sub = own.iter().position(|other| other == segment).unwrap_or_else(|| {
                own.push(*segment);
                own.len() - 1
            });
            let new = first[*segment as usize].is_none();
            first[*segment as usize].get_or_insert(*path);
            let burst = *segment as usize / 4;
            if new {
                counts[burst][*path as usize - 1] += 1;
            }
            t.send(data(*path, sub as u64, *segment));
            let carried = t.carried();
            let last = carried.last().unwrap();
            prop_assert_eq!(last.reinjected, !new && times == 0);
            prop_assert_eq!(last.first_path, first[*segment as usize].filter(|_| !new));
            prop_assert_eq!(last.data.clone(), segment * MSS..(segment + 1) * MSS);
            prop_assert_eq!(last.position.is_some(), first[*segment as usize] == Some(*path));
            prop_assert_eq!(last.need, (!new).then_some(Need::Spurious));
        }
        prop_assert_eq!(t.counts(), counts);
    }

    /// Whatever numbers packets have, the rule survives, and counts no more packets than it got.
    #[test]
    fn no_packet_makes_the_rule_panic(
        sent in proptest::collection::vec(
            (1u32..3, any::<u32>(), any::<u8>(), any::<(bool, u64, u32, u16)>(), 0u64..2000), 0..40,
        ),
        totals in any::<bool>(),
    ) {
        let rehearsed = [[9, 9], [9, 9]];
        let mut t = Talk::new("path 1 data -1; burst 2 data 1..-1#1..9", 3, totals.then_some(rehearsed)).mptcp();
        let first = t.number(0);
        for (path, seq, flags, (near, number, subflow_seq, len), bytes) in &sent {
            let number = if *near { first.wrapping_add(number % 9000) } else { *number };
            let options = mapping(DataNumber::Full(number), *subflow_seq, *len, len % 3 == 0);
            t.server_sends(*path, *seq, *flags, &options, *bytes);
        }
        let counted: u64 = t.counts().iter().flatten().sum();
        prop_assert!(counted <= sent.len() as u64);
    }
}
