//! BBR, version 1, as Linux has it since 4.9 (`tcp_bbr.c`; Cardwell and others, 2016).
//!
//! The path is known by two numbers, its bandwidth ([`WindowedMax`], the largest sample of ten round trips) and its shortest
//! round trip (of ten seconds). Segments leave at a gain times the bandwidth ([`Pacing`]), and what is in flight is bounded by a gain times
//! the product of both. Losses do not make the window smaller for longer than they are repaired.
//!
//! Where the cycle of gains begins is drawn at random. The kernel draws it from its own randomness, this from the number with
//! which the connection begins: alike in distribution, not draw by draw.

use rexmit_time::Time;

use super::rate::RateSample;
use super::{Pacing, Window};
use crate::estimator::WindowedMax;
use crate::recovery::CaState;
use crate::settings::Settings;

mod aggregation;
mod facts;
mod long_term;
#[cfg(test)]
mod tests;

use aggregation::{AckedBatch, Aggregation};
pub use facts::{Facts, Governed};
use long_term::{Finding, LongTerm, LossyStretch};

/// Fraction bits of gains (`BBR_SCALE`).
const GAIN_BITS: u32 = 8;
/// A gain of 1 (`BBR_UNIT`).
const ONE: u32 = 1 << GAIN_BITS;
/// Fraction bits of a bandwidth, in segments a microsecond (`BW_SCALE`).
const RATE_BITS: u32 = 24;
/// Round trips that a bandwidth is remembered (`bbr_bw_rtts`).
const BANDWIDTH_ROUNDS: i64 = 10;
/// Seconds that a shortest round trip is remembered (`bbr_min_rtt_win_sec`).
const MIN_RTT_SECONDS: i64 = 10;
/// Milliseconds at least in which little is in flight, for the round trip to be measured (`bbr_probe_rtt_mode_ms`).
const PROBE_RTT_MS: i64 = 200;
/// Bytes a second below which a packet holds one segment (`bbr_min_tso_rate`, in bits).
const SMALL_RATE: u64 = 1_200_000 / 8;
/// 2 / ln 2: what is sent doubles each round trip (`bbr_high_gain`).
const HIGH_GAIN: u32 = ONE * 2885 / 1000 + 1;
/// The reverse of it (`bbr_drain_gain`).
const DRAIN_GAIN: u32 = ONE * 1000 / 2885;
/// Of the window in the cycle: acknowledgements may be late (`bbr_cwnd_gain`).
const WINDOW_GAIN: u32 = ONE * 2;
/// More is asked of the path for a round trip, what that queued is drained, and then the bandwidth is kept to
/// (`bbr_pacing_gain`).
const CYCLE: [u32; 8] = [ONE + ONE / 4, ONE - ONE / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// Phases of which one is drawn (`bbr_cycle_rand`): any but that which drains.
const DRAWN: u64 = 7;
/// Segments of the smallest window (`bbr_cwnd_min_target`).
const LEAST: u32 = 4;
/// The path is full after so many round trips in which the bandwidth did not grow by a quarter (`bbr_full_bw_cnt`,
/// `bbr_full_bw_thresh`).
const FULL_ROUNDS: u32 = 3;
/// `TCP_INIT_CWND`
const FIRST: u32 = 10;

/// The states of the path's exploration (`bbr_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// What is sent grows until the path is full.
    Startup,
    /// The queue that this made is drained.
    Drain,
    /// The gains cycle.
    Cycle,
    /// Little is in flight, so that the round trip is that of an empty queue.
    ProbeRtt,
}

/// Round trips, counted by what is delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u32,
    /// One ends when what was sent after so many segments were delivered is (`next_rtt_delivered`).
    until: u32,
    /// One begins with this acknowledgement.
    begins: bool,
}

/// The shortest round trip.
#[derive(Clone, Copy, Debug)]
struct Shortest {
    micros: u32,
    /// The tick at which it was measured.
    tick: i64,
    /// The tick at which little has been in flight for long enough, and whether for a round trip.
    probed_at: Option<i64>,
    probed_round: bool,
}

/// Whether the path is full.
#[derive(Clone, Copy, Debug, Default)]
struct Full {
    bandwidth: u32,
    rounds: u32,
    reached: bool,
}

