//! CUBIC's curve: how many acknowledged segments make the window grow by one.

use rexmit_time::{Duration, Time};

use super::super::Context;
use super::root::cube_root;
use crate::settings::CubicForm;

/// What is left of the window after a loss, of 1024 (`beta`).
pub(super) const BETA: u32 = 717;
/// `BICTCP_BETA_SCALE`.
pub(super) const UNIT: u32 = 1024;
/// The steepness of the curve, for round trips of 100 ms (`cube_rtt_scale`: ten times `bic_scale`).
const STEEPNESS: u64 = 410;
/// Makes a distance in segments one in time, in 1024ths of a second, cubed (`cube_factor`).
const FACTOR: u64 = (1 << 40) / STEEPNESS;
/// Segments that Reno needs for one of growth, as eighths of the window (`beta_scale`).
const RENO_EIGHTHS: u32 = 8 * (UNIT + BETA) / 3 / (UNIT - BETA);

/// The curve that the window follows between two losses (`struct bictcp`; its names in parentheses).
#[derive(Clone, Debug)]
pub struct Curve {
    form: CubicForm,
    /// Segments to be acknowledged for one of growth (`cnt`).
    count: u32,
    /// The window at the latest loss, or a little less (`last_max_cwnd`).
    pub(super) last_max: u32,
    last_cwnd: u32,
    last_time: i64,
    /// The window at which the curve is flat (`bic_origin_point`).
    origin: u32,
    /// When that is, from the beginning of the epoch, in 1024ths of a second (`bic_K`).
    flat_at: u32,
    /// When growth after the latest loss began, in ticks (`epoch_start`).
    pub(super) epoch: Option<i64>,
    /// Segments acknowledged and not yet counted for Reno's window (`ack_cnt`).
    acked: u32,
    /// The window that Reno would have (`tcp_cwnd`).
    reno: u32,
}

impl Curve {
    pub(super) fn new(form: CubicForm) -> Self {
        Curve {
            form,
            count: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            flat_at: 0,
            epoch: None,
            acked: 0,
            reno: 0,
        }
    }

    /// The epoch ends with a loss at `cwnd`; returns the threshold (`bictcp_recalc_ssthresh`).
    pub(super) fn cut(&mut self, cwnd: u32) -> u32 {
        self.epoch = None;
        // A window that did not regain its height leaves room to others (fast convergence).
        self.last_max = if cwnd < self.last_max {
            cwnd * (UNIT + BETA) / (2 * UNIT)
        } else {
            cwnd
        };
        (cwnd * BETA / UNIT).max(2)
    }

    /// Idle time does not count as time on the curve.
    pub(super) fn pause(&mut self, ctx: &Context<'_>, last_sent: Time) {
        let now = ctx.clock.ticks(ctx.now);
        let idle = now - ctx.clock.ticks(last_sent);
        if let Some(epoch) = &mut self.epoch {
            if idle > 0 {
                *epoch = (*epoch + idle).min(now);
            }
        }
    }

    /// How many acknowledged segments make the window grow by one, `acked` more having been, with the shortest
    /// round-trip time `delay_min` (`bictcp_update`). In the form of 3.10 `acked` is 1, and the answer is in
    /// acknowledgements of `ratio` 16ths of a segment each.
    pub(super) fn count(
        &mut self,
        ctx: &Context<'_>,
        cwnd: u32,
        acked: u32,
        delay_min: Duration,
        ratio: u32,
    ) -> u32 {
        let now = ctx.clock.ticks(ctx.now);
        self.acked += acked;
        let settled = i64::from(ctx.clock.ticks.hz) / 32;
        if self.last_cwnd == cwnd && now - self.last_time <= settled {
            return self.count;
        }
        // Since 4.1 the curve is looked up once a tick.
        let looked_up =
            self.form == CubicForm::Linux6 && self.epoch.is_some() && now == self.last_time;
        if !looked_up {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.look_up(ctx, cwnd, acked, delay_min, now);
        }
        self.keep_up_with_reno(cwnd);
        self.count = match self.form {
            CubicForm::Linux3 => ((self.count << 4) / ratio).max(1),
            // At most one for two, half as much again a round trip.
            CubicForm::Linux6 => self.count.max(2),
        };
        self.count
    }

    fn look_up(&mut self, ctx: &Context<'_>, cwnd: u32, acked: u32, delay_min: Duration, now: i64) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.epoch = Some(now);
                self.acked = acked;
                self.reno = cwnd;
                if self.last_max <= cwnd {
                    self.flat_at = 0;
                    self.origin = cwnd;
                } else {
                    self.flat_at = cube_root(FACTOR * u64::from(self.last_max - cwnd));
                    self.origin = self.last_max;
                }
                now
            }
        };
        // The window is for when what is sent now is acknowledged.
        let ticks = now - epoch + ctx.clock.ticks_in(delay_min);
        let at = ((ticks as u64) << 10) / u64::from(ctx.clock.ticks.hz);
        let before = at < u64::from(self.flat_at);
        let distance = at.abs_diff(u64::from(self.flat_at));
        let cubed = distance.wrapping_mul(distance).wrapping_mul(distance);
        let rise = (STEEPNESS.wrapping_mul(cubed) >> 40) as u32;
        let target = if before {
            self.origin.wrapping_sub(rise)
        } else {
            self.origin.wrapping_add(rise)
        };
        self.count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        // Before the first loss, at least 5 % a round trip.
        if self.last_max == 0 {
            self.count = self.count.min(20);
        }
    }

    /// Never slower than Reno with the same losses (RFC 9438 §4.3).
    fn keep_up_with_reno(&mut self, cwnd: u32) {
        let for_one = (cwnd * RENO_EIGHTHS) >> 3;
        if self.acked > for_one && for_one > 0 {
            let grown = (self.acked - 1) / for_one;
            self.acked -= grown * for_one;
            self.reno += grown;
        }
        if self.reno > cwnd {
            self.count = self.count.min(cwnd / (self.reno - cwnd));
        }
    }
}
