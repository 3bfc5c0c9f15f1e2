//! How long a sender waited for what it sends again, reckoned by hand: what docs/reference/glossary.md calls waiting.

use super::*;

/// Data of 0 to 10 s, none outstanding at the end.
fn begun() -> Script {
    let mut script = Script::new(0xffff_f000, false);
    warm(&mut script);
    script
}

/// The peer acknowledges everything up to `ack` and offers `window` bytes.
fn offers(script: &mut Script, at: f64, ack: u32, window: u16) {
    let event = Event {
        ack: script.origin + ack,
        window,
        ..script.event(at, Direction::Forward)
    };
    script.view.ack(&event, &[]);
}

/// Milliseconds waited for each row.
fn waited(script: Script) -> Vec<i64> {
    let seen = script.end();
    let each: Vec<i64> = seen.rows.iter().map(|r| r.waited.as_nanos()).collect();
    let all: i64 = seen.row.waited.iter().map(|of| of.as_nanos()).sum();
    assert_eq!(each.iter().sum::<i64>(), all, "mechanisms sum to the whole");
    each.iter().map(|nanos| nanos / 1_000_000).collect()
}

#[test]
fn a_timeout_is_waited_for_from_the_last_transmission() {
    let mut script = begun();
    script.play("1000 data 10000+1000; 1040 data 11000+1000");
    // Each timeout is a wait of its own, and so is the gap before what follows it.
    script.play("1340 data 10000+1000; 1940 data 10000+1000");
    script.ack(1_990.0, 11_000, 0.0).data(1_991.0, 11_000, 1000);
    script.ack(2_041.0, 12_000, 0.0);
    assert_eq!(waited(script), [300, 600, 51]);
}

#[test]
fn thinking_is_no_waiting() {
    let mut script = begun();
    // All is acknowledged at 60 ms or so; nothing is written for nine seconds; what is written then is lost.
    script.data(9_000.0, 10_000, 1000);
    script.data(9_250.0, 10_000, 1000);
    script.ack(9_300.0, 11_000, 0.0);
    assert_eq!(waited(script), [250]);
}

#[test]
fn a_sender_waits_until_it_hears_an_acknowledgement() {
    let mut script = begun();
    // It sends again what was acknowledged: it had not heard of it.
    script.data(1_000.0, 10_000, 1000).ack(1_050.0, 11_000, 0.0);
    script.data(4_000.0, 10_000, 1000).ack(4_050.0, 11_000, 0.0);
    assert_eq!(waited(script), [3_000]);
}

/// A server that defers its accept repeats its SYN-ACK although the client's ACK has come.
#[test]
fn with_nothing_outstanding_there_is_no_waiting() {
    let mut script = Script::new(0xffff_f000, false);
    script.handshake(0.0, 50.0);
    let again = Event {
        flags: Flags(Flags::SYN.0 | Flags::ACK.0),
        seq: script.origin - 1,
        ip_id: Some(0),
        ..script.event(3_000.0, Direction::Backward)
    };
    script.view.data(&again);
    script.ack(3_050.0, 0, 0.0);
    assert_eq!(waited(script), [0]);
}

#[test]
fn a_shut_window_is_no_waiting() {
    let lost = |script: &mut Script| {
        script.play("1000 data 10000+1000; 1001 data 11000+1000");
    };
    let mut script = begun();
    lost(&mut script);
    offers(&mut script, 1_051.0, 11_000, 0);
    script.data(1_400.0, 11_000, 1000).ack(1_450.0, 12_000, 0.0);
    assert_eq!(waited(script), [0], "it is shut still");
    let mut script = begun();
    lost(&mut script);
    offers(&mut script, 1_051.0, 11_000, 0);
    offers(&mut script, 1_300.0, 11_000, 9_000);
    script.data(1_400.0, 11_000, 1000).ack(1_450.0, 12_000, 0.0);
    assert_eq!(waited(script), [100], "since it was opened");
}

#[test]
fn a_sender_that_sends_is_not_waiting() {
    let mut script = begun();
    script.data(1_000.0, 10_000, 1000);
    for i in 1..5 {
        script.data(1_000.0 + 50.0 * f64::from(i), 10_000 + i * 1000, 1000);
    }
    script.data(1_260.0, 10_000, 1000).ack(1_310.0, 15_000, 0.0);
    assert_eq!(waited(script), [60]);
}
