//! Which copy arrived first, by what comes back besides.

use super::*;

const HOLE: (Need, Evidence) = (Need::Needed, Evidence::HoleFilled);
const FRTO: (Need, Evidence) = (Need::Spurious, Evidence::Frto);

/// Four segments are sent again together, without SACK, and acknowledged in one step. The receiver repeats itself `before`
/// times right before.
fn one_step(longest: u32, before: u32) -> Vec<(Need, Evidence)> {
    let mut script = Script::new(0xffff_d700, false);
    script.view.facts.sack = false;
    warm(&mut script);
    for i in 0..longest {
        script.data(110.0, 10_000 + i * 1000, 1000);
    }
    let start = 10_000 + longest * 1000;
    script.ack(160.0, start, 0.0);
    for i in 0..6 {
        script.data(201.0, start + i * 1000, 1000);
    }
    for i in 0..4 {
        script.data(901.0, start + i * 1000, 1000);
    }
    for _ in 0..before {
        script.ack(951.0, start, 0.0);
    }
    script
        .ack(951.2, start + 4000, 0.0)
        .ack(1301.0, start + 6000, 0.0);
    script.end().needs()
}

#[test]
fn a_step_longer_than_segments_are_acknowledged_together_fills_one_hole() {
    assert_eq!(one_step(1, 0), [HOLE, FRTO, FRTO, FRTO]);
    // What reaches beyond all that was sent again tells of a hole by itself.
    assert_eq!(one_step(4, 0)[1..3], [HOLE; 2], "as long as in order");
    assert_eq!(one_step(1, 3)[1..3], [HOLE; 2], "the others came before");
}

#[test]
fn what_was_missed_answered_the_other_retransmissions() {
    for (missed, expected) in [(2, HOLE), (3, (Need::Spurious, Evidence::AckLost))] {
        let mut script = Script::new(5, false);
        script.view.facts.sack = false;
        warm(&mut script);
        for i in 10..13 {
            script.data(101.0, i * 1000, 1000);
        }
        for i in 10..13 {
            script.data(901.0, i * 1000, 1000);
        }
        script.ack_id += missed;
        script.ack(951.2, 13_000, 0.0);
        assert_eq!(script.end().needs(), [expected; 3], "{missed} missed");
    }
}

#[test]
fn what_came_before_its_neighbour_was_sent_before_it() {
    let sent = || {
        let mut script = Script::new(0x7fff_d800, false);
        warm(&mut script);
        script.play("101 data 10000+1000; 101.1 data 11000+1000; 901 data 10000+1000");
        script
    };
    let mut script = sent();
    script.ack(1001.0, 11_000, 0.0).ack(1001.1, 12_000, 0.0);
    assert_eq!(script.end().needs(), [FRTO]);
    let mut script = sent();
    script.play("1001 ack 11000 echo 0; 1701 data 11000+1000; 1801 ack 12000 echo 0");
    assert_eq!(script.end().needs(), [HOLE, HOLE]);
}

#[test]
fn an_echo_older_than_every_retransmission_is_of_the_original_for_all_the_duplicates_reported() {
    let mut script = Script::new(77, true);
    warm(&mut script);
    script.play(
        "101 data 10000+1000; 102 data 11000+1000; 152 ack 10000 sack 11000-12000 echo 50; \
             401 data 10000+1000; 1001 data 10000+1000",
    );
    script.ack_id += 1;
    script.sack(1051.0, 12_000, &[(10_000, 11_000)], 101.0);
    let dsack = (Need::Spurious, Evidence::Dsack);
    assert_eq!(script.end().needs(), [dsack, dsack]);
}

/// A SYN-ACK is sent twice. What comes back first has `missed` packets between it and the SYN, and begins so far beyond it.
fn syn_ack_again(missed: u16, beyond: u32) -> Vec<(Need, Evidence)> {
    let mut script = Script::new(9, false);
    let syn = Event {
        flags: Flags::SYN,
        seq: SeqNum::new(76),
        ip_id: Some(500),
        ..script.event(0.0, Direction::Forward)
    };
    script.view.ack(&syn, &[]);
    for at in [0.0, 1000.0] {
        let syn_ack = Event {
            flags: Flags(Flags::SYN.0 | Flags::ACK.0),
            seq: script.origin - 1,
            ip_id: Some(0),
            ..script.event(at, Direction::Backward)
        };
        script.view.data(&syn_ack);
    }
    script.ack_id = 501 + missed;
    let first = Event {
        seq: SeqNum::new(77 + beyond),
        ack: script.origin,
        ip_id: Some(script.ack_id),
        ..script.event(1060.0, Direction::Forward)
    };
    script.view.ack(&first, &[]);
    for i in 0..3 {
        let at = 1100.0 + f64::from(i) * 100.0;
        script.data(at, i * 1000, 1000);
        script.ack(at + 50.0, (i + 1) * 1000, 0.0);
    }
    script.end().needs()
}

