//! Congestion control: how the window grows, and what is left of it after a loss.

use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use crate::clock::Clock;
use crate::settings::{CongestionControl, Settings};

mod bbr;
mod coupled;
mod cubic;
mod dctcp;
mod pacing;
mod rate;
mod reno;
mod window;

pub use bbr::{Bbr, Facts, Governed};
use coupled::{Coupled, Form};
pub use coupled::{Sibling, Siblings};
use cubic::Cubic;
use dctcp::Dctcp;
pub use pacing::Pacing;
pub use rate::{AckEffect, Departure, Latest, RateSample};
use reno::Reno;
pub use window::Window;

/// What a congestion control may know of its connection at an event.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The time of the event.
    pub now: Time,
    /// The stack's tick clock.
    pub clock: &'a Clock,
    /// The first byte not acknowledged, this event's acknowledgement counted (`snd_una`).
    pub una: SeqNum,
    /// The first byte not sent (`snd_nxt`).
    pub nxt: SeqNum,
    /// The connection is in the state Open: neither disorder nor recovery.
    pub open: bool,
    /// Bytes a second that pacing would allow (`sk_pacing_rate`); 0 where none is known.
    pub pacing_rate: u64,
}

/// A connection's congestion control.
#[derive(Clone, Debug)]
pub enum Control {
    /// Reno (RFC 5681).
    Reno(Reno),
    /// CUBIC (RFC 9438, as Linux has it).
    Cubic(Cubic),
    /// DCTCP (RFC 8257).
    Dctcp(Dctcp),
    /// One that couples the subflows of a connection of Multipath TCP.
    Coupled(Coupled),
    /// BBR, which follows no losses but rates: it has hooks of its own ([`Bbr::on_ack`]).
    Bbr(Box<Bbr>),
}

impl Control {
    /// The control that `settings` choose, for a connection whose data begin at `ctx.nxt`.
    #[must_use]
    pub fn new(settings: &Settings, ctx: &Context<'_>) -> Self {
        match settings.congestion.congestion_control {
            CongestionControl::Reno => Control::Reno(Reno::new(settings)),
            CongestionControl::Cubic => Control::Cubic(Cubic::new(settings, ctx)),
            CongestionControl::Dctcp => Control::Dctcp(Dctcp::new(settings, ctx.nxt)),
            CongestionControl::Bbr => Control::Bbr(Box::new(Bbr::new(settings, ctx.nxt.get()))),
            CongestionControl::Lia => Control::Coupled(Coupled::new(Form::Lia, settings, ctx)),
            CongestionControl::Olia => Control::Coupled(Coupled::new(Form::Olia, settings, ctx)),
            CongestionControl::Balia => Control::Coupled(Coupled::new(Form::Balia, settings, ctx)),
        }
    }

    /// The slow start threshold after a loss; an epoch of growth ends (`icsk_ca_ops->ssthresh`). `siblings`: the subflows of
    /// the connection, none of plain TCP.
    pub fn ssthresh(&mut self, window: &Window, siblings: &Siblings) -> u32 {
        match self {
            Control::Reno(reno) => reno.ssthresh(window),
            Control::Cubic(cubic) => cubic.ssthresh(window),
            Control::Coupled(coupled) => coupled.ssthresh(window, siblings),
            Control::Dctcp(dctcp) => dctcp.ssthresh(window),
            Control::Bbr(bbr) => bbr.ssthresh(window),
        }
    }

    /// Lets the window grow by an acknowledgement of `acked` segments. The caller sees to it that the window was in use
    /// (`tcp_is_cwnd_limited`) and that the state allows growth. Stacks without byte counting ignore `acked`.
    pub fn cong_avoid(
        &mut self,
        window: &mut Window,
        ctx: &Context<'_>,
        siblings: &Siblings,
        acked: u32,
    ) {
        match self {
            Control::Reno(reno) => reno.cong_avoid(window, acked),
            Control::Cubic(cubic) => cubic.cong_avoid(window, ctx, acked),
            Control::Coupled(coupled) => coupled.cong_avoid(window, siblings, acked),
            Control::Dctcp(dctcp) => dctcp.reno.cong_avoid(window, acked),
            Control::Bbr(_) => {}
        }
    }

