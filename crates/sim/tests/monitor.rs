//! Captures rewritten by kinds: what each kind changes, and what it leaves.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rexmit_sim::monitor::{rewrite, times, CapturedPacket, Captures, PointCapture, Rewriting};
use rexmit_sim::synth::{Choice, Point, Weighted};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, LinkType};

fn equal(value: u64) -> Weighted {
    Weighted { value, weight: 1.0 }
}

/// A part of a corpus, whose packets know their rows.
fn plain() -> &'static Captures {
    static PLAIN: OnceLock<Captures> = OnceLock::new();
    PLAIN.get_or_init(|| {
        // Losses and duplicates, but nothing that changes the packets' order: a row then has one packet at each point.
        let mut mix = common::mix();
        // On the fast ones segments come close enough to be merged.
        mix.network.rate_bps = Choice([20_000_000, 1_000_000_000].map(equal).into());
        mix.network.mtu_bytes = Choice(vec![equal(1500)]);
        mix.network.jitter_share = 0.0;
        mix.network.burst_share = 0.0;
        mix.network.reorder_share = 0.0;
        mix.network.stall_share = 0.0;
        mix.network.loss_share = 0.8;
        mix.workload.abort_share = 0.0;
        mix.workload.reuse_share = 0.0;
        let corpus = common::corpus(mix, &["linux-6.12", "windows-xp"], 11, 40);
        let all = common::run(&corpus);
        let mut packets = all.captures.map(|packets| {
            let packet = |(time, bytes, original)| CapturedPacket::new(time, bytes, original);
            packets.into_iter().map(packet).collect::<Vec<_>>()
        });
        let retransmissions = all.retransmissions;
        for (row, cells) in retransmissions.iter().enumerate() {
            for (point, packets) in Point::ALL.iter().copied().zip(&mut packets) {
                let Some(at) = cells.get(&format!("{}_ns", point.as_str())) else {
                    continue;
                };
                let at = Time::from_nanos(at.parse().unwrap());
                let named = |packet: &&mut CapturedPacket| {
                    let headers = headers(packet);
                    packet.time == at
                        && headers.flow.to_string() == cells["flow"]
                        && headers.seq.get().to_string() == cells["seq_start"]
                };
                packets
                    .iter_mut()
                    .find(named)
                    .unwrap()
                    .rows
                    .push(row as u32);
            }
        }
        let seen = Point::ALL.iter().copied().zip(packets);
        seen.map(|(point, packets)| PointCapture {
            point,
            link: LinkType::ETHERNET,
            packets,
        })
        .collect()
    })
}

fn made(kind: Rewriting, seed: u64) -> Captures {
    let mut captures = plain().clone();
    rewrite(&mut captures, kind, seed);
    captures
}

fn headers(packet: &CapturedPacket) -> Headers {
    Headers::decode(LinkType::ETHERNET, &packet.bytes, packet.original).unwrap()
}

fn id(packet: &CapturedPacket) -> u16 {
    u16::from_be_bytes([packet.bytes[18], packet.bytes[19]])
}

fn ttl(packet: &CapturedPacket) -> u8 {
    packet.bytes[22]
}

/// A packet without identification, time to live and the checksum over them.
fn rest(packet: &CapturedPacket) -> Vec<u8> {
    let mut rest = packet.bytes.clone();
    for at in [18, 19, 22, 24, 25] {
        rest[at] = 0;
    }
    rest
}

/// The sum over an IPv4 header, 0xffff where its checksum is right (RFC 1071 §1).
fn sum(packet: &CapturedPacket) -> u32 {
    let words = packet.bytes[14..34].chunks(2);
    let sum: u32 = words.map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    (sum & 0xffff) + (sum >> 16)
}

/// The identifications of all that each host sent, TCP and not, in order: the point beside it has what nobody routed yet.
fn sent(captures: &Captures) -> BTreeMap<[u8; 4], Vec<u16>> {
    let ends = [&captures[0], &captures[2]];
    let mut all: Vec<&CapturedPacket> = ends.iter().flat_map(|seen| &seen.packets).collect();
    all.retain(|packet| [64, 128].contains(&ttl(packet)));
    all.sort_by_key(|packet| packet.time);
    let mut hosts: BTreeMap<[u8; 4], Vec<u16>> = BTreeMap::new();
    for packet in all {
        let host = packet.bytes[26..30].try_into().unwrap();
        hosts.entry(host).or_default().push(id(packet));
    }
    hosts
}