#[test]
fn what_followed_the_syn_tells_which_syn_ack_came() {
    let lost = (Need::Spurious, Evidence::AckLost);
    assert_eq!(syn_ack_again(0, 0), [HOLE]);
    assert_eq!(
        syn_ack_again(1, 0),
        [HOLE],
        "the SYN may have been sent again"
    );
    assert_eq!(syn_ack_again(2, 0), [lost]);
    assert_eq!(syn_ack_again(1, 700), [lost], "it had sent data");
}

#[test]
fn what_was_forgotten_goes_again() {
    for stamps in [false, true] {
        let mut script = Script::new(0, stamps);
        warm(&mut script);
        // All of it was acknowledged long ago.
        for late in 0..200 {
            script.ack(500_000.0 + f64::from(late), 10_000, 450.0);
        }
        script.play("600000 data 9000+1000; 600050 ack 10000 echo 450");
        assert_eq!(script.end().ranges(0), [(9_000, 10_000)]);
    }
}

/// The peer's SYN came by at 0 and at `again` ms, and SYN-ACKs that echo the stamp of the SYN of `echo` at these. The sender
/// is 10 ms away.
fn synacks(again: f64, echo: f64, answers: &[f64]) -> Vec<(Need, Evidence)> {
    let mut script = Script::new(0, true);
    script.away = true;
    for at in [0.0, again] {
        let syn = Event {
            flags: Flags::SYN,
            seq: SeqNum::new(76),
            timestamps: Some((stamp(at), 0)),
            ..script.event(at, Direction::Forward)
        };
        script.view.ack(&syn, &[]);
    }
    for &at in answers {
        let answer = Event {
            flags: Flags(Flags::SYN.0 | Flags::ACK.0),
            seq: script.origin - 1,
            ip_id: Some(0),
            timestamps: Some((stamp(at), stamp(echo))),
            ..script.event(at, Direction::Backward)
        };
        script.view.data(&answer);
    }
    script.ack_echo(1300.0, 0, &[], stamp(answers[0]));
    script.newest_echo = stamp(1300.0);
    let data = script.data(1310.0, 0, 1000);
    data.ack(1330.0, 1000, 1310.0);
    script.end().needs()
}

#[test]
fn a_syn_ack_that_echoes_the_first_syn_after_the_second_had_been_sent_before() {
    let lost_before = (Need::Needed, Evidence::OriginalUnseen);
    assert_eq!(synacks(1000.0, 0.0, &[1010.0]), [lost_before]);
    assert_eq!(
        synacks(1000.0, 1000.0, &[1010.0]),
        [],
        "the first SYN was lost"
    );
    let late = synacks(1000.0, 0.0, &[1010.0, 1200.0]);
    assert_eq!(late.len(), 1, "the first SYN came late");
}

#[test]
fn a_syn_ack_that_a_timer_sends_before_the_second_syn_is_answered_had_been_sent_before() {
    let sent_again = |answers: &[f64]| synacks(1005.0, 0.0, answers).len();
    assert_eq!(sent_again(&[1012.0]), 1);
    assert_eq!(sent_again(&[1012.0, 1015.0]), 2);
    assert_eq!(sent_again(&[1020.0, 1025.0]), 2, "an answer, and a timer's");
    assert_eq!(sent_again(&[1009.0, 1015.0]), 1, "the timer is not due");
    assert_eq!(sent_again(&[1112.0, 1115.0]), 1, "nor any more");
}

#[test]
fn a_syn_recorded_behind_its_answer_is_the_first() {
    // By its stamp, or by the time between them; one that a timer sent again was not seen before.
    for (stamps, later, rows) in [(true, 0.3, 0), (false, 0.3, 0), (false, 1000.0, 1)] {
        let mut script = Script::new(9, stamps);
        let syn_ack = Event {
            flags: Flags(Flags::SYN.0 | Flags::ACK.0),
            ack: script.origin,
            timestamps: stamps.then_some((stamp(0.0), stamp(-50.0))),
            ..script.event(0.0, Direction::Forward)
        };
        script.view.ack(&syn_ack, &[]);
        let syn = Event {
            flags: Flags::SYN,
            seq: script.origin - 1,
            timestamps: stamps.then_some((stamp(-50.0), 0)),
            ..script.event(later, Direction::Backward)
        };
        script.view.data(&syn);
        script
            .data(later + 0.1, 0, 1000)
            .ack(later + 50.0, 1000, later);
        let seen = script.end();
        assert_eq!(seen.rows.len(), rows, "{stamps} {later}");
        assert_eq!(seen.row.reordered, 0);
    }
}
