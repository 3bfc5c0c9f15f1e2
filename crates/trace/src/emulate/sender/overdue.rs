//! With FACK, what has been out for more than a timeout: from the head up to the first that has not (`tcp_timeout_skbs`).
//!
//! As the kernel does with its hint (`scoreboard_skb_hint`), each look goes on where the last one stopped. What lies below is
//! lost or SACKed. It matters only when it was sent: sent again since, it may be what a look stops at.

use std::collections::VecDeque;

use rexmit_time::Time;

use crate::emulate::board::Board;

/// How far a sender has looked.
#[derive(Clone, Debug, Default)]
pub(super) struct Overdue {
    /// The place after all that is marked or SACKed, as far as was looked.
    to: i64,
    /// What lies below was sent before this, but for what was sent again since. What begins there was not, if it is there.
    before: Time,
    /// What was sent again since, of what lies below: the place after it, and when. Of two, the later sent is kept, unless it
    /// lies below; so they are in the order of their places, and the latest is the first.
    again: VecDeque<(i64, Time)>,
}

impl Overdue {
    /// Marks were taken back.
    pub fn look_at_all(&mut self) {
        *self = Overdue::default();
    }

    /// The pieces of this range were sent again at `at`.
    pub fn sent_again(&mut self, board: &Board, pieces: &core::ops::Range<usize>, at: Time) {
        let place = |seq| board.place(seq);
        let Some(last) = pieces.clone().last().map(|last| board.at(last)) else {
            return;
        };
        if place(board.at(pieces.start).start) >= self.to {
            return;
        }
        if self.again.front().is_some_and(|(_, latest)| *latest > at) {
            self.look_at_all();
            return;
        }
        let end = place(last.end).min(self.to);
        while self.again.front().is_some_and(|(other, _)| *other <= end) {
            self.again.pop_front();
        }
        self.again.push_front((end, at));
    }

    /// Calls `mark` with all pieces that were sent before `limit`, from the head to the first that was not, but for those that it
    /// was called with before.
    pub fn look(
        &mut self,
        board: &mut Board,
        limit: Time,
        mut mark: impl FnMut(&mut Board, usize),
    ) {
        let Some(first) = self.first(board, limit) else {
            return;
        };
        let mut index = first;
        while board.get(index).is_some_and(|piece| piece.sent < limit) {
            mark(board, index);
            index += 1;
        }
        board.looked_at(index - first);
        self.again.clear();
        self.before = limit;
        self.to = board
            .get(index)
            .map_or_else(|| board.place(board.nxt), |piece| board.place(piece.start));
    }

