//! An emulated sender as [`recovery::machine`](rexmit_tcp::recovery::machine) works on it: with its marks on the common
//! board, and the time.

use rexmit_tcp::clock::Tick;
use rexmit_tcp::estimator::Rtt;
use rexmit_tcp::recovery::dupack;
use rexmit_tcp::recovery::machine::{
    Actor, Board as Scoreboard, Clock, Counts, Detection, Episode, NewData, Output, StreamState,
    Times, Window,
};
use rexmit_tcp::recovery::rack::Rack;
use rexmit_tcp::recovery::undo::{FirstRetransmission, Undo};
use rexmit_tcp::recovery::Job;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::rate::Rate;
use super::timing::SEES_ALL;
use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board};

/// An emulated sender at work.
pub(super) struct Acting<'a> {
    pub sender: &'a mut EmulatedSender,
    pub board: &'a mut Board,
    now: Time,
    /// The acknowledgement that is worked through.
    report: Option<&'a AckReport>,
}

impl EmulatedSender {
    /// At work at `now`.
    pub(super) fn at<'a>(&'a mut self, board: &'a mut Board, now: Time) -> Acting<'a> {
        Acting {
            sender: self,
            board,
            now,
            report: None,
        }
    }

    /// At work on an acknowledgement.
    pub(super) fn on<'a>(&'a mut self, board: &'a mut Board, report: &'a AckReport) -> Acting<'a> {
        Acting {
            report: Some(report),
            ..self.at(board, report.at)
        }
    }
}

impl Scoreboard for Acting<'_> {
    fn line(&self) -> StreamState {
        StreamState {
            una: self.board.una,
            nxt: self.board.nxt,
            mss: self.board.mss,
            sack: self.board.sack,
            highest_sack: self.board.highest,
            reach: self.board.reach(),
        }
    }

    fn counts(&self) -> Counts {
        self.sender.marks.counts(self.board)
    }

    fn head_sent(&self) -> Option<Time> {
        self.board.head().map(|head| head.sent)
    }

    fn tail_sent(&self) -> Option<Time> {
        self.board.tail().map(|tail| tail.sent)
    }

    fn fin_is_out(&self) -> bool {
        self.board.tail().is_some_and(|tail| tail.fin)
    }

    fn head_was_sent_again(&self) -> bool {
        let head = self.board.head();
        head.is_some_and(|head| head.retransmissions > 0)
    }

    fn any_was_sent_again(&self) -> bool {
        self.board.any_sent_again()
    }

    fn head_is_sacked(&self) -> bool {
        self.board.head().is_some_and(|head| head.sacked)
    }

    fn set_duplicates(&mut self, duplicates: u32) {
        self.sender.marks.duplicates = duplicates;
    }

    fn mark_head(&mut self) {
        let marks = &mut self.sender.marks;
        if self.board.head().is_some_and(|head| !marks.is_lost(head)) {
            marks.mark_lost(self.board, 0);
        }
    }

    /// It goes up to the highest SACK.
    fn mark_counted(&mut self, marks: dupack::Marks, by_sack: bool, _limit: SeqNum) {
        self.sender.marks.mark_counted(self.board, marks, by_sack);
    }

    fn mark_overdue(&mut self, before: Time) {
        self.sender.marks.mark_overdue(self.board, before);
    }

    /// What a receiver drops, or a timeout forgets, stays SACKed: the board is common to stacks that forget and those that do
    /// not.
    fn mark_by_timeout(&mut self, _reneged: bool, lost: impl Fn(bool, Time) -> bool) {
        let marks = &mut self.sender.marks;
        if self.board.head().is_some_and(|head| lost(true, head.sent)) {
            marks.mark_lost(self.board, 0);
        }
        let mut marked = marks.on(self.board);
        marked.mark_sent_before(|sent| lost(false, sent));
        marked.end();
    }

    fn mark_by_rack(&mut self, rack: &Rack, window: Duration, now: Time) -> Duration {
        let mut marked = self.sender.marks.on(self.board);
        let wait = rack.detect(&mut marked, window, now);
        marked.end();
        wait
    }

    fn unmark_lost(&mut self) {
        self.sender.marks.clear_lost(self.board);
    }
}

impl Clock for Acting<'_> {
    fn times(&self) -> Times {
        let sender = &self.sender;
        Times {
            now: self.now,
            min_rtt: sender.timing.trips.least(),
            min_rto: sender.timing.least(),
            rto: sender.timing.timers.rto,
            job: sender.timing.timers.timer.job(),
        }
    }

    fn rtt(&self) -> &Rtt {
        &self.sender.timing.trips.rtt
    }

    fn tick_length(&self) -> Tick {
        self.sender.timing.clock.tick()
    }

    fn age(&self, sent: Time) -> Duration {
        self.now - sent
    }

    fn overdue(&self) -> Time {
        self.now - self.sender.timing.timers.rto
    }

    /// When in its tick it was sent is not seen.
    fn is_overdue(&self, sent: Time) -> bool {
        sent + self.sender.timing.clock.tick().span() / 2 < self.overdue()
    }

    /// In which part of its tick the timer was set is not seen.
    fn timer_left(&self) -> Duration {
        let left = self.sender.timing.timers.timer.due() - self.now;
        if left > Duration::ZERO {
            self.sender.timing.clock.tick().near(left)
        } else {
            left
        }
    }

    fn set_timer(&mut self, job: Job, wait: Duration) {
        self.sender.timing.set(self.now, job, wait);
    }

    fn clear_timer(&mut self) {
        self.sender.timing.timers.timer.clear();
    }
}

