//! The congestion window at work: it follows what is in flight, the round trips and the state.

use rexmit_time::{Duration, Time};

use super::congestion::Congestion;
use super::flight::{Before, Flight};
use super::{CaState, Counters, Timing};
use crate::congestion::{AckEffect, Bbr, Context, Control, Facts, Governed, Latest, Window};
use crate::recovery::machine::{self, AckOutcome, AckView, Detection, Episode};
use crate::settings::{AckOrder, MaxBurst, Settings, WindowUse};

/// The congestion window, and what it follows.
#[derive(Debug)]
pub struct Steering<'a> {
    pub(super) settings: &'a Settings,
    pub(super) congestion: &'a mut Congestion,
    pub(super) flight: &'a Flight,
    pub(super) timing: &'a Timing,
    pub(super) episode: &'a Episode,
    pub(super) detection: &'a Detection,
    pub(super) counters: &'a mut Counters,
}

impl<'a> Steering<'a> {
    /// The end of an acknowledgement: the window is reduced or grows (`tcp_cong_control`). `latest` is the latest of the
    /// transmissions that it delivered, `rtt` the round-trip time that the congestion control was told.
    pub(super) fn control(
        &mut self,
        before: &Before,
        outcome: AckOutcome,
        latest: Option<Latest>,
        rtt: Option<i64>,
    ) {
        let delivered = self.flight.delivered() - before.delivered;
        if self.congestion.control.governs() {
            let effect = AckEffect {
                at: self.timing.moment.micros(),
                newly: delivered,
                losses: self.flight.losses().wrapping_sub(before.losses),
                delivered: self.flight.delivered(),
                min_rtt_us: self.timing.min_rtt.get(),
                prior_in_flight: before.view.prior_in_flight,
                rtt_us: rtt.and_then(|rtt| u32::try_from(rtt).ok()),
                delayed: outcome.any(AckOutcome::MAYBE_DELAYED),
            };
            self.govern(|bbr, governed, facts| {
                let sample = bbr.pacing.rate.sample(latest, effect);
                bbr.on_ack(governed, facts, &sample);
            });
            return;
        }
        if self.episode.in_reduction() {
            let lost = self.flight.losses().wrapping_sub(before.losses);
            let advanced = outcome.any(AckOutcome::ADVANCED);
            let in_flight = self.flight.in_flight();
            let rule = self.settings.congestion.recovery;
            self.congestion
                .reduce_for(rule, delivered, lost, advanced, in_flight);
        } else if self.may_grow(outcome) {
            self.grow(before.view.prior_in_flight, delivered);
        }
        self.set_pacing_rate();
    }

