//! What a sender knows of time: that of the call that runs, the round trip, the timeout that comes of it, and the timer.

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::flight::{time_of, Cleaned, Micros};
use super::moment::Moment;
use super::timed::Timed;
use super::timer::Timer;
use crate::clock::{Clock, Tick};
use crate::estimator::{Rtt, WindowedMin};
use crate::recovery::constants::{MIN_RTT_WINDOW, RTO_MIN};
use crate::recovery::machine::{self, Times};
use crate::recovery::rto::{self, BackOff, GiveUp, Silence};
use crate::recovery::Job;
use crate::settings::{CongestionControl, RttSamples, Settings, ShutWindowLimit, TimeoutLeft};

/// Round trips, the timeout and the timer.
#[derive(Clone, Debug)]
pub struct Timing {
    settings: Arc<Settings>,
    pub(super) moment: Moment,
    pub(super) rtt: Rtt,
    pub(super) min_rtt: WindowedMin,
    timed: Timed,
    timer: Timer,
    /// The timeout as the timer is set to it, whole ticks, back-off included (`icsk_rto`).
    rto: Duration,
    /// When the next packet may leave, where packets are paced, else long ago (`tcp_wstamp_ns`).
    pub(super) departs: Time,
    /// Sending goes on then (`pacing_timer`).
    waits: bool,
    /// Doublings (`icsk_backoff`).
    backoff: u8,
    /// Window probes without an answer (`icsk_probes_out`).
    window_probes: u32,
}

impl Timing {
    /// Before the first sample.
    pub(super) fn new(settings: Arc<Settings>, clock: Clock, now: Time) -> Self {
        let rtt = Rtt::new(&settings);
        let min_rtt_window = MIN_RTT_WINDOW.as_nanos() / 1_000_000_000;
        let window = min_rtt_window * i64::from(clock.ticks.hz);
        Timing {
            moment: Moment::new(clock, now),
            rto: clock.tick().up(rtt.rto()),
            departs: Time::from_nanos(0),
            waits: false,
            rtt,
            min_rtt: WindowedMin::new(window, clock.ticks(now)),
            timed: Timed::default(),
            timer: Timer::default(),
            backoff: 0,
            window_probes: 0,
            settings,
        }
    }

    /// The timeout, back-off included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// The timeout in ticks as the timer was last armed with it, back-off included (`icsk_rto`).
    #[must_use]
    pub fn rto_ticks(&self) -> i64 {
        self.moment.clock.ticks_in(self.rto)
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// The clock of the timestamps option at `now`, without the connection's offset.
    #[must_use]
    pub fn timestamp(&self, now: Time) -> u32 {
        self.stamp(now.as_nanos() / 1_000)
    }

    /// The clock of the timestamps option at a time (`tcp_skb_timestamp`; ticks before 4.13).
    pub(super) fn stamp(&self, at: Micros) -> u32 {
        let at = Time::from_nanos(at * 1_000);
        self.settings.timers.estimator.stamp(&self.moment.clock, at)
    }

    /// Microseconds of one step of the timestamp clock.
    pub(super) fn stamp_micros(&self) -> i64 {
        self.settings
            .timers
            .estimator
            .stamp_unit(&self.moment.clock)
            .as_nanos()
            / 1_000
    }

    /// How long ago the clock of the timestamps option stood at `stamp`.
    pub(super) fn since_stamp(&self, stamp: u32) -> Duration {
        let steps = self.stamp(self.moment.micros()).wrapping_sub(stamp);
        Duration::from_micros(i64::from(steps) * self.stamp_micros())
    }

    /// When the timer fires.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let pace = self.waits.then_some(self.departs);
        self.timer.deadline().into_iter().chain(pace).min()
    }

    /// Whether the next packet has to wait; then sending goes on when it may leave (`tcp_pacing_check`).
    pub(super) fn waits_for_pace(&mut self) -> bool {
        self.waits |= self.departs > self.moment.now;
        self.departs > self.moment.now
    }

    /// Whether it may leave by `now`, which what follows takes for the time.
    pub(super) fn pace_is_due(&mut self, now: Time) -> bool {
        if !self.waits || self.departs > now {
            return false;
        }
        self.waits = false;
        self.moment.now = now;
        true
    }

    /// Ticks until the timer is due, whatever it is set for (`icsk_timeout`); none when it is set for nothing.
    #[must_use]
    pub fn pending_ticks(&self, now: Time) -> Option<i64> {
        self.timer.job()?;
        Some(self.timer.due() - self.moment.clock.ticks(now))
    }

    /// What the timer is set for.
    pub(super) fn job(&self) -> Option<Job> {
        self.timer.job()
    }

    /// The time of the call that runs, as finely as times of sending are kept.
    pub(super) fn sent_now(&self) -> Time {
        time_of(self.moment.micros())
    }

