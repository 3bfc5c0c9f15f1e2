//! The sender as [`recovery::machine`](crate::recovery::machine) works on it.

use rexmit_time::Duration;

use super::nagle::Hold;
use super::queue::{time_of, Marks, Sent};
use super::{Sender, State};
use crate::clock::Tick;
use crate::estimator::Rtt;
use crate::recovery::machine::{
    self, AckOutcome, AckView, Actor, Board, Clock, Counts, Detection, Episode, Line, NewData,
    Output, Resume, Times, Window,
};
use crate::recovery::{dupack, fack};
use crate::recovery::{rto, Job};
use crate::settings::{AckOrder, Settings, TimeoutLeft, TimeoutMarks};
use crate::words::Mechanism;

impl Board for Sender {
    #[inline]
    fn line(&self) -> Line {
        let queue = &self.queue;
        Line {
            una: self.una,
            nxt: self.nxt,
            mss: self.sizes.mss,
            sack: self.sack,
            highest_sack: queue.highest_sack(self.una),
            reach: if queue.counts.sacked == 0 {
                0
            } else {
                self.fack.reach
            },
        }
    }

    #[inline]
    fn counts(&self) -> Counts {
        self.queue.counts
    }

    fn head_was_sent_again(&self) -> bool {
        let head = self.queue.head();
        head.is_some_and(|head| head.marks.any(Marks::EVER_RETRANSMITTED))
    }

    fn any_was_sent_again(&self) -> bool {
        let again = |index| self.queue.at(index).marks.any(Marks::ANY_RETRANSMISSION);
        (0..self.queue.len()).any(again)
    }

    fn head_is_sacked(&self) -> bool {
        self.queue.head().is_some_and(Sent::is_sacked)
    }

    fn set_duplicates(&mut self, duplicates: u32) {
        self.queue.counts.sacked = duplicates;
    }

    fn mark_head(&mut self) {
        let Some(head) = self.queue.head().filter(|head| !head.is_lost()) else {
            return;
        };
        if head.packets > 1 && head.len() > self.sizes.mss {
            self.split(0, self.sizes.mss);
        }
        self.queue.mark_lost(0);
    }

    fn mark_counted(&mut self, marks: dupack::Marks) {
        let (most, head_only) = match marks {
            dupack::Marks::Nothing => return,
            dupack::Marks::Head => (1, true),
            dupack::Marks::First(most) | dupack::Marks::BelowSacked(most) => (most, false),
        };
        self.mark_from_head(most, head_only);
    }

    fn mark_overdue(&mut self) {
        let (moment, rto) = (self.moment, self.timing.rto);
        self.fack
            .mark_overdue(&mut self.queue, |one| fack::timed_out(moment.age(one), rto));
    }

    fn mark_by_timeout(&mut self, reneged: bool) {
        if reneged {
            self.queue.counts.sacked = 0;
            for index in 0..self.queue.len() {
                self.queue.at_mut(index).marks.clear(Marks::SACKED);
            }
        }
        match self.settings.loss.timeout_marks {
            TimeoutMarks::All => self.fack.mark_all_lost(&mut self.queue),
            TimeoutMarks::Rack => {
                for index in 0..self.queue.len() {
                    let wait = machine::rack_wait(self, time_of(self.queue.at(index).at));
                    if reneged || rto::marks_lost(TimeoutMarks::Rack, index == 0, wait) {
                        self.queue.mark_lost(index);
                    }
                }
            }
        }
        self.queue.clear_hints();
        self.fack.timeout_hint = None;
    }

    fn mark_by_rack(&mut self, window: Duration) -> Duration {
        let now = self.times().now;
        self.detection.rack.detect(&mut self.queue, window, now)
    }

    fn unmark_lost(&mut self) {
        self.queue.unmark_lost();
    }

    fn count_anew(&mut self) {
        self.queue.count_hint = None;
    }
}

impl Clock for Sender {
    #[inline]
    fn times(&self) -> Times {
        Times {
            // As finely as times of sending are kept.
            now: time_of(self.moment.micros()),
            min_rtt: self.timing.min_rtt.span(),
            min_rto: self.settings.timers.min_rto,
            rto: self.timing.rto,
            job: self.timing.timer.job(),
        }
    }

    fn rtt(&self) -> &Rtt {
        &self.timing.rtt
    }

    fn tick_length(&self) -> Tick {
        self.moment.clock.tick()
    }

    fn head_age(&self) -> Duration {
        match (self.queue.head(), self.settings.timers.timeout_left) {
            (None, _) => Duration::ZERO,
            (Some(head), TimeoutLeft::Ticks) => self
                .moment
                .ticks_span(self.moment.tick() - self.moment.tick_of(head.at)),
            (Some(head), TimeoutLeft::Micros) => Duration::from_micros(self.moment.since(head.at)),
        }
    }

    fn head_timed_out(&self) -> bool {
        let head = self.queue.head();
        self.settings.loss.head_timeout
            && head.is_some_and(|head| fack::timed_out(self.moment.age(head), self.timing.rto))
    }

    fn timer_left(&self) -> Duration {
        self.moment
            .ticks_span(self.timing.timer.due() - self.moment.tick())
    }

