//! A timeout that may have been, where something else was taken for what sent a retransmission.
//!
//! Where times are unsure, what a timeout sent may have left when an acknowledgement would have let it go. What follows
//! tells: after a timeout all that was out goes again, in order, and the first packet alone until something comes back. A
//! recovery sends what it has found lost. As long as it is open which of the two it was, so is what the rest is called.

use core::ops::Range;

use rexmit_tcp::recovery::CaState;
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::causes::SLIGHTLY;
use super::course::Course;
use super::explain::{Candidate, Candidates, Cause, Opinion};
use super::timing::SEES_ALL;
use super::{EmulatedSender, Moment};
use crate::emulate::board::Board;

/// How much less likely the timeout may be, as a natural logarithm, to be remembered.
const MOST: f64 = 9.0;

/// The timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instead {
    /// How much likelier the other explanation is, as a natural logarithm.
    rather: f64,
    /// It would have sent its retransmission then.
    at: Time,
    /// What had been sent.
    point: SeqNum,
}

impl Instead {
    /// How likely it is.
    fn share(&self) -> f64 {
        1.0 / (1.0 + self.rather.exp())
    }
}

impl Course {
    /// An opinion, with the doubt that is left of what came before.
    pub fn with_doubt(&self, opinion: Opinion) -> Opinion {
        let Some(instead) = self.instead else {
            return opinion;
        };
        let share = instead.share();
        let rival = (Mechanism::RtoRecovery, share);
        let next = opinion.next.map(|(next, own)| (next, own * (1.0 - share)));
        Opinion {
            share: opinion.share * (1.0 - share),
            next: next.filter(|next| next.1 > share).or(Some(rival)),
            ..opinion
        }
    }

    /// All that was out then is acknowledged: nothing more is to be learned.
    pub fn forget_timeout_instead(&mut self, board: &Board) {
        let over = |instead: &mut Instead| !instead.point.is_after(board.una);
        self.instead.take_if(over);
    }
}

impl EmulatedSender {
    /// The timeout that may have sent the head now, although `best` is taken for what did.
    pub(super) fn timeout_instead(
        &self,
        board: &Board,
        moment: &Moment,
        head: bool,
        candidates: &Candidates,
        best: &Candidate,
    ) -> Option<Instead> {
        let by_ack = matches!(best.cause, Cause::Ack | Cause::Reordering);
        if !by_ack || !head || moment.slack <= SEES_ALL || self.episode.state == CaState::Loss {
            return None;
        }
        let timeout = candidates.timeout()?;
        let rather = best.weight - timeout.weight;
        (rather < MOST).then_some(Instead {
            rather,
            at: moment.at,
            point: board.nxt,
        })
    }

    /// What these pieces, sent again on an acknowledgement, say of the timeout that may have been. It is as likely as not at
    /// most: where packets overtake each other before the monitor, what a recovery had found lost is not known so well.
    pub(super) fn weigh_timeout(&mut self, board: &Board, moment: &Moment, pieces: &Range<usize>) {
        let Some(instead) = &mut self.course.instead else {
            return;
        };
        let marks = &self.marks;
        let was_out = |index: usize| !board.at(index).end.is_after(instead.point);
        let found = |index: usize| marks.is_lost(board.at(index)) || board.at(index).sacked;
        if pieces.clone().all(|index| was_out(index) && !found(index)) {
            instead.rather = (instead.rather + SLIGHTLY).max(0.0);
        }
        if moment.ack_at + moment.slack < instead.at {
            instead.rather -= SLIGHTLY;
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Duration;

    use super::*;
    use crate::emulate::board::tests::{ack, board_of, sent};
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A sender that counts, of twenty segments of which the fourth was acknowledged and the ninth to eleventh were SACKed
    /// at 50 ms, and the first that is not came by again at that time: a timeout was due, or nearly.
    fn doubtful() -> (EmulatedSender, Board) {
        let counts = |p: &&profile::Profile| p.stack == "linux-6" && !p.settings.loss.rack;
        let profile = profile::all().iter().find(counts).unwrap();
        let mut board = board_of(20);
        let mut sender = EmulatedSender::new(profile, 0, Recycled::default());
        sender.established(at(5), Some(Duration::from_millis(5)), &board);
        sender.timing.timers.set_to_timeout(at(0));
        sender.timing.timers.timer.span = Duration::from_millis(50);
        let report = ack(&mut board, 0, 8..11, 0);
        sender.on_ack(&mut board, &report);
        sender.timing.timers.timer.set(
            at(0),
            rexmit_tcp::recovery::Job::Timeout,
            Duration::from_millis(50),
        );
        again(&mut sender, &mut board, 52, 0);
        (sender, board)
    }

    /// The segment goes again then, after an acknowledgement two milliseconds before.
    fn again(sender: &mut EmulatedSender, board: &mut Board, ms: u64, segment: u32) {
        let moment = Moment {
            at: at(ms),
            slack: Duration::from_millis(30),
            gap: Duration::from_millis(2),
            ack_at: at(ms - 2),
            packets: 1,
            ..Moment::default()
        }
        .of_retransmission();
        let place = segment as usize;
        sender.on_retransmission(board, &moment, place..place + 1);
        board.retransmitted(&sent(ms, segment), place..place + 1);
    }

    fn said(sender: &EmulatedSender) -> Vec<(Mechanism, Option<Mechanism>)> {
        let opinions = sender.evidence.opinions.iter();
        let said = opinions.map(|said| (said.mechanism, said.next.map(|next| next.0)));
        said.collect()
    }

    #[test]
    fn as_long_as_it_is_open_the_rest_is_as_open() {
        use Mechanism::{FastRetransmit, Rto, RtoRecovery, SackRecovery};
        let (mut sender, mut board) = doubtful();
        // Found lost: three SACKed ones lie above.
        again(&mut sender, &mut board, 54, 1);
        let expected = [
            (FastRetransmit, Some(Rto)),
            (SackRecovery, Some(RtoRecovery)),
        ];
        assert_eq!(said(&sender), expected);
        let share = sender.evidence.opinions.back().unwrap().share;
        assert!(share < 0.99, "{share}");
        // All that was out is acknowledged.
        let report = ack(&mut board, 20, 0..0, 0);
        sender.on_ack(&mut board, &report);
        assert!(sender.course.instead.is_none());
    }

    #[test]
    fn what_no_recovery_has_found_lost_leaves_it_even() {
        let (mut sender, mut board) = doubtful();
        for (n, segment) in [11, 12, 13].into_iter().enumerate() {
            again(&mut sender, &mut board, 54 + 2 * n as u64, segment);
        }
        let last = sender.evidence.opinions.back().unwrap();
        assert_eq!(last.mechanism, Mechanism::SackRecovery);
        assert!(last.share <= 0.5, "{}", last.share);
    }
}
