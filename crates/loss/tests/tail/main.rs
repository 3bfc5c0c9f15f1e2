//! The tail rule on single connections, packet by packet.

#[path = "../common/mod.rs"]
mod common;
mod heads;
mod holding;

use common::*;
use rexmit_loss::Settings;
use rexmit_loss::{Event, Note, Why};
use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};

#[test]
fn drops_the_last_five_and_the_fin_and_times_their_return() {
    for settings in [sequence(5), hold(5)] {
        for isn in [
            0,
            1,
            1000,
            0x7fff_ffff,
            u32::MAX - 100,
            u32::MAX - 5000,
            u32::MAX,
        ] {
            let s = Sender::new(40_000, isn, sized(10_000, CLOSE));
            let mut w = Watched::behind(&settings, &s);
            let places = s.places(1000);
            let ids = w.segments(&s, &places);
            let fin = w.send(&s.fin());
            assert_eq!(
                w.dropped_ids(),
                [ids[5], ids[6], ids[7], ids[8], ids[9], fin],
                "{settings:?} {isn}"
            );
            let relative: Vec<_> = w.drops().iter().map(|drop| drop.span.relative).collect();
            assert_eq!(relative, [5001, 6001, 7001, 8001, 9001, 10_001]);
            // A probe with the FIN, then the rest in order.
            w.send(&s.fin());
            for to in places[5..].windows(2) {
                assert!(w.rows().is_empty());
                w.segments(&s, to);
            }
            let rows = w.rows();
            let [row] = &rows[..] else { panic!("{rows:?}") };
            assert_eq!(
                (row.segments, row.dropped_segments, row.dropped_packets),
                (10, 5, 6)
            );
            assert_eq!(
                (row.size_bytes(), row.mss_bytes, row.fin_on_data),
                (10_000, 1000, Some(false))
            );
            assert!(
                row.exact && row.complete && !row.stalled && row.notes.is_empty(),
                "{row:?}"
            );
            assert_eq!(row.is_tlp, Some(true));
            let us = |t: Option<Time>| t.map(|t| (t - row.t_start).as_nanos() / 1000);
            let times = [
                row.t_drop,
                row.t_retransmit,
                row.t_fin_retransmit,
                row.t_end,
            ];
            assert_eq!(times.map(us), [5, 11, 11, 16].map(Some));
            // As the paper writes them: the first dropped packet came back behind the probe, which had the FIN.
            let us = |span: Option<Duration>| span.map(|span| span.as_nanos() / 1000);
            let spans = [
                row.t_recover(),
                row.t_recover_printed(),
                row.t_total(),
                row.t_total_printed(),
            ];
            assert_eq!(spans.map(us), [6, 7, 16, 11].map(Some));
            assert_eq!((row.retransmissions, row.spurious_retransmissions), (6, 0));
            assert!(w
                .carried()
                .iter()
                .all(|r| r.need == Some(Need::Needed) && r.was_dropped));
            assert_eq!(
                w.carried().iter().map(|r| r.highest).collect::<Vec<_>>(),
                [true, false, false, false, false, false]
            );
        }
    }
}

#[test]
fn more_than_there_is_takes_all_and_says_so() {
    for settings in [sequence(50), hold(50)] {
        let s = Sender::new(40_000, 7, response(5_000, CLOSE));
        let mut w = Watched::behind(&settings, &s);
        w.segments(&s, &s.places(1000));
        w.send(&s.fin());
        assert_eq!(w.dropped_ids(), (1..=7).collect::<Vec<_>>());
        w.segments(&s, &s.places(1000));
        w.send(&s.fin());
        let row = w.rows()[0].clone();
        assert!(row.exact && row.complete, "{row:?}");
        assert_eq!(
            row.notes,
            [Note::WholeTransfer {
                asked: 50,
                segments: 6
            }]
        );
        assert_eq!(row.is_tlp, Some(false));
    }
}

/// Sends the SYN-ACK and all segments of `s`, the last with the FIN when `fin_on_data`.
fn send_all(w: &mut Watched, s: &Sender, mss: usize, fin_on_data: bool) -> Vec<u64> {
    w.send(&s.syn_ack());
    let places = s.places(mss);
    let last = places.len() - 2;
    let mut ids = w.segments(s, &places[..=last]);
    ids.push(w.send(&s.segment(places[last], places[last + 1], fin_on_data)));
    ids
}

