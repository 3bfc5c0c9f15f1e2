use rexmit_tcp::SackList;
use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::{AckReport, Board, Recycled};
use crate::event::{Acked, Sent, SentKind};
use crate::testing;
use crate::window::HELD;

const MSS: u32 = 1_000;
const FIRST: SeqNum = SeqNum::new(u32::MAX - 1_500);

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// A segment that was sent then.
pub fn sent(ms: u64, segment: u32) -> Sent {
    testing::sent(
        at(ms),
        SeqRange::new(FIRST + segment * MSS, MSS),
        SentKind::New,
    )
}

/// A board with so many segments out, sent a millisecond apart.
pub fn board_of(segments: u32) -> Board {
    let mut board = Board::new(MSS, true, Recycled::default());
    board.begin(FIRST);
    for segment in 0..segments {
        board.push(&sent(u64::from(segment), segment));
    }
    board
}

/// What an acknowledgement of all before `segment` tells that SACKs the segments of `block`.
pub fn ack(board: &mut Board, segment: u32, block: core::ops::Range<u32>, twice: u32) -> AckReport {
    let mut report = AckReport::default();
    let mut sacks = SackList::default();
    if !block.is_empty() {
        sacks.push(SeqRange {
            start: FIRST + block.start * MSS,
            end: FIRST + block.end * MSS,
        });
    }
    let acked = Acked {
        sacks,
        dsack: (twice > 0).then_some(SeqRange::new(FIRST, twice * MSS)),
        ..testing::acked(at(50), FIRST + segment * MSS)
    };
    assert!(board.ack(&acked, &mut report));
    report
}

#[test]
fn what_was_delivered_when_the_latest_delivered_left_is_told() {
    let mut board = board_of(4);
    let first = ack(&mut board, 1, 2..3, 0);
    assert_eq!((first.prior_delivered, first.delivered), (1, 3));
    assert_eq!(first.newly_delivered, 2);
    // Sent after three had arrived with the SYN; what is sent again too.
    board.push(&sent(60, 4));
    board.retransmitted(&sent(61, 1), 0..1);
    let second = ack(&mut board, 2, 4..5, 0);
    assert_eq!((second.prior_delivered, second.delivered), (3, 5));
    assert_eq!(second.newly_delivered, 2);
    // What was SACKed does not arrive again.
    let third = ack(&mut board, 3, 0..0, 0);
    assert_eq!((third.prior_delivered, third.delivered), (0, 5));
    assert_eq!(third.newly_delivered, 0);
}

#[test]
fn a_smaller_window_of_an_overtaken_acknowledgement_is_no_news() {
    let mut board = board_of(4);
    let mut other_use = |window: u32, carried: u32, slack: i64| {
        let acked = Acked {
            window,
            carried: SeqRange::new(SeqNum::new(carried), 0),
            slack: Duration::from_millis(slack),
            ..testing::acked(at(50), FIRST + MSS)
        };
        let mut report = AckReport::default();
        assert!(board.ack(&acked, &mut report));
        report.other_use
    };
    assert!(other_use(5_000, 10, 0));
    assert!(!other_use(5_000, 10, 0) && !other_use(4_000, 10, 0));
    assert!(other_use(6_000, 10, 0), "larger");
    assert!(other_use(3_000, 11, 0), "newer");
    assert!(!other_use(9_000, 10, 0), "older");
    assert!(other_use(2_000, 11, 1), "its place is not known");
    assert!(!other_use(2_000, 11, 1));
}

#[test]
fn reports_of_more_than_was_sent_again_are_nothing_delivered() {
    let mut board = board_of(4);
    board.retransmitted(&sent(10, 0), 0..1);
    let believed = ack(&mut board, 2, 0..0, 1);
    assert_eq!((believed.prior_reported, believed.delivered), (0, 4));
    let doubted = ack(&mut board, 3, 0..0, 2);
    assert_eq!((doubted.prior_reported, doubted.delivered), (1, 5));
}

/// A step: a segment is sent, or one is sent again, or the receiver acknowledges so many and SACKs a block.
fn step() -> impl proptest::strategy::Strategy<Value = (u8, u32, u32, u32)> {
    (0u8..4, 0u32..12, 0u32..14, 1u32..4)
}

