//! Packets that have emulated senders look at all that is out, again and again.

use super::*;

/// A timeout a second, each of which an acknowledgement may take back.
#[test]
fn timeouts_without_an_end_cost_what_packets_pay_for() {
    const OUT: u32 = 3_000;
    let mut script = Script::new(50).new_data(0.0, 0..OUT);
    for number in 0..OUT {
        let ms = 1_000.0 * f64::from(number + 1);
        script = script.again(ms, 0);
        if number % 16 == 0 {
            script = script.ack(ms, 0, &[(number + 1, number + 2)]);
        }
    }
    assert!(
        script.judges.board.len() < 100,
        "{}",
        script.judges.board.len()
    );
    assert_eq!(script.mechanisms().last(), Some(&"rto"));
}

/// What a long window takes is paid for, and all of it is kept.
#[test]
fn a_timeout_of_a_long_window_lets_go_of_nothing() {
    const OUT: u32 = 20_000;
    let script = Script::new(50)
        .new_data(0.0, 0..OUT)
        .play("1000 again 0; 1050 ack 2")
        .new_data(1_050.0, OUT..OUT + 2)
        .play("3000 again 2; 3050 ack 3");
    assert_eq!(script.judges.board.len() as u32, OUT - 1);
}
