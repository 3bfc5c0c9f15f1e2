//! Packets of two hosts, captured at several points with clocks of their own.

use rexmit_tcp::Need;
use rexmit_time::{Streams, Time};
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

use super::alignment::Alignment;
use super::passage::{sightings, Sighting};
use super::rows::{Lost, PacketKind};
use super::{Clocks, Follow, Mark, Rows, Sample};
use crate::testing::{self, bare};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

fn flow() -> FlowKey {
    testing::flow(40_000)
}

/// Behind an address translation.
fn outside() -> FlowKey {
    FlowKey {
        src: "192.0.2.9".parse().unwrap(),
        src_port: 61_234,
        ..flow()
    }
}

fn packet(flow: FlowKey, seq: u32, ack: u32, length: u32, id: u16) -> Headers {
    Headers {
        seq: SeqNum::new(seq),
        ack: SeqNum::new(ack),
        payload_len: length,
        window: 500,
        ip_id: Some(id),
        timestamps: Some(Timestamps {
            value: seq / 100,
            echo: ack / 100,
        }),
        ..bare(flow)
    }
}

/// Packets at points: (milliseconds, point, packet), in any order.
fn followed(points: usize, mut seen: Vec<(i64, usize, Headers)>) -> Rows {
    seen.sort_by_key(|&(at, point, _)| (at, point));
    let end = seen.last().map_or(0, |last| last.0) * MS;
    let mut follow = Follow::new(vec![(0, end); points]);
    for (at, point, headers) in seen {
        follow.packet(point, at * MS, (at * MS) as u64 + 1, &headers);
    }
    follow.finish();
    follow.drain()
}

/// Ten segments of which the sender's point has all, and the receiver's those that `arrives` says; 5 ms between the points.
fn ten(arrives: impl Fn(u16) -> bool, there: FlowKey) -> Vec<(i64, usize, Headers)> {
    let mut seen = Vec::new();
    for i in 0..10_u16 {
        let segment = |flow| packet(flow, 1000 + 100 * u32::from(i), 1, 100, 7 + i);
        seen.push((10 + i64::from(i), 0, segment(flow())));
        if arrives(i) {
            seen.push((15 + i64::from(i), 1, segment(there)));
        }
    }
    seen
}

#[test]
fn a_packet_has_one_mark_wherever_it_passes() {
    let here = packet(flow(), 1000, 5000, 100, 7);
    let mut there = Headers {
        flow: outside(),
        ttl: 57,
        ip_id: Some(9),
        ecn: 3,
        ..here
    };
    assert_eq!(Mark::of(&here), Mark::of(&there));
    there.seq += 1;
    assert_ne!(Mark::of(&here), Mark::of(&there));
}

#[test]
fn a_loss_is_between_the_points_that_it_lies_between() {
    let mut seen = ten(|i| i != 3, flow());
    let again = packet(flow(), 1300, 1, 100, 30);
    seen.push((300, 0, again));
    seen.push((305, 1, again));
    let rows = followed(2, seen);
    let lost: Vec<_> = rows
        .followed
        .iter()
        .filter(|row| row.lost.is_some())
        .collect();
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].lost, Some(Lost::Between(0, 1)));
    assert_eq!(lost[0].range.start, SeqNum::new(1300));
    let again: Vec<_> = rows.followed.iter().filter(|row| row.again).collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].need, Some(Need::Needed));
    assert_eq!(again[0].previous, Some(Lost::Between(0, 1)));
    assert_eq!(again[0].times, (300 * MS as u64 + 1, 305 * MS as u64 + 1));
    let leg = &rows.legs[0];
    assert_eq!(
        (leg.points, leg.packets, leg.lost, leg.data_lost),
        ((0, 1), 11, 1, 1)
    );
    assert_eq!(leg.delays.unwrap()[0], 5 * MS);
}

#[test]
fn what_had_arrived_is_sent_again_in_vain() {
    let mut seen = ten(|_| true, flow());
    seen.push((300, 0, packet(flow(), 1300, 1, 100, 30)));
    let rows = followed(2, seen);
    assert_eq!(rows.followed.len(), 1);
    let row = &rows.followed[0];
    assert_eq!((row.need, row.previous), (Some(Need::Spurious), None));
    assert_eq!(row.lost, Some(Lost::Between(0, 1)), "nothing of it came");
}