    fn set_timer(&mut self, job: Job, wait: Duration) {
        let clock = self.moment.clock;
        let ticks = clock.ticks_in(wait.min(self.settings.timers.max_rto));
        self.timing.timer.set(&clock, self.moment.now, job, ticks);
    }

    fn clear_timer(&mut self) {
        self.timing.timer.clear();
    }
}

impl Window for Sender {
    fn begin_recovery(&mut self, reduces: bool) {
        self.counters.recoveries += 1;
        self.congestion.prior_ssthresh = 0;
        if reduces {
            self.congestion.prior_ssthresh = self.congestion.threshold(self.episode.in_reduction());
            self.congestion.begin_reduction();
        }
    }

    fn end_reduction(&mut self) {
        let undone = self.settings.congestion.undo && self.episode.undo.marker.is_none();
        if self.episode.state == State::Cwr || !undone {
            self.congestion
                .end_reduction(self.settings.congestion.recovery, self.moment.tick());
        }
    }

    fn begin_loss(&mut self, reduces: bool) {
        if reduces {
            self.congestion.prior_ssthresh = self.congestion.threshold(self.episode.in_reduction());
            self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
            self.congestion.reduce();
        }
        self.congestion.window.cwnd = self.queue.in_flight() + 1;
        self.congestion.window.cwnd_cnt = 0;
        self.congestion.usage.stamp = self.moment.tick();
        let clock = self.moment.clock;
        let context = self.context(&clock);
        self.congestion.control.enter_loss(&context);
    }

    fn undo_loss(&mut self, by_frto: bool) {
        self.counters.spurious_timeouts += u32::from(by_frto);
    }

    fn undo_window(&mut self, threshold_too: bool) {
        self.congestion
            .undo(self.settings.congestion.undo_window, threshold_too);
        self.congestion.usage.stamp = self.moment.tick();
        self.counters.undos += 1;
    }

    fn moderate_window(&mut self) {
        let most = self.queue.in_flight() + self.detection.threshold;
        self.congestion.window.cwnd = self.congestion.window.cwnd.min(most);
        self.congestion.usage.stamp = self.moment.tick();
    }

    fn reduce_for_probe(&mut self) {
        self.congestion.begin_reduction();
        self.episode.state = State::Cwr;
        self.congestion
            .end_reduction(self.settings.congestion.recovery, self.moment.tick());
    }

    fn step_window(&mut self, delivered: u32, begins: bool) {
        if self.settings.loss.ack_order == AckOrder::RecoveryFirst {
            let in_flight = self.queue.in_flight();
            self.congestion.step(
                self.settings.congestion.recovery,
                delivered,
                0,
                false,
                in_flight,
                begins,
            );
        }
    }

    fn reduce_by_timer(&mut self, lost: u32) {
        let in_flight = self.queue.in_flight();
        self.congestion
            .reduce_for(self.settings.congestion.recovery, 1, lost, false, in_flight);
    }

    fn grow_window(&mut self, view: &AckView, outcome: AckOutcome, doubtful: bool) {
        if outcome.any(AckOutcome::ACKED) && (!doubtful || !self.episode.in_reduction()) {
            Sender::grow_window(self, view.prior_in_flight, view.acked);
        }
    }
}

impl Output for Sender {
    fn count_delivered(&mut self, segments: u32) {
        self.delivered += segments;
    }

    fn send_new(&mut self) -> NewData {
        if self.settings.loss.ack_order == AckOrder::LossesFirst {
            let room = !self.written.backlog.is_empty() && self.window_end().is_after(self.nxt);
            return if room { NewData::Wait } else { NewData::None };
        }
        let before = self.nxt;
        self.push_with(Hold::OFF);
        if self.nxt.is_after(before) {
            NewData::Left
        } else {
            NewData::None
        }
    }

    fn resume(&mut self, resume: Resume) {
        Sender::resume(self, resume);
    }

    fn send_lost(&mut self) {
        Sender::send_lost(self);
    }

    fn forget_sacks(&mut self) {
        machine::enter_loss(self, true);
        self.episode.timeouts += 1;
        self.retransmit(0, 1, Mechanism::Rto);
        self.set_timer(Job::Timeout, self.timing.rto);
    }
}

impl Actor for Sender {
    #[inline]
    fn settings(&self) -> &Settings {
        &self.settings
    }

    #[inline]
    fn episode(&self) -> &Episode {
        &self.episode
    }

    #[inline]
    fn episode_mut(&mut self) -> &mut Episode {
        &mut self.episode
    }

    #[inline]
    fn detection(&self) -> &Detection {
        &self.detection
    }

    #[inline]
    fn detection_mut(&mut self) -> &mut Detection {
        &mut self.detection
    }

    fn echo(&self) -> Option<u32> {
        self.peer.echo
    }

    fn may_send_now(&self) -> Option<bool> {
        Some(self.can_send_now())
    }

    fn window_takes_new_data(&self) -> Option<bool> {
        let room = self.congestion.window.cwnd > self.queue.in_flight();
        Some(room && !self.written.backlog.is_empty())
    }
}
