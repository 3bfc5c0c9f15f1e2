//! Coupled congestion controls: the windows of a connection's subflows grow together, so that on a link that they share they
//! take no more than one TCP would.
//!
//! | | increase of the window of subflow r by each segment acknowledged, beyond slow start | after a loss |
//! |---|---|---|
//! | LIA (RFC 6356 §3 and §4) | min(a / w, 1 / w_r), with w the sum of all windows and a = w · max(w_p / rtt_p²) / (Σ w_p / rtt_p)² | half |
//! | OLIA (Khalili and others, 2012; draft-khalili-mptcp-congestion-control-05) | (w_r / rtt_r²) / (Σ w_p / rtt_p)² + a_r / w_r | half |
//! | BALIA (Peng and others, 2014; draft-walid-mptcp-congestion-control-04) | x_r / (rtt_r (Σ x_p)²) · (1 + a_r) / 2 · (4 + a_r) / 5, with x = w / rtt and a_r = max(x_p) / x_r | w_r / 2 · min(a_r, 3/2) less |
//!
//! OLIA's a_r moves window from the largest to the best paths: with R subflows, 1 / (R · |B \ M|) for a path that is among the
//! best and not among those with the largest window, -1 / (R · |M|) for one with the largest window while there are such, else
//! nothing. The best have the largest l / rtt², l being the larger of what was acknowledged between the last two losses and
//! since the last (`mptcp_get_epsilon`, multipath-tcp.org v0.90).
//!
//! Slow start is Reno's, and so is all of it while there is one subflow (`mptcp_ccc_cong_avoid`).

use rexmit_wire::SeqNum;

use super::reno::Reno;
use super::{Context, Window};
use crate::settings::Settings;

#[cfg(test)]
mod tests;

/// A subflow as the congestion controls of the others see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sibling {
    /// Its window in segments; in a recovery, the threshold (RFC 6356 §3).
    pub window: u32,
    /// Its smoothed round-trip time, seconds.
    pub rtt_s: f64,
    /// Bytes acknowledged between its last two losses, or since the last if that is more.
    pub between_losses: u64,
}

/// All subflows of a connection that can send, as they were when the segment at hand came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Siblings {
    /// In order.
    pub all: Vec<Sibling>,
    /// The place of the one that asks.
    pub own: usize,
}

impl Siblings {
    /// The one that asks, if there are others.
    fn own(&self) -> Option<&Sibling> {
        self.all.get(self.own).filter(|_| self.all.len() > 1)
    }

    fn sum_of_rates(&self) -> f64 {
        self.all.iter().map(Sibling::rate).sum()
    }

    fn largest(&self, of: impl Fn(&Sibling) -> f64) -> f64 {
        self.all.iter().map(of).fold(0.0, f64::max)
    }
}

impl Sibling {
    fn rate(&self) -> f64 {
        f64::from(self.window) / self.rtt_s
    }

    /// OLIA's measure of a path.
    fn quality(&self) -> f64 {
        self.between_losses as f64 / (self.rtt_s * self.rtt_s)
    }
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RFC 6356.
    Lia,
    /// Opportunistic linked increases.
    Olia,
    /// Balanced linked adaptation.
    Balia,
}

/// A coupled congestion control.
#[derive(Clone, Debug)]
pub struct Coupled {
    form: Form,
    reno: Reno,
    /// Part of a segment by which the window has yet to grow, or to shrink.
    credit: f64,
    losses: Losses,
}

/// Numbers of bytes acknowledged (`mptcp_loss1` to `mptcp_loss3`).
#[derive(Clone, Copy, Debug)]
struct Losses {
    /// At the last loss but one.
    before: SeqNum,
    /// At the last.
    last: SeqNum,
    /// Now.
    now: SeqNum,
}

/// Additions of parts that make one segment in the end may fall short of it by so much.
const ROUNDING: f64 = 1e-9;

