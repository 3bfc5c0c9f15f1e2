//! Packets that come once more with the same identification.

use super::*;

/// A packet of segment 10 of the warm exchange, and the same one with a change, so much later.
fn again(later: f64, change: impl Fn(&mut Event)) -> Seen {
    let mut script = Script::new(0xffff_d800, true);
    warm(&mut script);
    script.data(101.0, 10_000, 1000);
    let mut event = Event {
        seq: script.origin + 10_000,
        payload_len: 1000,
        ip_id: Some(script.id),
        timestamps: Some((stamp(101.0), script.newest_echo)),
        ..script.event(101.0 + later, Direction::Backward)
    };
    change(&mut event);
    script.view.data(&event);
    script.ack(151.0 + later, 11_000, 101.0);
    script.end()
}

#[test]
fn a_double_is_the_same_in_everything() {
    let seen = again(3.0, |_| {});
    assert_eq!((seen.rows.len(), seen.row.network_duplicates), (0, 1));
    let changes: [fn(&mut Event); 4] = [
        |event| event.flags.0 |= Flags::PSH.0,
        |event| event.window -= 1,
        |event| event.ack += 1,
        |event| event.timestamps = event.timestamps.map(|(value, echo)| (value, echo + 1)),
    ];
    for change in changes {
        assert_eq!(again(3.0, change).rows.len(), 1);
    }
}

#[test]
fn what_comes_later_than_any_timer_was_sent_again() {
    // Some stacks keep the identification (RFC 1122 §3.2.1.5).
    for later in [101.0, 300.0, 653.0] {
        let seen = again(later, |_| {});
        assert_eq!((seen.rows.len(), seen.row.network_duplicates), (1, 0));
    }
}

#[test]
fn packets_that_were_merged_after_they_came_by_are_doubles() {
    for (whole, parts) in [(false, true), (true, false)] {
        let mut script = Script::new(5, true);
        warm(&mut script);
        let cut = |script: &mut Script, at: f64| {
            script
                .numbered(at, 101.0, 10_000, 1000, 111)
                .numbered(at, 101.0, 11_000, 1000, 112)
                .numbered(at, 101.0, 12_000, 500, 113);
        };
        if parts {
            cut(&mut script, 101.0);
        }
        script.numbered(101.2, 101.0, 10_000, 2500, 111);
        if whole {
            cut(&mut script, 101.3);
        }
        script.ack(151.0, 12_500, 101.0);
        let seen = script.end();
        assert!(seen.rows.is_empty(), "{whole}: {:?}", seen.rows);
        assert_eq!(seen.row.unique_bytes, 12_500);
    }
    // What a sender collapses when it sends it again has an identification of its own.
    let mut script = Script::new(5, true);
    warm(&mut script);
    script.play(
        "101 data 10000+1000 sent 101 id 111; 101 data 11000+500 sent 101 id 112; \
             111 data 10000+1500 sent 111 id 113; 151 ack 11500 echo 101",
    );
    assert_eq!(script.end().rows.len(), 1);
}
