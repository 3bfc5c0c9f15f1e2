//! Packets that are sent before the first sample.

use super::*;

#[test]
fn a_syn_waits_for_the_other_initial_timeout() {
    let settings = ["init_rto=6s", "init_rto=500ms", "init_rto=3s"];
    let mut script = Script::new("linux-2.4", &settings);
    script.handshake(Flags::SYN, &[3_000, 9_000], 9_100);
    let rows = script.finish();
    near(seconds(&rows["init_rto=6s"]), 3.0 + 6.0);
    near(seconds(&rows["init_rto=500ms"]), -2.5 - 5.0);
    assert_eq!(rows.len(), 2);
}

/// A shorter timer sends a SYN-ACK again sooner; before a longer one runs out, the client asks again.
#[test]
fn a_syn_ack_waits_no_longer_than_the_client() {
    let mut script = Script::new("linux-2.4", &["init_rto=6s", "init_rto=500ms"]);
    script.handshake(Flags(Flags::SYN.0 | Flags::ACK.0), &[3_000], 3_100);
    let rows = script.finish();
    near(seconds(&rows["init_rto=500ms"]), -2.5);
    assert_eq!(rows.len(), 1);
}

#[test]
fn the_first_timeout_is_what_the_syn_waited_where_the_stack_s_cannot_be() {
    let mut script = Script::new("linux-2.4", &["init_rto=3s", "init_rto=1s"]);
    script.handshake(Flags::SYN, &[1_010], 1_100);
    let own = rexmit_tcp::stacks::page("linux-2.4").unwrap().settings;
    script
        .replay
        .sender_is(&Arc::new(own), &Parameters::default());
    let rows = script.finish();
    near(seconds(&rows["init_rto=3s"]), 2.0);
    assert_eq!(rows.len(), 1);
}

/// Linux has a second constant for data after a handshake that gave no sample, other stacks have one timeout for both.
#[test]
fn data_without_a_sample_wait_for_the_initial_timeout_where_the_stack_has_one() {
    let change = |stack| {
        let mut script = Script::new(stack, &["init_rto=1s"]);
        script.replay.facts.handshake_rtt = None;
        script.send(0, 0, 1);
        script.retransmission(3_000, 0, Mechanism::Rto, NEEDED, 0);
        script.ack(3_100, 1, None);
        script.finish().get("init_rto=1s").map(seconds)
    };
    near(change("freebsd-5").unwrap(), -2.0);
    assert_eq!(change("linux-6.12"), None);
}

/// Nobody probes before the handshake is over.
#[test]
fn a_lost_syn_is_not_probed() {
    let mut script = Script::new("linux-2.4", &["tlp", "rack"]);
    script.handshake(Flags::SYN, &[3_000], 3_100);
    assert!(script.finish().is_empty());
}
