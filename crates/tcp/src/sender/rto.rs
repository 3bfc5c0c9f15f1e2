//! The retransmission timeout: what [`recovery::rto`](crate::recovery::rto) decides, carried out.

use rexmit_time::Duration;

use super::queue::{Marks, Sent};
use super::{Sender, State};
use crate::recovery::frto;
use crate::recovery::rto::{self, BackOff, Fire, GiveUp, Loss, Silence, Timeout};
use crate::recovery::Job;
use crate::settings::{Reneging, ShutWindowLimit, TimeoutMarks, UndoStart};
use crate::words::Mechanism;

impl Sender {
    /// The timeout ran out (`tcp_retransmit_timer`).
    pub(super) fn on_timeout(&mut self) {
        let view = Fire {
            packets_out: self.queue.out,
            window_shut: self.peer.window == 0,
            orphan: self.orphan,
        };
        match rto::fire(view) {
            Timeout::Nothing => {}
            Timeout::ProbeWindow => {
                if self.gives_up_shut_window() {
                    self.timed_out = true;
                    return;
                }
                self.enter_loss_by_timeout();
                self.retransmit(0, 1, Mechanism::Rto);
                self.back_off();
            }
            Timeout::Retransmit => {
                self.counters.timeouts += 1;
                if self.gives_up() {
                    self.timed_out = true;
                    return;
                }
                self.enter_loss_by_timeout();
                self.timing.timeouts += 1;
                self.retransmit(0, 1, Mechanism::Rto);
                self.timing.backoff = self.timing.backoff.saturating_add(1);
                self.back_off();
            }
        }
    }

    fn enter_loss_by_timeout(&mut self) {
        let head_is_sacked = self.queue.head().is_some_and(Sent::is_sacked);
        self.enter_loss(head_is_sacked && self.settings.reneging == Reneging::Wait);
        self.episode.probe.high = None;
    }

    /// The acknowledgement ended at a segment that was SACKed: the receiver dropped it, and all SACKs are void (RFC 2018 §8;
    /// `tcp_check_sack_reneging`, 3.10).
    pub(super) fn forget_sacks(&mut self) {
        self.enter_loss(true);
        self.timing.timeouts += 1;
        self.retransmit(0, 1, Mechanism::Rto);
        self.set_timer(Job::Timeout, self.timing.rto);
    }

    fn back_off(&mut self) {
        let tick = self.clock.tick();
        let grows = BackOff {
            slop: tick.up(self.settings.rto_slop),
            max: tick.up(self.settings.max_rto),
        };
        self.timing.back_off(&grows);
        self.set_timer(Job::Timeout, self.timing.rto);
    }

    /// Whether the peer took its window back and has been silent for too long.
    fn gives_up_shut_window(&self) -> bool {
        let limit = self.settings.shut_window_limit;
        let until = match limit {
            ShutWindowLimit::LongestTimeout => self.tick(),
            ShutWindowLimit::TwiceLongestTimeout => self.timing.timer.due(),
        };
        let head = || self.queue.head().map(|head| self.stamp(head.at));
        let first = self.first_retransmission().or_else(head);
        let silence = Silence {
            since_ack: self.ticks_span(until - self.peer.last_ack),
            since_retransmission: first.map_or(Duration::ZERO, |first| self.since_stamp(first)),
        };
        let max_rto = self.clock.tick().up(self.settings.max_rto);
        rto::gives_up_shut_window(limit, silence, max_rto)
    }

    /// Whether timeouts went unanswered too often.
    fn gives_up(&self) -> bool {
        rto::gives_up(&GiveUp {
            timeouts: self.timing.timeouts,
            retries: self.settings.retries,
            by_time: self.settings.retries_by_time,
            since_retransmission: self
                .first_retransmission()
                .map(|first| self.since_stamp(first)),
            orphan: self.orphan,
            rto_is_longest: self.timing.rto >= self.clock.tick().up(self.settings.max_rto),
            max_rto: self.settings.max_rto,
        })
    }

