//! The congestion window in the sender's hands: reduction, growth, disuse, pacing rate.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::ack::Before;
use super::{Sender, State};
use crate::congestion::Window;
use crate::recovery::machine::AckOutcome;
use crate::recovery::prr::{Prr, Step};
use crate::recovery::rate_halving::Halving;
use crate::recovery::reduction;
use crate::settings::WindowUse;

/// How much of the window is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The window was full in this window of data.
    limited: bool,
    /// The most packets out in this window of data.
    most_out: u32,
    /// The window of data ends here.
    until: SeqNum,
    /// The most packets out since the window was last full (`snd_cwnd_used`).
    used: u32,
    /// The tick at which the window was last full or changed (`snd_cwnd_stamp`).
    pub stamp: i64,
}

impl Usage {
    pub fn new(nxt: SeqNum, tick: i64) -> Self {
        Usage {
            limited: false,
            most_out: 0,
            until: nxt,
            used: 0,
            stamp: tick,
        }
    }
}

impl Sender {
    /// The threshold, or three quarters of the window if that is more (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u32 {
        if self.episode.in_reduction() {
            return self.congestion.window.ssthresh;
        }
        let cwnd = self.congestion.window.cwnd;
        self.congestion
            .window
            .ssthresh
            .max((cwnd >> 1) + (cwnd >> 2))
    }

    /// `tcp_init_cwnd_reduction`
    pub(super) fn begin_reduction(&mut self) {
        self.congestion.window.cwnd_cnt = 0;
        self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
        self.congestion.prr = Prr::default();
        self.congestion.reduce();
    }

    /// `tcp_cwnd_reduction`
    pub(super) fn reduce_window(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 || self.congestion.window.prior_cwnd == 0 {
            return;
        }
        self.step_reduction(delivered, lost, advanced, false);
    }

    /// The next step of a reduction. `begins`: the first of a recovery, by which before 4.x a segment may go in any case.
    pub(super) fn step_reduction(
        &mut self,
        delivered: u32,
        lost: u32,
        advanced: bool,
        begins: bool,
    ) {
        let step = Step {
            delivered,
            lost,
            advanced,
            in_flight: self.queue.in_flight(),
            ssthresh: self.congestion.window.ssthresh,
            prior_cwnd: self.congestion.window.prior_cwnd,
            begins,
        };
        let before = Halving {
            cwnd: self.congestion.window.cwnd,
            acknowledgements: self.congestion.window.cwnd_cnt,
        };
        let after = reduction::step(
            self.settings.congestion.recovery,
            &mut self.congestion.prr,
            before,
            step,
        );
        self.congestion.window.cwnd = after.cwnd;
        self.congestion.window.cwnd_cnt = after.acknowledgements;
    }

    /// The window ends at the threshold, unless the reduction was undone (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self) {
        let undone = self.settings.congestion.undo && self.episode.undo.marker.is_none();
        let reduced = self.episode.state == State::Cwr || !undone;
        if self.congestion.window.ssthresh < Window::INFINITE && reduced {
            let window = &mut self.congestion.window;
            window.cwnd = reduction::end(
                self.settings.congestion.recovery,
                window.cwnd,
                window.ssthresh,
            );
            self.congestion.usage.stamp = self.moment.tick();
        }
    }

    /// The end of an acknowledgement: the window is reduced or grows (`tcp_cong_control`).
    pub(super) fn control_window(
        &mut self,
        before: &Before,
        outcome: AckOutcome,
        delivered: u32,
        lost: u32,
    ) {
        if self.episode.in_reduction() {
            self.reduce_window(delivered, lost, outcome.any(AckOutcome::ADVANCED));
        } else if self.may_grow(outcome) {
            self.grow_window(before.view.prior_in_flight, delivered);
        }
        self.set_pacing_rate();
    }

    /// Only what is delivered in order lets the window grow, unless much reordering was seen (`tcp_may_raise_cwnd`).
    fn may_grow(&self, outcome: AckOutcome) -> bool {
        if self.detection.threshold > self.settings.loss.dupack_threshold {
            outcome.any(AckOutcome::PROGRESS)
        } else {
            outcome.any(AckOutcome::ACKED)
        }
    }

    /// `acked` segments arrived, before which `in_flight` were in flight: the window grows if it is what holds the sender back
    /// (`tcp_cong_avoid`).
    pub(super) fn grow_window(&mut self, in_flight: u32, acked: u32) {
        let used = match self.settings.congestion.window_use {
            WindowUse::InFlight => self.is_window_nearly_full(in_flight),
            WindowUse::Limited => self.is_window_limited(),
        };
        if used {
            let clock = self.moment.clock;
            let context = self.context(&clock);
            let congestion = &mut self.congestion;
            congestion.control.cong_avoid(
                &mut congestion.window,
                &context,
                &congestion.siblings,
                acked,
            );
        }
        self.congestion.usage.stamp = self.moment.tick();
    }

    /// The window is full, with a little room for bursts (`tcp_is_cwnd_limited`, 3.10).
    fn is_window_nearly_full(&self, in_flight: u32) -> bool {
        let cwnd = self.congestion.window.cwnd;
        let left = cwnd.saturating_sub(in_flight);
        let segments = self.settings.segments.gso_segments;
        let bursts = segments > 1
            && left * 3 < cwnd
            && left * self.sizes.mss < segments * self.sizes.mss
            && left < segments;
        in_flight >= cwnd || bursts || left <= 3
    }

    /// The window held the sender back (`tcp_is_cwnd_limited`, 6.x).
    fn is_window_limited(&self) -> bool {
        self.congestion.usage.limited
            || (self.congestion.window.in_slow_start()
                && self.congestion.window.cwnd < 2 * self.congestion.usage.most_out)
    }

    /// After `sent` segments left, or none could as the window is full (`limited`): was the window used (RFC 2861, RFC 7661;
    /// `tcp_cwnd_validate`).
    pub(super) fn validate_window(&mut self, sent: u32, limited: bool) {
        let out = self.queue.out;
        let by_flight = self.settings.congestion.window_use == WindowUse::InFlight;
        if sent == 0 && (by_flight || !limited) {
            return;
        }
        if by_flight {
            self.note_use(out >= self.congestion.window.cwnd, out);
            return;
        }
        let usage = &mut self.congestion.usage;
        if !self.una.is_before(usage.until) || limited || (!usage.limited && out > usage.most_out) {
            usage.limited = limited;
            usage.most_out = out;
            usage.until = self.nxt;
        }
        let full = self.is_window_limited();
        self.note_use(full, out);
    }

    /// The window is `full`, or else used by `out` packets; one that was not full for a timeout shrinks.
    fn note_use(&mut self, full: bool, out: u32) {
        let tick = self.moment.tick();
        if full {
            self.congestion.usage.used = 0;
            self.congestion.usage.stamp = tick;
            return;
        }
        self.congestion.usage.used = self.congestion.usage.used.max(out);
        if self.settings.congestion.slow_start_after_idle
            && self.moment.ticks_span(tick - self.congestion.usage.stamp) >= self.timing.rto
        {
            self.shrink_unused();
        }
    }

    /// The application leaves the window unused (`tcp_cwnd_application_limited`).
    pub(super) fn shrink_unused(&mut self) {
        if self.episode.state == State::Open && !self.output.nagle.writer_waits {
            let used = self.congestion.usage.used.max(self.first_window());
            if used < self.congestion.window.cwnd {
                self.congestion.window.ssthresh = self.current_ssthresh();
                self.congestion.window.cwnd = (self.congestion.window.cwnd + used) / 2;
            }
            self.congestion.usage.used = 0;
        }
        self.congestion.usage.stamp = self.moment.tick();
    }

    /// New data after more than a timeout of silence start from a smaller window (RFC 5681 §4.1;
    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self) {
        if !self.settings.congestion.slow_start_after_idle || self.queue.out > 0 {
            return;
        }
        let mut idle = self
            .moment
            .ticks_span(self.moment.tick() - self.moment.clock.ticks(self.output.last_sent));
        if idle <= self.timing.rto {
            return;
        }
        self.congestion.window.ssthresh = self.current_ssthresh();
        let mut cwnd = self.congestion.window.cwnd;
        let least = self.first_window().min(cwnd);
        loop {
            idle = idle - self.timing.rto;
            if idle <= Duration::ZERO || cwnd <= least {
                break;
            }
            cwnd /= 2;
        }
        self.congestion.window.cwnd = cwnd.max(least);
        self.congestion.usage.stamp = self.moment.tick();
        self.congestion.usage.used = 0;
    }

    /// `tcp_init_cwnd`
    pub(super) fn first_window(&self) -> u32 {
        let first = self.settings.congestion.initial_window;
        Window::initial(first, self.sizes.mss, self.timing.rtt.srtt())
            .min(self.congestion.window.clamp)
    }

    /// Twice the window a round-trip time in slow start, 1.2 times after (`tcp_update_pacing_rate`).
    pub(super) fn set_pacing_rate(&mut self) {
        let percent = if self.congestion.window.cwnd < self.congestion.window.ssthresh / 2 {
            200
        } else {
            120
        };
        let segments = u64::from(self.congestion.window.cwnd.max(self.queue.out));
        let mss = self.sizes.mss + self.sizes.options; // mss_cache
        let rate = u64::from(mss) * (10_000 << 3) * percent * segments;
        self.congestion.pacing_rate = match self.timing.rtt.srtt_us8() {
            0 => rate,
            srtt => rate / srtt,
        };
    }
}
