use super::*;
use crate::rows::Evidence;
use crate::testing::retransmission;

const PLACES: [Position; 4] = [
    Position::Sender,
    Position::Midway,
    Position::Receiver,
    Position::Unknown,
];

fn row(position: Position, evidence: Evidence) -> Retransmission {
    Retransmission {
        mechanism: Mechanism::Rack,
        confidence: 0.99,
        runner_up: Some((Mechanism::SackRecovery, 0.01)),
        position,
        evidence,
        ..retransmission()
    }
}

fn calibrated(mut row: Retransmission) -> Retransmission {
    calibrate(&mut row);
    row
}

#[test]
fn every_row_has_probabilities_whose_sum_is_no_more_than_one() {
    for position in PLACES {
        for &mechanism in Mechanism::ALL {
            for share in [0.0, 0.2, 0.5, 0.9, 0.999_999, 1.0] {
                for either in [false, true] {
                    let mut given = row(position, Evidence::HoleFilled);
                    given.mechanism = mechanism;
                    given.confidence = share;
                    given.runner_up = Some((Mechanism::Rto, 1.0 - share));
                    given.either = either;
                    let row = calibrated(given);
                    let (_, next) = row.runner_up.unwrap();
                    for value in [row.confidence, row.certainty, row.need_confidence, next] {
                        assert!((0.0..=1.0).contains(&value), "{row:?}");
                    }
                    assert!(row.confidence + next <= 1.0 + 1e-9, "{row:?}");
                    assert!(
                        row.confidence <= row.certainty || mechanism == Mechanism::MptcpReinject
                    );
                }
            }
        }
    }
}

#[test]
fn a_better_fit_is_never_less_sure() {
    for position in PLACES {
        let sure = [0.3, 0.6, 0.9, 0.99, 0.999].map(|share| {
            let mut given = row(position, Evidence::Timestamp);
            given.confidence = share;
            given.runner_up = None;
            calibrated(given).confidence
        });
        assert!(sure.windows(2).all(|pair| pair[0] <= pair[1]), "{sure:?}");
    }
}

#[test]
fn a_monitor_far_away_is_less_sure_of_what_it_never_saw() {
    let sender = calibrated(row(Position::Sender, Evidence::Timestamp));
    let receiver = calibrated(row(Position::Receiver, Evidence::OriginalUnseen));
    assert!(receiver.confidence < sender.confidence);
    assert!(receiver.certainty < sender.certainty);
}

#[test]
fn what_a_sender_had_heard_is_less_sure_where_its_packets_overtake_each_other() {
    let in_order = calibrated(row(Position::Midway, Evidence::Timestamp));
    let mut given = row(Position::Midway, Evidence::Timestamp);
    given.disordered = true;
    assert!(calibrated(given).confidence < in_order.confidence);
}

#[test]
fn what_the_wire_cannot_tell_apart_is_one_answer() {
    let mut pair = row(Position::Sender, Evidence::Timestamp);
    pair.mechanism = Mechanism::Rto;
    let mut one = pair.clone();
    pair.confidence = 0.6;
    pair.runner_up = Some((Mechanism::Tlp, 0.3));
    pair.either = true;
    one.confidence = 0.9;
    one.runner_up = None;
    let (pair, one) = (calibrated(pair), calibrated(one));
    let (_, next) = pair.runner_up.unwrap();
    assert!((pair.confidence + next - one.confidence).abs() < 1e-9);
    assert!((pair.confidence - 2.0 * next).abs() < 1e-9);
}

#[test]
fn nothing_is_more_likely_for_having_no_cause() {
    let mut none = row(Position::Sender, Evidence::None);
    none.mechanism = Mechanism::Unknown;
    none.confidence = 0.9;
    none.need = Need::Unknown;
    let none = calibrated(none);
    assert_eq!((none.confidence, none.need_confidence), (0.0, 0.0));
}
