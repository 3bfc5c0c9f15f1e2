//! Linux 6.1 and 6.12: the parts one by one.

use rexmit_tcp::sender::CaState;
use rexmit_tcp::Mechanism::{FastRetransmit, Rack, Rto, RtoRecovery, Tlp};

use super::script::{exact, ms, Script, START};

const BOTH: [&str; 2] = ["linux-6.1", "linux-6.12"];

fn linux(name: &str, rtt_ms: i64) -> Script {
    Script::new(exact(name, &[]), ms(rtt_ms))
}

#[test]
fn three_lost_at_the_tail_come_back_by_probe_and_rack() {
    for name in BOTH {
        let mut script = linux(name, 50);
        script.write(10).sends(0..10);
        script.at(50).ack(7, &[]).is_silent();
        script.timer_at(152).again(Tlp, &[9]);
        // The segments before were sent more than a round trip and a quarter before the probe.
        script.at(202).ack(7, &[(9, 10)]).is(CaState::Recovery);
        script.again(Rack, &[7]);
        script.at(252).ack(8, &[(9, 10)]).again(Rack, &[8]);
        script.at(302).ack(10, &[]).is(CaState::Open).is_silent();
        assert_eq!(script.sender.counters().probes, 1);
    }
}

/// Of 3.10 as well.
#[test]
fn a_probe_takes_the_timeouts_place_for_one_segment() {
    for name in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = linux(name, 20);
        script.write(1).sends(0..1);
        script.timer_at(220).again(Tlp, &[0]);
        for at in [440, 880, 1760] {
            script.timer_at(at).again(Rto, &[0]);
        }
        assert_eq!(script.sender.counters().timeouts, 3);
    }
}

#[test]
fn one_segment_probed_and_acknowledged_beyond_is_a_loss() {
    let mut script = linux("linux-6.1", 20);
    script.write(2).sends(0..2);
    script.timer_at(42).again(Tlp, &[1]);
    script
        .at(62)
        .ack(2, &[])
        .is(CaState::Open)
        .has_window(10, None);
    script.write(1).sends(2..3);
    script
        .at(82)
        .ack(3, &[])
        .is(CaState::Open)
        .has_window(7, Some(7));
}

#[test]
fn a_dsack_for_the_probe_is_no_loss() {
    let mut script = linux("linux-6.1", 20);
    script.write(2).sends(0..2);
    script.timer_at(42).again(Tlp, &[1]);
    script.at(50).ack(2, &[]);
    script.at(62).ack(2, &[(1, 2)]).is(CaState::Open);
    script.write(1).sends(2..3);
    script.at(82).ack(3, &[]).is(CaState::Open);
    assert_eq!(script.sender.window().ssthresh, 0x7fff_ffff);
}

#[test]
fn a_bare_fin_is_probed() {
    let mut script = linux("linux-6.1", 20);
    script.write(1).sends(0..1);
    script.close().sends_fin(None);
    script.at(20).ack(1, &[]);
    script.timer_at(240).sends_fin(Some(Tlp));
}

#[test]
fn three_sacks_mark_at_once_and_fewer_wait_for_reordering() {
    for name in BOTH {
        let mut script = linux(name, 40);
        script.write(10).sends(0..10);
        script.at(40).ack(0, &[(1, 2)]).is(CaState::Disorder);
        // A quarter of the smallest round-trip time, and two milliseconds.
        script.timer_at(52).again(Rack, &[0]).is(CaState::Recovery);

        let mut script = linux(name, 40);
        script.write(10).sends(0..10);
        script.at(40).ack(0, &[(1, 4)]).again(Rack, &[0]);
        script.is(CaState::Recovery);
    }
}

#[test]
fn without_rack_segments_are_counted() {
    let settings = exact("linux-6.1", &[("rack", "false")]);
    let mut script = Script::new(settings, ms(40));
    script.write(10).sends(0..10);
    script
        .at(40)
        .ack(0, &[(1, 2)])
        .is(CaState::Disorder)
        .is_silent();
    script
        .at(41)
        .ack(0, &[(1, 3)])
        .is(CaState::Disorder)
        .is_silent();
    script.at(42).ack(0, &[(1, 4)]).is(CaState::Recovery);
    script.again(FastRetransmit, &[0]);
}

#[test]
fn without_sack_the_third_duplicate_counts_and_each_partial_acknowledgement() {
    let settings = exact("linux-6.1", &[("sack", "false"), ("dsack", "false")]);
    let mut script = Script::new(settings, ms(40));
    script.write(10).sends(0..10);
    script
        .at(40)
        .ack(0, &[])
        .ack(0, &[])
        .is(CaState::Disorder)
        .is_silent();
    script
        .ack(0, &[])
        .is(CaState::Recovery)
        .again(FastRetransmit, &[0]);
    script.at(80).ack(5, &[]).again(FastRetransmit, &[5]);
    // The state is kept until something beyond is acknowledged.
    script
        .at(120)
        .ack(10, &[])
        .is(CaState::Recovery)
        .is_silent();
    script.write(1);
    script.sends(10..11);
    script.at(160).ack(11, &[]).is(CaState::Open);
}