proptest::proptest! {
    #[test]
    fn what_is_counted_on_the_way_is_what_lies_there(steps in proptest::collection::vec(step(), 1..80)) {
        let mut board = board_of(2);
        let mut segments = 2;
        for (number, (kind, first, from, len)) in steps.into_iter().enumerate() {
            let ms = 10 + number as u64;
            let una = board.una.offset_from(FIRST).unsigned_abs() / MSS;
            match kind {
                0 => {
                    board.push(&sent(ms, segments));
                    segments += 1;
                }
                1 if segments > una => {
                    let again = sent(ms, una + first % (segments - una));
                    let pieces = board.locate(again.range);
                    board.retransmitted(&again, pieces);
                }
                _ => {
                    let to = una + if kind == 2 { first.min(2) } else { 0 };
                    let to = to.min(segments);
                    let block = (to + 1 + from).min(segments)..(to + 1 + from + len).min(segments);
                    ack(&mut board, to, block, 0);
                }
            }
            let below = |seq: SeqNum, sacked: bool| {
                let pieces = board.pieces().filter(|piece| piece.start.is_before(seq));
                let pieces = pieces.filter(|piece| piece.sacked || !sacked);
                pieces.map(|piece| piece.packets).sum::<u32>()
            };
            if board.sacked > 0 {
                proptest::prop_assert_eq!(board.reach(), below(board.highest, false));
            }
            for index in 0..board.len() {
                let end = board.at(index).end;
                if !end.is_after(board.highest) {
                    let told = [true, false].map(|sacked| board.below(end, sacked));
                    proptest::prop_assert_eq!(told, [true, false].map(|sacked| below(end, sacked)));
                }
            }
            let mut by_time: Vec<usize> = (0..board.len()).filter(|index| !board.at(*index).sacked).collect();
            by_time.sort_by_key(|index| board.at(*index).sent);
            let mut walked = Vec::new();
            let mut number = 0;
            while let Some((found, first)) = board.transmission(number) {
                let next = |last: &usize| board.sent_in(found, Some(*last));
                walked.extend(core::iter::successors(Some(first), next));
                number = found + 1;
            }
            proptest::prop_assert_eq!(walked, by_time);
        }
    }
}

/// Without acknowledgements, through all numbers and more.
#[test]
fn what_lies_a_window_below_the_highest_has_arrived() {
    const LARGE: u32 = 1 << 28;
    let mut board = board_of(2);
    let mut next = board.nxt;
    for ms in 10..50 {
        let range = SeqRange::new(next, LARGE);
        board.push(&Sent {
            range,
            ..sent(ms, 0)
        });
        next = range.end;
        let head = board.head().expect("what was sent last").start;
        assert_eq!((head, board.nxt), (board.una, next));
        assert!(next.offset_from(head) as u32 <= HELD);
        let out: u32 = board.pieces().map(|piece| piece.packets).sum();
        assert_eq!(board.out, out);
    }
    let last = board.locate(SeqRange::new(next - LARGE, LARGE));
    assert_eq!(board.packets(&last), board.at(last.start).packets);
    let none = board.locate(SeqRange::new(next + (1 << 31), MSS));
    assert!(none.is_empty());
}

#[test]
fn a_piece_that_is_cut_counts_what_is_below_the_highest() {
    let mut board = Board::new(MSS, true, Recycled::default());
    board.begin(FIRST);
    // Forty bytes more than a segment are one, as options may take them; of two parts each is one.
    board.push(&Sent {
        range: SeqRange::new(FIRST, 2 * MSS + 40),
        ..sent(0, 0)
    });
    board.locate(SeqRange::new(FIRST + 10, 10));
    board.locate(SeqRange::new(FIRST + 20 + MSS + 41, 10));
    ack(&mut board, 0, 1..2, 0);
    board.locate(SeqRange::new(FIRST + MSS + 500, 10));
    let below: u32 = board
        .pieces()
        .filter(|piece| piece.start.is_before(board.highest))
        .map(|piece| piece.packets)
        .sum();
    assert_eq!(board.reach(), below);
}