impl Coupled {
    pub(super) fn new(form: Form, settings: &Settings, ctx: &Context<'_>) -> Self {
        Coupled {
            form,
            reno: Reno::new(settings),
            credit: 0.0,
            losses: Losses {
                before: ctx.una,
                last: ctx.una,
                now: ctx.una,
            },
        }
    }

    /// Bytes acknowledged between the last two losses, or since the last if that is more.
    pub(super) fn between_losses(&self) -> u64 {
        let Losses { before, last, now } = self.losses;
        let since = now.offset_from(last).max(last.offset_from(before));
        u64::from(since.unsigned_abs())
    }

    /// Something was acknowledged.
    pub(super) fn acked(&mut self, ctx: &Context<'_>) {
        self.losses.now = ctx.una;
    }

    /// The threshold after a loss.
    pub(super) fn ssthresh(&mut self, window: &Window, siblings: &Siblings) -> u32 {
        if self.losses.now != self.losses.last {
            self.losses.before = self.losses.last;
            self.losses.last = self.losses.now;
        }
        match (self.form, siblings.own()) {
            (Form::Balia, Some(own)) => {
                let excess = siblings.largest(Sibling::rate) / own.rate();
                let part = f64::from(window.cwnd) / 2.0 * excess.min(1.5);
                (f64::from(window.cwnd) - part).max(1.0) as u32
            }
            _ => self.reno.ssthresh(window),
        }
    }

    pub(super) fn cong_avoid(&mut self, window: &mut Window, siblings: &Siblings, acked: u32) {
        if siblings.own().is_none() {
            self.reno.cong_avoid(window, acked);
            return;
        }
        let left = self.reno.slow_start(window, acked);
        if left == 0 {
            return;
        }
        self.credit += f64::from(left) * increase(self.form, siblings);
        let whole = (self.credit.abs() + ROUNDING).floor() * self.credit.signum();
        self.credit -= whole;
        let grown = (f64::from(window.cwnd) + whole).max(1.0) as u32;
        window.cwnd = grown.min(window.clamp);
    }

    pub(super) fn undo_cwnd(&self, window: &Window) -> u32 {
        self.reno.undo_cwnd(window)
    }
}

/// Segments by which the window of the subflow that asks grows with each segment acknowledged.
pub(super) fn increase(form: Form, siblings: &Siblings) -> f64 {
    let Some(own) = siblings.own() else {
        return 0.0;
    };
    let (window, rtt) = (f64::from(own.window), own.rtt_s);
    let sum = siblings.sum_of_rates();
    match form {
        Form::Lia => {
            let best = siblings.largest(|other| other.rate() / other.rtt_s);
            (best / (sum * sum)).min(1.0 / window)
        }
        Form::Olia => own.rate() / rtt / (sum * sum) + opportunity(siblings) / window,
        Form::Balia => {
            let excess = siblings.largest(Sibling::rate) / own.rate();
            own.rate() / (rtt * sum * sum) * (1.0 + excess) / 2.0 * (4.0 + excess) / 5.0
        }
    }
}

/// OLIA's a_r.
fn opportunity(siblings: &Siblings) -> f64 {
    let largest = siblings.all.iter().map(|other| other.window).max();
    let has_largest = |other: &Sibling| Some(other.window) == largest;
    let best = siblings.largest(Sibling::quality);
    let is_left_out = |other: &Sibling| other.quality() >= best && !has_largest(other);
    let count = |which: &dyn Fn(&Sibling) -> bool| {
        siblings.all.iter().filter(|other| which(other)).count() as f64
    };
    let left_out = count(&is_left_out);
    let Some(own) = siblings.own().filter(|_| left_out > 0.0) else {
        return 0.0;
    };
    let subflows = siblings.all.len() as f64;
    if is_left_out(own) {
        1.0 / (subflows * left_out)
    } else if has_largest(own) {
        -1.0 / (subflows * count(&has_largest))
    } else {
        0.0
    }
}