#[test]
fn a_timeout_sends_new_data_first_and_believes_what_comes_back() {
    let settings = exact("linux-6.1", &[("tlp", "off")]);
    // The timeout was spurious: the originals arrive.
    let mut script = Script::new(settings.clone(), ms(40));
    script.write(12).sends(0..10);
    script.timer_at(240).again(Rto, &[0]).is(CaState::Loss);
    script.at(250).ack(1, &[]);
    script.sends(10..12);
    script.at(251).ack(2, &[]).is(CaState::Open);
    assert_eq!(script.sender.counters().spurious_timeouts, 1);

    // It was needed: the new data are SACKed.
    let mut script = Script::new(settings, ms(40));
    script.write(12).sends(0..10);
    script.timer_at(240).again(Rto, &[0]);
    script.at(280).ack(1, &[]).sends(10..12);
    script.at(320).ack(1, &[(10, 11)]).is(CaState::Loss);
    script.again(RtoRecovery, &[1]);
}

#[test]
fn a_timeout_leaves_alone_what_was_sent_of_late() {
    let settings = exact("linux-6.1", &[("tlp", "off")]);
    let mut script = Script::new(settings, ms(100));
    script.write(2).sends(0..2);
    script.at(100).ack(1, &[]);
    script.at(390).write(1).sends(2..3);
    script.at(401).again(Rto, &[1]);
    // Segment 2 is on its way: one in flight, and the retransmission.
    script.is(CaState::Loss).has_window(2, Some(7));
}

#[test]
fn timestamps_undo_a_spurious_recovery() {
    let mut script = linux("linux-6.1", 40);
    script.write(10).sends(0..10);
    script.at(40).echo(0).ack(0, &[(1, 4)]).again(Rack, &[0]);
    script.has_window(7, Some(7));
    // The original was only late. What was delivered lets the window grow by one.
    script.at(45).ack(4, &[]).is(CaState::Open).is_silent();
    script.has_window(11, None);
    assert_eq!(script.sender.counters().undos, 1);
}

#[test]
fn dsacks_for_every_retransmission_undo_a_recovery() {
    let settings = exact("linux-6.1", &[("timestamps", "false")]);
    let mut script = Script::new(settings, ms(40));
    script.write(10).sends(0..10);
    script.at(40).ack(0, &[(1, 4)]).again(Rack, &[0]);
    script.at(45).ack(4, &[]).is(CaState::Recovery);
    script.at(80).ack(4, &[(0, 1)]).is(CaState::Open);
    assert_eq!(script.sender.counters().undos, 1);
    assert_eq!(script.sender.counters().dsacks, 1);
}

#[test]
fn a_sacked_head_after_an_advance_is_given_time() {
    let mut script = linux("linux-6.1", 40);
    script.write(10).sends(0..10);
    script.at(40).ack(0, &[(1, 3)]).is(CaState::Disorder);
    // It acknowledges the hole but not what it had SACKed.
    script.at(41).ack(1, &[]);
    script.timer_at(62).again(Rto, &[1]);
}

#[test]
fn a_shut_window_is_probed_ever_more_seldom() {
    let mut script = linux("linux-6.1", 40);
    script.write(2).sends(0..2);
    script.offer(0).at(40).ack(2, &[]);
    script.write(1).is_silent();
    let now = START;
    let mut at = 40 + 240;
    for wait in [480, 960] {
        script.timer_at(at);
        let probe = script.sender.poll_transmit(now).unwrap();
        assert!(probe.range.is_empty() && probe.mechanism.is_none());
        at += wait;
    }
    script.offer(1 << 20).at(1000).ack(2, &[]).sends(2..3);
}

#[test]
fn silence_shrinks_the_window() {
    let mut script = linux("linux-6.1", 40);
    script.write(10).sends(0..10);
    for next in 1..=10 {
        script.at(40).ack(next, &[]);
    }
    script.has_window(20, None);
    script.at(5_000).write(20);
    script.sends(10..20).has_window(10, None);
}

#[test]
fn packets_in_the_host_hold_back_new_ones_and_retransmissions() {
    let mut script = linux("linux-6.1", 40);
    let start = START;
    script.sender.writer(start).write(10_000, false);
    // At 10 segments in 40 ms twice as fast, a millisecond holds no more than two packets.
    let held = script.sender.poll_transmit(start).unwrap().in_host_bytes;
    assert!(script.sender.poll_transmit(start).is_some());
    assert_eq!(script.sender.queued(), (2, 8));
    // The timer retransmits nothing that still waits in the host.
    script.at(400);
    while let Some(packet) = script.sender.poll_transmit(start) {
        assert_eq!(packet.mechanism, None);
    }
    assert!(script.sender.counters().held_in_host > 0);
    assert_eq!(script.sender.queued(), (2, 8));
    let later = start + rexmit_time::Duration::from_millis(400);
    // The first left, but its buffer takes a microsecond to be free: something new goes.
    script.sender.left_host(later, held);
    let packet = script.sender.poll_transmit(later).unwrap();
    assert_eq!(packet.mechanism, None);
    assert_eq!(script.sender.queued(), (3, 7));
}

#[test]
fn a_short_tail_is_retransmitted_with_the_fin_behind_it() {
    let settings = exact("linux-6.1", &[("tlp", "off")]);
    let mut script = Script::new(settings, ms(40));
    let start = START;
    script.sender.writer(start).write(500, false);
    script.close();
    for _ in 0..2 {
        let packet = script.sender.poll_transmit(start).unwrap();
        script.sender.left_host(start, packet.in_host_bytes);
    }
    script.timer_at(240);
    let retransmission = script.sender.poll_transmit(start).unwrap();
    assert_eq!(
        (retransmission.range.len(), retransmission.fin),
        (500, true)
    );
    assert_eq!(script.sender.flight().in_flight(), 1);
}
