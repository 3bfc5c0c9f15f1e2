use proptest::prelude::*;
use rexmit_wire::SeqRange;

use super::*;
use crate::emulate::board::tests::{ack, board_of, sent};

#[test]
fn a_retransmission_that_is_lost_leaves_the_flight() {
    let mut board = board_of(4);
    let mut marks = Marks::new(3);
    marks.mark_lost(&mut board, 1);
    assert_eq!((marks.lost, marks.in_flight(&board)), (1, 3));
    marks.mark_lost(&mut board, 1);
    assert_eq!(marks.lost, 1);
    marks.mark_retransmitted(&mut board, 1);
    marks.mark_retransmitted(&mut board, 1);
    assert_eq!((marks.retransmitted, marks.in_flight(&board)), (1, 4));
    marks.mark_lost(&mut board, 1);
    assert_eq!((marks.retransmitted, marks.in_flight(&board)), (0, 3));
    marks.unmark(&mut board, 1);
    assert_eq!((marks.lost, marks.flags(board.at(1))), (0, 0));
}

#[test]
fn the_marks_of_others_stay() {
    let mut board = board_of(2);
    let (mut one, mut other) = (Marks::new(0), Marks::new(1));
    one.mark_lost(&mut board, 0);
    other.mark_lost(&mut board, 0);
    one.clear_lost(&mut board);
    assert!(!one.is_lost(board.at(0)) && other.is_lost(board.at(0)));
    other.unmark_lost(&mut board, 0);
    assert_eq!((one.lost, other.lost), (0, 0));
}

#[test]
fn the_board_is_walked_in_the_order_of_sending() {
    let mut board = board_of(4);
    board.retransmitted(&sent(10, 1), 1..2);
    let mut marks = Marks::new(0);
    let walk = |marks: &mut Marks, board: &mut Board, until: usize| {
        let marked = marks.on(board);
        let mut places = Vec::new();
        let mut next = marked.first_sent();
        while let Some(place) = next {
            places.push(place);
            next = marked.next_sent(place);
            marked.segment(place);
            if place == until && marked.rest_was_sent_later(place) {
                break;
            }
        }
        marked.end();
        places
    };
    assert_eq!(walk(&mut marks, &mut board, 2), [0, 2]);
    marks.mark_lost(&mut board, 0);
    assert_eq!(walk(&mut marks, &mut board, 9), [0, 2, 3, 1]);
    assert_eq!(walk(&mut marks, &mut board, 9), [2, 3, 1], "marked");
    marks.unmark_lost(&mut board, 0);
    assert_eq!(walk(&mut marks, &mut board, 9), [0, 2, 3, 1]);
    // What is told of late is nowhere in that order.
    board.push(&sent(9, 4));
    assert_eq!(walk(&mut marks, &mut board, 9), [0, 1, 2, 3, 4]);
}

#[test]
fn the_board_is_walked_by_number_until_something_was_sent_again() {
    let mut board = board_of(3);
    board.push(&sent(1, 3));
    board.at_mut(1).retransmissions = 1;
    let mut marks = Marks::new(0);
    marks.mark_lost(&mut board, 1);
    marks.mark_retransmitted(&mut board, 1);
    let mut marked = marks.on(&mut board);
    assert_eq!(marked.first_sent(), Some(0));
    assert_eq!(marked.next_sent(3), None);
    assert!(marked.rest_was_sent_later(0) && !marked.rest_was_sent_later(1));
    let segment = marked.segment(1);
    assert!(segment.lost && segment.retransmission_out);
    marked.mark_lost(1);
    assert!(!marked.segment(1).retransmission_out);
}

proptest! {
    #[test]
    fn what_is_counted_of_the_marked_is_what_lies_there(
        steps in proptest::collection::vec((0_u8..12, any::<u32>(), any::<u32>()), 0..200),
    ) {
        let (mut board, mut marks, mut next) = (board_of(8), Marks::new(0), 8);
        let first = board.una;
        for (kind, a, b) in steps {
            let una = board.una.offset_from(first).unsigned_abs() / 1_000;
            match kind {
                0..=2 => {
                    board.push(&sent(u64::from(next), next));
                    next += 1;
                }
                3..=7 => {
                    let to = if kind == 3 { (una + a % 3).min(next) } else { una };
                    let block = to + 1 + a % 9;
                    let report = ack(&mut board, to, block.min(next)..(block + b % 3).min(next), 0);
                    marks.advanced(board.una);
                    report.sacked.iter().for_each(|index| marks.unmark(&mut board, *index));
                    report.acked.iter().for_each(|piece| marks.take_off(piece));
                }
                8 => {
                    // Each part is a packet, and more than were counted.
                    let part = SeqRange::new(first + a % (next * 1_000), 1 + b % 900);
                    board.locate(part);
                }
                9 if a % 4 == 0 => board.let_go_of_half(|piece| marks.take_off(piece)),
                _ if !board.is_empty() => {
                    let end = board.at(a as usize % board.len()).end;
                    let sacked = board.below(end, true);
                    marks.all_marked_up_to(&board, end, Some(sacked));
                }
                _ => {}
            }
            let (index, below) = marks.first_unmarked(&board, true);
            let lie_there = (0..index).map(|index| board.at(index)).filter(|piece| piece.sacked);
            prop_assert_eq!(below, lie_there.map(|piece| piece.packets).sum::<u32>());
        }
    }
}
