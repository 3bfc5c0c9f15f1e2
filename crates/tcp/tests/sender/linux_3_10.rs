//! Linux 3.10: the checks of the specification, and its parts one by one.

use rexmit_tcp::sender::CaState;
use rexmit_tcp::Mechanism::{
    EarlyRetransmit, Fack, FastRetransmit, Rto, RtoRecovery, SackRecovery, Tlp,
};

use super::script::{exact, ms, Script, START};

fn linux(rtt_ms: i64) -> Script {
    Script::new(exact("linux-3.10", &[]), ms(rtt_ms))
}

#[test]
fn the_handshake_gives_the_first_timeout() {
    linux(100).has_rto(300);
    linux(20).has_rto(220);
    linux(300).has_rto(900);
}

#[test]
fn a_probe_of_one_segment_waits_for_as_long_as_its_own_stack_delays_acknowledgements() {
    let settings = exact("linux-3.10", &[("delayed_ack_max", "100ms")]);
    let mut script = Script::new(settings, ms(20));
    script.write(1).sends(0..1);
    script.timer_at(130).again(Tlp, &[0]);
}

#[test]
fn three_lost_at_the_tail_come_back_by_probe_and_early_retransmit() {
    let mut script = linux(50);
    script.write(10).sends(0..10);
    script.at(50).ack(7, &[]).is_silent().is(CaState::Open);
    script.timer_at(150).again(Tlp, &[9]);
    script
        .at(200)
        .ack(7, &[(9, 10)])
        .is(CaState::Disorder)
        .is_silent();
    // A quarter of the round-trip time.
    script
        .timer_at(212)
        .again_by(&[(7, EarlyRetransmit), (8, SackRecovery)]);
    script.is(CaState::Recovery);
    script.at(262).ack(10, &[]).is(CaState::Open).is_silent();
}

#[test]
fn five_lost_at_the_tail_come_back_by_probe_and_fack() {
    let mut script = linux(50);
    script.write(10).sends(0..10);
    script.at(50).ack(5, &[]);
    script.timer_at(150).again(Tlp, &[9]);
    // Five segments up to the highest SACK are more than three: two are lost, and the window admits two.
    script.at(200).ack(5, &[(9, 10)]).is(CaState::Recovery);
    script.again_by(&[(5, Fack), (6, SackRecovery)]);
    // The others were not marked; they follow as no new data can be sent.
    script.at(250).ack(6, &[(9, 10)]);
    script.again(SackRecovery, &[7, 8]);
    script.at(251).ack(7, &[(9, 10)]).is_silent();
    script.at(301).ack(10, &[]).is(CaState::Open).is_silent();
}

#[test]
fn a_bare_fin_is_not_probed_and_the_timeout_starts_anew() {
    let mut script = linux(20);
    script.write(2).sends(0..2);
    script.close().sends_fin(None);
    script.at(20).ack(2, &[]);
    script.timer_at(240).is_silent();
    script.timer_at(460).sends_fin(Some(Rto));
}

#[test]
fn a_fin_with_data_is_probed_with_them() {
    let mut script = linux(20);
    script.sender.writer(START).set_cork(true);
    script.sender.writer(START).write(500, false);
    script.is_silent();
    script.close();
    let now = START;
    let first = script.sender.poll_transmit(now).unwrap();
    assert!(first.fin && first.range.len() == 500);
    script.timer_at(220);
    let probe = script.sender.poll_transmit(now).unwrap();
    assert!(probe.fin && probe.range.len() == 500 && probe.probe);
}

