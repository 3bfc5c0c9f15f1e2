//! The congestion window in the sender's hands: growth, disuse, pacing rate.

use rexmit_time::Duration;

use super::ack::Before;
use super::{Sender, State};
use crate::congestion::Window;
use crate::recovery::machine::AckOutcome;
use crate::settings::WindowUse;

impl Sender {
    /// The end of an acknowledgement: the window is reduced or grows (`tcp_cong_control`).
    pub(super) fn control_window(
        &mut self,
        before: &Before,
        outcome: AckOutcome,
        delivered: u32,
        lost: u32,
    ) {
        if self.episode.in_reduction() {
            let advanced = outcome.any(AckOutcome::ADVANCED);
            self.congestion.reduce_for(
                self.settings.congestion.recovery,
                delivered,
                lost,
                advanced,
                self.queue.in_flight(),
            );
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
            WindowUse::InFlight => {
                let segments = self.settings.segments.gso_segments;
                self.congestion.is_nearly_full(in_flight, segments)
            }
            WindowUse::Limited => self.congestion.is_limited(),
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

    /// After `sent` segments left, or none could as the window is full (`limited`): was the window used (RFC 2861, RFC 7661;
    /// `tcp_cwnd_validate`).
    pub(super) fn validate_window(&mut self, sent: u32, limited: bool) {
        let out = self.queue.counts.out;
        let by_flight = self.settings.congestion.window_use == WindowUse::InFlight;
        if sent == 0 && (by_flight || !limited) {
            return;
        }
        let full = if by_flight {
            out >= self.congestion.window.cwnd
        } else {
            self.congestion.note_out(out, limited, self.una, self.nxt);
            self.congestion.is_limited()
        };
        let tick = self.moment.tick();
        if full {
            self.congestion.usage.full_at(tick);
            return;
        }
        // What was not full for a timeout shrinks.
        let usage = &mut self.congestion.usage;
        usage.used = usage.used.max(out);
        if self.settings.congestion.slow_start_after_idle
            && self.moment.ticks_span(tick - usage.stamp) >= self.timing.rto
        {
            self.shrink_unused();
        }
    }

    /// The application leaves the window unused (`tcp_cwnd_application_limited`).
    pub(super) fn shrink_unused(&mut self) {
        if self.episode.state == State::Open && !self.written.nagle.writer_waits {
            let used = self.congestion.usage.used.max(self.first_window());
            if used < self.congestion.window.cwnd {
                self.congestion.window.ssthresh =
                    self.congestion.threshold(self.episode.in_reduction());
                self.congestion.window.cwnd = (self.congestion.window.cwnd + used) / 2;
            }
            self.congestion.usage.used = 0;
        }
        self.congestion.usage.stamp = self.moment.tick();
    }

    /// New data after more than a timeout of silence start from a smaller window (RFC 5681 §4.1;
    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self) {
        if !self.settings.congestion.slow_start_after_idle || self.queue.counts.out > 0 {
            return;
        }
        let mut idle = self
            .moment
            .ticks_span(self.moment.tick() - self.moment.clock.ticks(self.output.last_sent));
        if idle <= self.timing.rto {
            return;
        }
        self.congestion.window.ssthresh = self.congestion.threshold(self.episode.in_reduction());
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
        self.congestion.usage.full_at(self.moment.tick());
    }

    /// `tcp_init_cwnd`
    pub(super) fn first_window(&self) -> u32 {
        let first = self.settings.congestion.initial_window;
        Window::initial(first, self.sizes.mss, self.timing.rtt.srtt())
            .min(self.congestion.window.clamp)
    }

    /// `tcp_update_pacing_rate`
    pub(super) fn set_pacing_rate(&mut self) {
        let mss = self.sizes.mss + self.sizes.options; // mss_cache
        let srtt = self.timing.rtt.srtt_us8();
        self.congestion.pace(mss, self.queue.counts.out, srtt);
    }
}