    /// Takes note of an acknowledgement of `count` segments and its round-trip time, before `cong_avoid`; may end slow
    /// start (`icsk_ca_ops->pkts_acked`). Without a sample, `rtt` is none.
    pub fn acked(
        &mut self,
        window: &mut Window,
        ctx: &Context<'_>,
        count: u32,
        rtt: Option<Duration>,
    ) {
        match self {
            Control::Reno(_) | Control::Dctcp(_) | Control::Bbr(_) => {}
            Control::Cubic(cubic) => cubic.acked(window, ctx, count, rtt),
            Control::Coupled(coupled) => coupled.acked(ctx),
        }
    }

    /// The window after a reduction proved wrong (`icsk_ca_ops->undo_cwnd`).
    pub fn undo_cwnd(&mut self, window: &Window) -> u32 {
        match self {
            Control::Reno(reno) => reno.undo_cwnd(window),
            Control::Cubic(cubic) => cubic.undo_cwnd(window),
            Control::Coupled(coupled) => coupled.undo_cwnd(window),
            Control::Dctcp(dctcp) => dctcp.undo_cwnd(window),
            Control::Bbr(bbr) => bbr.undo_cwnd(window),
        }
    }

    /// It governs the window and the pace itself at each acknowledgement, in recovery as well (`cong_control`).
    #[must_use]
    pub const fn governs(&self) -> bool {
        matches!(self, Control::Bbr(_))
    }

    /// The pace at which packets leave, of a control that asks for one.
    pub fn pacing(&mut self) -> Option<&mut Pacing> {
        match self {
            Control::Bbr(bbr) => Some(&mut bbr.pacing),
            _ => None,
        }
    }

    /// Segments that a packet holds at least where there are so many, at a pace in bytes a second (`min_tso_segs`).
    #[must_use]
    pub fn least_segments(&self, pacing_rate: u64) -> u32 {
        match self {
            Control::Bbr(_) => Bbr::least_segments(pacing_rate),
            _ => 2,
        }
    }

    /// Bytes acknowledged between the last two losses, or since the last if that is more; 0 where no control asks for it.
    #[must_use]
    pub fn between_losses(&self) -> u64 {
        match self {
            Control::Coupled(coupled) => coupled.between_losses(),
            _ => 0,
        }
    }

    /// The peer takes no marks: what needs them does without (`dctcp_init`).
    pub fn do_without_marks(&mut self) {
        if let Control::Dctcp(dctcp) = self {
            *self = Control::Reno(dctcp.reno.clone());
        }
    }

    /// An acknowledgement came, before it is asked what was lost: `out` is sent and not acknowledged, so many segments have been
    /// `delivered`, and it told of so many that were `marked` (`in_ack_event`).
    pub fn tell_delivered(&mut self, out: SeqRange, delivered: u32, marked: u32) {
        if let Control::Dctcp(dctcp) = self {
            dctcp.on_ack(out, delivered, marked);
        }
    }

    /// A recovery begins, or a timeout reduced the threshold, both after [`Control::ssthresh`] (`set_state`,
    /// `CA_EVENT_LOSS`).
    pub fn tell_loss(&mut self, window: &mut Window) {
        if let Control::Dctcp(dctcp) = self {
            dctcp.lose(window);
        }
    }

    /// The state Loss begins: what was learned is forgotten. Comes after [`Control::ssthresh`] (`set_state`).
    pub fn enter_loss(&mut self, ctx: &Context<'_>) {
        if let Control::Cubic(cubic) = self {
            cubic.enter_loss(ctx);
        }
    }

    /// Data are sent again after everything was acknowledged; `last_sent` is when data last left (`CA_EVENT_TX_START`,
    /// `lsndtime`).
    pub fn tx_start(&mut self, ctx: &Context<'_>, last_sent: Time) {
        if let Control::Cubic(cubic) = self {
            cubic.tx_start(ctx, last_sent);
        }
    }
}