    /// The job that is due at `now`, if one is. A timeout and a window probe begin with a timer that is set for nothing.
    pub(super) fn fire(&mut self, now: Time) -> Option<Job> {
        self.moment.now = now;
        let job = self.timer.fire(&self.moment.clock, now)?;
        if matches!(job, Job::Timeout | Job::Persist) {
            self.timer.clear();
        }
        Some(job)
    }

    /// Sets the timer to a full timeout.
    pub(super) fn set_to_timeout(&mut self) {
        machine::Clock::set_timer(self, Job::Timeout, self.rto);
    }

    /// What was timed as one segment a round trip may be a copy now.
    pub(super) fn forget_timed(&mut self) {
        self.timed.forget();
    }

    /// The first segment leaves for the first time: it is timed where one a round trip is.
    pub(super) fn time(&mut self, seq: SeqNum) {
        if self.settings.timers.rtt_samples == RttSamples::OncePerRoundTrip {
            self.timed.note(seq, self.moment.tick());
        }
    }

    /// The timeout is what the round trips say (RFC 6298 §5.7).
    pub(super) fn forget_back_off(&mut self) {
        self.rto = self.moment.clock.tick().up(self.rtt.rto());
        self.backoff = 0;
    }

    /// Whether the timeout is as the round trips say.
    pub(super) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// Takes a round-trip time for the timeout, and `path` for the smallest unless an acknowledgement may have been delayed.
    /// A sample ends the back-off (RFC 6298 §5.7, Karn). `out` is what is not acknowledged.
    pub(super) fn take_sample(
        &mut self,
        rtt: Duration,
        path: Option<Duration>,
        delayed: bool,
        out: SeqRange,
    ) {
        if let Some(path) = path {
            let micros = u32::try_from(path.as_nanos() / 1_000).unwrap_or(u32::MAX);
            if !delayed || micros <= self.min_rtt.get() {
                let tick_micros = (self.moment.clock.tick_ns() / 1_000) as u32;
                let micros = if micros == 0 { tick_micros } else { micros };
                self.min_rtt.take(self.moment.tick(), micros);
            }
        }
        self.rtt.sample(rtt, out.start, out.end);
        self.forget_back_off();
    }

    /// How long ago the clock of the timestamps option stood at what was echoed, in its own steps.
    fn steps_since(&self, echo: u32) -> u32 {
        self.timestamp(self.moment.now).wrapping_sub(echo)
    }

    /// The round-trip time of an echoed timestamp in microseconds; more than an int of them is none (`tcp_rtt_tsopt_us`).
    pub(super) fn since_echo(&self, echo: Option<u32>) -> Option<i64> {
        let age = self.steps_since(echo?);
        let is_near = age < i32::MAX as u32 / 1_000;
        is_near.then(|| i64::from(age.max(1)) * self.stamp_micros())
    }

    /// Since 3.12 the time of sending first, of what was acknowledged or else SACKed, and the timestamp where both were sent
    /// again (`tcp_ack_update_rtt`).
    pub(super) fn sample_micros(
        &mut self,
        cleaned: &Cleaned,
        sacked: Option<Micros>,
        echo: Option<u32>,
        out: SeqRange,
    ) {
        let sent = cleaned.first_of_once().or(sacked);
        let micros = sent.map(|sent| self.moment.since(sent)).or_else(|| {
            let age = self.steps_since(echo?) as i32;
            (age >= 0).then(|| i64::from(age.max(1)) * self.stamp_micros())
        });
        if let Some(micros) = micros {
            self.take_sample(Duration::from_micros(micros.max(1)), None, false, out);
        }
    }

    /// The timestamp first, whatever was sent again; without one, Karn's rule (RFC 6298 §3).
    pub(super) fn sample_ticks(&mut self, cleaned: &Cleaned, echo: Option<u32>, out: SeqRange) {
        let micros = match echo {
            Some(echo) => Some(i64::from(self.steps_since(echo) as i32) * self.stamp_micros()),
            None => {
                let ticks = match self.settings.timers.rtt_samples {
                    RttSamples::OncePerRoundTrip => self.timed.take(out.start, self.moment.tick()),
                    _ => cleaned
                        .first_of_once()
                        .map(|sent| self.moment.tick() - self.moment.tick_of(sent)),
                };
                ticks.map(|ticks| ticks * self.moment.tick_micros())
            }
        };
        if let Some(micros) = micros {
            self.take_sample(Duration::from_micros(micros), None, false, out);
        }
    }