/// BBR's state.
#[derive(Clone, Debug)]
pub struct Bbr {
    /// The pace at which packets leave, and the samples of the rate.
    pub pacing: Pacing,
    mode: Mode,
    /// The state of recovery at the last acknowledgement.
    prior_state: CaState,
    /// In the first round of a recovery as much is sent as is delivered.
    conserves: bool,
    /// Data are sent again after silence.
    restarts: bool,
    has_seen_rtt: bool,
    shortest: Shortest,
    bandwidth: WindowedMax,
    rounds: Rounds,
    /// The phase of the cycle, and when it began, in microseconds.
    phase: usize,
    phase_at: u64,
    pacing_gain: u32,
    window_gain: u32,
    full: Full,
    /// The window before a recovery or a probe of the round trip.
    prior_cwnd: u32,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// Bytes of the largest packet that a quantum is reckoned by.
    largest_packet: u64,
    /// The phase in which cycles begin, or what it is drawn from.
    first_phase: Option<u32>,
    random: u64,
}

/// Bytes a second of a bandwidth times a gain, 1 % less so that queues empty (`bbr_rate_bytes_per_sec`).
fn rate_bytes(bandwidth: u64, mss: u32, gain: u32) -> u64 {
    let rate = (bandwidth * u64::from(mss) * u64::from(gain)) >> GAIN_BITS;
    (rate * (1_000_000 / 100 * 99)) >> RATE_BITS
}

impl Bbr {
    /// Of a connection that begins with the sequence number `first`.
    pub(super) fn new(settings: &Settings, first: u32) -> Self {
        let room = u64::from(settings.segments.header_room);
        Bbr {
            pacing: Pacing::default(),
            mode: Mode::Startup,
            prior_state: CaState::Open,
            conserves: false,
            restarts: false,
            has_seen_rtt: false,
            shortest: Shortest {
                micros: u32::MAX,
                tick: 0,
                probed_at: None,
                probed_round: false,
            },
            bandwidth: WindowedMax::new(BANDWIDTH_ROUNDS, 0),
            rounds: Rounds::default(),
            phase: 0,
            phase_at: 0,
            pacing_gain: 0,
            window_gain: 0,
            full: Full::default(),
            prior_cwnd: 0,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            // GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER
            largest_packet: 65_535_u64.saturating_sub(room),
            first_phase: settings.congestion.bbr_phase,
            random: u64::from(first),
        }
    }

    /// The handshake is over, and the first window is known (`bbr_init`).
    pub fn begin(&mut self, governed: &mut Governed<'_>, facts: &Facts) {
        self.rounds.until = facts.delivered;
        self.shortest.micros = facts.min_rtt_us;
        self.shortest.tick = facts.tick;
        self.set_first_rate(governed, facts);
        self.aggregation.begin(micros(facts.now));
    }

