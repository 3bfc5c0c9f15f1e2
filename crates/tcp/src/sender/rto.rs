//! The retransmission timeout: what [`recovery::rto`](crate::recovery::rto) decides, carried out.

use rexmit_time::Duration;

use super::Sender;
use crate::recovery::machine::{self, Clock as _};
use crate::recovery::rto::{self, BackOff, Fire, GiveUp, Silence, Timeout};
use crate::recovery::Job;
use crate::settings::ShutWindowLimit;
use crate::words::Mechanism;

impl Sender {
    /// The timeout ran out (`tcp_retransmit_timer`).
    pub(super) fn on_timeout(&mut self) {
        let view = Fire {
            packets_out: self.queue.counts.out,
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
                machine::enter_loss_by_timeout(self);
                self.retransmit(0, 1, Mechanism::Rto);
                self.back_off();
            }
            Timeout::Retransmit => {
                self.counters.timeouts += 1;
                if self.gives_up() {
                    self.timed_out = true;
                    return;
                }
                machine::enter_loss_by_timeout(self);
                self.episode.timeouts += 1;
                self.retransmit(0, 1, Mechanism::Rto);
                self.timing.backoff = self.timing.backoff.saturating_add(1);
                self.back_off();
            }
        }
    }

    fn back_off(&mut self) {
        let tick = self.moment.clock.tick();
        let grows = BackOff {
            slop: tick.up(self.settings.timers.rto_slop),
            max: tick.up(self.settings.timers.max_rto),
        };
        self.timing.back_off(&grows);
        self.set_timer(Job::Timeout, self.timing.rto);
    }

    /// Whether the peer took its window back and has been silent for too long.
    fn gives_up_shut_window(&self) -> bool {
        let limit = self.settings.timers.shut_window_limit;
        let until = match limit {
            ShutWindowLimit::LongestTimeout => self.moment.tick(),
            ShutWindowLimit::TwiceLongestTimeout => self.timing.timer.due(),
        };
        let head = || self.queue.head().map(|head| self.moment.stamp(head.at));
        let first = self.episode.undo.first.stamp().or_else(head);
        let silence = Silence {
            since_ack: self.moment.ticks_span(until - self.peer.last_ack),
            since_retransmission: first
                .map_or(Duration::ZERO, |first| self.moment.since_stamp(first)),
        };
        let max_rto = self.moment.clock.tick().up(self.settings.timers.max_rto);
        rto::gives_up_shut_window(limit, silence, max_rto)
    }

    /// Whether timeouts went unanswered too often.
    fn gives_up(&self) -> bool {
        let first = self.episode.undo.first.stamp();
        rto::gives_up(&GiveUp {
            timeouts: self.episode.timeouts,
            retries: self.settings.timers.retries,
            by_time: self.settings.timers.retries_by_time,
            since_retransmission: first.map(|first| self.moment.since_stamp(first)),
            orphan: self.orphan,
            rto_is_longest: self.timing.rto
                >= self.moment.clock.tick().up(self.settings.timers.max_rto),
            max_rto: self.settings.timers.max_rto,
        })
    }
}
