//! The handshake: what is offered and agreed on, and SYNs and SYN-ACKs that are sent again.

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::Flags;

use crate::clock::Clock;
use crate::receiver::{Agreed, Receiver};
use crate::recovery::syn;
use crate::segment::Segment;
use crate::settings::{Estimator, Settings};

use super::defer::Deferral;
use super::rate::TwiceASecond;
use super::types::Local;

/// Timeouts of a SYN-ACK before the attempt is given up (`tcp_synack_retries`).
const SYN_ACK_RETRIES: u32 = 5;

/// A handshake in progress.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    settings: Arc<Settings>,
    clock: Clock,
    active: bool,
    /// What the peer's SYN, or its SYN-ACK, offered of what we offer.
    offered: Offer,
    /// When our first SYN or SYN-ACK left.
    first_sent: Time,
    /// The passive end looks at the clock once more before it takes the round-trip time (`tcp_synack_rtt_meas`).
    look: Duration,
    /// The passive end waits for data.
    deferral: Option<Deferral>,
    /// It was sent again.
    repeated: bool,
    /// Timeouts, and how often it was sent again at one of them, with Linux also because the SYN came again (`num_timeout`,
    /// `num_retrans`).
    timeouts: u32,
    retransmitted: u32,
    /// The timeout, in whole ticks.
    timeout: Duration,
    fires: Time,
    /// When a repeated SYN was answered last.
    answered: TwiceASecond,
}

/// What a timeout of the handshake asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The segment is to be sent again.
    Send,
    /// Nothing.
    Wait,
    /// The attempt is given up.
    GiveUp,
}

/// The options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack: bool,
    timestamps: bool,
    ecn: bool,
}

impl Offer {
    /// What of the SYN's options the stack knows as well.
    fn of(syn: &Segment, settings: &Settings) -> Self {
        Offer {
            mss: syn.mss,
            window_scale: syn
                .window_scale
                .filter(|_| settings.segments.window_scaling),
            sack: syn.sack_permitted && settings.segments.sack,
            timestamps: syn.timestamps.is_some() && settings.segments.timestamps,
            ecn: offers_ecn(syn) && asks_for_marks(settings),
        }
    }
}

/// A SYN asks by both flags, a SYN-ACK grants it by one (RFC 3168 §6.1.1; `tcp_ecn_create_request`, `tcp_ecn_rcv_synack`).
fn offers_ecn(syn: &Segment) -> bool {
    let asks = !syn.flags.ack();
    syn.flags.contains(Flags::ECE) && syn.flags.contains(Flags::CWR) == asks
}

/// `tcp_ecn_send_syn`
fn asks_for_marks(settings: &Settings) -> bool {
    settings.segments.ecn || settings.congestion.congestion_control.needs_marks()
}

/// What a handshake came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub agreed: Agreed,
    /// Of the windows that the peer tells.
    pub window_scale: u8,
    /// The segment size that the peer announced.
    pub peer_mss: u32,
    pub rtt: Option<Duration>,
    /// Retransmissions of our SYN or SYN-ACK, none unless a timeout was needed.
    pub retransmissions: u32,
}

impl Handshake {
    fn new(
        settings: &Arc<Settings>,
        clock: Clock,
        active: bool,
        offered: Offer,
        now: Time,
    ) -> Self {
        let timeout = clock.tick().up(settings.timers.initial_rto);
        Handshake {
            settings: Arc::clone(settings),
            clock,
            active,
            offered,
            first_sent: now,
            look: Duration::ZERO,
            deferral: None,
            repeated: false,
            timeouts: 0,
            retransmitted: 0,
            timeout,
            fires: clock.fires(now, clock.ticks(now) + clock.ticks_in(timeout)),
            answered: TwiceASecond::default(),
        }
    }

    pub fn active(settings: &Arc<Settings>, clock: Clock, now: Time) -> Self {
        Self::new(settings, clock, true, Offer::default(), now)
    }

    pub fn passive(
        settings: &Arc<Settings>,
        clock: Clock,
        syn: &Segment,
        local: &Local,
        now: Time,
    ) -> Self {
        let offered = Offer::of(syn, settings);
        Handshake {
            look: local.look,
            deferral: local.defer_accept.map(Deferral::new),
            ..Self::new(settings, clock, false, offered, now)
        }
    }

    /// The SYN, or the SYN-ACK (`tcp_syn_options`, `tcp_synack_options`).
    pub fn segment(&self, local: &Local, receiver: &Receiver, echo: u32, now: Time) -> Segment {
        let offers = if self.active {
            Offer {
                mss: None,
                window_scale: self.settings.segments.window_scaling.then_some(0),
                sack: self.settings.segments.sack,
                timestamps: self.settings.segments.timestamps,
                ecn: asks_for_marks(&self.settings)
                    && !(self.repeated && self.settings.segments.ecn_fallback),
            }
        } else {
            self.offered
        };
        let flags = match (self.active, offers.ecn) {
            (true, false) => Flags::SYN.0,
            (true, true) => Flags::SYN.0 | Flags::ECE.0 | Flags::CWR.0,
            (false, false) => Flags::SYN.0 | Flags::ACK.0,
            (false, true) => Flags::SYN.0 | Flags::ACK.0 | Flags::ECE.0,
        };
        Segment {
            seq: local.iss,
            ack: receiver.next(),
            flags: Flags(flags),
            ect: offers.ecn && self.settings.congestion.congestion_control.needs_marks(),
            window: receiver.syn_window(),
            mss: Some(local.mss() as u16),
            window_scale: offers.window_scale.map(|_| receiver.scale()),
            sack_permitted: offers.sack,
            timestamps: offers.timestamps.then(|| {
                let estimator = self.settings.timers.estimator;
                local.timestamps(estimator.stamp(&self.clock, now), echo)
            }),
            ..Segment::default()
        }
    }

