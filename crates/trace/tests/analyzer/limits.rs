//! Ends that no packet tells: idleness, and no more room.

use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Analyzer, Rows};
use rexmit_trace::settings::Settings;
use rexmit_wire::Flags;

use crate::script::{analyse, Script, FIN_ACK};

fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

#[test]
fn a_long_silence_ends_a_connection() {
    for (seconds, connections) in [(900, 1), (901, 2)] {
        let mut script = Script::new(40_000);
        script.handshake().wait(seconds * 1_000).exchange();
        let rows = script.rows();
        assert_eq!(rows.connections.len(), connections, "{seconds} s");
        assert_eq!(
            rows.connections.last().unwrap().row.mid_stream,
            connections == 2
        );
    }
}

#[test]
fn late_packets_belong_to_a_closed_connection_for_a_while() {
    for (seconds, connections) in [(20, 1), (21, 2)] {
        let mut script = Script::new(40_000);
        script.handshake().exchange().close();
        let late = script.packet(true, Flags::ACK, 0);
        script.wait(seconds * 1_000).put(late);
        assert_eq!(script.rows().connections.len(), connections, "{seconds} s");
    }
}

/// The last FIN is not acknowledged, and its sender has backed off.
#[test]
fn what_is_not_acknowledged_belongs_to_a_closed_connection_however_late_it_comes_again() {
    for (seconds, connections) in [(11, 1), (800, 1), (901, 2)] {
        let mut script = Script::new(40_000);
        script.handshake().exchange();
        script.send(false, FIN_ACK, 0).wait(10);
        let late = script.packet(true, FIN_ACK, 0);
        script
            .send(true, FIN_ACK, 0)
            .wait(seconds * 1_000)
            .put(late);
        let rows = script.rows();
        assert_eq!(rows.connections.len(), connections, "{seconds} s");
        assert_eq!(rows.retransmissions.len(), 2 - connections);
    }
}

#[test]
fn the_sweep_ends_what_is_over_and_nothing_else() {
    let mut analyzer = Analyzer::new(Settings::default());
    let mut closed = Script::new(40_000);
    closed.handshake().exchange().close();
    let mut open = Script::new(40_001);
    open.handshake().exchange();
    for (at, headers) in closed.packets.iter().chain(&open.packets) {
        analyzer.packet(*at, headers);
    }
    let mut rows = Rows::default();
    let mut after = |seconds: i64, left: usize| {
        analyzer.expire(closed.now + Duration::from_secs(seconds), 100);
        analyzer.drain(&mut rows);
        assert_eq!(analyzer.connections(), left, "{seconds} s");
        assert_eq!(rows.connections.len(), 2 - left);
    };
    after(5, 2);
    after(61, 1);
    after(880, 1);
    after(901, 0);
}

#[test]
fn the_connection_unused_for_longest_makes_room() {
    let mut packets = Vec::new();
    let mut scripts: Vec<Script> = (0..3).map(|n| Script::new(40_000 + n)).collect();
    for script in &mut scripts {
        script.handshake();
        packets.append(&mut script.packets);
    }
    // With room for two, the third takes that of one of the others.
    let (analyzer, rows) = analyse(&packets, settings(|s| s.most_connections = 2));
    assert_eq!(analyzer.counters().evicted, 1);
    let evicted: Vec<bool> = rows.connections.iter().map(|of| of.row.evicted).collect();
    assert_eq!(evicted.iter().filter(|evicted| **evicted).count(), 1);
    assert_eq!(evicted.len(), 3);
    assert_eq!(analyzer.connections(), 0);
}

#[test]
fn what_a_connection_keeps_does_not_change_its_retransmissions() {
    let mut script = Script::new(40_000);
    script.handshake();
    for n in 0..40 {
        script.exchange();
        if n % 7 == 3 {
            let again = script.packets[script.packets.len() - 2].1;
            script
                .wait(300)
                .put(again)
                .wait(10)
                .send(true, Flags::ACK, 0);
        }
    }
    script.close();
    let retransmissions = |most_events| {
        let settings = settings(|s| s.most_events = most_events);
        analyse(&script.packets, settings).1.retransmissions
    };
    let all = retransmissions(100_000);
    assert_eq!(all.len(), 6);
    for most_events in [4, 5, 20, 50, 100] {
        assert_eq!(retransmissions(most_events), all, "{most_events}");
    }
}

#[test]
fn clocks_may_leap() {
    let mut script = Script::new(40_000);
    script.handshake().exchange().wait(-899_000).exchange();
    assert_eq!(script.rows().connections.len(), 1);
    script.wait(-901_000).exchange();
    script.wait(40 * 3_600_000).exchange();
    script.now = Time::MAX;
    script.exchange();
    script.now = Time::ZERO;
    script.exchange().close();
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 5);
    let bytes = rows.connections.iter().map(|of| of.row.backward.bytes);
    assert_eq!(bytes.sum::<u64>(), 9_000);
}

#[test]
fn a_connection_may_last_for_days() {
    let mut script = Script::new(40_000);
    script.handshake();
    for _ in 0..200 {
        script.wait(899_000).exchange();
    }
    let rows = script.rows();
    assert_eq!(rows.connections.len(), 1);
    assert_eq!(rows.connections[0].row.backward.bytes, 300_000);
    assert_eq!(rows.retransmissions, []);
}