/// The packets of a capture that are not in another: those made besides.
fn besides<'a>(seen: &'a PointCapture, was: &PointCapture) -> Vec<&'a CapturedPacket> {
    let mut left: BTreeMap<_, u32> = BTreeMap::new();
    for packet in &was.packets {
        *left.entry((packet.time, rest(packet))).or_default() += 1;
    }
    let mut more: Vec<&CapturedPacket> = seen.packets.iter().collect();
    more.retain(|packet| match left.get_mut(&(packet.time, rest(packet))) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    assert_eq!(more.len(), seen.packets.len() - was.packets.len());
    more
}

const IDS: [Rewriting; 5] = [
    Rewriting::IdsHost,
    Rewriting::IdsSwapped,
    Rewriting::IdsRandom,
    Rewriting::IdsZero,
    Rewriting::IdsStepped,
];

#[test]
fn the_same_seed_makes_the_same_captures_and_checksums_are_right() {
    for &kind in Rewriting::ALL {
        let name = kind.as_str();
        assert_eq!(name.parse(), Ok(kind));
        let (one, again, other) = (made(kind, 3), made(kind, 3), made(kind, 4));
        let packets = |captures: &Captures| {
            captures
                .iter()
                .map(|seen| seen.packets.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(packets(&one), packets(&again), "{name}");
        if kind != Rewriting::IdsZero {
            assert_ne!(packets(&one), packets(&other), "{name}");
        }
        assert!(
            one.iter()
                .flat_map(|seen| &seen.packets)
                .all(|p| sum(p) == 0xffff),
            "{name}"
        );
    }
}

#[test]
fn identifications_change_and_nothing_else() {
    for kind in IDS {
        for (seen, was) in made(kind, 5).iter().zip(plain()) {
            let own = || seen.packets.iter().filter(|packet| !packet.is_cross);
            assert_eq!(own().count(), was.packets.len());
            for (packet, was) in own().zip(&was.packets) {
                assert_eq!((packet.time, &packet.rows), (was.time, &was.rows));
                assert_eq!((rest(packet), ttl(packet)), (rest(was), ttl(was)));
            }
        }
    }
}

#[test]
fn a_packet_has_one_identification_wherever_it_is_seen() {
    for kind in IDS {
        let captures = made(kind, 6);
        let mut ids: BTreeMap<(Vec<u8>, u16), u16> = BTreeMap::new();
        for (seen, was) in captures.iter().zip(plain()) {
            let own = seen.packets.iter().filter(|packet| !packet.is_cross);
            for (packet, was) in own.zip(&was.packets) {
                // Alike but for what routers change; only a SYN-ACK of 0 may be several packets.
                let is_several = id(was) == 0;
                let before = *ids.entry((rest(was), id(was))).or_insert(id(packet));
                assert!(before == id(packet) || is_several, "{kind:?}");
            }
        }
    }
}

#[test]
fn a_host_counts_all_that_it_sends() {
    for (kind, swapped) in [(Rewriting::IdsHost, false), (Rewriting::IdsSwapped, true)] {
        let mut gaps = [0, 0];
        for seed in 0..6 {
            let captures = made(kind, seed);
            let is_filtered = !captures.iter().flat_map(|s| &s.packets).any(|p| p.is_cross);
            for ids in sent(&captures).values().filter(|ids| ids.len() > 1) {
                for pair in ids.windows(2) {
                    let [before, after] =
                        [pair[0], pair[1]].map(|id| if swapped { id.swap_bytes() } else { id });
                    let step = after.wrapping_sub(before);
                    assert!(step < 2_000, "{kind:?}: {before} then {after}");
                    gaps[usize::from(is_filtered)] += u32::from(step > 1);
                }
            }
        }
        assert_eq!(gaps[0], 0, "the capture has all that the hosts sent");
        assert!(gaps[1] > 100, "{gaps:?}: a filter keeps packets out of it");
    }
}

#[test]
fn random_zero_and_stepped_identifications_are_so() {
    let zero = made(Rewriting::IdsZero, 1);
    assert!(zero
        .iter()
        .flat_map(|s| &s.packets)
        .all(|packet| id(packet) == 0));
    let random = made(Rewriting::IdsRandom, 1);
    let near = |ids: &Vec<u16>| {
        ids.windows(2)
            .filter(|p| p[1].wrapping_sub(p[0]) < 256)
            .count()
    };
    let drawn = sent(&random);
    let all: usize = drawn.values().map(Vec::len).sum();
    assert!(drawn.values().map(near).sum::<usize>() < all / 50);
    let mut steps = BTreeSet::new();
    for seed in 0..4 {
        for seen in made(Rewriting::IdsStepped, seed).iter().take(1) {
            let own: Vec<_> = seen.packets.iter().filter(|p| !p.is_cross).collect();
            for pair in own.windows(2) {
                let (one, two) = (headers(pair[0]), headers(pair[1]));
                let follows =
                    one.flow == two.flow && one.range().end == two.seq && two.payload_len > 0;
                if follows
                    && one.payload_len > 0
                    && pair[0].time == pair[1].time
                    && ttl(pair[0]) > 63
                {
                    steps.insert(id(pair[1]).wrapping_sub(id(pair[0])));
                }
            }
        }
    }
    assert_eq!(steps, BTreeSet::from([1, 256]));
}

#[test]
fn doubles_have_the_identification_of_the_first_and_are_in_no_row() {
    for (kind, hops) in [(Rewriting::DoublesRouter, 1), (Rewriting::DoublesMirror, 0)] {
        let captures = made(kind, 2);
        for (seen, was) in captures.iter().zip(plain()) {
            assert!(seen.packets.len() > was.packets.len());
            assert!(seen.packets.is_sorted_by_key(|packet| packet.time));
            assert_eq!(times(seen), times(was), "the truth keeps the first");
            let mut left: BTreeMap<_, Vec<&CapturedPacket>> = BTreeMap::new();
            for packet in &was.packets {
                left.entry((packet.time, packet.bytes.clone()))
                    .or_default()
                    .push(packet);
            }
            for packet in &seen.packets {
                if left
                    .get_mut(&(packet.time, packet.bytes.clone()))
                    .and_then(Vec::pop)
                    .is_some()
                {
                    continue;
                }
                let mut firsts = was.packets.iter().filter(|first| {
                    (rest(first), id(first)) == (rest(packet), id(packet))
                        && first.time < packet.time
                });
                let first = firsts.next_back().expect("a double has a first");
                assert!(packet.time.since(first.time) < Duration::from_millis(1));
                assert_eq!(ttl(packet), ttl(first) - hops);
                assert!(packet.rows.is_empty());
            }
        }
    }
}

#[test]
fn a_snap_length_cuts_bytes_and_no_lengths() {
    for (seen, was) in made(Rewriting::Snapped, 2).iter().zip(plain()) {
        let most = seen
            .packets
            .iter()
            .map(|packet| packet.bytes.len())
            .max()
            .unwrap();
        assert!((60..=120).contains(&most));
        for (packet, was) in seen.packets.iter().zip(&was.packets) {
            let kept = &was.bytes[..was.bytes.len().min(most)];
            assert_eq!((&packet.bytes[..], packet.original), (kept, was.original));
        }
    }
}

#[test]
fn what_the_capture_missed_is_in_no_row_of_it() {
    let captures = made(Rewriting::MonitorLosses, 9);
    let mut missed = 0;
    for (seen, was) in captures.iter().zip(plain()) {
        let mut kept = seen.packets.iter().peekable();
        for packet in &was.packets {
            if kept.next_if(|next| *next == packet).is_none() {
                missed += 1;
                for row in &packet.rows {
                    assert!(!times(seen).contains_key(row));
                }
            }
        }
        assert!(kept.next().is_none(), "only what was there is there");
    }
    let all: usize = plain().iter().map(|seen| seen.packets.len()).sum();
    assert!((1..all / 5).contains(&missed), "{missed} of {all}");
}

#[test]
fn a_clock_that_is_set_moves_all_packets_after_and_their_rows() {
    let mut back = 0;
    for seed in 0..4 {
        for (seen, was) in made(Rewriting::ClockSteps, seed).iter().zip(plain()) {
            let moved = |(new, old): (&CapturedPacket, &CapturedPacket)| {
                new.time.since(old.time).as_nanos()
            };
            let moves: Vec<i64> = seen.packets.iter().zip(&was.packets).map(moved).collect();
            let steps = moves.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!((1..=4).contains(&steps), "{steps}");
            back += u32::from(!seen.packets.is_sorted_by_key(|packet| packet.time));
            let rows = was.packets.iter().zip(&seen.packets);
            for (row, time) in
                rows.flat_map(|(was, new)| was.rows.iter().map(|row| (*row, new.time)))
            {
                assert_eq!(times(seen)[&row], time);
            }
        }
    }
    assert!(back > 0, "no clock was set back");
}

#[test]
fn super_segments_hold_what_was_cut_and_each_row() {
    let mut merged = [0, 0, 0];
    for seed in 0..4 {
        for (point, (seen, was)) in made(Rewriting::Offload, seed)
            .iter()
            .zip(plain())
            .enumerate()
        {
            merged[point] += was.packets.len() - seen.packets.len();
            let payload = |packets: &[CapturedPacket]| {
                packets
                    .iter()
                    .map(|p| u64::from(headers(p).payload_len))
                    .sum::<u64>()
            };
            assert_eq!(payload(&seen.packets), payload(&was.packets));
            assert_eq!(times(seen).len(), times(was).len());
            let retransmitted = |packets: &[CapturedPacket]| -> BTreeMap<u32, Headers> {
                let rows = packets.iter().map(|p| (p, headers(p)));
                rows.flat_map(|(p, h)| p.rows.iter().map(move |row| (*row, h)))
                    .collect()
            };
            let whole = retransmitted(&seen.packets);
            for (row, one) in retransmitted(&was.packets) {
                let first = one.seq.offset_from(whole[&row].seq);
                assert_eq!(one.flow, whole[&row].flow);
                assert!(first >= 0 && first as u32 + one.seq_len() <= whole[&row].seq_len());
            }
        }
    }
    assert!(merged[0] > 100 && merged[2] > 100, "{merged:?}");
    assert_eq!(merged[1], 0, "the wire has no super-segments");
}

#[test]
fn keep_alives_lie_before_the_next_number_in_silences_and_are_answered() {
    let mut probes = [0, 0];
    for seed in 0..3 {
        for (seen, was) in made(Rewriting::KeepAlives, seed).iter().zip(plain()) {
            assert_eq!(times(seen), times(was), "no row tells of them");
            let more = besides(seen, was);
            // What each direction had sent before, and what its last acknowledgement was.
            let mut sent: BTreeMap<_, Headers> = BTreeMap::new();
            let mut acks = 0;
            for packet in &seen.packets {
                let head = headers(packet);
                if more.contains(&packet) {
                    let before = &sent[&head.flow];
                    let next = before.range().end;
                    assert!(head.payload_len <= 1 && head.flags.0 == 0x10);
                    if head.seq.offset_from(next) == -1 {
                        probes[head.payload_len as usize] += 1;
                        acks += 1;
                    } else {
                        assert_eq!((head.seq, head.payload_len), (next, 0));
                        acks -= 1;
                    }
                    assert_eq!(head.ack, sent[&head.flow.reversed()].range().end);
                    if let (Some(new), Some(old)) = (head.timestamps, before.timestamps) {
                        assert!(
                            new.value.wrapping_sub(old.value) < 1 << 20,
                            "{new:?} {old:?}"
                        );
                    }
                } else {
                    let furthest = sent.entry(head.flow).or_insert(head);
                    if head.range().end.offset_from(furthest.range().end) >= 0 {
                        *furthest = head;
                    }
                }
            }
            assert_eq!(acks, 0, "each is answered");
        }
    }
    assert!(probes[0] > 5 && probes[1] > 5, "{probes:?}");
}

#[test]
fn a_flood_opens_what_is_never_used() {
    for seed in 0..3 {
        for (seen, was) in made(Rewriting::Floods, seed).iter().zip(plain()) {
            assert_eq!(times(seen), times(was));
            let mut flows: BTreeMap<_, Vec<Headers>> = BTreeMap::new();
            for packet in besides(seen, was) {
                let head = headers(packet);
                let known = flows.contains_key(&head.flow.reversed());
                let flow = if known {
                    head.flow.reversed()
                } else {
                    head.flow
                };
                flows.entry(flow).or_default().push(head);
            }
            let kind = |heads: &Vec<Headers>| {
                let flags: Vec<u8> = heads.iter().map(|head| head.flags.0).collect();
                match &flags[..] {
                    [2, 0x12, 0x12, 0x12, 0x12] => "half-open",
                    [2, 0x14] => "refused",
                    [2, 2, 2, 2] => "unanswered",
                    other => panic!("{other:?}"),
                }
            };
            let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
            for heads in flows.values() {
                *kinds.entry(kind(heads)).or_default() += 1;
                let syn = heads[0];
                assert!(heads[1..]
                    .iter()
                    .all(|h| h.flags.0 & 0x10 == 0 || h.ack.offset_from(syn.seq) == 1));
                if kind(heads) == "half-open" {
                    let stamps = heads[1..].iter().filter_map(|head| head.timestamps);
                    let values: Vec<u32> = stamps.map(|stamp| stamp.value).collect();
                    assert!(
                        values.windows(2).all(|pair| pair[0] != pair[1]),
                        "the clock stands still: {values:?}"
                    );
                }
                if kind(heads) == "unanswered" {
                    assert_eq!(heads[1].syn, syn.syn);
                    let last = heads[3].syn.unwrap();
                    assert!(last.window_scale.is_none() && !last.sack_permitted);
                }
            }
            assert!(kinds["half-open"] >= 20 && kinds.len() > 1, "{kinds:?}");
        }
    }
}
