//! CUBIC (RFC 9438) as Linux has it.

use rexmit_time::{Duration, Time};

use super::{Context, Window};
use crate::settings::Settings;

/// CUBIC's state.
#[derive(Clone, Debug)]
pub struct Cubic {
    last_max: u32,
}

impl Cubic {
    pub(super) fn new(_settings: &Settings, _ctx: &Context<'_>) -> Self {
        Cubic { last_max: 0 }
    }

    pub(super) fn ssthresh(&mut self, window: &Window) -> u32 {
        self.last_max = window.cwnd;
        (window.cwnd * 717 / 1024).max(2)
    }

    pub(super) fn cong_avoid(&mut self, window: &mut Window, _ctx: &Context<'_>, acked: u32) {
        let left = window.slow_start(acked);
        window.grow(window.cwnd, left);
    }

    pub(super) fn acked(
        &mut self,
        _window: &mut Window,
        _ctx: &Context<'_>,
        _count: u32,
        _rtt: Option<Duration>,
    ) {
    }

    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }

    pub(super) fn enter_loss(&mut self, _ctx: &Context<'_>) {
        self.last_max = 0;
    }

    pub(super) fn tx_start(&mut self, _ctx: &Context<'_>, _last_sent: Time) {}
}
