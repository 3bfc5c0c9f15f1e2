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
        script
            .data(3_080.1, 10_000, 1)
            .data(3_080.2, 10_001, 1000)
            .ack(3_130.2, 11_001, 0.0);
        let seen = script.end();
        assert_eq!(seen.ranges(origin), []);
        assert_eq!(seen.row.probes, 3, "the first byte was new");
    }
}

#[test]
fn a_byte_that_an_open_window_allowed_is_sent_again() {
    let mut script = Script::new(0, false);
    warm(&mut script);
    script
        .data(1_000.0, 10_000, 1)
        .data(1_250.0, 10_000, 1)
        .ack(1_300.0, 10_001, 0.0);
    assert_eq!(script.end().ranges(0), [(10_000, 10_001)]);
}

#[test]
fn what_is_missing_beside_the_sender_the_capture_missed() {
    let mut script = Script::new(0, true);
    warm(&mut script);
    // Two packets are missing after a wait, and nothing of the sequence numbers is.
    script.id = script.id.wrapping_add(2);
    script
        .data(900.0, 10_000, 1000)
        .data(900.1, 11_000, 1000)
        .ack(950.0, 12_000, 900.0);
    assert!(script.end().rows.is_empty());
}
