//! Heads of responses, however they are cut.

use super::*;

#[test]
fn several_responses_fit_into_one_segment() {
    for settings in [sequence(1), hold(1)] {
        let stream = [response(10, ""), response(20, ""), response(0, "")].concat();
        let s = Sender::new(40_000, 9, stream);
        let mut w = Watched::behind(&settings, &s);
        let id = w.send(&s.segment(0, s.stream.len(), false));
        assert_eq!(w.dropped_ids(), [id]);
        w.send(&s.segment(0, s.stream.len(), false));
        assert_eq!(w.rows().len(), 3);
        assert!(
            w.rows().iter().all(|r| r.exact && r.dropped_segments == 1),
            "{:?}",
            w.rows()
        );
    }
}

#[test]
fn heads_may_be_split_at_any_byte() {
    let s = Sender::new(40_000, u32::MAX - 20, response(2_000, CLOSE));
    let head = s.stream.len() - 2_000;
    for settings in [sequence(2), hold(2)] {
        for split in 1..head {
            let mut w = Watched::behind(&settings, &s);
            let cuts = [0, split, head + 1_000, s.stream.len()];
            let ids = w.segments(&s, &cuts);
            let fin = w.send(&s.fin());
            assert_eq!(w.dropped_ids(), [ids[1], ids[2], fin], "split at {split}");
            assert_eq!(w.rule.counters().transfers, 1);
        }
    }
}

#[test]
fn a_head_in_single_bytes_is_found() {
    let s = Sender::new(40_000, u32::MAX - 20, response(50, CLOSE));
    for (settings, exact) in [(sequence(500), false), (hold(500), true)] {
        let mut w = Watched::new(settings.clone());
        let ids = send_all(&mut w, &s, 1, true);
        let head = s.stream.len() - 50;
        // In `sequence` the bytes of the head had passed before its length was known.
        let lost = if exact { &ids[..] } else { &ids[head - 1..] };
        assert_eq!(w.dropped_ids(), lost);
        w.send(&s.segment(0, s.stream.len(), true));
        assert_eq!((w.rows()[0].exact, w.rows()[0].complete), (exact, true));
    }
}

#[test]
fn interim_responses_and_empty_bodies() {
    for settings in [sequence(1), hold(1)] {
        let stream = [
            &b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"[..],
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n",
        ];
        let s = Sender::new(40_000, 3, stream.concat());
        let mut w = Watched::behind(&settings, &s);
        let border = stream[0].len();
        let interim = w.send(&s.segment(0, border, false));
        let last = w.send(&s.segment(border, s.stream.len(), false));
        assert_eq!(w.dropped_ids(), [last]);
        assert!(!w.is_held(interim));
        w.send(&s.segment(border, s.stream.len(), false));
        assert_eq!(
            (w.rows()[0].body_bytes, w.rows()[0].head_bytes),
            (0, stream[1].len() as u64)
        );
    }
}

#[test]
fn what_cannot_be_tracked_passes_and_is_said_once() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".to_vec();
    let unsized_body = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nbody to the end".to_vec();
    let other = b"SSH-2.0-server\r\n".to_vec();
    for settings in [sequence(3), hold(3)] {
        for (stream, why) in [
            (&chunked, Why::Chunked),
            (&unsized_body, Why::NoLength),
            (&other, Why::Head(rexmit_wire::http::HeadError::NotHttp)),
        ] {
            let s = Sender::new(40_000, 3, stream.clone());
            let mut w = Watched::new(settings.clone());
            let ids = send_all(&mut w, &s, 7, false);
            let fin = w.send(&s.fin());
            assert!(
                w.dropped_ids().is_empty()
                    && ids.iter().all(|id| !w.is_held(*id))
                    && !w.is_held(fin)
            );
            let [Event::Untracked(told)] = &w.events[..] else {
                panic!("{:?}", w.events)
            };
            assert_eq!(told.why, why);
            assert_eq!(w.rule.counters().untracked, 1);
        }
        // After a chunked response the next one is found again where a packet starts with it.
        let s = Sender::new(
            40_000,
            3,
            [chunked.clone(), chunked.clone(), response(2000, "")].concat(),
        );
        let mut w = Watched::behind(&settings, &s);
        let n = chunked.len();
        for (from, to) in [(0, n), (n, 2 * n)] {
            w.send(&s.segment(from, to, false));
        }
        let id = w.send(&s.segment(2 * n, s.stream.len(), false));
        assert_eq!(w.dropped_ids(), [id]);
        assert_eq!(w.rule.counters().untracked, 2);
        let told = w
            .events
            .iter()
            .filter(|event| matches!(event, Event::Untracked(_)));
        assert_eq!(told.count(), 1);
    }
}

#[test]
fn a_head_that_a_predecessors_tail_took_with_it_is_missing_until_it_is_back() {
    for settings in [sequence(1), hold(1)] {
        for back_first in [true, false] {
            let (first, second) = (response(1_500, ""), response(3_000, CLOSE));
            let border = first.len();
            let s = Sender::new(40_000, 9, [first, second].concat());
            let mut w = Watched::behind(&settings, &s);
            w.send(&s.segment(0, 1000, false));
            let shared = s.segment(1000, border + 20, false);
            let lost = w.send(&shared);
            assert_eq!(w.dropped_ids(), [lost]);
            if back_first {
                w.send(&shared);
            }
            let len = s.stream.len();
            w.segments(
                &s,
                &[border + 20, border + 1020, border + 2020, len - 200, len],
            );
            w.send(&s.fin());
            w.send(&s.segment(border + 1020, len, true));
            assert_eq!(
                w.rows().len(),
                if back_first { 2 } else { 0 },
                "{settings:?}"
            );
            if !back_first {
                w.send(&shared);
                assert_eq!(w.rows().len(), 2);
                assert_eq!(w.rows()[1].t_end, Some(w.now));
            }
            assert!(w.rows()[1].complete);
        }
    }
}