#[test]
fn an_acknowledgement_that_advances_ends_the_back_off() {
    let mut script = linux(20);
    script.write(1).sends(0..1);
    script.timer_at(220).again(Tlp, &[0]);
    script.timer_at(440).again(Rto, &[0]);
    script.timer_at(880).again(Rto, &[0]);
    script.has_rto(880);
    // The echo of the last retransmission is a sample although the segment was sent four times.
    script.at(900).echo(880).ack(1, &[]).has_rto(220);
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut script = linux(50);
    script.write(12).sends(0..10);
    script.at(50).ack(0, &[(1, 2)]).sends(10..11);
    script.at(51).ack(0, &[(1, 3)]).sends(11..12);
    script.at(52).ack(0, &[(1, 4)]).again(FastRetransmit, &[0]);
    script.is(CaState::Recovery);
    for next in 5..=10 {
        script
            .at(50 + i64::from(next))
            .ack(0, &[(1, next)])
            .is_silent();
    }
    // Segments 10 and 11 left before the retransmission, so nothing tells of it but the clock.
    script.at(101).ack(0, &[(1, 11)]).is_silent();
    script.at(102).ack(0, &[(1, 12)]).is_silent();
    assert_eq!(script.sender.counters().timeouts, 0);
}

#[test]
fn early_retransmit_may_be_immediate_or_off() {
    for (value, retransmissions) in [("immediate", true), ("off", false)] {
        let settings = exact("linux-3.10", &[("early_retransmit", value), ("tlp", "off")]);
        let mut script = Script::new(settings, ms(50));
        script.write(3).sends(0..3);
        script.at(50).ack(0, &[(1, 2)]);
        if retransmissions {
            script.again(EarlyRetransmit, &[0]).is(CaState::Recovery);
        } else {
            script.is_silent().is(CaState::Disorder);
        }
    }
}

#[test]
fn reordering_turns_fack_and_early_retransmit_off() {
    let mut script = linux(50);
    script.write(10).sends(0..10);
    script.at(50).ack(0, &[(1, 3)]).is(CaState::Disorder);
    // The late segment fills the hole.
    script.at(51).ack(3, &[]).is(CaState::Open);
    script.at(52).ack(7, &[]);
    script.at(60).ack(7, &[(8, 9)]).is(CaState::Disorder);
    // No early retransmit: the timer is the timeout.
    assert!(
        script.sender.timing().deadline().unwrap() > rexmit_time::Time::from_nanos(5_200_000_000)
    );
}

#[test]
fn a_timeout_sends_all_again_in_slow_start() {
    let settings = exact("linux-3.10", &[("tlp", "off")]);
    let mut script = Script::new(settings, ms(50));
    script.write(4).sends(0..4);
    script
        .timer_at(250)
        .again(Rto, &[0])
        .is(CaState::Loss)
        .has_window(1, Some(7));
    // Nothing new can be sent, so F-RTO cannot tell: go-back-N.
    script.at(300).ack(1, &[]).again(RtoRecovery, &[1, 2]);
    script.at(350).ack(3, &[]).again(RtoRecovery, &[3]);
    script.at(400).ack(4, &[]).is(CaState::Open);
}

#[test]
fn a_timeout_that_was_spurious_is_undone() {
    let settings = exact("linux-3.10", &[("tlp", "off")]);
    let mut script = Script::new(settings, ms(50));
    script.write(4).sends(0..4);
    script.timer_at(250).again(Rto, &[0]);
    // Timestamps: what is acknowledged was sent before the timeout.
    script
        .at(260)
        .echo(0)
        .ack(1, &[])
        .is(CaState::Open)
        .is_silent();
    assert_eq!(script.sender.window().cwnd, 10);
}

#[test]
fn without_sack_an_old_head_makes_nothing_else_lost() {
    let mut script = Script::new(exact("linux-3.10", &[("sack", "false")]), ms(100));
    script.write(10).sends(0..10);
    for at in [100, 101] {
        script.at(at).ack(0, &[]).is_silent();
    }
    script.at(102).ack(0, &[]);
    script.again(FastRetransmit, &[0]);
    // What is left has been out for longer than a timeout, which counts with FACK alone (`tcp_timeout_skbs`).
    script.at(390).ack(1, &[]);
    script.again(FastRetransmit, &[1]);
}
