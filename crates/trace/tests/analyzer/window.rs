//! Numbers that are far from those of their connection ([`rexmit_trace`]'s window).

use rexmit_trace::analyzer::{Analyzer, Rows};
use rexmit_trace::settings::Settings;
use rexmit_wire::{Flags, SeqNum};

use crate::script::{analyse, with_sack, Script, CLIENT};

/// The largest payload of a packet: the network card cuts what the host hands it.
const LARGE: u32 = 1 << 23;
const GIB: u32 = 1 << 30;

fn analysed(script: &Script) -> (Analyzer, Rows) {
    analyse(&script.packets, Settings::default())
}

/// A connection that has begun, and sent this much in large packets, acknowledged or not.
fn after(bytes: u64, acknowledged: bool) -> Script {
    let mut script = Script::new(40_000);
    script.handshake();
    for _ in 0..bytes / u64::from(LARGE) {
        script.send(true, Flags::ACK, LARGE).wait(1);
        if acknowledged {
            script.send(false, Flags::ACK, 0).wait(1);
        }
    }
    script
}

#[test]
fn bare_segments_that_go_through_all_numbers_end_nothing() {
    let mut script = Script::new(40_000);
    for seq in [0xc000_7ce5, 0x0000_80cc, 0x4000_80cb, 0x4000_80ca] {
        script.client = SeqNum::new(seq);
        script.send(true, Flags::ACK, 1_000).wait(1);
    }
    let (analyzer, rows) = analysed(&script);
    assert_eq!(rows.connections.len(), 1);
    let sent = rows.connections[0].row.forward.packets;
    assert_eq!(sent + analyzer.counters().strays, 4);
}

#[test]
fn a_transfer_may_go_through_all_numbers() {
    for acknowledged in [true, false] {
        let (analyzer, rows) = analysed(&after(9 << 30, acknowledged));
        assert_eq!(analyzer.counters().strays, 0);
        let [of] = &rows.connections[..] else {
            panic!("{} connections", rows.connections.len())
        };
        assert_eq!(of.row.forward.unique_bytes, 9 << 30);
        assert!(rows.retransmissions.is_empty());
    }
}

#[test]
fn what_is_less_than_a_gib_away_is_a_gap() {
    let mut script = after(0, true);
    script.exchange();
    script.client += GIB - 200;
    script.exchange().exchange();
    let (analyzer, rows) = analysed(&script);
    assert_eq!((rows.connections.len(), analyzer.counters().strays), (1, 0));
}

#[test]
fn a_packet_that_acknowledges_what_is_far_is_left_out() {
    let mut script = after(1 << 25, true);
    let mut far = script.packet(false, Flags::ACK, 0);
    far.ack += GIB + 1;
    script.put(far);
    script.exchange().close();
    let (analyzer, rows) = analysed(&script);
    assert_eq!((rows.connections.len(), analyzer.counters().strays), (1, 1));
    assert_eq!(rows.connections[0].row.closed, "fin");
}

#[test]
fn a_connection_that_has_moved_is_followed() {
    let mut script = after(1 << 25, true);
    script.client += 3 * GIB / 2;
    for _ in 0..40 {
        script.send(true, Flags::ACK, 1_000).wait(1);
        script.send(false, Flags::ACK, 0).wait(1);
    }
    let (analyzer, rows) = analysed(&script);
    assert_eq!(analyzer.counters().strays, 8);
    let bytes: Vec<u64> = rows
        .connections
        .iter()
        .map(|of| of.row.forward.bytes)
        .collect();
    assert_eq!(bytes, [1 << 25, 36 * 1_000]);
    assert!(rows.connections[1].row.mid_stream);
}

#[test]
fn strays_among_what_fits_move_nothing() {
    let mut script = after(1 << 25, true);
    for _ in 0..40 {
        let mut far = script.packet(true, Flags::ACK, 1_000);
        far.seq += 3 * GIB / 2;
        script.put(far).wait(1);
        script.send(true, Flags::ACK, 1_000).wait(1);
    }
    let (analyzer, rows) = analysed(&script);
    assert_eq!(
        (rows.connections.len(), analyzer.counters().strays),
        (1, 40)
    );
}

#[test]
fn blocks_of_other_numbers_are_left_out_of_their_packets() {
    let mut script = Script::new(40_000);
    script.handshake();
    for _ in 0..3 {
        script.send(true, Flags::ACK, 1_000).wait(1);
    }
    let first = SeqNum::new(CLIENT) + 1;
    let mut ack = script.packet(false, Flags::ACK, 0);
    ack.ack = first;
    ack = with_sack(ack, first + 1_000, 1_000);
    let far = with_sack(ack, first + GIB + 5_000, 1_000);
    let told = |ack| {
        let mut script = script.clone();
        analysed(script.put(ack).wait(50))
    };
    let (analyzer, rows) = told(far);
    assert_eq!(rows.connections, told(ack).1.connections);
    let counters = analyzer.counters();
    assert_eq!((counters.strays, counters.stray_blocks), (0, 1));
}