impl Window for Acting<'_> {
    fn begin_recovery(&mut self, _reduces: bool) {
        let in_flight = self.sender.marks.in_flight(self.board);
        self.sender.flight.rate = Rate::begin(in_flight, self.board.una);
        self.sender.flight.forget();
        self.sender.course.entered = Some(self.now);
        self.sender.course.forward = false;
    }

    fn end_recovery(&mut self) {
        self.sender.note_end_of_recovery();
    }

    fn begin_loss(&mut self, _reduces: bool) {
        let course = &mut self.sender.course;
        course.before = None;
        course.instead = None;
        course.loss_at = Some(self.now);
        let in_flight = self.sender.marks.in_flight(self.board);
        self.sender.flight.shrink(in_flight);
    }

    fn undo_loss(&mut self, by_frto: bool) {
        if let Some(report) = self.report.filter(|_| by_frto) {
            self.sender.note_taken_back(self.board, report);
        }
        self.sender.course.loss_at = None;
    }

    fn undo_window(&mut self, _threshold_too: bool) {
        self.sender.flight.forget();
    }
}

impl Output for Acting<'_> {
    fn suppose_no_new_data(&mut self) {
        self.sender.course.unless_more = true;
    }

    /// New data, if there are any, come next.
    fn send_new(&mut self) -> NewData {
        NewData::Unknown
    }

    /// It comes once its retransmission is seen.
    fn forget_sacks(&mut self) {
        self.set_timer(Job::Timeout, Duration::ZERO);
    }
}

/// What it sent and its time are one with it: the board is common to all emulated senders, and so is what the clock shows.
impl Actor for Acting<'_> {
    type Board = Self;
    type Clock = Self;
    type Window<'b>
        = Acting<'b>
    where
        Self: 'b;

    fn board(&self) -> &Self {
        self
    }

    fn board_mut(&mut self) -> &mut Self {
        self
    }

    fn clock(&self) -> &Self {
        self
    }

    fn clock_mut(&mut self) -> &mut Self {
        self
    }

    fn window_mut(&mut self) -> Acting<'_> {
        Acting {
            sender: &mut *self.sender,
            board: &mut *self.board,
            ..*self
        }
    }

    fn settings(&self) -> &Settings {
        self.sender.settings
    }

    fn episode(&self) -> &Episode {
        &self.sender.episode
    }

    fn episode_mut(&mut self) -> &mut Episode {
        &mut self.sender.episode
    }

    fn detection(&self) -> &Detection {
        &self.sender.detection
    }

    fn detection_mut(&mut self) -> &mut Detection {
        &mut self.sender.detection
    }

    fn echo(&self) -> Option<u32> {
        self.report.and_then(|report| report.echo)
    }

    /// Elsewhere than at the sender a retransmission that counts may have left before what is acknowledged, though it comes
    /// by later.
    fn known_undo(&self) -> Undo {
        let mut undo = self.sender.episode.undo;
        let counts = undo.retransmissions > 0 && undo.first == FirstRetransmission::None;
        if counts && self.report.is_some_and(|report| report.slack > SEES_ALL) {
            undo.first = FirstRetransmission::Unknown;
        }
        undo
    }

    fn has_frto(&self) -> bool {
        self.sender.has_frto()
    }

    /// If they can, they are about to.
    fn may_send_now(&self) -> Option<bool> {
        None
    }

    fn window_takes_new_data(&self) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::recovery::{machine, CaState};

    use super::*;
    use crate::emulate::board::tests::{ack, board_of};
    use crate::emulate::profile;
    use crate::emulate::sender::Recycled;

    #[test]
    fn elsewhere_a_probe_that_counts_may_have_left_before_what_is_acknowledged() {
        let mut board = board_of(4);
        let newest = &profile::all()[0];
        let mut sender = EmulatedSender::new(newest, 0, Recycled::default());
        sender.episode.probe.high = Some(board.nxt);
        sender.episode.probe.retransmission = true;
        machine::enter_recovery(&mut sender.at(&mut board, Time::ZERO));
        let mut report = ack(&mut board, 1, 2..3, 0);
        assert!(machine::was_only_late(&sender.on(&mut board, &report)));
        report.slack = Duration::from_millis(1);
        assert_eq!(sender.episode.state, CaState::Recovery);
        assert!(!machine::was_only_late(&sender.on(&mut board, &report)));
    }
}
