//! What a monitor cannot have seen, and what it saw into a window that was shut.

use super::*;

/// The peer acknowledges everything up to `ack` and offers `window` bytes.
fn offers(script: &mut Script, at: f64, ack: u32, window: u16) {
    let event = Event {
        ack: script.origin + ack,
        window,
        ..script.event(at, Direction::Forward)
    };
    script.view.ack(&event, &[]);
}

#[test]
fn a_byte_that_a_shut_window_refused_goes_again_as_it_opens() {
    for origin in SLIDES {
        let mut script = Script::new(origin, false);
        warm(&mut script);
        offers(&mut script, 1_000.0, 10_000, 0);
        for probe in [1_400.0, 1_800.0, 2_600.0] {
            script.data(probe, 10_000, 1);
            offers(&mut script, probe + 50.0, 10_000, 0);
        }
        offers(&mut script, 3_080.0, 10_000, 49_640);
        script.play("3080.1 data 10000+1; 3080.2 data 10001+1000; 3130.2 ack 11001 echo 0");
        let seen = script.end();
        assert_eq!(seen.ranges(origin), []);
        assert_eq!(seen.row.probes, 3, "the first byte was new");
    }
}

#[test]
fn a_byte_that_an_open_window_allowed_is_sent_again() {
    let mut script = Script::new(0, false);
    warm(&mut script);
    script.play("1000 data 10000+1; 1250 data 10000+1; 1300 ack 10001 echo 0");
    assert_eq!(script.end().ranges(0), [(10_000, 10_001)]);
}

#[test]
fn what_is_missing_beside_the_sender_the_capture_missed() {
    let mut script = Script::new(0, true);
    warm(&mut script);
    // Two packets are missing after a wait, and nothing of the sequence numbers is.
    script.id = script.id.wrapping_add(2);
    script.play("900 data 10000+1000; 900.1 data 11000+1000; 950 ack 12000 echo 900");
    assert!(script.end().rows.is_empty());
}

/// The peer's SYN comes by twice, and in between it acknowledges what begins `above` bytes after the SYN-ACK, the first packet
/// of the sender that comes by, which answers the first SYN.
fn answered_before(origin: u32, above: u32) -> Seen {
    let mut script = Script::new(origin, true);
    let from_peer = |script: &Script, at, flags, seq, payload_len| Event {
        seq: SeqNum::new(seq),
        ack: script.origin,
        flags,
        payload_len,
        timestamps: Some((stamp(at), 0)),
        ..script.event(at, Direction::Forward)
    };
    for packet in [
        from_peer(&script, 0.0, Flags::SYN, 76, 0),
        from_peer(&script, 900.0, Flags::ACK, 77, 1),
        from_peer(&script, 1_000.0, Flags::SYN, 76, 0),
    ] {
        script.view.ack(&packet, &[]);
    }
    let syn_ack = Event {
        flags: Flags(Flags::SYN.0 | Flags::ACK.0),
        seq: script.origin - above,
        ack: SeqNum::new(78),
        timestamps: Some((stamp(1_100.0), stamp(0.0))),
        ..script.event(1_100.0, Direction::Backward)
    };
    script.view.data(&syn_ack);
    script.end()
}

#[test]
fn an_answer_below_what_was_acknowledged_puts_nothing_below_what_was_sent() {
    for origin in SLIDES {
        for above in [0, 1, 2, 1_000, 1 << 29] {
            let start = 0_u32.wrapping_sub(above);
            let expected = [(start, start.wrapping_add(1))];
            let seen = answered_before(origin, above);
            assert_eq!(seen.ranges(origin), expected, "{above}");
        }
    }
}