    /// A control that governs the window itself does so; whether there is one.
    fn govern(&mut self, act: impl FnOnce(&mut Bbr, &mut Governed<'_>, &Facts)) -> bool {
        if !self.congestion.control.governs() {
            return false;
        }
        let (timing, sizes) = (self.timing, &self.flight.sizes);
        let facts = Facts {
            now: timing.moment.now,
            tick: timing.moment.tick(),
            hz: i64::from(timing.moment.clock.ticks.hz),
            state: self.episode.state,
            in_flight: self.flight.in_flight(),
            delivered: self.flight.delivered(),
            lost: self.flight.losses(),
            mss: sizes.mss + sizes.options, // mss_cache
            srtt_us8: timing.rtt.srtt_us8(),
            min_rtt_us: timing.min_rtt.get(),
            departs: timing.departs,
        };
        let congestion = &mut *self.congestion;
        if let Control::Bbr(bbr) = &mut congestion.control {
            let mut governed = Governed {
                window: &mut congestion.window,
                pacing_rate: &mut congestion.pacing_rate,
            };
            act(bbr, &mut governed, &facts);
        }
        true
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
    fn grow(&mut self, in_flight: u32, acked: u32) {
        let used = match self.settings.congestion.window_use {
            WindowUse::InFlight => {
                let segments = self.settings.segments.gso_segments;
                self.congestion.is_nearly_full(in_flight, segments)
            }
            WindowUse::Limited => self.congestion.is_limited(),
        };
        if used {
            let context = self.context();
            let congestion = &mut *self.congestion;
            congestion.control.cong_avoid(
                &mut congestion.window,
                &context,
                &congestion.siblings,
                acked,
            );
        }
        self.stamp();
    }

    /// The congestion control hears of `acked` segments and their round-trip time, in microseconds.
    pub(super) fn tell_acked(&mut self, acked: u32, rtt: Option<i64>) {
        let (context, rtt) = (self.context(), rtt.map(Duration::from_micros));
        let Congestion {
            control, window, ..
        } = &mut *self.congestion;
        control.acked(window, &context, acked, rtt);
    }

    /// The congestion control hears of what has been delivered, and what of it marked (`tcp_in_ack_event`).
    pub(super) fn tell_delivered(&mut self, before: &Before, outcome: AckOutcome) {
        let delivered = self.flight.delivered();
        let newly = delivered - before.delivered;
        let marked = newly * u32::from(outcome.any(AckOutcome::MARKED));
        let control = &mut self.congestion.control;
        control.tell_delivered(self.flight.range(), delivered, marked);
    }

    /// The congestion control hears of data after silence: data left at `last_sent` before (`tcp_event_data_sent`).
    pub(super) fn tell_sent(&mut self, last_sent: Time) {
        let idle = self.flight.in_flight() == 0;
        if idle && !self.govern(Bbr::tx_start) {
            let context = self.context();
            self.congestion.control.tx_start(&context, last_sent);
        }
    }

    /// After `sent` segments left, or none could as the window is full (`limited`): was the window used (RFC 2861, RFC 7661;
    /// `tcp_cwnd_validate`). `busy`: a writer waits for room.
    pub(super) fn validate(&mut self, sent: u32, limited: bool, busy: bool) {
        let out = self.flight.packets_out();
        let by_flight = self.settings.congestion.window_use == WindowUse::InFlight;
        if sent == 0 && (by_flight || !limited) {
            return;
        }
        let full = if by_flight {
            out >= self.congestion.window.cwnd
        } else {
            self.congestion.note_out(out, limited, self.flight.range());
            self.congestion.is_limited()
        };
        let tick = self.timing.moment.tick();
        let usage = &mut self.congestion.usage;
        if full {
            usage.full_at(tick);
            return;
        }
        // What was not full for a timeout shrinks.
        usage.used = usage.used.max(out);
        let unused = self.timing.moment.ticks_span(tick - usage.stamp);
        let shrinks =
            self.settings.congestion.slow_start_after_idle && !self.congestion.control.governs();
        if shrinks && unused >= self.timing.rto() {
            self.shrink_unused(busy);
        }
    }

    /// The application leaves the window unused (`tcp_cwnd_application_limited`).
    fn shrink_unused(&mut self, busy: bool) {
        if self.episode.state == CaState::Open && !busy {
            let used = self.congestion.usage.used.max(self.first());
            if used < self.congestion.window.cwnd {
                self.congestion.keep_threshold(self.episode.in_reduction());
                self.congestion.window.cwnd = (self.congestion.window.cwnd + used) / 2;
            }
            self.congestion.usage.used = 0;
        }
        self.stamp();
    }

    /// New data after more than a timeout of silence, since `last_sent`, start from a smaller window (RFC 5681 §4.1;
    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self, last_sent: Time) {
        if !self.settings.congestion.slow_start_after_idle
            || self.flight.packets_out() > 0
            || self.congestion.control.governs()
        {
            return;
        }
        let moment = &self.timing.moment;
        let mut idle = moment.ticks_span(moment.tick() - moment.clock.ticks(last_sent));
        if idle <= self.timing.rto() {
            return;
        }
        self.congestion.keep_threshold(self.episode.in_reduction());
        let mut cwnd = self.congestion.window.cwnd;
        let least = self.first().min(cwnd);
        loop {
            idle = idle - self.timing.rto();
            if idle <= Duration::ZERO || cwnd <= least {
                break;
            }
            cwnd /= 2;
        }
        self.congestion.window.cwnd = cwnd.max(least);
        self.congestion.usage.full_at(moment.tick());
    }

    /// The window after a handshake that took so many retransmissions (`tcp_init_transfer`).
    pub(super) fn begin(&mut self, retransmissions: u32) {
        self.congestion.window.cwnd = match retransmissions {
            0 | 1 => self.first(),
            _ => 1,
        };
        let tick = self.timing.moment.tick();
        self.congestion.begin_usage(self.flight.una(), tick);
        if !self.govern(Bbr::begin) {
            self.set_pacing_rate();
        }
    }

    /// `tcp_init_cwnd`
    fn first(&self) -> u32 {
        let first = self.settings.congestion.initial_window;
        Window::initial(first, self.flight.mss(), self.timing.srtt())
            .min(self.congestion.window.clamp)
    }

    /// `tcp_update_pacing_rate`
    pub(super) fn set_pacing_rate(&mut self) {
        let sizes = &self.flight.sizes;
        let mss = sizes.mss + sizes.options; // mss_cache
        let srtt = self.timing.rtt.srtt_us8();
        self.congestion.pace(mss, self.flight.packets_out(), srtt);
    }

    /// Segments left while the window is being reduced.
    pub(super) fn note_sent(&mut self, segments: u32) {
        if self.episode.in_reduction() {
            self.congestion.prr.sent += segments;
        }
    }

    /// The window changed now.
    fn stamp(&mut self) {
        self.congestion.usage.stamp = self.timing.moment.tick();
    }

    /// What a congestion control may know now.
    fn context(&self) -> Context<'a> {
        Context {
            now: self.timing.moment.now,
            clock: &self.timing.moment.clock,
            una: self.flight.una(),
            nxt: self.flight.nxt(),
            open: self.episode.state == CaState::Open,
            pacing_rate: self.congestion.pacing_rate,
        }
    }
}

