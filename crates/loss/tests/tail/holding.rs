//! Packets that are held, and what lets them go.

use super::*;

#[test]
fn holding_releases_in_order_and_only_what_it_must() {
    let s = Sender::new(40_000, 100, sized(10_000, CLOSE));
    let mut w = Watched::new(hold(2));
    let ids = send_all(&mut w, &s, 1000, false);
    // 1,460 bytes is what the SYN-ACK promises: the last 2,920 bytes may hold the tail.
    let held: Vec<_> = ids.iter().filter(|id| w.is_held(**id)).collect();
    assert_eq!(held, [&ids[8], &ids[9]]);
    w.send(&s.fin());
    assert_eq!(w.left, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    // Small segments at the end: more are held, the first of them go on in order.
    let mut w = Watched::behind(&hold(2), &s);
    let mut cuts: Vec<usize> = (0..8_000).step_by(1460).collect();
    cuts.extend([8_000, 8_500, 9_000, 9_500, 9_999, 10_000]);
    w.segments(&s, &cuts);
    assert_eq!(w.left, (0..=5).collect::<Vec<_>>());
    w.send(&s.fin());
    assert_eq!(w.left, (0..=9).collect::<Vec<_>>());
    assert_eq!(w.dropped_ids(), [10, 11, 12]);
}

#[test]
fn a_stall_lets_everything_go() {
    let s = Sender::new(40_000, 100, sized(10_000, CLOSE));
    let mut w = Watched::behind(&hold(5), &s);
    w.segments(&s, &s.places(1000)[..7]);
    assert!(w.is_held(5) && w.is_held(6));
    w.wait(Duration::from_millis(2_900));
    w.send(&s.segment(0, 1000, false)); // a retransmission is nothing new
    w.wait(Duration::from_millis(99));
    assert!(w.is_held(5));
    w.wait(Duration::from_millis(1));
    assert_eq!(w.left[w.left.len() - 2..], [5, 6]);
    assert!(w
        .events
        .iter()
        .any(|e| matches!(e, Event::Stalled(stalled) if stalled.released == 3)));
    w.segments(&s, &s.places(1000)[6..]);
    w.send(&s.fin());
    assert!(w.dropped_ids().is_empty() && w.rule.deadline().is_none());
    let row = w.rows()[0].clone();
    assert!(row.stalled && row.complete && !row.exact && row.t_end == Some(w.now));
    assert_eq!(row.notes, [Note::HoldStalled]);
    assert_eq!(w.rule.counters().stalls, 1);
}

#[test]
fn a_stall_in_a_head_marks_the_transfer_that_comes_of_it() {
    let s = Sender::new(40_000, 100, sized(3_000, CLOSE));
    let mut w = Watched::behind(&hold(5), &s);
    let part = w.send(&s.segment(0, 10, false));
    assert!(w.is_held(part));
    w.wait(Duration::from_secs(3));
    assert!(!w.is_held(part));
    w.send(&s.segment(10, 1000, false));
    w.send(&s.segment(1000, 3000, true));
    assert!(w.dropped_ids().is_empty());
    assert!(w.rows()[0].stalled);
}

#[test]
fn rows_linger_as_long_as_they_are_told() {
    let s = Sender::new(40_000, 100, sized(3_000, CLOSE));
    let mut w = Watched::new(Settings {
        linger: Duration::from_secs(1),
        ..sequence(1)
    });
    send_all(&mut w, &s, 1000, true);
    w.send(&s.segment(2000, 3000, true));
    w.wait(Duration::from_millis(500));
    w.send(&s.segment(2000, 3000, true));
    assert!(w.rows().is_empty());
    w.wait(Duration::from_millis(500));
    let row = w.rows()[0].clone();
    assert_eq!((row.retransmissions, row.spurious_retransmissions), (2, 1));
    let late = w.send(&s.segment(2000, 3000, true));
    assert!(!w.dropped_ids().contains(&late));
    assert_eq!(w.carried().len(), 2);
}
