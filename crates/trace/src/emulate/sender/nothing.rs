//! Data that are sent again for no cause that a stack here has: no timer can have run out, and no acknowledgement said that
//! anything is missing. Hosts do so: a FIN goes again with the acknowledgement of the peer's (`tcp_output` of BSD in
//! CLOSING), a smaller MTU is reported (RFC 1191 §6.4), a program on the way repeats packets.

use rexmit_tcp::recovery::State;
use rexmit_time::{Duration, Time};

use super::explain::Moment;
use super::EmulatedSender;
use crate::emulate::board::Board;
use crate::emulate::TOGETHER;
use rexmit_tcp::recovery::Job;

impl EmulatedSender {
    /// Whether nothing can have made the sender send these pieces again at this moment.
    pub(super) fn has_no_cause(
        &self,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) -> bool {
        let Some(copied) = moment.copied.filter(|_| moment.before_timers) else {
            return false;
        };
        !self.is_due(moment)
            && (is_before_any_ack(moment, copied) || !self.hears_of_loss(board, pieces))
    }

    /// Whether the timer that runs in this emulation was due: 3.10 may probe before a round trip is over.
    fn is_due(&self, moment: &Moment) -> bool {
        let (soon, _) = self.timer_window();
        self.timers.timer.job().is_some()
            && moment.at + moment.slack + self.clock.tick().span() / 2 >= soon
    }

    /// Whether anything that came back says that a segment is missing, or the sender repairs what was lost before.
    fn hears_of_loss(&self, board: &Board, pieces: &core::ops::Range<usize>) -> bool {
        let waits = matches!(
            self.timers.timer.job(),
            Some(Job::Reordering | Job::EarlyRetransmit)
        );
        let marked = |index: usize| self.marks.is_lost(board.at(index));
        matches!(self.episode.state, State::Recovery | State::Loss)
            || waits
            || self.marks.delivered_above(board) > 0
            || pieces.clone().any(marked)
    }

    /// Goes on after such a retransmission: what the sender thinks of its segments stays as it was.
    pub(super) fn note_unexplained(&mut self, board: &mut Board, pieces: &core::ops::Range<usize>) {
        for index in pieces.clone() {
            self.marks.mark_retransmitted(board, index);
        }
    }
}

/// Whether the sender cannot have heard anything since the earlier copy left: what came right before that may have been
/// worked through after it.
fn is_before_any_ack(moment: &Moment, copied: Time) -> bool {
    moment.ack_at + TOGETHER + moment.slack < copied
}

/// How long it had been since the earlier copy.
pub(super) fn waited(moment: &Moment) -> Duration {
    moment.copied.map_or(Duration::ZERO, |at| moment.at - at)
}