/// What comes by at the second point of packets that nothing tells apart, after some that show both ways: which were lost.
fn lost_of_alike(sent: &[i64], come: &[i64]) -> Vec<u64> {
    let alike = Headers {
        timestamps: None,
        ..packet(flow(), 2_000, 1, 100, 0)
    };
    let mut seen = ten(|_| true, flow());
    seen.extend(sent.iter().map(|&at| (at, 0, alike)));
    seen.extend(come.iter().map(|&at| (at, 1, alike)));
    let rows = followed(2, seen).followed.into_iter();
    let lost = rows.filter(|row| row.lost.is_some());
    lost.map(|row| row.times.0 / MS as u64).collect()
}

#[test]
fn what_nothing_tells_apart_is_the_newest_that_was_not_overtaken() {
    // The least delay so far is 5 ms: what came after 3 ms is an earlier one, unless a later one came before.
    assert_eq!(lost_of_alike(&[100, 140], &[143]), [140]);
    assert_eq!(lost_of_alike(&[100, 140, 200], &[160, 203]), [100]);
    assert_eq!(lost_of_alike(&[100, 140, 200], &[161, 162]), [200]);
}

#[test]
fn addresses_may_be_translated_on_the_way() {
    let rows = followed(2, ten(|i| i != 3, outside()));
    assert_eq!(rows.legs.len(), 1);
    assert_eq!(rows.legs[0].flows, (flow(), outside()));
    assert_eq!(rows.legs[0].lost, 1);
}

#[test]
fn what_a_capture_missed_is_not_lost() {
    let mut seen = ten(|i| i != 3, flow());
    let ack = packet(flow().reversed(), 1, 2000, 0, 40);
    seen.push((30, 1, ack));
    seen.push((35, 0, ack));
    let rows = followed(2, seen);
    assert_eq!(rows.followed, []);
    let leg = rows.legs.iter().find(|leg| leg.flows.0 == flow()).unwrap();
    assert_eq!((leg.lost, leg.missed), (0, 1));
}

#[test]
fn network_cards_cut_packets_up_and_put_them_together() {
    let one = |at, point, seq, length| {
        (
            at,
            point,
            Headers {
                timestamps: None,
                ..packet(flow(), seq, 1, length, 5)
            },
        )
    };
    // One packet at the sender's point is three on the wire, of which one is lost; three of it are one at the receiver's.
    let rows = followed(
        2,
        vec![
            one(10, 0, 1000, 300),
            one(15, 1, 1000, 100),
            one(16, 1, 1200, 100),
            one(20, 0, 1300, 100),
            one(21, 0, 1400, 100),
            one(22, 0, 1500, 100),
            one(27, 1, 1300, 300),
        ],
    );
    let lost: Vec<_> = rows
        .followed
        .iter()
        .map(|row| (row.range, row.lost))
        .collect();
    let gone = rexmit_wire::SeqRange::new(SeqNum::new(1100), 100);
    assert_eq!(lost, [(gone, Some(Lost::Between(0, 1)))]);
    assert_eq!((rows.legs[0].packets, rows.legs[0].unseen), (6, 0));
}

#[test]
fn of_three_points_the_one_behind_the_last_sighting_tells() {
    let mut seen = Vec::new();
    for (at, point, headers) in ten(|i| i != 3 && i != 5, flow()) {
        seen.push((at, if point == 1 { 2 } else { 0 }, headers));
        if point == 0 && headers.seq != SeqNum::new(1500) {
            seen.push((at + 2, 1, headers));
        }
    }
    let rows = followed(3, seen);
    let places: Vec<_> = rows.followed.iter().map(|row| row.lost).collect();
    assert_eq!(
        places,
        [Some(Lost::Between(1, 2)), Some(Lost::Between(0, 1))]
    );
}

