//! Stacks that no longer boot: what each does of the same losses, by its specification.
//!
//! A round trip takes 100 ms, all of a window's segments arrive at once, and each is acknowledged. Segments are counted
//! from 0; times are milliseconds after the first.

use rexmit_tcp::sender::CaState;
use rexmit_tcp::Mechanism::{self, Fack, FastRetransmit, Rto, SackRecovery};
use rexmit_testing::settings;

use super::script::{exact, ms, Script, START};

/// The retransmissions of a stack: when a segment was sent again, which, and why.
type Case<'a> = (&'a str, &'a [(u64, u32, Mechanism)]);

/// What is sent again in a transfer of so many segments of which the packets `lose` are lost, retransmissions counted.
fn repairs(segments: u32, lose: &[usize], cases: &[Case<'_>]) {
    for (name, expected) in cases {
        let mut script = Script::new(settings(name, &[]), ms(100));
        let seen = script.transfer(segments, lose).into_iter();
        let again: Vec<_> = seen
            .filter_map(|(at, which, why)| Some((at, which, why?)))
            .collect();
        assert_eq!(again, *expected, "{name} without {lose:?} of {segments}");
    }
}

/// The first windows of 2 segments and of 4 grow by one an acknowledgement; of 1 as well. Segment 12 is the seventh of the
/// third window, or the third of the fourth. Two windows of acknowledgements later than it left, for all but the windows of 4,
/// which are ahead.
#[test]
fn a_single_loss_is_repaired_when_enough_follows_it() {
    let cases: [Case<'_>; 5] = [
        ("linux-2.4", &[(400, 12, FastRetransmit)]),
        ("windows-xp", &[(400, 12, FastRetransmit)]),
        ("freebsd-5", &[(500, 12, FastRetransmit)]),
        ("solaris-10", &[(300, 12, FastRetransmit)]),
        ("rfc", &[(300, 12, FastRetransmit)]),
    ];
    repairs(40, &[12], &cases);
}

/// Twelve segments in windows of 2, 4 and 6: the last three are in flight when the first of them is lost.
#[test]
fn the_second_duplicate_is_enough_for_windows_alone() {
    let cases: [Case<'_>; 4] = [
        ("windows-xp", &[(300, 9, FastRetransmit)]),
        ("linux-2.4", &[(600, 9, Rto)]),
        ("freebsd-5", &[(730, 9, Rto)]),
        ("rfc", &[(1_200, 9, Rto)]),
    ];
    repairs(12, &[9], &cases);
}

/// Nothing follows the last segment: the timeout after the last acknowledgement repairs it.
#[test]
fn a_tail_waits_for_the_timeout() {
    let cases: [Case<'_>; 6] = [
        // srtt + 200 ms, at 300 ms.
        ("linux-2.4", &[(600, 9, Rto)]),
        // Three ticks of 100 ms, at 300 ms.
        ("windows-xp", &[(600, 9, Rto)]),
        // At 400 ms, one window later: 10 ticks, 3 of a deviation that dies away, and 20.
        ("freebsd-5", &[(730, 9, Rto)]),
        // At 400 ms as well, and no less than 1.2 s.
        ("freebsd-5-unc2007", &[(1_600, 9, Rto)]),
        // At 200 ms; ten samples have pulled the assumed round trip of 1.5 s down to 468 ms: 468 + 4 * 601 + 117.
        ("solaris-10", &[(3_190, 9, Rto)]),
        // RFC 6298 §2.4, at 200 ms.
        ("rfc", &[(1_200, 9, Rto)]),
    ];
    repairs(10, &[9], &cases);
}

#[test]
fn a_tail_lost_twice_waits_twice_as_long() {
    let cases: [Case<'_>; 5] = [
        ("linux-2.4", &[(600, 9, Rto), (1_200, 9, Rto)]),
        ("windows-xp", &[(600, 9, Rto), (1_200, 9, Rto)]),
        // BSD doubles what it measured, 130 ms, and adds the 200 ms once.
        ("freebsd-5", &[(730, 9, Rto), (1_190, 9, Rto)]),
        ("solaris-10", &[(3_190, 9, Rto), (9_170, 9, Rto)]),
        ("rfc", &[(1_200, 9, Rto), (3_200, 9, Rto)]),
    ];
    repairs(10, &[9, 10], &cases);
}

#[test]
fn a_burst_is_repaired_at_once_with_sack_and_one_a_round_trip_without() {
    let fast = |at| {
        [
            (at, 12, FastRetransmit),
            (at, 13, SackRecovery),
            (at, 14, SackRecovery),
        ]
    };
    let (third, fourth) = (fast(300), fast(400));
    let cases: [Case<'_>; 5] = [
        (
            "linux-2.4",
            &[
                (400, 12, Fack),
                (400, 13, SackRecovery),
                (400, 14, SackRecovery),
            ],
        ),
        ("windows-xp", &fourth),
        ("solaris-10", &third),
        ("rfc", &third),
        // RFC 6582 §3.2: each partial acknowledgement shows the next hole.
        (
            "freebsd-5",
            &[500, 600, 700].map(|at| (at, at as u32 / 100 + 7, FastRetransmit)),
        ),
    ];
    repairs(40, &[12, 13, 14], &cases);
}

/// The retransmission is packet 28 of Linux 2.4, 26 of Windows, 25 of FreeBSD, and 30 of the others: the less is sent
/// before it, the less the duplicates before it let go.
#[test]
fn a_lost_retransmission_is_seen_by_fack_alone() {
    let cases: [(usize, Case<'_>); 5] = [
        // Data that left after the retransmission were SACKed (tcp_mark_lost_retrans).
        (
            28,
            (
                "linux-2.4",
                &[(400, 12, FastRetransmit), (500, 12, SackRecovery)],
            ),
        ),
        // For the others a timeout, as long as it is at the retransmission.
        (
            26,
            ("windows-xp", &[(400, 12, FastRetransmit), (700, 12, Rto)]),
        ),
        (
            25,
            ("freebsd-5", &[(500, 12, FastRetransmit), (820, 12, Rto)]),
        ),
        (
            30,
            ("solaris-10", &[(300, 12, FastRetransmit), (2_480, 12, Rto)]),
        ),
        (30, ("rfc", &[(300, 12, FastRetransmit), (1_300, 12, Rto)])),
    ];
    for (packet, case) in cases {
        repairs(40, &[12, packet], &[case]);
    }
}

/// How many segments were sent for the first time, by the milliseconds.
fn windows(
    name: &str,
    changes: &[(&str, &str)],
    segments: u32,
    lose: &[usize],
) -> Vec<(u64, usize)> {
    let mut script = Script::new(settings(name, changes), ms(100));
    let seen = script.transfer(segments, lose);
    let new = seen.iter().filter(|(.., why)| why.is_none());
    let at: Vec<u64> = new.map(|(at, ..)| *at).collect();
    at.chunk_by(|one, next| one == next)
        .map(|sent| (sent[0], sent.len()))
        .collect()
}

#[test]
fn first_windows_differ() {
    let first = |name| windows(name, &[], 30, &[])[0].1;
    assert_eq!(first("linux-2.4"), 2);
    assert_eq!(first("windows-xp"), 2);
    assert_eq!(first("freebsd-5"), 1);
    // RFC 3390, for segments of 1000 bytes.
    assert_eq!(first("solaris-10"), 4);
    assert_eq!(first("rfc"), 4);
}

/// With and without RFC 3042: a window of eight whose first segment is lost and second SACKed.
#[test]
fn duplicates_let_new_data_go_where_limited_transmit_is() {
    let sent = |limited| {
        let changes = [("limited_transmit", limited), ("initial_window", "3")];
        windows("rfc", &changes, 8, &[0])[1..].to_vec()
    };
    // Two duplicates let two segments go, which make the third duplicate.
    assert_eq!(sent("true")[0], (100, 2));
    // Without them, all waits for the timeout.
    assert_eq!(sent("false")[0].0, 1_100);
}

/// Of sixteen segments in flight the first is lost, and fifteen duplicates come.
#[test]
fn recoveries_spread_what_they_send_differently() {
    let during = |name| {
        let sent = windows(name, &[("initial_window", "8")], 80, &[8]);
        assert_eq!(sent[1], (100, 16), "{name}");
        sent[2]
    };
    // Two by limited transmit, then one for every second SACK (tcp_cwnd_down).
    assert_eq!(during("linux-2.4"), (200, 8));
    // RFC 6675 §5: two by limited transmit, then as many as leave half the window in flight, the retransmission counted.
    assert_eq!(during("rfc"), (200, 7));
    // RFC 6582 §3.2: the window of 8 and 15 duplicates, less the 16 in flight.
    assert_eq!(during("freebsd-5"), (200, 7));
    // As RFC 6675, a duplicate earlier, without limited transmit.
    assert_eq!(during("windows-xp"), (200, 7));
}

/// A sender whose window has grown to three segments, of which the first waits for its timeout while 2 to 4 are out.
fn three_out(name: &str) -> Script {
    let mut script = Script::new(exact(name, &[("initial_window", "1")]), ms(40));
    script.echo(0).write(5).sends(0..1);
    script.at(40).ack(1, &[]).sends(1..3);
    script.echo(40).at(80).ack(2, &[]).sends(3..5);
    assert_eq!(script.sender.window().cwnd, 3);
    script
}

/// A timeout whose segment was only late. Its window was odd, so that twice the threshold is not what it was.
#[test]
fn a_window_that_is_undone_is_the_one_before_or_made_of_the_threshold() {
    let undone = |name| {
        let mut script = three_out(name);
        let due = script.sender.timing().deadline().unwrap() - START;
        let due_ms = due.as_nanos() / 1_000_000;
        script.at(due_ms);
        assert_eq!(script.sender.window().cwnd, 1, "{name}");
        script.echo(80).at(due_ms + 1).ack(3, &[]);
        script.sender.window().cwnd
    };
    // snd_cwnd_prev
    assert_eq!(undone("freebsd-5"), 3);
    // tcp_undo_cwr
    assert_eq!(undone("linux-2.4"), 4);
}

/// A recovery whose end shows that it was spurious: the head of ten segments was only late, and all is acknowledged at once.
#[test]
fn before_2_6_39_an_undo_allows_no_burst() {
    let undone = |name, changes: &[(&str, &str)]| {
        let same = [
            ("initial_window", "10"),
            ("congestion_control", "reno"),
            ("dupack_threshold", "5"),
        ];
        let mut script = Script::new(exact(name, &[&same, changes].concat()), ms(40));
        script.write(10).sends(0..10);
        script
            .at(40)
            .echo(0)
            .ack(0, &[(1, 7)])
            .is(CaState::Recovery);
        script.at(45).ack(10, &[]).is(CaState::Open);
        assert_eq!(script.sender.counters().undos, 1, "{name}");
        script.sender.window().cwnd
    };
    // Nothing is in flight, and three segments may follow (tcp_undo_cwr, tcp_moderate_cwnd, tcp_max_burst).
    assert_eq!(undone("linux-2.4", &[]), 3);
    assert_eq!(undone("linux-2.4", &[("undo_moderates", "false")]), 10);
    assert_eq!(undone("linux-2.4", &[("max_burst", "reordering")]), 5);
    assert_eq!(undone("linux-3.10", &[]), 10);
}

/// Two short segments are out, and the first times out.
#[test]
fn short_segments_are_sent_again_together_where_they_are_taken_from_the_stream() {
    let again = |name| {
        let mut script = Script::new(exact(name, &[("initial_window", "2")]), ms(40));
        let start = START;
        script.sender.writer(start).set_nodelay(true);
        for _ in 0..2 {
            script.sender.writer(start).write(400, false);
            assert_eq!(script.sender.poll_transmit(start).unwrap().range.len(), 400);
        }
        let due = script.sender.timing().deadline().unwrap();
        script.sender.on_deadline(due);
        script.sender.poll_transmit(due).unwrap().range.len()
    };
    assert_eq!(again("freebsd-5"), 800);
    assert_eq!(again("solaris-10"), 800);
    assert_eq!(again("windows-xp"), 400);
}