    pub fn deadline(&self) -> Time {
        self.fires
    }

    /// The timer fired (`reqsk_timer_handler`).
    pub fn on_timeout(&mut self, now: Time) -> Due {
        let retries = if self.active {
            self.settings.timers.syn_retries + self.settings.timers.syn_linear_timeouts
        } else {
            SYN_ACK_RETRIES
        };
        let due = match &self.deferral {
            Some(deferral) => deferral.due(self.timeouts, retries),
            None if self.timeouts >= retries => Due::GiveUp,
            None => Due::Send,
        };
        if due == Due::GiveUp {
            return due;
        }
        self.timeouts += 1;
        if due == Due::Send {
            self.retransmitted += 1;
            self.repeated = true;
        }
        self.timeout = syn::next_timeout(
            !self.active,
            self.timeouts,
            self.settings.timers.syn_linear_timeouts,
            self.timeout,
            self.clock.tick().up(self.settings.timers.max_rto),
        );
        self.set_timer(now);
        due
    }

    /// Whether the acknowledgement `segment` of the SYN-ACK does not end the handshake yet (`tcp_check_req`).
    pub fn defers(&mut self, segment: &Segment) -> bool {
        let timeouts = self.timeouts;
        self.deferral
            .as_mut()
            .is_some_and(|deferral| deferral.drops(segment, timeouts))
    }

    fn set_timer(&mut self, now: Time) {
        let ticks = self.clock.ticks_in(self.timeout);
        self.fires = self.clock.fires(now, self.clock.ticks(now) + ticks);
    }

    /// The SYN came again: true if the SYN-ACK is to be sent again, which is so at most twice a second (`tcp_check_req`).
    pub fn on_repeated_syn(&mut self, now: Time) -> bool {
        if !self.answered.allows(&self.clock, now) {
            return false;
        }
        self.repeated = true;
        let counts = self.settings.timers.estimator == Estimator::LinuxMicros; // inet_rtx_syn_ack
        self.retransmitted += u32::from(counts);
        self.set_timer(now);
        true
    }

    /// The SYN-ACK came.
    pub fn on_syn_ack(&mut self, syn_ack: &Segment) {
        self.offered = Offer::of(syn_ack, &self.settings);
    }

    /// The handshake is over with a segment that echoes `echo` of our clock.
    pub fn finish(&self, now: Time, local: &Local, echo: Option<u32>) -> Outcome {
        let offered = &self.offered;
        let peer_mss = u32::from(offered.mss.unwrap_or(536));
        let options = if offered.timestamps { 12 } else { 0 };
        let agreed = Agreed {
            scaling: offered.window_scale.is_some(),
            timestamps: offered.timestamps,
            sack: offered.sack,
            ecn: offered.ecn,
            segment: peer_mss.min(local.mss()).saturating_sub(options).max(48),
        };
        // Retransmissions count where a timeout was needed (tcp_create_openreq_child sets undo_marker at one), and not where the
        // first SYN was answered after all (tcp_try_undo_spurious_syn).
        let first = self
            .settings
            .timers
            .estimator
            .stamp(&self.clock, self.first_sent);
        let spurious = offered.timestamps && echo == Some(first);
        Outcome {
            agreed,
            // A shift of more than 14 is taken for 14 (RFC 7323 §2.3).
            window_scale: offered.window_scale.unwrap_or(0).min(14),
            peer_mss,
            rtt: self.rtt(now, local, echo.filter(|_| offered.timestamps)),
            retransmissions: if self.timeouts == 0 || spurious {
                0
            } else {
                self.retransmitted
            },
        }
    }

    /// The round-trip time: by the clock, or by what is echoed if the segment was sent twice (`tcp_ack_update_rtt`).
    fn rtt(&self, now: Time, local: &Local, echo: Option<u32>) -> Option<Duration> {
        let estimator = self.settings.timers.estimator;
        let unit = estimator.stamp_unit(&self.clock);
        if self.repeated || local.subflow.is_some_and(|options| options.echoed_rtt) {
            let units = estimator.stamp(&self.clock, now).wrapping_sub(echo?);
            return Some(unit * i64::from(units.max(1)));
        }
        if estimator != Estimator::LinuxMicros {
            return Some(unit * (self.clock.ticks(now) - self.clock.ticks(self.first_sent)));
        }
        let micros = (now + self.look).as_nanos() / 1000 - self.first_sent.as_nanos() / 1000;
        Some(Duration::from_micros(micros.max(1) as i64))
    }
}
