//! CUBIC (RFC 9438) as Linux has it, with HyStart.

use rexmit_time::{Duration, Time};

use super::{Context, Window};
use crate::settings::{CubicForm, Settings};

mod curve;
mod hystart;
mod root;
#[cfg(test)]
mod tests;

use curve::Curve;
use hystart::HyStart;

/// Fraction bits of the delayed-ACK ratio (`ACK_RATIO_SHIFT`).
const RATIO_SHIFT: u32 = 4;
/// `ACK_RATIO_LIMIT`.
const RATIO_LIMIT: u32 = 32 << RATIO_SHIFT;

/// CUBIC's state.
#[derive(Clone, Debug)]
pub struct Cubic {
    form: CubicForm,
    byte_counting: bool,
    /// Round-trip times count in the five minutes after boot, too.
    heeds_boot: bool,
    curve: Curve,
    hystart: Option<HyStart>,
    /// The shortest round-trip time, in HyStart's unit; zero before the first (`delay_min`).
    delay_min: u32,
    /// Segments an acknowledgement acknowledges, in 16ths, until 4.0 (`delayed_ack`).
    ratio: u32,
    /// The window at the latest loss, until 4.14 (`loss_cwnd`).
    loss_cwnd: u32,
}

impl Cubic {
    pub(super) fn new(settings: &Settings, ctx: &Context<'_>) -> Self {
        // 64 KiB less room for headers (`sk_setup_caps`).
        let largest_packet = 65_535_u64.saturating_sub(u64::from(settings.segments.header_room));
        Cubic {
            form: settings.congestion.cubic,
            byte_counting: settings.congestion.byte_counting,
            heeds_boot: settings.congestion.cubic_heeds_boot,
            curve: Curve::new(settings.congestion.cubic),
            hystart: settings
                .congestion
                .hystart
                .then(|| HyStart::new(settings.congestion.cubic, largest_packet, ctx)),
            delay_min: 0,
            ratio: 2 << RATIO_SHIFT,
            loss_cwnd: 0,
        }
    }

    pub(super) fn ssthresh(&mut self, window: &Window) -> u32 {
        self.loss_cwnd = window.cwnd;
        self.curve.cut(window.cwnd)
    }

    pub(super) fn cong_avoid(&mut self, window: &mut Window, ctx: &Context<'_>, acked: u32) {
        match self.form {
            CubicForm::Linux3 => self.cong_avoid_by_ack(window, ctx, acked),
            CubicForm::Linux6 => self.cong_avoid_by_segment(window, ctx, acked),
        }
    }

    /// `bictcp_cong_avoid` of 3.10; byte counting in slow start came with 3.13.
    fn cong_avoid_by_ack(&mut self, window: &mut Window, ctx: &Context<'_>, acked: u32) {
        let slow_start = if self.byte_counting {
            window.in_slow_start()
        } else {
            window.cwnd <= window.ssthresh
        };
        if !slow_start {
            let count = self.count(window, ctx, 1);
            window.grow_by_ack(count);
            return;
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.before_growth(ctx);
        }
        if self.byte_counting {
            window.slow_start(acked);
        } else {
            window.slow_start_by_ack();
        }
    }

    /// `cubictcp_cong_avoid`.
    fn cong_avoid_by_segment(&mut self, window: &mut Window, ctx: &Context<'_>, acked: u32) {
        let mut acked = acked;
        if window.in_slow_start() {
            if !self.byte_counting {
                acked = 1;
            }
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let count = self.count(window, ctx, acked);
        window.grow(count, acked);
    }

    fn count(&mut self, window: &Window, ctx: &Context<'_>, acked: u32) -> u32 {
        let delay_min = HyStart::span(self.form, self.delay_min);
        self.curve
            .count(ctx, window.cwnd, acked, delay_min, self.ratio)
    }

    pub(super) fn acked(
        &mut self,
        window: &mut Window,
        ctx: &Context<'_>,
        count: u32,
        rtt: Option<Duration>,
    ) {
        if ctx.open {
            self.ratio = (self.ratio - (self.ratio >> RATIO_SHIFT) + count).clamp(1, RATIO_LIMIT);
        }
        let Some(rtt) = rtt else { return };
        // A second after a recovery, round trips say nothing yet.
        let now = ctx.clock.ticks(ctx.now);
        let hz = i64::from(ctx.clock.ticks.hz);
        // Time begins five minutes before zero, and where there is no epoch 3.10.4 takes it for zero.
        let none = (!self.heeds_boot).then_some(0);
        if self
            .curve
            .epoch
            .or(none)
            .is_some_and(|epoch| now - epoch < hz)
        {
            return;
        }
        let delay = HyStart::unit(self.form, rtt);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        let slow_start = match self.form {
            CubicForm::Linux3 => window.cwnd <= window.ssthresh,
            CubicForm::Linux6 => window.in_slow_start(),
        };
        if let (true, Some(hystart)) = (slow_start, &mut self.hystart) {
            hystart.sample(window, ctx, delay, self.delay_min);
        }
    }

    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        match self.form {
            CubicForm::Linux3 => window.cwnd.max(self.loss_cwnd),
            CubicForm::Linux6 => window.cwnd.max(window.prior_cwnd),
        }
    }

    pub(super) fn enter_loss(&mut self, ctx: &Context<'_>) {
        self.curve = Curve::new(self.form);
        self.delay_min = 0;
        self.ratio = 2 << RATIO_SHIFT;
        if let Some(hystart) = &mut self.hystart {
            hystart.restart(ctx);
        }
    }

    pub(super) fn tx_start(&mut self, ctx: &Context<'_>, last_sent: Time) {
        if self.form == CubicForm::Linux6 {
            self.curve.pause(ctx, last_sent);
        }
    }
}