    /// How long ago the clock of the timestamps option stood at `stamp`.
    fn since_stamp(&self, stamp: u32) -> Duration {
        let steps = self.timestamp(self.now).wrapping_sub(stamp);
        Duration::from_micros(i64::from(steps) * self.stamp_micros())
    }

    /// What a timeout finds.
    fn loss_view(&self) -> Loss {
        Loss {
            state: self.episode.state,
            point_acknowledged: !self.episode.point.is_after(self.una),
            timeouts: self.timing.timeouts,
        }
    }

    /// The threshold comes down for what a timeout lost.
    fn reduce_by_timeout(&mut self) {
        self.episode.prior_ssthresh = self.current_ssthresh();
        self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
        self.congestion.reduce();
    }

    /// What is in flight is lost, wholly or as far as RACK says; if the receiver `reneged`, what was SACKed as well
    /// (`tcp_enter_loss`).
    fn enter_loss(&mut self, reneged: bool) {
        let state = self.episode.state;
        let before = |index| self.queue.at(index).marks.any(Marks::ANY_RETRANSMISSION);
        let retransmitted_before = (0..self.queue.len()).any(before);
        self.mark_lost_by_timeout(reneged);
        let reduces = self.loss_view().reduces();
        if reduces {
            self.reduce_by_timeout();
        }
        match self.settings.undo_start {
            UndoStart::Clean => {
                let una = self.settings.undo.then_some(self.una);
                self.episode
                    .undo
                    .begin_by_timeout(una, retransmitted_before);
            }
            UndoStart::InFlight if reduces => self.begin_undo(),
            UndoStart::InFlight => {}
        }
        self.congestion.window.cwnd = self.queue.in_flight() + 1;
        self.congestion.window.cwnd_cnt = 0;
        self.congestion.usage.stamp = self.tick();
        self.detection.threshold = self.reordering_after_timeout();
        self.set_state(State::Loss);
        self.episode.point = self.nxt;
        self.begin_frto(state, reduces);
    }

    /// F-RTO's test begins after a timeout in `state`, if it should.
    fn begin_frto(&mut self, state: State, reduced: bool) {
        let view = frto::Begin {
            state,
            reduced,
            timeouts: self.timing.timeouts,
        };
        self.episode.frto = self.settings.frto && frto::begins(self.settings.frto_test, &view);
    }

    fn reordering_after_timeout(&self) -> u32 {
        rto::reordering_after(
            self.settings.timeout_forgets_reordering,
            self.episode.state,
            self.queue.sacked,
            self.detection.threshold,
            self.settings.dupack_threshold,
        )
    }

    /// `tcp_timeout_mark_lost`
    fn mark_lost_by_timeout(&mut self, reneged: bool) {
        if reneged || !self.sack {
            self.queue.sacked = 0;
        }
        if reneged {
            self.detection.fack.reach = 0;
            for index in 0..self.queue.len() {
                self.queue.at_mut(index).marks.clear(Marks::SACKED);
            }
        }
        match self.settings.timeout_marks {
            TimeoutMarks::All => self.mark_all_lost(),
            TimeoutMarks::Rack => {
                for index in 0..self.queue.len() {
                    let segment = *self.queue.at(index);
                    let rack = self.settings.rack;
                    let wait = rack.then(|| self.rack_wait(&segment));
                    if reneged || rto::marks_lost(TimeoutMarks::Rack, index == 0, wait) {
                        self.queue.mark_lost(index);
                    }
                }
            }
        }
        self.queue.clear_hints();
        self.detection.fack.timeout_hint = None;
    }

    /// Marks all lost that is not SACKed, what was sent again as well.
    fn mark_all_lost(&mut self) {
        self.queue.retransmissions_out = 0;
        self.queue.lost = 0;
        for index in 0..self.queue.len() {
            let segment = self.queue.at_mut(index);
            segment.marks.clear(Marks::RETRANSMISSION_OUT | Marks::LOST);
            if !segment.is_sacked() {
                segment.marks.set(Marks::LOST);
                let (count, end) = (segment.count(), segment.end);
                self.queue.lost += count;
                self.detection.fack.lost_end = end;
            }
        }
    }
}