#[test]
fn a_connection_whose_first_packets_never_pass_goes_where_others_of_its_hosts_go() {
    let mut seen = ten(|_| true, flow());
    let other = FlowKey {
        src_port: 40_001,
        ..flow()
    };
    for (at, id) in [(100, 90), (1_100, 91), (3_100, 92)] {
        let mut syn = packet(other, 77, 0, 0, id);
        syn.flags = Flags::SYN;
        seen.push((at, 0, syn));
    }
    let rows = followed(2, seen);
    let syns: Vec<_> = rows
        .followed
        .iter()
        .filter(|row| row.kind == PacketKind::Syn)
        .collect();
    assert_eq!(syns.len(), 3);
    assert!(syns.iter().all(|row| row.lost == Some(Lost::Between(0, 1))));
    let needs: Vec<_> = syns.iter().map(|row| row.need).collect();
    assert_eq!(needs, [None, Some(Need::Needed), Some(Need::Needed)]);
}

#[test]
fn a_capture_that_ended_before_has_lost_nothing() {
    let mut seen = ten(|i| i < 5, flow());
    for i in 0..10_u16 {
        // What comes back after the end shows that the other capture is over.
        let ack = packet(flow().reversed(), 1, 1100 + 100 * u32::from(i), 0, 60 + i);
        seen.push((20 + i64::from(i), 0, ack));
    }
    let mut follow = Follow::new(vec![(0, 100 * MS), (0, 19 * MS)]);
    seen.sort_by_key(|&(at, point, _)| (at, point));
    for (at, point, headers) in seen {
        follow.packet(point, at * MS, (at * MS) as u64, &headers);
    }
    follow.finish();
    let rows = follow.drain();
    assert!(rows
        .followed
        .iter()
        .all(|row| row.times.0 <= 19 * MS as u64));
}

#[test]
fn the_packets_of_a_sample_are_those_of_another_sample_of_them() {
    let (mut here, mut there) = (Sample::default(), Sample::default());
    for i in 0..200_000_u32 {
        let headers = packet(flow(), i.wrapping_mul(100), 1, 100, i as u16);
        here.add(Time::from_nanos(u64::from(i)), &headers);
        if i % 2 == 0 {
            there.add(Time::from_nanos(u64::from(i) + 5), &headers);
        }
    }
    let (both, of) = here.overlap(&there);
    assert!(of > 10_000, "{of}");
    assert_eq!(both, of, "all of the smaller capture");
    assert!(here
        .shared(&there)
        .iter()
        .all(|(one, other)| (other.at - one.at).as_nanos() == 5));
}

#[test]
fn samples_with_packets_in_common_are_found() {
    let of = |range: core::ops::Range<u32>| {
        let mut sample = Sample::default();
        for i in range {
            let headers = packet(flow(), i.wrapping_mul(100), 1, 100, i as u16);
            sample.add(Time::from_nanos(u64::from(i)), &headers);
        }
        sample
    };
    let samples = [of(0..10), of(5..15), of(20..30), of(9..21), of(40..50)];
    assert_eq!(
        Sample::in_common(&samples),
        [(0, 1), (0, 3), (1, 3), (2, 3)]
    );
}

/// Packets both ways over a second of five milliseconds, seen by clocks of which the second is `ahead` of the first.
fn passing(ahead: impl Fn(i64) -> i64, seconds: i64) -> Vec<Sighting> {
    let mut chance = Streams::new(4).stream("clocks", 0);
    (0..seconds * 100)
        .map(|i| {
            let queue = (chance.uniform().powi(4) * 40.0 * MS as f64) as i64;
            let (sent, onward) = (i * 10 * MS, i % 2 == 0);
            let (here, there) = if onward {
                (sent, sent + 5 * MS + queue)
            } else {
                (sent + 5 * MS + queue, sent)
            };
            Sighting {
                at: here,
                ahead: there + ahead(there) - here,
                onward,
            }
        })
        .collect()
}

#[test]
fn clocks_are_known_as_well_as_the_uncertainty_says() {
    for (offset, drift) in [(0, 0.0), (3 * SECOND, 40e-6), (-86_400 * SECOND, -120e-6)] {
        let ahead = |at: i64| offset + (drift * at as f64) as i64;
        let made = Alignment::of(&passing(ahead, 100)).unwrap();
        let [one] = made.passages() else {
            panic!("{made:?}")
        };
        let middle = 50 * SECOND;
        let off = made.ahead(middle) - ahead(middle) as f64;
        let uncertainty = one.uncertainty.unwrap();
        assert!(off.abs() <= uncertainty, "{off} {uncertainty}");
        assert!(uncertainty <= 7.0 * MS as f64, "{uncertainty}");
        assert!(one.drifts.0 <= drift && drift <= one.drifts.1, "{one:?}");
        let back = made.time(middle + ahead(middle));
        assert!((back - middle).abs() as f64 <= uncertainty + 1.0);
    }
}