    /// The round-trip time that the congestion control is told: exact where ticks are coarse (`TCP_CONG_RTT_STAMP`).
    pub(super) fn control_rtt(&self, sent: Micros) -> i64 {
        let moment = &self.moment;
        let exact = moment.clock.ticks.hz < 1_000
            && self.settings.congestion.congestion_control == CongestionControl::Cubic;
        if exact {
            moment.since(sent)
        } else {
            (moment.tick() - moment.tick_of(sent)) * moment.tick_micros()
        }
    }

    /// The timeout ran out: it grows, and the timer is set to it. Where the peer's window is shut, the doublings are `uncounted`.
    pub(super) fn back_off(&mut self, uncounted: bool) {
        let tick = self.moment.clock.tick();
        if !uncounted {
            self.backoff = self.backoff.saturating_add(1);
        }
        let grows = BackOff {
            slop: tick.up(self.settings.timers.rto_slop),
            max: tick.up(self.settings.timers.max_rto),
        };
        self.rto = grows.after(self.rto);
        self.arm(Job::Timeout, self.rto, 0);
    }

    /// Whether `timeouts` went unanswered too often; `first` is the stamp of the first retransmission of what is out.
    pub(super) fn gives_up(&self, timeouts: u32, first: Option<u32>, orphan: bool) -> bool {
        let timers = &self.settings.timers;
        rto::gives_up(&GiveUp {
            timeouts,
            retries: timers.retries,
            by_time: timers.retries_by_time,
            since_retransmission: first.map(|first| self.since_stamp(first)),
            orphan,
            rto_is_longest: self.rto >= self.moment.clock.tick().up(timers.max_rto),
            max_rto: timers.max_rto,
        })
    }

    /// Whether the peer took its window back and has been silent for too long, since the tick `last_ack`; `first` is the stamp of
    /// the first retransmission, or of what is first.
    pub(super) fn gives_up_shut_window(&self, last_ack: i64, first: Option<u32>) -> bool {
        let limit = self.settings.timers.shut_window_limit;
        let until = match limit {
            ShutWindowLimit::LongestTimeout => self.moment.tick(),
            ShutWindowLimit::TwiceLongestTimeout => self.timer.due(),
        };
        let silence = Silence {
            since_ack: self.moment.ticks_span(until - last_ack),
            since_retransmission: first.map_or(Duration::ZERO, |first| self.since_stamp(first)),
        };
        let max_rto = self.moment.clock.tick().up(self.settings.timers.max_rto);
        rto::gives_up_shut_window(limit, silence, max_rto)
    }

    /// Sets the timer to a probe of a shut window, unless it is set, without back-off (`tcp_probe0_base`).
    pub(super) fn begin_persist(&mut self) {
        if self.timer.job().is_none() {
            machine::Clock::set_timer(self, Job::Persist, self.persist_base());
        }
    }

    /// Sets it with back-off (`tcp_probe0_when`).
    pub(super) fn set_persist(&mut self) {
        let wait = self.persist_wait(self.settings.timers.max_rto);
        machine::Clock::set_timer(self, Job::Persist, wait);
    }

    /// The window takes data again.
    pub(super) fn end_persist(&mut self) {
        self.backoff = 0;
        self.timer.clear();
    }

    /// The peer answers.
    pub(super) fn window_probe_answered(&mut self) {
        self.window_probes = 0;
    }

    /// A window probe left, or could not; the next waits longer, unless data are `out` by now.
    pub(super) fn count_window_probe(&mut self, out: bool) {
        if out {
            self.window_probes = 0;
            self.backoff = 0;
            return;
        }
        self.window_probes += 1;
        if u32::from(self.backoff) < self.settings.timers.retries {
            self.backoff += 1;
        }
        self.set_persist();
    }

    /// Whether so many window probes went unanswered that the connection is given up.
    pub(super) fn gives_up_probing(&self, orphan: bool) -> bool {
        let most = if orphan {
            8
        } else {
            self.settings.timers.retries
        };
        self.window_probes >= most
    }

    /// Sets the timer, `more` ticks later than that, at most to the longest timeout.
    fn arm(&mut self, job: Job, wait: Duration, more: i64) {
        let clock = self.moment.clock;
        let longest = self.settings.timers.max_rto;
        let mut ticks = clock.ticks_in(wait.min(longest));
        if more > 0 {
            ticks = (ticks + more).min(clock.ticks_in(longest));
        }
        self.timer.set(&clock, self.moment.now, job, ticks);
    }

    fn persist_base(&self) -> Duration {
        self.rto.max(self.moment.clock.tick().up(RTO_MIN))
    }

    fn persist_wait(&self, longest: Duration) -> Duration {
        let clock = &self.moment.clock;
        let ratio = clock.ticks_in(longest) / clock.ticks_in(RTO_MIN).max(1);
        let doublings = u32::from(self.backoff).min(ratio.max(1).ilog2() + 1);
        (self.persist_base() * (1 << doublings)).min(longest)
    }
}

