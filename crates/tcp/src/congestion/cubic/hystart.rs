//! HyStart: leaving slow start before the first loss, when acknowledgements come as one long train or round trips
//! grow longer.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::super::{Context, Window};
use crate::settings::CubicForm;

/// Samples of a round that make its round-trip time (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u8 = 8;
/// Smaller windows are left to grow (`hystart_low_window`).
const LOW_WINDOW: u32 = 16;

/// A round of slow start, in the units of the form: milliseconds, round-trip times eight times finer, until 5.5;
/// microseconds since.
#[derive(Clone, Debug)]
pub struct HyStart {
    form: CubicForm,
    found: bool,
    round_start: u32,
    /// The round ends when this is acknowledged.
    end: SeqNum,
    /// When the latest acknowledgement of the train came (`last_ack`).
    train: u32,
    /// The shortest round-trip time of the round (`curr_rtt`).
    shortest: u32,
    samples: u8,
    /// Bytes of the largest packet, which may wait for its last segment (`sk_gso_max_size`).
    largest_packet: u64,
}

impl HyStart {
    pub(super) fn new(form: CubicForm, largest_packet: u64, ctx: &Context<'_>) -> Self {
        let mut hystart = HyStart {
            form,
            found: false,
            round_start: 0,
            end: ctx.nxt,
            train: 0,
            shortest: u32::MAX,
            samples: 0,
            largest_packet,
        };
        hystart.begin_round(ctx);
        hystart
    }

    /// All is forgotten: slow start may be left anew.
    pub(super) fn restart(&mut self, ctx: &Context<'_>) {
        self.found = false;
        self.begin_round(ctx);
    }

    /// `bictcp_hystart_reset`.
    fn begin_round(&mut self, ctx: &Context<'_>) {
        self.round_start = self.clock(ctx);
        self.train = self.round_start;
        self.end = ctx.nxt;
        self.shortest = u32::MAX;
        self.samples = 0;
    }

    /// Before 5.5, rounds end as the window grows.
    pub(super) fn before_growth(&mut self, ctx: &Context<'_>) {
        if self.form == CubicForm::Linux3 && ctx.una.is_after(self.end) {
            self.begin_round(ctx);
        }
    }

    /// Takes a round-trip time in slow start and sets the threshold to the window where it should end; `delay` and
    /// the shortest of the connection, `delay_min`, in the form's unit (`hystart_update`).
    pub(super) fn sample(
        &mut self,
        window: &mut Window,
        ctx: &Context<'_>,
        delay: u32,
        delay_min: u32,
    ) {
        if self.found {
            return;
        }
        if self.form == CubicForm::Linux6 && ctx.una.is_after(self.end) {
            self.begin_round(ctx);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if self.train_is_long(ctx, delay_min) {
            self.found = true;
        }
        // Since 5.5 the ninth sample and later ones count as well.
        if self.form == CubicForm::Linux6 || self.samples < SAMPLES {
            self.shortest = self.shortest.min(delay);
        }
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.shortest > delay_min + self.tolerated(delay_min) {
            self.found = true;
        }
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    /// Acknowledgements no more than 2 ms apart for longer than half the shortest round trip.
    fn train_is_long(&mut self, ctx: &Context<'_>, delay_min: u32) -> bool {
        let now = self.clock(ctx);
        let (apart, long) = match self.form {
            CubicForm::Linux3 => (2, delay_min >> 4),
            CubicForm::Linux6 => (2_000, (delay_min + self.held_up(ctx)) >> 1),
        };
        if now.wrapping_sub(self.train) as i32 > apart {
            return false;
        }
        self.train = now;
        now.wrapping_sub(self.round_start) > long
    }

    /// What offloads may hold a packet up for: four of the largest at the pacing rate, a millisecond at most
    /// (`hystart_ack_delay`).
    fn held_up(&self, ctx: &Context<'_>) -> u32 {
        (self.largest_packet * 4 * 1_000_000)
            .checked_div(ctx.pacing_rate)
            .map_or(0, |micros| micros.min(1_000) as u32)
    }

    /// How much longer round trips may become (`HYSTART_DELAY_THRESH`): 4 to 16 ms.
    fn tolerated(&self, delay_min: u32) -> u32 {
        match self.form {
            CubicForm::Linux3 => (delay_min >> 4).clamp(4 << 3, 16 << 3),
            CubicForm::Linux6 => (delay_min >> 3).clamp(4_000, 16_000),
        }
    }

    /// `bictcp_clock`, `bictcp_clock_us`.
    fn clock(&self, ctx: &Context<'_>) -> u32 {
        let nanos = ctx.now.as_nanos();
        match self.form {
            CubicForm::Linux3 if ctx.clock.ticks.hz < 1_000 => (nanos / 1_000_000) as u32,
            CubicForm::Linux3 => {
                (ctx.clock.ticks(ctx.now) * 1_000 / i64::from(ctx.clock.ticks.hz)) as u32
            }
            CubicForm::Linux6 => (nanos / 1_000) as u32,
        }
    }

    /// A round-trip time in the form's unit, at least 1.
    pub(super) fn unit(form: CubicForm, rtt: Duration) -> u32 {
        let micros = rtt.as_nanos() / 1_000;
        let units = match form {
            CubicForm::Linux3 => (micros << 3) / 1_000,
            CubicForm::Linux6 => micros,
        };
        u32::try_from(units).unwrap_or(u32::MAX).max(1)
    }

    /// The time that so many of the form's units are, as the curve takes it.
    pub(super) fn span(form: CubicForm, units: u32) -> Duration {
        match form {
            CubicForm::Linux3 => Duration::from_millis(i64::from(units >> 3)),
            CubicForm::Linux6 => Duration::from_micros(i64::from(units)),
        }
    }
}