    /// Where to go on; none where something below was not sent before `limit`.
    fn first(&mut self, board: &Board, limit: Time) -> Option<usize> {
        let bottom = board.place(board.head()?.start);
        while self.again.front().is_some_and(|(end, _)| *end <= bottom) {
            self.again.pop_front();
        }
        if self.again.front().is_some_and(|(_, sent)| *sent >= limit) {
            return None;
        }
        if self.to <= bottom {
            return Some(0);
        }
        let index = board.index(board.seq(self.to));
        if limit >= self.before {
            return Some(index);
        }
        // All that was sent before this limit was sent before the last one, too, unless this was told of late.
        let is_late = board.get(index).is_some_and(|piece| piece.sent < limit);
        is_late.then_some(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rexmit_time::Duration;

    use super::super::marks::Marks;
    use super::*;
    use crate::emulate::board::tests::{ack, board_of, sent};

    const FAST: usize = 0;
    const PLAIN: usize = 1;

    /// One board, and the marks of two senders that are the same: one that goes on where it stopped, and one that looks at all.
    struct Both {
        board: Board,
        fast: Marks,
        plain: Marks,
        ms: u64,
        next: u32,
    }

    impl Both {
        fn new() -> Self {
            Both {
                board: board_of(0),
                fast: Marks::new(FAST),
                plain: Marks::new(PLAIN),
                ms: 1_000,
                next: 0,
            }
        }

        /// A time so many milliseconds ago.
        fn since(&self, ms: u64) -> Time {
            Time::from_nanos(self.ms * 1_000_000) - Duration::from_millis(ms as i64)
        }

        fn unmarked(&self, index: usize) -> bool {
            self.plain.flags(self.board.at(index)) == 0
        }

        fn overdue(&mut self, limit: Time) {
            self.fast.mark_overdue(&mut self.board, limit);
            let mut index = 0;
            while self
                .board
                .get(index)
                .is_some_and(|piece| piece.sent < limit)
            {
                if self.unmarked(index) {
                    self.plain.mark_lost(&mut self.board, index);
                }
                index += 1;
            }
        }

        fn timeout(&mut self, limit: Time) {
            let mut marked = self.fast.on(&mut self.board);
            marked.mark_sent_before(|sent| sent < limit);
            marked.end();
            for index in 0..self.board.len() {
                if self.board.at(index).sent < limit {
                    self.plain.mark_lost(&mut self.board, index);
                }
            }
        }

        fn send_again(&mut self, segment: u32, ms: u64) {
            let sent = sent(ms, segment);
            let pieces = self.board.locate(sent.range);
            for index in pieces.clone() {
                self.fast.mark_retransmitted(&mut self.board, index);
                self.plain.mark_retransmitted(&mut self.board, index);
            }
            self.board.retransmitted(&sent, pieces.clone());
            self.fast.sent_again(&self.board, &pieces, sent.at);
        }

        fn acknowledge(&mut self, segment: u32, block: core::ops::Range<u32>) {
            let report = ack(&mut self.board, segment, block, 0);
            for piece in &report.acked {
                self.fast.take_off(piece);
                self.plain.take_off(piece);
            }
            for index in report.sacked {
                self.fast.unmark(&mut self.board, index);
                self.plain.unmark(&mut self.board, index);
            }
        }

        fn take_back(&mut self, index: usize) {
            self.fast.unmark_lost(&mut self.board, index);
            self.plain.unmark_lost(&mut self.board, index);
        }

        /// Does something by chance: `a` and `b` say with what.
        fn step(&mut self, kind: u8, a: u32, b: u32) {
            self.ms += u64::from(b % 3);
            let acknowledged = (self.board.una.offset_from(sent(0, 0).range.start) / 1_000) as u32;
            let some = acknowledged + a % (self.next - acknowledged).max(1);
            let out = some < self.next;
            match kind {
                0..=5 => {
                    // Some of it is told of late.
                    let late = if kind == 5 { u64::from(a % 40) } else { 0 };
                    self.board.push(&sent(self.ms - late, self.next));
                    self.next += 1;
                }
                6..=8 if out => self.send_again(some, self.ms),
                9 if out => self.send_again(some, self.ms - u64::from(b % 30)),
                10 if out => self.acknowledge(acknowledged, some..some + 1),
                11 if out && a % 4 == 0 => self.acknowledge(some, 0..0),
                12 if a % 8 == 0 => {
                    self.fast.clear_lost(&mut self.board);
                    self.plain.clear_lost(&mut self.board);
                }
                13 if out && a % 4 == 0 => {
                    let index = self.board.index(sent(0, some).range.start);
                    self.take_back(index);
                }
                14 if a % 4 == 0 => self.timeout(self.since(u64::from(b % 50))),
                _ => self.overdue(self.since(u64::from(b % 50))),
            }
        }
    }

    proptest! {
        #[test]
        fn what_goes_on_where_it_stopped_marks_what_a_look_at_all_marks(
            steps in proptest::collection::vec((0_u8..24, any::<u32>(), any::<u32>()), 0..600),
        ) {
            let mut both = Both::new();
            for (kind, a, b) in steps {
                both.step(kind, a, b);
                for piece in both.board.pieces() {
                    prop_assert_eq!(both.fast.flags(piece), both.plain.flags(piece));
                }
                prop_assert_eq!(both.fast.lost, both.plain.lost);
                prop_assert_eq!(both.fast.retransmitted, both.plain.retransmitted);
                let again = both.board.pieces().any(|piece| piece.retransmissions > 0);
                prop_assert_eq!(both.board.any_sent_again(), again);
            }
        }
    }

    #[test]
    fn each_piece_is_looked_at_once() {
        let (mut board, mut overdue) = (board_of(20_000), Overdue::default());
        let mut looks = 0;
        for round in 0..1_000 {
            let ms = 20_000 + 10 * u64::from(round);
            let again = sent(ms, 10_000 + round);
            let pieces = board.locate(again.range);
            board.retransmitted(&again, pieces.clone());
            overdue.sent_again(&board, &pieces, again.at);
            // It is not overdue yet, and then it is.
            for ms in [ms, ms + 1] {
                let limit = Time::from_nanos(ms * 1_000_000);
                overdue.look(&mut board, limit, |_, _| looks += 1);
            }
        }
        assert_eq!(looks, 20_000);
    }
}