impl machine::Clock for Timing {
    #[inline]
    fn times(&self) -> Times {
        Times {
            now: self.sent_now(),
            min_rtt: self.min_rtt.span(),
            min_rto: self.settings.timers.min_rto,
            rto: self.rto,
            job: self.timer.job(),
        }
    }

    fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    fn tick_length(&self) -> Tick {
        self.moment.clock.tick()
    }

    fn age(&self, sent: Time) -> Duration {
        let moment = &self.moment;
        match self.settings.timers.timeout_left {
            TimeoutLeft::Ticks => moment.ticks_span(moment.tick() - moment.clock.ticks(sent)),
            TimeoutLeft::Micros => self.sent_now().since(sent).max(Duration::ZERO),
        }
    }

    /// In whole ticks.
    fn overdue(&self) -> Time {
        let clock = &self.moment.clock;
        let ticks = self.rto.as_nanos() / clock.tick_ns() as i64;
        clock.time_of(self.moment.tick() - ticks)
    }

    fn timer_left(&self) -> Duration {
        self.moment
            .ticks_span(self.timer.due() - self.moment.tick())
    }

    /// What is paced cannot leave before its time (`tcp_reset_xmit_timer`, `tcp_pacing_delay`).
    fn set_timer(&mut self, job: Job, wait: Duration) {
        let paced = (self.departs - self.moment.now).max(Duration::ZERO);
        let more = match job {
            Job::Timeout | Job::Probe | Job::Persist => {
                paced.as_nanos() / self.moment.clock.tick_ns() as i64
            }
            Job::Reordering | Job::EarlyRetransmit => 0,
        };
        self.arm(job, wait, more);
    }

    fn clear_timer(&mut self) {
        self.timer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Wheel;
    use crate::recovery::machine::Clock as _;
    use crate::stacks;

    fn timing() -> Timing {
        let settings = stacks::page("linux-6.12").unwrap().settings;
        let clock = Clock::linux(250, Wheel::Levels);
        Timing::new(Arc::new(settings), clock, Time::from_nanos(8_000_000_000))
    }

    #[test]
    fn a_sample_ends_the_back_off_with_a_timeout_of_whole_ticks() {
        let mut timing = timing();
        assert_eq!(timing.rto(), Duration::from_secs(1));
        timing.back_off(false);
        assert_eq!(timing.rto(), Duration::from_secs(2));
        assert!(timing.is_backed_off() && timing.job() == Some(Job::Timeout));
        let out = SeqRange::new(SeqNum::new(0), 1);
        timing.take_sample(Duration::from_millis(21), None, false, out);
        // 21 ms and 200 ms, in ticks of 4 ms.
        assert_eq!(timing.rto(), Duration::from_millis(224));
        assert!(!timing.is_backed_off());
    }

    #[test]
    fn the_wait_before_a_probe_doubles_up_to_the_longest_timeout() {
        let mut timing = timing();
        let longest = Duration::from_secs(5);
        let waits = [0, 1, 2, 3, 20].map(|backoff| {
            timing.backoff = backoff;
            timing.persist_wait(longest)
        });
        assert_eq!(waits, [1, 2, 4, 5, 5].map(Duration::from_secs));
    }

    #[test]
    fn what_is_paced_is_waited_for_by_those_timers_that_send() {
        let mut timing = timing();
        assert!(!timing.waits_for_pace() && timing.deadline().is_none());
        timing.departs = timing.moment.now + Duration::from_millis(11);
        assert!(timing.waits_for_pace());
        assert_eq!(timing.deadline(), Some(timing.departs));
        // Two whole ticks of 4 ms.
        for (job, more) in [(Job::Timeout, 2), (Job::Probe, 2), (Job::Reordering, 0)] {
            timing.set_timer(job, Duration::from_millis(40));
            let due = timing.pending_ticks(timing.moment.now);
            assert_eq!(due, Some(10 + more), "{job:?}");
        }
        timing.timer.clear();
        let departs = timing.departs;
        assert!(!timing.pace_is_due(departs - Duration::from_nanos(1)));
        assert!(timing.pace_is_due(departs) && !timing.pace_is_due(departs));
        assert!(!timing.waits_for_pace() && timing.deadline().is_none());
    }

    #[test]
    fn a_timeout_exactly_is_not_too_long() {
        let timing = timing();
        let sent = timing.moment.now - timing.rto();
        assert!(!timing.is_overdue(sent));
        // One that left in the tick before that has been out for a tick more.
        assert!(timing.is_overdue(sent - Duration::from_nanos(1)));
    }

    #[test]
    fn a_stamp_tells_how_long_ago_it_was_set() {
        let timing = timing();
        let stamp = timing.stamp(8_000_000 - 8_000);
        assert_eq!(timing.since_stamp(stamp), Duration::from_millis(8));
    }
}
