//! What packets show of a retransmission, and what follows where they do not: no mechanism, no time.

use super::*;
use crate::necessary::{Basis, Missing, SegmentKind, Timed};

/// At the sender, ten segments acknowledged; four more sent at 101 ms, the first of them again at `again` after so many duplicates.
fn repeated(duplicates: u32, again: f64) -> Retransmission {
    let mut script = Script::new(0xffff_e000, true);
    warm(&mut script);
    for i in 10..14 {
        script.data(101.0, i * 1000, 1000);
    }
    for i in 0..duplicates {
        let block = (11_000, 12_000 + i * 1000);
        script.sack(151.0 + f64::from(i) * 0.1, 10_000, &[block], 101.0);
    }
    script
        .data(again, 10_000, 1000)
        .ack(again + 50.0, 14_000, again);
    script.end().rows.remove(0)
}

#[test]
fn acknowledgements_show_what_they_made_and_which_of_them_did() {
    let row = repeated(3, 151.3);
    assert!(row.mechanism != Mechanism::Unknown && row.mechanism != Mechanism::Rto);
    let (basis, at) = crate::necessary::look(row.mechanism, &row.witness).unwrap();
    assert!(basis != Basis::Silence);
    assert_eq!(at, Some(ms(151.2)), "the last of the three");
    assert_eq!(
        (row.witness.timed, row.witness.packet),
        (Timed::Sender, SegmentKind::Data)
    );
}

#[test]
fn without_any_and_before_any_timer_nothing_is_named() {
    let row = repeated(0, 140.0);
    assert_eq!(row.mechanism, Mechanism::Unknown);
    assert!(row.missing.is_some());
    assert_eq!((row.confidence, row.timer), (0.0, None));
}

#[test]
fn a_timeout_shows_by_silence() {
    let row = repeated(0, 351.0);
    assert_eq!(row.mechanism, Mechanism::Rto);
    assert_eq!(row.missing, None);
    let shown = crate::necessary::look(row.mechanism, &row.witness);
    assert_eq!(shown, Ok((Basis::Silence, None)));
    let fast = crate::necessary::look(Mechanism::FastRetransmit, &row.witness);
    assert_eq!(fast, Err(Missing::DuplicateAcks));
}

#[test]
fn what_nobody_saw_lies_between_two_times() {
    // The monitor stands in the middle; the second of three segments was lost before it.
    let mut script = Script::new(7, true);
    script.handshake(20.0, 30.0);
    script.play(
        "100 data 0+1000; 104 data 2000+1000; 130 ack 1000 echo 100; \
             134 ack 1000 sack 2000-3000 echo 100; 304 data 1000+1000; 334 ack 3000 echo 304",
    );
    let seen = script.end();
    let row = &seen.rows[0];
    assert_eq!(row.first_sent, None);
    let bounds = [row.detection, row.detection_most];
    assert_eq!(bounds, [200, 204].map(|ms| Some(Duration::from_millis(ms))));
    assert!(row.waited <= row.waited_most);
}

#[test]
fn stamps_tell_the_times_of_copies_that_piled_up() {
    // Beside the receiver: two copies come by at once that left 300 ms apart, by a clock of 1 ms.
    let mut script = Script::new(9, true);
    script.handshake(50.0, 0.1);
    for i in 0..110 {
        let at = 100.0 + f64::from(i) * 10.0;
        script.stamped(at + 25.0, at, i * 1000, 1000);
        script.ack(at + 25.1, (i + 1) * 1000, at);
    }
    script.play(
        "1325 data 110000+1000 sent 1300; 2725 data 110000+1000 sent 1600; \
             2725.1 data 110000+1000 sent 2200; 2725.2 ack 111000 echo 1300",
    );
    let rows = script.end().rows;
    let told: Vec<i64> = rows
        .iter()
        .map(|row| row.detection.unwrap().as_nanos() / 1_000_000)
        .collect();
    assert!(
        (299..=301).contains(&told[0]) && (599..=601).contains(&told[1]),
        "{told:?}"
    );
    assert_eq!(rows[0].witness.timed, Timed::Stamps);
}
