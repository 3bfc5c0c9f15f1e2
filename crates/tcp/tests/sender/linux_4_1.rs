//! Linux 4.1: what it has of 3.10 and of later kernels.

use rexmit_tcp::sender::CaState;
use rexmit_tcp::Mechanism::{EarlyRetransmit, RtoRecovery, Tlp};

use super::script::{exact, ms, Script, MSS, START};

fn linux(rtt_ms: i64) -> Script {
    Script::new(exact("linux-4.1", &[]), ms(rtt_ms))
}

#[test]
fn two_lost_at_the_tail_come_back_by_probe_and_early_retransmit() {
    let mut script = linux(40);
    script.write(10).sends(0..10);
    script.at(40).ack(8, &[]).is_silent().is(CaState::Open);
    script.timer_at(120).again(Tlp, &[9]);
    script.at(160).ack(8, &[(9, 10)]).is_silent();
    // A quarter of the round-trip time after the SACK.
    script.timer_at(170).again(EarlyRetransmit, &[8]);
}

#[test]
fn a_head_older_than_the_timeout_begins_no_recovery() {
    // 3.10 would mark both lost at once (tcp_head_timedout): 520 ms after they were sent, against a timeout of 390.
    let mut script = linux(130);
    script.write(10).sends(0..10);
    script.at(130).ack(8, &[]).is_silent();
    script.timer_at(390).again(Tlp, &[9]);
    script
        .at(520)
        .ack(8, &[(9, 10)])
        .is(CaState::Disorder)
        .is_silent();
    script.timer_at(553).again(EarlyRetransmit, &[8]);
}

#[test]
fn what_was_sent_again_gives_no_round_trip_time() {
    // The timestamp of the retransmission alone would be believed in 3.10.
    let mut script = linux(20);
    script.write(1).sends(0..1);
    script.timer_at(220).again(Tlp, &[0]);
    script.at(240).ack(1, &[]).has_rto(220);
}

#[test]
fn slow_start_counts_segments() {
    let mut script = linux(20);
    script.write(40).sends(0..10);
    script.at(20).ack(10, &[]).sends(10..30);
}

/// Two segments wait in the host for longer than a timeout; then one leaves, and a millisecond after it the other. What is
/// sent again then.
fn retransmitted_when_the_host_lets_go(name: &str) -> Vec<u32> {
    let changes = [("tlp", "off")];
    let mut script = Script::new(exact(name, &changes), ms(40));
    let start = START;
    script.sender.writer(start).write(2 * MSS, false);
    let held: Vec<u32> = core::iter::from_fn(|| script.sender.poll_transmit(start))
        .map(|packet| packet.in_host_bytes)
        .collect();
    assert_eq!(held.len(), 2);
    // The head waits in the host: nothing can be sent again.
    script.timer_at(240).is(CaState::Loss);
    let mut lengths = Vec::new();
    for (at, bytes) in (250..).zip(held) {
        let now = start + ms(at);
        script.sender.left_host(now, bytes);
        while let Some(packet) = script.sender.poll_transmit(now) {
            assert_eq!(packet.mechanism, Some(RtoRecovery));
            lengths.push(packet.range.len());
        }
    }
    lengths
}

#[test]
fn a_packet_that_leaves_the_host_lets_new_data_go_and_no_retransmissions() {
    assert_eq!(retransmitted_when_the_host_lets_go("linux-4.1"), [0_u32; 0]);
    assert_eq!(retransmitted_when_the_host_lets_go("linux-6.1"), [MSS]);
}