#[test]
fn a_clock_that_is_set_has_two_stretches() {
    let set = |at: i64| if at < 60 * SECOND { SECOND } else { 4 * SECOND };
    let made = Alignment::of(&passing(set, 100)).unwrap();
    assert!(made.passages().len() > 1);
    for at in [10, 30, 80, 95] {
        let off = made.ahead(at * SECOND) - set(at * SECOND) as f64;
        assert!(off.abs() < 7.0 * MS as f64, "{at} s: {off}");
    }
}

#[test]
fn of_one_way_alone_the_uncertainty_is_unknown() {
    let onward: Vec<_> = passing(|_| SECOND, 10)
        .into_iter()
        .filter(|one| one.onward)
        .collect();
    let made = Alignment::of(&onward).unwrap();
    assert_eq!(made.passages()[0].uncertainty, None);
    assert!((made.ahead(5 * SECOND) - (SECOND + 5 * MS) as f64).abs() < 100_000.0);
}

#[test]
fn the_way_past_the_points_shows_whatever_the_clocks_are() {
    let (mut here, mut there) = (Sample::default(), Sample::default());
    let other = |at: i64| Time::from_nanos((at * MS + 700 * SECOND) as u64);
    for i in 0..50_u32 {
        let at = i64::from(i) * 20;
        let data = packet(flow(), 1000 + 100 * i, 1, 100, i as u16);
        here.add(Time::from_nanos((at * MS) as u64), &data);
        there.add(other(at + 5), &data);
        let ack = packet(flow().reversed(), 1, 1100 + 100 * i, 0, i as u16);
        there.add(other(at + 6), &ack);
        here.add(Time::from_nanos(((at + 11) * MS) as u64), &ack);
    }
    let seen = sightings(&here.shared(&there));
    assert_eq!(seen.len(), 100);
    assert!(seen
        .iter()
        .all(|one| one.onward == (one.ahead == 700 * SECOND + 5 * MS)));
    let clocks = Clocks::of(&[here, there]);
    assert_eq!(clocks.0[1].ahead(0), (700 * SECOND) as f64);
    assert_eq!(clocks.0[1].time(701 * SECOND), SECOND);
}

/// A GiB and a half away. The first are left out at both points, until it is certain that the connection is there now.
#[test]
fn a_connection_that_has_moved_is_followed() {
    let mut seen = ten(|_| true, flow());
    let moved = |i: u16| {
        packet(
            flow(),
            1000 + 100 * u32::from(i) + (3 << 29),
            1,
            100,
            50 + i,
        )
    };
    for i in 0..20_u16 {
        seen.push((100 + i64::from(i), 0, moved(i)));
        seen.push((105 + i64::from(i), 1, moved(i)));
    }
    let rows = followed(2, seen);
    let packets: Vec<u64> = rows.legs.iter().map(|leg| leg.packets).collect();
    assert_eq!(packets[0], 10);
    assert!(
        packets.len() == 2 && (10..20).contains(&packets[1]),
        "{packets:?}"
    );
    assert!(
        rows.followed.iter().all(|row| row.lost.is_none()),
        "{:?}",
        rows.followed
    );
}

#[test]
fn an_acknowledgement_of_what_is_far_says_nothing() {
    let mut seen = ten(|i| i != 9, flow());
    let back = |ack: u32, id: u16| packet(flow().reversed(), 1, ack, 0, id);
    for (at, headers) in [(40, back(1_100, 1)), (50, back(1_900 + (3 << 29), 2))] {
        seen.push((at, 1, headers));
        seen.push((at + 5, 0, headers));
    }
    let rows = followed(2, seen);
    let lost = rows.followed.iter().filter(|row| row.lost.is_some());
    assert_eq!(lost.count(), 1);
}
