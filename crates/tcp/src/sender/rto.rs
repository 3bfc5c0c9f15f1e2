//! The retransmission timeout: what [`recovery::rto`](crate::recovery::rto) decides, carried out.

use rexmit_time::Duration;

use super::{Sender, State};
use crate::recovery::frto;
use crate::recovery::rto::{self, BackOff, Fire, GiveUp, Loss, Silence, Timeout};
use crate::recovery::Job;
use crate::settings::{Estimator, SenderForm};
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
        match self.settings.sender {
            SenderForm::Linux3 => {
                self.episode.probe.high = None;
                self.enter_loss_linux3(false);
            }
            SenderForm::Linux6 => self.enter_loss(),
        }
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
        let form = self.settings.sender;
        let until = match form {
            SenderForm::Linux3 => self.tick(),
            SenderForm::Linux6 => self.timing.timer.due(),
        };
        let head = || self.queue.head().map(|head| self.stamp(head.at));
        let first = self.first_retransmission().or_else(head);
        let silence = Silence {
            since_ack: self.ticks_span(until - self.peer.last_ack),
            since_retransmission: first.map_or(Duration::ZERO, |first| self.since_stamp(first)),
        };
        let max_rto = self.clock.tick().up(self.settings.max_rto);
        rto::gives_up_shut_window(form, silence, max_rto)
    }

    /// Whether timeouts went unanswered too often.
    fn gives_up(&self) -> bool {
        let linux = [Estimator::LinuxTicks, Estimator::LinuxMicros];
        rto::gives_up(&GiveUp {
            timeouts: self.timing.timeouts,
            retries: self.settings.retries,
            by_time: linux.contains(&self.settings.estimator),
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
    pub(super) fn loss_view(&self) -> Loss {
        Loss {
            state: self.episode.state,
            point_acknowledged: !self.episode.point.is_after(self.una),
            timeouts: self.timing.timeouts,
        }
    }

    /// The threshold comes down for what a timeout lost.
    pub(super) fn reduce_by_timeout(&mut self) {
        self.episode.prior_ssthresh = self.current_ssthresh();
        self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
        self.congestion.window.ssthresh = self.congestion.control.ssthresh(&self.congestion.window);
    }

    /// What is in flight is lost, wholly or as far as RACK says (`tcp_enter_loss`).
    fn enter_loss(&mut self) {
        let state = self.episode.state;
        self.mark_lost_by_timeout();
        let reduces = self.loss_view().reduces();
        if reduces {
            self.reduce_by_timeout();
            self.begin_undo();
        }
        self.congestion.window.cwnd = self.queue.in_flight() + 1;
        self.congestion.window.cwnd_cnt = 0;
        self.congestion.usage.stamp = self.tick();
        self.detection.threshold = self.reordering_after_timeout();
        self.set_state(State::Loss);
        self.episode.point = self.nxt;
        self.episode.probe.high = None;
        self.begin_frto(state, reduces);
    }

    /// F-RTO's test begins after a timeout in `state`, if it should.
    pub(super) fn begin_frto(&mut self, state: State, reduced: bool) {
        let view = frto::Begin {
            state,
            reduced,
            timeouts: self.timing.timeouts,
        };
        self.episode.frto = self.settings.frto && frto::begins(self.settings.sender, &view);
    }

    pub(super) fn reordering_after_timeout(&self) -> u32 {
        rto::reordering_after(
            self.settings.sender,
            self.episode.state,
            self.queue.sacked,
            self.detection.threshold,
            self.settings.dupack_threshold,
        )
    }

    /// `tcp_timeout_mark_lost`
    fn mark_lost_by_timeout(&mut self) {
        let reneged = self.queue.head().is_some_and(super::queue::Sent::is_sacked);
        if reneged || !self.sack {
            self.queue.sacked = 0;
        }
        for index in 0..self.queue.len() {
            let segment = *self.queue.at(index);
            if reneged {
                let marks = &mut self.queue.at_mut(index).marks;
                marks.clear(super::queue::Marks::SACKED);
            } else {
                let rack = self.settings.rack;
                let wait = rack.then(|| self.rack_wait(&segment));
                if !rto::marks_lost(self.settings.timeout_marks, index == 0, wait) {
                    continue;
                }
            }
            self.queue.mark_lost(index);
        }
        self.queue.clear_hints();
    }
}
