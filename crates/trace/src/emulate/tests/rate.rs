//! What a recovery's rate tells of the stack: RFC 6675 waits for half of the window, PRR does not.

use super::*;

/// Sixty segments of which the first `lost` were lost, SACKed one after the other, the first of them sent again upon the third;
/// then `also` is done when so many were SACKed.
fn recovery(lost: u32, also: impl Fn(u32, Script) -> Script) -> Script {
    let script = Script::new(50).new_data(0.0, 0..60);
    (1..=40).fold(script, |script, sacked| {
        let ms = 50.0 + f64::from(sacked);
        let script = script.ack(ms, 0, &[(lost, lost + sacked)]);
        match sacked {
            3 => script.again(ms, 0),
            _ => also(sacked, script),
        }
    })
}

/// The second lost segment goes again when so many were SACKed.
fn second_after(wait: u32) -> Vec<&'static str> {
    let script = recovery(2, |sacked, script| match sacked {
        sacked if sacked == wait => script.again(50.0 + f64::from(sacked), 1),
        _ => script,
    });
    script.mechanisms()
}

#[test]
fn who_waits_for_half_a_window_with_what_is_lost_has_no_prr() {
    assert_eq!(second_after(4), ["rack", "rack"]);
    assert_eq!(second_after(31), ["fast-retransmit", "sack-recovery"]);
}

/// New data go with every SACK from so many on.
fn new_data_after(wait: u32, advances: bool) -> Vec<&'static str> {
    let script = recovery(1, |sacked, script| {
        let (ms, next) = (50.0 + f64::from(sacked), 60 + sacked);
        let script = match sacked == wait && advances {
            true => script.ack(ms, 1, &[(2, 1 + sacked)]),
            false => script,
        };
        match sacked < wait {
            true => script,
            false => script.new_data(ms, next..next + 1),
        }
    });
    script.mechanisms()
}

#[test]
fn who_waits_for_half_a_window_with_new_data_has_no_prr() {
    assert_eq!(new_data_after(4, false), ["rack"]);
    assert_eq!(new_data_after(31, false), ["fast-retransmit"]);
    // What was acknowledged in order made room for what the program writes.
    assert_eq!(new_data_after(31, true), ["rack"]);
}

/// How likely it is by RFC 6675, as a natural logarithm, that a recovery sends a second segment again that it has not found
/// lost, where `new` after new data.
fn likelihood_of_forward(new: bool) -> f64 {
    let mut script = Script::new(50);
    let rfc = Chosen::parse(&["rfc"]).unwrap();
    script.judges = Judges::within(&script.judges.facts, rfc, Recycled::default());
    let mut script = script.play(
        "0 new 0-12; 50 ack 0 sack 2-3,4-5,6-7; 50 again 0; 51 ack 0 sack 2-3,8-9; \
             52 ack 0 sack 8-9,10-11; 52 again 7",
    );
    if new {
        script = script.new_data(52.0, 12..13);
    }
    let before = script.judges.senders[0].evidence.score;
    let script = script.again(52.0, 9);
    script.judges.senders[0].evidence.score - before
}

#[test]
fn that_no_new_data_could_be_sent_is_believed_once() {
    let (further, anew) = (likelihood_of_forward(false), likelihood_of_forward(true));
    assert!((further - anew - 1.0).abs() < 0.01, "{further} {anew}");
}
