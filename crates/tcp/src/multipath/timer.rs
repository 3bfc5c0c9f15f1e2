//! The timer of a whole connection, and for how long it is set.

use rexmit_time::Time;

use super::subflow::Subflow;
use crate::clock::{Clock, KernelTimer};
use crate::settings::Settings;

/// The timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    clock: Clock,
    kernel: KernelTimer,
    /// Ticks that it is set for when it is set anew (`timer_ival`, or the out-of-tree `icsk_rto`).
    interval: i64,
    least: i64,
    most: i64,
    /// It fired, and nothing was acknowledged since (out of tree).
    backed_off: bool,
}

impl Timer {
    pub fn new(settings: &Settings, clock: Clock) -> Self {
        let least = clock.ticks_in(settings.timers.min_rto);
        Timer {
            clock,
            kernel: KernelTimer::default(),
            interval: least,
            least,
            most: clock.ticks_in(settings.timers.max_rto),
            backed_off: false,
        }
    }

    /// When it fires, if it runs.
    pub fn fires(&self) -> Option<Time> {
        self.kernel.fires()
    }

    /// Whether it fires at `now`. It then runs no more.
    pub fn fire(&mut self, now: Time) -> bool {
        self.kernel.fire(now)
    }

    pub fn stop(&mut self) {
        self.kernel.stop();
    }

    /// Sets it anew, in place of what it was set to (`mptcp_reset_rtx_timer`).
    pub fn restart(&mut self, now: Time) {
        let due = self.clock.ticks(now) + self.interval;
        self.kernel.set(&self.clock, now, due);
    }

    /// Sets it if it does not run.
    pub fn start(&mut self, now: Time) {
        if self.fires().is_none() {
            self.restart(now);
        }
    }

    /// It will run as long as the longest timer that is set on a subflow, of so many ticks (`__mptcp_set_timeout`).
    pub fn last_for(&mut self, ticks: i64) {
        self.interval = if ticks > 0 { ticks } else { self.least };
    }

    /// As long as the longest timer of these subflows (`mptcp_set_timeout`).
    pub fn follow(&mut self, subflows: &[Subflow], now: Time) {
        let each = subflows.iter().map(|subflow| subflow.pending_ticks(now));
        self.last_for(each.max().unwrap_or(0));
    }

    /// As long as twice the longest timeout of these subflows, unless it backed off (`mptcp_set_rto`).
    pub fn follow_timeouts(&mut self, subflows: &[Subflow]) {
        let each = subflows.iter().filter_map(Subflow::sender);
        if let Some(longest) = each
            .map(|sender| sender.timing().rto_ticks())
            .max()
            .filter(|_| !self.backed_off)
        {
            self.interval = 2 * longest;
        }
    }

    /// It fired: the next time takes twice as long.
    pub fn back_off(&mut self) {
        self.backed_off = true;
        self.interval = (2 * self.interval).min(self.most);
    }

    /// Data were acknowledged.
    pub fn end_back_off(&mut self) {
        self.backed_off = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    #[test]
    fn it_runs_as_long_as_the_subflows_say_and_twice_as_long_after_it_fired() {
        let settings = stacks::page("linux-4.1").unwrap().settings;
        let clock = settings.timers.clock();
        let mut timer = Timer::new(&settings, clock);
        let now = Time::from_nanos(1_000_000_000);
        let ticks = |timer: &mut Timer| {
            timer.stop();
            timer.restart(now);
            clock.ticks(timer.fires().unwrap()) - clock.ticks(now)
        };
        let least = clock.ticks_in(settings.timers.min_rto);
        assert_eq!(ticks(&mut timer), least);
        timer.last_for(least + 7);
        assert_eq!(ticks(&mut timer), least + 7);
        timer.back_off();
        assert_eq!(ticks(&mut timer), 2 * (least + 7));
        timer.last_for(0);
        assert_eq!(ticks(&mut timer), least);
        for _ in 0..64 {
            timer.back_off();
        }
        assert_eq!(timer.interval, clock.ticks_in(settings.timers.max_rto));
    }
}
