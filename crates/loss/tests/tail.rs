//! The tail rule on single connections, packet by packet.

mod common;

use common::*;
use rexmit_loss::{Event, Note};
use rexmit_tcp::Need;

/// A response whose head and body are `total` bytes.
fn sized(total: usize, extra: &str) -> Vec<u8> {
    let digits = |n: usize| n.to_string().len();
    let overhead = response(0, extra).len() - 1;
    let body = (1..=6)
        .map(|d| total - overhead - d)
        .find(|body| response(*body, extra).len() == total);
    let _ = digits;
    response(body.expect("some length fits"), extra)
}

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
            let mut w = Watched::new(settings);
            w.send(&s.syn_ack());
            let cuts = s.cuts(1000);
            let ids: Vec<u64> = cuts
                .iter()
                .map(|c| w.send(&s.segment(c.0, c.1, false)))
                .collect();
            let fin = w.send(&s.fin());
            assert_eq!(
                w.dropped_ids(),
                [ids[5], ids[6], ids[7], ids[8], ids[9], fin],
                "{settings:?} {isn}"
            );
            assert_eq!(
                w.drops()
                    .iter()
                    .map(|d| d.span.relative)
                    .collect::<Vec<_>>(),
                [5001, 6001, 7001, 8001, 9001, 10_001]
            );
            // A probe with the FIN, then the rest in order.
            w.send(&s.fin());
            for c in &cuts[5..] {
                assert!(w.rows().is_empty());
                w.send(&s.segment(c.0, c.1, false));
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
            let us = |t: Option<rexmit_time::Time>| t.map(|t| (t - row.t_start).as_nanos() / 1000);
            assert_eq!(
                (
                    us(row.t_drop),
                    us(row.t_retransmit),
                    us(row.t_fin_retransmit),
                    us(row.t_end)
                ),
                (Some(5), Some(11), Some(11), Some(16))
            );
            assert_eq!((row.resends, row.needless_resends), (6, 0));
            assert!(w
                .resents()
                .iter()
                .all(|r| r.need == Need::Needed && r.was_dropped));
            assert_eq!(
                w.resents().iter().map(|r| r.highest).collect::<Vec<_>>(),
                [true, false, false, false, false, false]
            );
        }
    }
}

#[test]
fn nothing_is_dropped_with_zero() {
    for settings in [sequence(0), hold(0)] {
        let s = Sender::new(40_000, 7, response(5_000, CLOSE));
        let mut w = Watched::new(settings);
        w.send(&s.syn_ack());
        for c in s.cuts(700) {
            w.send(&s.segment(c.0, c.1, false));
        }
        assert!(w.rows().is_empty(), "the FIN is still due");
        w.send(&s.fin());
        assert!(w.dropped_ids().is_empty());
        let row = w.rows()[0].clone();
        assert!(row.exact && row.complete && row.is_tlp.is_none() && row.t_drop.is_none());
        assert_eq!(row.t_end, Some(w.now));
        assert!(matches!(w.events[0], Event::Started(_)));
    }
}

#[test]
fn more_than_there_is_takes_all_and_says_so() {
    for settings in [sequence(50), hold(50)] {
        let s = Sender::new(40_000, 7, response(5_000, CLOSE));
        let mut w = Watched::new(settings);
        w.send(&s.syn_ack());
        for c in s.cuts(1000) {
            w.send(&s.segment(c.0, c.1, false));
        }
        w.send(&s.fin());
        assert_eq!(w.dropped_ids(), (1..=7).collect::<Vec<_>>());
        for c in s.cuts(1000) {
            w.send(&s.segment(c.0, c.1, false));
        }
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