#[test]
fn a_fin_with_data_counts_as_one_of_the_segments() {
    for settings in [sequence(3), hold(3)] {
        let s = Sender::new(40_000, u32::MAX - 2_500, sized(10_000, CLOSE));
        let mut w = Watched::new(settings.clone());
        let ids = send_all(&mut w, &s, 1000, true);
        assert_eq!(w.dropped_ids(), ids[7..]);
        w.send(&s.segment(9000, 10_000, true));
        w.send(&s.segment(7000, 9000, false)); // one packet brings back two
        let row = w.rows()[0].clone();
        assert_eq!(
            (row.dropped_segments, row.dropped_packets, row.fin_on_data),
            (3, 3, Some(true))
        );
        assert_eq!(
            (row.retransmissions, row.is_tlp, row.exact),
            (2, Some(true), true)
        );
        assert_eq!(row.t_fin_retransmit, row.t_retransmit);
        assert_eq!(row.t_end, Some(w.now));
    }
}

#[test]
fn one_dropped_packet_cannot_tell_a_probe() {
    let s = Sender::new(40_000, 5, sized(3_000, CLOSE));
    let mut w = Watched::new(sequence(1));
    send_all(&mut w, &s, 1000, true);
    w.send(&s.segment(2000, 3000, true));
    assert_eq!(w.rows()[0].is_tlp, None);
}

#[test]
fn retransmissions_that_join_dropped_and_undropped_bytes_pass() {
    let s = Sender::new(40_000, 5, sized(10_000, CLOSE));
    let mut w = Watched::new(Settings {
        linger: Duration::MAX,
        ..sequence(2)
    });
    send_all(&mut w, &s, 1000, false);
    w.send(&s.fin());
    let joined = w.send(&s.segment(7500, 8500, false));
    let rest = w.send(&s.segment(8500, 10_000, true));
    let again = w.send(&s.segment(9000, 10_000, false));
    let before = w.send(&s.segment(0, 1000, false));
    for id in [joined, rest, again, before] {
        assert!(!w.dropped_ids().contains(&id));
    }
    let needs: Vec<_> = w
        .carried()
        .iter()
        .map(|r| (r.need, r.was_dropped, r.highest))
        .collect();
    assert_eq!(
        needs,
        [
            (Some(Need::Needed), true, false),
            (Some(Need::Needed), true, true),
            (Some(Need::Spurious), true, false),
            (Some(Need::Spurious), false, false),
        ]
    );
    let first_sent: Vec<_> = w
        .carried()
        .iter()
        .map(|r| {
            r.first_sent
                .map(|t| (t - Time::from_nanos(1_002_000)).as_nanos() / 1000)
        })
        .collect();
    assert_eq!(first_sent, [Some(7), Some(8), Some(9), Some(0)]);
    assert!(w.rows().is_empty(), "the transfer lingers");
    w.finish();
    let row = w.rows()[0].clone();
    assert_eq!(
        (
            row.retransmissions,
            row.spurious_retransmissions,
            row.complete
        ),
        (4, 2, true)
    );
    assert!(row.notes.is_empty() && row.t_end < Some(w.now));
}

#[test]
fn a_kept_connection_has_a_row_for_each_transfer() {
    for settings in [sequence(2), hold(2)] {
        let first = response(3_000, "");
        let second = response(2_500, "");
        let both = [first.clone(), second.clone()].concat();
        let s = Sender::new(40_000, u32::MAX - 1000, both);
        let mut w = Watched::behind(&settings, &s);
        let mut at = 0;
        for (n, len) in [first.len(), second.len()].into_iter().enumerate() {
            let places: Vec<_> = (at..at + len).step_by(1000).chain([at + len]).collect();
            let ids = w.segments(&s, &places);
            let lost = ids.len() - 2;
            assert_eq!(w.dropped_ids()[2 * n..], ids[lost..]);
            w.segments(&s, &places[lost..]);
            let rows = w.rows();
            assert_eq!(rows.len(), n + 1);
            assert!(
                rows[n].exact && rows[n].complete && rows[n].fin_on_data.is_none(),
                "{:?}",
                rows[n]
            );
            at += len;
        }
        let fin = w.send(&s.fin());
        assert!(!w.dropped_ids().contains(&fin), "the transfers are over");
    }
}