impl machine::Window for Steering<'_> {
    fn begin_recovery(&mut self, reduces: bool) {
        self.counters.recoveries += 1;
        self.congestion.prior_ssthresh = 0;
        if reduces {
            self.congestion.prior_ssthresh = self.congestion.threshold(false);
            self.congestion.begin_reduction();
        }
        self.congestion.tell_loss();
    }

    fn end_reduction(&mut self) {
        let rules = &self.settings.congestion;
        let undone = rules.undo && self.episode.undo.marker.is_none();
        if self.episode.state == CaState::Cwr || !undone || rules.undo_moderates {
            let rule = self.settings.congestion.recovery;
            self.congestion
                .end_reduction(rule, self.timing.moment.tick());
        }
    }

    fn begin_loss(&mut self, reduces: bool) {
        self.congestion.tells_reduction = true;
        if reduces {
            let reducing = self.episode.in_reduction();
            self.congestion.prior_ssthresh = self.congestion.threshold(reducing);
            self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
            self.congestion.reduce();
            self.congestion.tell_loss();
        }
        self.congestion.window.cwnd = self.flight.in_flight() + 1;
        self.congestion.window.cwnd_cnt = 0;
        self.stamp();
        if !self.govern(|bbr, _, facts| bbr.enter_loss(facts)) {
            let context = self.context();
            self.congestion.control.enter_loss(&context);
        }
    }

    fn undo_loss(&mut self, by_frto: bool) {
        self.counters.spurious_timeouts += u32::from(by_frto);
    }

    fn undo_window(&mut self, threshold_too: bool) {
        // Half of the sequence numbers: twice the window fits 32 bits.
        let most = i32::MAX.unsigned_abs() / self.flight.sizes.mss;
        let rule = self.settings.congestion.undo_window;
        self.congestion.undo(rule, threshold_too, most);
        self.stamp();
        self.counters.undos += 1;
    }

    fn moderate_window(&mut self) {
        let burst = match self.settings.congestion.max_burst {
            MaxBurst::Three => 3,
            MaxBurst::Reordering => self.detection.threshold,
        };
        let most = self.flight.in_flight() + burst;
        self.congestion.window.cwnd = self.congestion.window.cwnd.min(most);
        self.stamp();
    }

    fn meet_mark(&mut self, reduces: bool) {
        self.congestion.prior_ssthresh = 0;
        if reduces {
            self.congestion.begin_reduction();
        }
    }

    fn reduce_for_probe(&mut self) {
        self.congestion.begin_reduction();
        let rule = self.settings.congestion.recovery;
        self.congestion
            .end_reduction(rule, self.timing.moment.tick());
    }

    fn step_window(&mut self, delivered: u32, begins: bool) {
        if self.settings.loss.ack_order == AckOrder::RecoveryFirst {
            let in_flight = self.flight.in_flight();
            let rule = self.settings.congestion.recovery;
            self.congestion
                .step(rule, delivered, 0, false, in_flight, begins);
        }
    }

    fn reduce_by_timer(&mut self, lost: u32) {
        if self.congestion.control.governs() {
            return;
        }
        let in_flight = self.flight.in_flight();
        let rule = self.settings.congestion.recovery;
        self.congestion.reduce_for(rule, 1, lost, false, in_flight);
    }

    fn grow_window(&mut self, view: &AckView, outcome: AckOutcome, doubtful: bool) {
        // tcp_may_raise_cwnd, 3.10
        let marked = outcome.any(AckOutcome::MARKED) && !self.congestion.window.in_slow_start();
        let reduces = self.episode.in_reduction() || marked;
        if outcome.any(AckOutcome::ACKED) && (!doubtful || !reduces) {
            self.grow(view.prior_in_flight, view.acked);
        }
    }
}