    /// The hook of an acknowledgement (`bbr_main`).
    pub fn on_ack(&mut self, governed: &mut Governed<'_>, facts: &Facts, sample: &RateSample) {
        self.note_bandwidth(facts, sample);
        self.note_aggregation(governed, sample);
        if self.mode == Mode::Cycle && self.phase_is_over(governed, facts, sample) {
            self.next_phase();
        }
        self.note_full(sample);
        self.note_drained(governed, facts);
        self.note_round_trip(governed, facts, sample);
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::Cycle if self.long_term.in_use => (ONE, WINDOW_GAIN),
            Mode::Cycle => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (ONE, ONE),
        };
        self.set_rate(governed, facts, self.pacing_gain);
        self.set_window(governed, facts, sample);
    }

    /// A recovery begins: the threshold stays, the window is kept in mind (`bbr_ssthresh`, `bbr_save_cwnd`).
    pub(super) fn ssthresh(&mut self, window: &Window) -> u32 {
        self.save_window(window);
        window.ssthresh
    }

    fn save_window(&mut self, window: &Window) {
        let cut = self.prior_state >= CaState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut {
            self.prior_cwnd.max(window.cwnd)
        } else {
            window.cwnd
        };
    }

    /// A recovery was not needed: whether the path is full is found out anew (`bbr_undo_cwnd`).
    pub(super) fn undo_cwnd(&mut self, window: &Window) -> u32 {
        self.full.bandwidth = 0;
        self.full.rounds = 0;
        self.long_term.reset();
        window.cwnd
    }

    /// A timeout ends a round (`bbr_set_state`).
    pub fn enter_loss(&mut self, facts: &Facts) {
        self.prior_state = CaState::Loss;
        self.full.bandwidth = 0;
        self.rounds.begins = true;
        self.sample_long_term(facts, true, false);
    }

    /// Data are sent again after everything was acknowledged (`bbr_cwnd_event`).
    pub fn tx_start(&mut self, governed: &mut Governed<'_>, facts: &Facts) {
        if self.pacing.rate.app_limited == 0 {
            return;
        }
        self.restarts = true;
        self.aggregation.begin(micros(facts.now));
        match self.mode {
            Mode::Cycle => self.set_rate(governed, facts, ONE),
            Mode::ProbeRtt => self.end_probe_rtt(governed, facts),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// Segments of a packet at least (`bbr_min_tso_segs`).
    pub fn least_segments(pacing_rate: u64) -> u32 {
        1 + u32::from(pacing_rate >= SMALL_RATE)
    }

    /// In segments a microsecond << 24 (`bbr_bw`).
    fn bandwidth(&self) -> u32 {
        if self.long_term.in_use {
            self.long_term.bandwidth
        } else {
            self.bandwidth.get()
        }
    }

    /// The first rate: the first window in a round trip, of a millisecond where none is known
    /// (`bbr_init_pacing_rate_from_rtt`).
    fn set_first_rate(&mut self, governed: &mut Governed<'_>, facts: &Facts) {
        self.has_seen_rtt |= facts.srtt_us8 > 0;
        let rtt = match facts.srtt_us8 {
            0 => 1_000,
            srtt => (srtt >> 3).max(1),
        };
        let bandwidth = (u64::from(governed.window.cwnd) << RATE_BITS) / rtt;
        // The kernel hands it on in 32 bits.
        *governed.pacing_rate = rate_bytes(u64::from(bandwidth as u32), facts.mss, HIGH_GAIN);
    }

    /// `bbr_set_pacing_rate`
    fn set_rate(&mut self, governed: &mut Governed<'_>, facts: &Facts, gain: u32) {
        let rate = rate_bytes(u64::from(self.bandwidth()), facts.mss, gain);
        if !self.has_seen_rtt && facts.srtt_us8 > 0 {
            self.set_first_rate(governed, facts);
        }
        if self.full.reached || rate > *governed.pacing_rate {
            *governed.pacing_rate = rate;
        }
    }

    /// Segments of a packet as large as a millisecond's worth (`bbr_tso_segs_goal`).
    fn quantum(&self, pacing_rate: u64, mss: u32) -> u32 {
        let bytes = (pacing_rate >> 10).min(self.largest_packet);
        let segments = (bytes / u64::from(mss)) as u32;
        segments.max(Self::least_segments(pacing_rate)).min(0x7f)
    }

    /// Segments that the path holds at a bandwidth, times a gain (`bbr_bdp`).
    fn product(&self, bandwidth: u32, gain: u32) -> u32 {
        if self.shortest.micros == u32::MAX {
            return FIRST;
        }
        let held = u64::from(bandwidth) * u64::from(self.shortest.micros);
        ((((held * u64::from(gain)) >> GAIN_BITS) + (1 << RATE_BITS) - 1) >> RATE_BITS) as u32
    }

    /// What the ends of the path hold besides: a packet in each host's queue and device, or that waits to be acknowledged
    /// (`bbr_quantization_budget`).
    fn with_budget(&self, cwnd: u32, quantum: u32) -> u32 {
        let even = (cwnd + 3 * quantum + 1) & !1;
        let probes = self.mode == Mode::Cycle && self.phase == 0;
        even + if probes { 2 } else { 0 }
    }

    /// `bbr_inflight`
    fn target(&self, governed: &Governed<'_>, facts: &Facts, bandwidth: u32, gain: u32) -> u32 {
        let quantum = self.quantum(*governed.pacing_rate, facts.mss);
        self.with_budget(self.product(bandwidth, gain), quantum)
    }

    /// Of so many in flight now, those that will be when the next packet may leave (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, governed: &Governed<'_>, facts: &Facts, in_flight: u32) -> u32 {
        let wait = (facts
            .departs
            .as_nanos()
            .saturating_sub(facts.now.as_nanos()))
            / 1_000;
        let delivered = ((u64::from(self.bandwidth()) * wait) >> RATE_BITS) as u32;
        let next = if self.pacing_gain > ONE {
            self.quantum(*governed.pacing_rate, facts.mss)
        } else {
            0
        };
        (in_flight + next).saturating_sub(delivered)
    }

    /// `bbr_update_bw`
    fn note_bandwidth(&mut self, facts: &Facts, sample: &RateSample) {
        self.rounds.begins = false;
        let (Some(delivered), Some(interval)) = (sample.delivered, sample.interval_us) else {
            return;
        };
        if (sample.prior_delivered.wrapping_sub(self.rounds.until) as i32) >= 0 {
            self.rounds.until = facts.delivered;
            self.rounds.count = self.rounds.count.wrapping_add(1);
            self.rounds.begins = true;
            self.conserves = false;
        }
        let losses = sample.effect.losses > 0;
        self.sample_long_term(facts, losses, sample.app_limited);
        let bandwidth = ((u64::from(delivered) << RATE_BITS) / u64::from(interval)) as u32;
        if !sample.app_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth.take(i64::from(self.rounds.count), bandwidth);
        }
    }

    fn sample_long_term(&mut self, facts: &Facts, losses: bool, app_limited: bool) {
        let stretch = LossyStretch {
            round: self.rounds.begins,
            losses,
            app_limited,
            cycles: self.mode == Mode::Cycle,
            delivered_at: self.pacing.rate.delivered_at,
        };
        match self.long_term.take(facts, stretch) {
            Finding::Nothing => {}
            Finding::Policed => self.pacing_gain = ONE,
            Finding::Over => self.begin_cycle(),
        }
    }

    fn note_aggregation(&mut self, governed: &Governed<'_>, sample: &RateSample) {
        let measured = sample.delivered.is_some() && sample.interval_us.is_some();
        if sample.effect.newly > 0 && measured {
            self.aggregation.take(AckedBatch {
                at: self.pacing.rate.delivered_at,
                segments: sample.effect.newly,
                round: self.rounds.begins,
                bandwidth: self.bandwidth(),
                cwnd: governed.window.cwnd,
            });
        }
    }

    /// `bbr_is_next_cycle_phase`
    fn phase_is_over(&self, governed: &Governed<'_>, facts: &Facts, sample: &RateSample) -> bool {
        let since = self.pacing.rate.delivered_at.saturating_sub(self.phase_at);
        let full_length = since > u64::from(self.shortest.micros);
        if self.pacing_gain == ONE {
            return full_length;
        }
        let in_network = self.in_network(governed, facts, sample.effect.prior_in_flight);
        let bandwidth = self.bandwidth.get();
        if self.pacing_gain > ONE {
            // More was asked for a round trip, and it is in flight, or does not fit.
            let target = self.target(governed, facts, bandwidth, self.pacing_gain);
            return full_length && (sample.effect.losses > 0 || in_network >= target);
        }
        full_length || in_network <= self.target(governed, facts, bandwidth, ONE)
    }

    /// `bbr_advance_cycle_phase`
    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_at = self.pacing.rate.delivered_at;
    }

    /// The cycle begins with a phase that is drawn (`bbr_reset_probe_bw_mode`).
    fn begin_cycle(&mut self) {
        self.mode = Mode::Cycle;
        let drawn = CYCLE.len() - 1 - (self.draw() % DRAWN) as usize;
        self.phase = match self.first_phase {
            Some(first) => (first as usize + CYCLE.len() - 1) % CYCLE.len(),
            None => drawn,
        };
        self.next_phase();
    }

    /// SplitMix64 (Steele and others, 2014).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// `bbr_check_full_bw_reached`
    fn note_full(&mut self, sample: &RateSample) {
        if self.full.reached || !self.rounds.begins || sample.app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if u64::from(bandwidth)
            >= u64::from(self.full.bandwidth) + u64::from(self.full.bandwidth / 4)
        {
            self.full.bandwidth = bandwidth;
            self.full.rounds = 0;
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }

    /// `bbr_check_drain`
    fn note_drained(&mut self, governed: &mut Governed<'_>, facts: &Facts) {
        let bandwidth = self.bandwidth.get();
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            governed.window.ssthresh = self.target(governed, facts, bandwidth, ONE);
        }
        if self.mode == Mode::Drain
            && self.in_network(governed, facts, facts.in_flight)
                <= self.target(governed, facts, bandwidth, ONE)
        {
            self.begin_cycle();
        }
    }

    /// `bbr_update_min_rtt`
    fn note_round_trip(&mut self, governed: &mut Governed<'_>, facts: &Facts, sample: &RateSample) {
        let expired = facts.tick > self.shortest.tick + MIN_RTT_SECONDS * facts.hz;
        if let Some(rtt) = sample.effect.rtt_us {
            if rtt < self.shortest.micros || (expired && !sample.effect.delayed) {
                self.shortest.micros = rtt;
                self.shortest.tick = facts.tick;
            }
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(governed.window);
            self.shortest.probed_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            // What is delivered now tells nothing of the path.
            let rate = &mut self.pacing.rate;
            rate.limit_by_program(facts.delivered, facts.in_flight);
            if self.shortest.probed_at.is_some() {
                self.shortest.probed_round |= self.rounds.begins;
                if self.shortest.probed_round {
                    self.end_probe_rtt(governed, facts);
                }
            } else if facts.in_flight <= LEAST {
                let wait = (PROBE_RTT_MS * facts.hz + 999) / 1_000;
                self.shortest.probed_at = Some(facts.tick + wait);
                self.shortest.probed_round = false;
                self.rounds.until = facts.delivered;
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts = false;
        }
    }

    /// Little was in flight for long enough: the window comes back (`bbr_check_probe_rtt_done`).
    fn end_probe_rtt(&mut self, governed: &mut Governed<'_>, facts: &Facts) {
        if self.shortest.probed_at.is_none_or(|at| facts.tick <= at) {
            return;
        }
        self.shortest.tick = facts.tick;
        governed.window.cwnd = governed.window.cwnd.max(self.prior_cwnd);
        if self.full.reached {
            self.begin_cycle();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_set_cwnd`
    fn set_window(&mut self, governed: &mut Governed<'_>, facts: &Facts, sample: &RateSample) {
        let acked = sample.effect.newly;
        if acked > 0 {
            let cwnd = self.recover_or_restore(governed.window.cwnd, facts, sample);
            governed.window.cwnd = match self.conserves {
                true => cwnd.max(facts.in_flight + acked),
                false => self.grow(cwnd, governed, facts, acked),
            };
        }
        let window = &mut *governed.window;
        window.cwnd = window.cwnd.min(window.clamp);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST);
        }
    }

    /// The window as the state of recovery has it (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover_or_restore(&mut self, cwnd: u32, facts: &Facts, sample: &RateSample) -> u32 {
        let (prior, state) = (self.prior_state, facts.state);
        let mut cwnd = match sample.effect.losses {
            0 => cwnd,
            losses => cwnd.saturating_sub(losses).max(1),
        };
        if state == CaState::Recovery && prior != CaState::Recovery {
            self.conserves = true;
            self.rounds.until = facts.delivered;
            cwnd = facts.in_flight + sample.effect.newly;
        } else if prior >= CaState::Recovery && state < CaState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.prior_state = state;
        cwnd
    }

    /// The window grows to its target, and once the path is full does not pass it.
    fn grow(&self, cwnd: u32, governed: &Governed<'_>, facts: &Facts, acked: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.window_gain);
        if self.full.reached {
            target += self.aggregation.allowance(bandwidth);
        }
        let target = self.with_budget(target, self.quantum(*governed.pacing_rate, facts.mss));
        let cwnd = if self.full.reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || facts.delivered < FIRST {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(LEAST)
    }
}

/// The microsecond.
fn micros(now: Time) -> u64 {
    now.as_nanos() / 1_000
}
