//! Corpora of the model and their truth.

mod common;

use std::collections::BTreeMap;

use rexmit_tcp::stacks;
use rexmit_wire::{FlowKey, TcpPacket};

use common::{of_all_stacks as corpus, run, Row};

fn nanos(row: &Row, name: &str) -> Option<u64> {
    Some(row.get(name)?.parse().unwrap())
}

#[test]
fn the_same_seed_gives_the_same_whatever_the_threads() {
    let one = run(&corpus(4, 60, 1));
    assert!(one == run(&corpus(4, 60, 1)), "the same seed twice");
    assert!(one == run(&corpus(4, 60, 3)), "three threads");
    assert!(one != run(&corpus(5, 60, 1)), "another seed");
    // A connection does not depend on how many follow it.
    let more = run(&corpus(4, 80, 1));
    assert!(more.retransmissions.starts_with(&one.retransmissions));
}

#[test]
fn networks_and_workloads_do_not_depend_on_stacks() {
    let told = |name: &str| {
        let mut corpus = corpus(7, 40, 1);
        corpus.senders = vec![("a stack", stacks::page(name).unwrap().settings)];
        let all = run(&corpus);
        let drawn = |row: &Row| (row["network"].clone(), row["workload"].clone());
        let drawn: Vec<_> = all.connections.iter().map(drawn).collect();
        assert!(drawn.len() >= 40, "{}", drawn.len());
        drawn
    };
    assert_eq!(told("windows-xp"), told("linux-6.12"));
}

#[test]
fn captures_are_in_the_order_of_time_and_hold_whole_headers() {
    let all = run(&corpus(1, 100, 2));
    for capture in &all.captures {
        assert!(capture.is_sorted_by_key(|(time, _, _)| *time));
        for (_, bytes, original) in capture {
            assert!(bytes.len() <= 128 && bytes.len() <= *original as usize);
            let packet = TcpPacket::parse_captured(&bytes[14..], *original as usize - 14).unwrap();
            assert_eq!(packet.payload_len() as usize, {
                let header = usize::from(bytes[14 + 20 + 12] >> 4) * 4;
                *original as usize - 14 - 20 - header
            });
            assert_eq!(checksum(&bytes[14..34]), 0xffff);
        }
    }
    assert!(all.captures[0].len() > 5_000);
}

/// The one's complement sum (RFC 1071).
fn checksum(bytes: &[u8]) -> u32 {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let sum: u32 = words.sum();
    (sum & 0xffff) + (sum >> 16)
}

/// One retransmission a row, and the packet is in every capture whose time the row names; what is no retransmission is new.
#[test]
fn every_retransmission_has_a_row_and_every_row_a_packet() {
    let all = run(&corpus(2, 150, 2));
    let retransmissions = &all.retransmissions;
    assert!(retransmissions.len() > 400, "{}", retransmissions.len());
    // Where packets were made: the sender's capture for its own, the receiver's for the others.
    type Key = (u64, String, u32, u32);
    let mut rows_of: [BTreeMap<Key, usize>; 3] = Default::default();
    for row in retransmissions {
        for (point, name) in ["sender_ns", "switch_ns", "receiver_ns"].iter().enumerate() {
            if let Some(time) = nanos(row, name) {
                let key = (
                    time,
                    row["flow"].clone(),
                    row["seq_start"].parse().unwrap(),
                    row["seq_end"].parse().unwrap(),
                );
                *rows_of[point].entry(key).or_default() += 1;
            }
        }
    }
    for (point, capture) in all.captures.iter().enumerate() {
        let mut found = 0;
        for (time, bytes, original) in capture {
            let packet = TcpPacket::parse_captured(&bytes[14..], *original as usize - 14).unwrap();
            let start = packet.seq();
            let end = start + packet.seq_len();
            let key = (
                time.as_nanos(),
                packet.flow().to_string(),
                start.get(),
                end.get(),
            );
            found += usize::from(rows_of[point].contains_key(&key));
        }
        assert!(found >= rows_of[point].len(), "point {point}");
    }
    // One of the two ends is that which sent it.
    let ends = |row: &Row| {
        ["sender_ns", "receiver_ns"]
            .into_iter()
            .filter_map(|name| nanos(row, name))
            .count()
    };
    let lost = |row: &Row| row["dropped"] == "true";
    assert!(retransmissions
        .iter()
        .all(|row| ends(row) == 2 - usize::from(lost(row))));
    assert!(retransmissions.iter().all(|row| row["cause"] != "unnamed"));
}

/// Reckoned anew from the two hosts' captures alone: which packets carry what was sent before, and whether an earlier copy
/// came.
#[test]
fn need_is_what_came_and_retransmissions_are_what_was_sent_before() {
    let mut corpus = corpus(3, 120, 2);
    // What is told apart by its IP identification must not have a double.
    corpus.mix.network.duplicate_share = 0.0;
    corpus.mix.workload.reuse_share = 0.0;
    let all = run(&corpus);
    let mut truth: BTreeMap<(String, u64, u32), (bool, bool)> = BTreeMap::new();
    for row in &all.retransmissions {
        let made = ["sender_ns", "receiver_ns"]
            .into_iter()
            .filter_map(|name| nanos(row, name))
            .min();
        let key = (
            row["flow"].clone(),
            made.unwrap(),
            row["seq_start"].parse().unwrap(),
        );
        truth.insert(key, (row["need"] == "spurious", row["dropped"] == "true"));
    }
    // A packet is known by its flow and its IP identification: when it was at which end.
    struct Copy {
        made: u64,
        came: bool,
        start: u32,
        len: u32,
    }
    let mut copies: BTreeMap<(FlowKey, u16, u32), Vec<(u64, u32)>> = BTreeMap::new();
    for point in [0, 2] {
        for (time, bytes, original) in &all.captures[point] {
            let packet = TcpPacket::parse_captured(&bytes[14..], *original as usize - 14).unwrap();
            if packet.seq_len() > 0 {
                let id = u16::from_be_bytes([bytes[18], bytes[19]]);
                copies
                    .entry((packet.flow(), id, packet.seq().get()))
                    .or_default()
                    .push((time.as_nanos(), packet.seq_len()));
            }
        }
    }
    let mut flows: BTreeMap<FlowKey, Vec<Copy>> = BTreeMap::new();
    for ((flow, id, start), mut times) in copies {
        times.sort_unstable();
        // SYN-ACKs of Linux have no identification: leave them out, as they are in neither list.
        if id == 0 {
            continue;
        }
        flows.entry(flow).or_default().push(Copy {
            made: times[0].0,
            came: times.len() == 2,
            start,
            len: times[0].1,
        });
    }
    let mut checked = 0;
    for (flow, mut copies) in flows {
        copies.sort_by_key(|copy| copy.made);
        for (index, copy) in copies.iter().enumerate() {
            let earlier = &copies[..index];
            let before = |n: u32, came: bool| {
                earlier
                    .iter()
                    .any(|other| n.wrapping_sub(other.start) < other.len && (!came || other.came))
            };
            let numbers = (0..copy.len).map(|n| copy.start.wrapping_add(n));
            let again = before(copy.start, false);
            let key = (flow.to_string(), copy.made, copy.start);
            assert_eq!(again, truth.contains_key(&key), "{key:?}");
            if again {
                let all_came = numbers.into_iter().all(|n| before(n, true));
                assert_eq!(truth[&key], (all_came, !copy.came), "{key:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "{checked}");
}
