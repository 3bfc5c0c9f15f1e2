//! Data that are sent again for no cause that a stack here has: no timer can have run out, and no acknowledgement said that
//! anything is missing. Hosts do so: a FIN goes again with the acknowledgement of the peer's (`tcp_output` of BSD in
//! CLOSING), a smaller MTU is reported (RFC 1191 §6.4), a program on the way repeats packets.

use rexmit_tcp::recovery::CaState;
use rexmit_time::{Duration, Time};

use super::causes::Weighing;
use super::explain::Moment;
use super::EmulatedSender;
use crate::emulate::board::Board;
use crate::emulate::TOGETHER;
use rexmit_tcp::recovery::Job;

impl EmulatedSender {
    /// Goes on after such a retransmission: what the sender thinks of its segments stays as it was.
    pub(super) fn note_unexplained(&mut self, board: &mut Board, pieces: &core::ops::Range<usize>) {
        for index in pieces.clone() {
            self.marks.mark_retransmitted(board, index);
        }
    }
}

impl Weighing<'_> {
    /// Whether nothing can have made the sender send these pieces again at this moment.
    pub fn has_no_cause(&self) -> bool {
        let Some(copied) = self.moment.copied.filter(|_| self.moment.before_timers) else {
            return false;
        };
        !self.sender.timing.is_due(self.moment)
            && (is_before_any_ack(self.moment, copied) || !self.hears_of_loss())
    }

    /// Whether anything that came back says that a segment is missing, or the sender repairs what was lost before.
    fn hears_of_loss(&self) -> bool {
        let waits = matches!(
            self.sender.timing.timers.timer.job(),
            Some(Job::Reordering | Job::EarlyRetransmit)
        );
        let marked = |index: usize| self.sender.marks.is_lost(self.board.at(index));
        matches!(self.sender.episode.state, CaState::Recovery | CaState::Loss)
            || waits
            || self.sender.marks.delivered_above(self.board) > 0
            || self.pieces.clone().any(marked)
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