#[test]
fn a_segment_with_the_end_of_one_and_the_start_of_another_belongs_to_both() {
    for settings in [sequence(1), hold(1)] {
        let (first, second) = (response(1_500, ""), response(3_000, CLOSE));
        let border = first.len();
        let s = Sender::new(40_000, 9, [first, second].concat());
        for split in [border + 1, border + 6, border + 30, border + 100] {
            let mut w = Watched::behind(&settings, &s);
            let cuts = [0, 1000, split, split + 1000, split + 2000, s.stream.len()];
            let ids = w.segments(&s, &cuts);
            let fin = w.send(&s.fin());
            assert_eq!(w.dropped_ids(), [ids[1], ids[4], fin], "split at {split}");
            w.send(&s.segment(1000, split, false));
            assert_eq!(w.rows().len(), 1);
            assert!(w.rows()[0].exact, "{:?}", w.rows()[0]);
            w.send(&s.segment(cuts[4], cuts[5], true));
            let second = w.rows()[1].clone();
            assert!(
                second.complete && !second.exact,
                "it lost its first segment as well: {second:?}"
            );
            assert_eq!(
                second.notes,
                [Note::NotExact {
                    asked: 1,
                    dropped: 2,
                    in_tail: 1
                }]
            );
        }
    }
}

#[test]
fn a_connection_may_be_met_in_its_middle() {
    for settings in [sequence(2), hold(2)] {
        let s = Sender::new(
            40_000,
            u32::MAX - 700,
            [vec![b'z'; 1000], sized(5_000, CLOSE)].concat(),
        );
        let mut w = Watched::new(settings.clone());
        let ids = w.segments(&s, &s.places(1000));
        let fin = w.send(&s.fin());
        assert_eq!(w.dropped_ids(), [ids[4], ids[5], fin]);
        w.send(&s.segment(4000, 6000, true));
        let row = w.rows()[0].clone();
        assert_eq!((row.isn, row.size_bytes(), row.exact), (None, 5_000, true));
        assert_eq!(w.drops()[0].span.relative, 4001);
    }
}

#[test]
fn a_reset_or_new_handshake_ends_the_connection() {
    for settings in [sequence(2), hold(2)] {
        for (ending, note) in [(RST, Note::Reset), (SYN_ACK, Note::Replaced)] {
            let s = Sender::new(40_000, 100, sized(5_000, CLOSE));
            let mut w = Watched::new(settings.clone());
            send_all(&mut w, &s, 1000, false);
            w.send(&s.syn_ack()); // sent again: nothing new
            assert!(w.rows().is_empty());
            w.send(&packet(40_000, 77_000, ending, &[], &[]));
            let row = w.rows()[0].clone();
            assert_eq!((row.complete, row.exact, row.t_end), (false, false, None));
            assert!(row.notes.contains(&note), "{row:?}");
            assert!(w.fates.values().all(Option::is_some), "nothing stays held");
            // The ports again, with the same bytes at the same place: a connection of its own.
            let s = Sender { isn: 77_000, ..s };
            let lost = w.dropped_ids().len();
            let ids = send_all(&mut w, &s, 1000, true);
            assert_eq!(w.dropped_ids()[lost..], ids[3..]);
            w.send(&s.segment(3000, 5000, true));
            assert!(w.rows()[1].exact);
        }
    }
}

#[test]
fn late_packets_of_a_finished_measurement_pass() {
    for settings in [sequence(4), hold(4)] {
        let s = Sender::new(40_000, 100, sized(3_000, CLOSE));
        let mut w = Watched::new(settings.clone());
        send_all(&mut w, &s, 1000, false);
        w.finish();
        let dropped = w.dropped_ids();
        assert_eq!(w.rows().len(), 1);
        assert!(w.rows()[0].notes.contains(&Note::Ended));
        w.segments(&s, &s.places(1000));
        w.send(&s.fin());
        w.finish();
        assert_eq!((w.dropped_ids(), w.rows().len()), (dropped, 1));
    }
}

