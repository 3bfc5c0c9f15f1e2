//! A timeout that may have been none.
//!
//! Where times are unsure, what an acknowledgement let go may have left when a timeout would have come. What follows tells:
//! after a timeout the window is what was still in flight and one segment, and what is lost goes before anything new. A
//! sender that does otherwise was in recovery.

use core::ops::Range;

use rexmit_tcp::recovery::{machine, CaState};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::course::Course;
use super::timing::SEES_ALL;
use super::{EmulatedSender, Minimum, Moment};
use crate::emulate::board::Board;
use rexmit_tcp::recovery::Job;

/// How much likelier the timeout may be, as a natural logarithm, for the other explanation to be remembered.
const MOST: f64 = 9.0;

/// What it costs, as a natural logarithm, when more leaves than a sender lets go after a timeout.
const TOO_MUCH: f64 = -3.0;

/// What a sender was before a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// How much likelier the timeout is than a recovery, as a natural logarithm.
    rather: f64,
    state: CaState,
    point: SeqNum,
    rto: Duration,
    bias: Duration,
    minimum: Minimum,
    timeouts: u32,
    loss_at: Option<Time>,
    /// What a retransmission of the recovery is called.
    mechanism: Mechanism,
    /// Retransmissions since, the first of them counted.
    retransmissions: usize,
}

impl Course {
    /// A further retransmission is called by what is known so far.
    pub fn note_doubtful_retransmission(&mut self) {
        if let Some(before) = &mut self.before {
            before.retransmissions += 1;
        }
    }
}

impl EmulatedSender {
    /// What it is now, `rather` being how much likelier a timeout is than that an acknowledgement let the retransmission
    /// go.
    pub(super) fn before_timeout(
        &self,
        moment: &Moment,
        rather: f64,
        mechanism: Mechanism,
    ) -> Option<Before> {
        let unsure =
            moment.slack > SEES_ALL && rather < MOST && mechanism != Mechanism::RtoRecovery;
        unsure.then_some(Before {
            rather,
            state: self.episode.state,
            point: self.episode.point,
            rto: self.timing.timers.rto,
            bias: self.timing.trips.bias,
            minimum: self.timing.trips.minimum,
            timeouts: self.episode.timeouts,
            loss_at: self.course.loss_at,
            mechanism,
            retransmissions: 0,
        })
    }

    /// What it costs, as a natural logarithm, to believe that these pieces were sent again after a timeout, beyond the
    /// window that it leaves.
    pub(super) fn beyond_window(&self, board: &Board, pieces: &Range<usize>) -> f64 {
        let Some(window) = self
            .flight
            .most
            .filter(|_| self.episode.state == CaState::Loss && board.sack)
        else {
            // Without SACK what is in flight is known too badly.
            return 0.0;
        };
        let more = pieces.clone();
        let more = more.filter(|index| !self.marks.is_retransmitted(board.at(*index)));
        let more: u32 = more.map(|index| board.at(index).packets).sum();
        if self.marks.in_flight(board) + more > window {
            TOO_MUCH
        } else {
            0.0
        }
    }

    /// Something that a sender does not do after a timeout.
    pub(super) fn doubt(&mut self, board: &mut Board, moment: &Moment, cost: f64) {
        let Some(before) = &mut self.course.before else {
            return;
        };
        let rather = before.rather;
        before.rather += cost;
        if before.rather < 0.0 {
            // What it cost until now was not to be paid.
            self.evidence.score -= rather;
            self.take_back_timeout(board, moment);
        }
    }

    /// There was no timeout: a recovery began, or went on.
    fn take_back_timeout(&mut self, board: &mut Board, moment: &Moment) {
        let Some(before) = self.course.before.take() else {
            return;
        };
        let share = 1.0 / (1.0 + before.rather.exp());
        for (index, opinion) in self
            .evidence
            .opinions
            .iter_mut()
            .rev()
            .take(before.retransmissions)
            .enumerate()
        {
            let first = index + 1 == before.retransmissions;
            let mechanism = match opinion.mechanism {
                Mechanism::Rto | Mechanism::RtoRecovery if first => before.mechanism,
                Mechanism::RtoRecovery => match before.mechanism {
                    Mechanism::Fack | Mechanism::FastRetransmit if board.sack => {
                        Mechanism::SackRecovery
                    }
                    same => same,
                },
                _ => continue,
            };
            opinion.next = Some((opinion.mechanism, 1.0 - share));
            opinion.mechanism = mechanism;
            opinion.share = share;
            opinion.timer = None;
        }
        self.episode.state = CaState::Recovery;
        self.episode.causes.began_by = before.mechanism;
        self.episode.causes.note(before.mechanism);
        self.course.entered = None;
        self.episode.frto = false;
        self.timing.timers.rto = before.rto;
        self.timing.trips.bias = before.bias;
        self.timing.trips.minimum = before.minimum;
        self.episode.timeouts = before.timeouts;
        self.course.loss_at = before.loss_at;
        if before.state == CaState::Recovery && before.point.is_after(board.una) {
            self.episode.point = before.point;
        }
        self.flight.forget();
        if self.timing.timers.timer.job() == Some(Job::Timeout) {
            self.timing
                .timers
                .set_to_timeout(self.timing.timers.timer.armed);
        }
        let by_time = board.sack && self.settings.loss.rack;
        board.looked_at(board.len());
        for index in 0..board.len() {
            let found = by_time && self.rack_finds_lost(board, board.at(index), moment.at);
            if !found && !self.marks.is_retransmitted(board.at(index)) {
                self.marks.unmark_lost(board, index);
            }
        }
        if !by_time {
            machine::mark_by_count(&mut self.at(board, moment.at), false);
        }
    }
}