#[test]
fn a_fin_before_the_announced_end() {
    let whole = sized(10_000, CLOSE);
    for settings in [sequence(2), hold(2)] {
        let s = Sender::new(40_000, 100, whole[..4_000].to_vec());
        let mut w = Watched::new(settings.clone());
        send_all(&mut w, &s, 1000, false);
        w.send(&s.fin());
        // `hold` had let the segments go before the FIN came: the end was believed to be far.
        assert!(w.dropped_ids().is_empty());
        let row = w.rows()[0].clone();
        assert!(row.complete && !row.exact, "{row:?}");
        assert_eq!(row.notes[0], Note::ShortOf { missing: 6_000 });
    }
}

#[test]
fn unequal_segments_are_reported_in_sequence() {
    let s = Sender::new(40_000, 100, sized(10_000, CLOSE));
    let mut w = Watched::behind(&sequence(2), &s);
    let mut cuts: Vec<usize> = (0..=8_000).step_by(1000).collect();
    cuts.extend([8_500, 9_000, 9_500, 10_000]);
    w.segments(&s, &cuts);
    w.send(&s.fin());
    w.send(&s.segment(0, 10_000, true));
    let row = w.rows()[0].clone();
    assert!(!row.exact);
    assert_eq!(
        row.notes[0],
        Note::NotExact {
            asked: 2,
            dropped: 4,
            in_tail: 2
        }
    );
}

#[test]
fn memory_is_bounded_by_forgetting_idle_connections() {
    for settings in [sequence(2), hold(2)] {
        let mut w = Watched::new(Settings {
            max_flows: 10,
            ..settings
        });
        for n in 0..100 {
            let s = Sender::new(1_000 + n, 100, sized(5_000, CLOSE));
            send_all(&mut w, &s, 1000, false);
        }
        assert_eq!(w.rule.counters().evicted_flows, 90);
        assert_eq!(w.rule.counters().evicted_transfers, 90);
        assert_eq!(w.rows().len(), 90);
        w.finish();
        assert_eq!(w.rows().len(), 100);
    }
}

#[test]
fn packets_without_data_pass_and_leave_no_trace() {
    let mut w = Watched::new(sequence(5));
    w.send(&packet(1, 5, ACK, &[], &[]));
    w.send(&packet(1, 5, 0x02, &[], &[])); // this side is a client here
    w.send(&packet(1, 5, RST, &[], &[]));
    assert!(w.events.is_empty() && w.dropped_ids().is_empty());
}

#[test]
fn a_kept_connection_is_measured_again_after_a_stall_or_an_end() {
    for stall in [true, false] {
        let first = response(3_000, "");
        let s = Sender::new(40_000, 100, [first.clone(), response(3_000, "")].concat());
        let mut w = Watched::behind(&hold(2), &s);
        w.send(&s.segment(0, 1000, false));
        w.send(&s.segment(1000, 2000, false));
        if stall {
            w.wait(Duration::from_secs(3));
        } else {
            w.finish();
        }
        w.send(&s.segment(2000, first.len(), false));
        assert!(w.dropped_ids().is_empty());
        assert_eq!((w.rows().len(), w.rows()[0].stalled), (1, stall));
        let ids = w.segments(&s, &[0, 1000, 2000, first.len()].map(|at| first.len() + at));
        assert_eq!(w.dropped_ids(), ids[1..]);
        w.send(&s.segment(first.len(), 2 * first.len(), false));
        assert!(w.rows()[1].exact && !w.rows()[1].stalled);
    }
}

#[test]
fn a_fin_that_overtakes_its_response_waits_for_it() {
    let s = Sender::new(40_000, 9, response(500, CLOSE));
    let mut w = Watched::behind(&hold(1), &s);
    let fin = w.send(&s.fin());
    assert!(w.is_held(fin));
    let data = w.send(&s.segment(0, s.stream.len(), false));
    assert_eq!(w.dropped_ids(), [fin, data]);
}
