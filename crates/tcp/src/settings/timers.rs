//! The clock, the round-trip time and the timers that run by it.

use rexmit_time::Duration;

use super::check::DAY;
use super::reflect::group;
use super::value::choices;
use crate::clock::{Clock, Ticks, Wheel};

group! {
    /// The clock, the round-trip time and the timers that run by it.
    pub struct Timers {
        /// Timer ticks a second (`HZ`).
        pub hz: u32 = 1000, "assumption: a clock of 1 ms; RFC 6298 §4 asks for 100 ms or finer";
        /// When timers fire.
        pub wheel: Wheel = Wheel::Exact, "RFC 6298 §5: a timer expires when its time is over";
        /// How the round-trip time is sampled and smoothed and the timeout formed.
        pub estimator: Estimator = Estimator::Rfc6298, "RFC 6298 §2";
        /// Lower bound: in Linux of the deviation's part of the timeout, elsewhere of the timeout.
        pub min_rto: Duration = Duration::from_secs(1), "RFC 6298 §2.4: rounded up to 1 second";
        /// Upper bound of the timeout, back-off included.
        pub max_rto: Duration = Duration::from_secs(60), "RFC 6298 §2.5: at least 60 seconds";
        /// Timeout before the first sample, of a SYN also (`TCP_TIMEOUT_INIT`).
        pub initial_rto: Duration = Duration::from_secs(1), "RFC 6298 §2.1";
        /// Timeout after a handshake that gave no sample (`TCP_TIMEOUT_FALLBACK`).
        pub fallback_rto: Duration = Duration::from_secs(3), "RFC 6298 §5.7";
        /// Gain of the smoothed round-trip time (b of UNC 2007, alpha of RFC 6298), as one part in two to this power.
        pub srtt_shift: u32 = 3, "RFC 6298 §2.3: alpha = 1/8";
        /// Gain of the deviation (a of UNC 2007, beta of RFC 6298), as one part in two to this power.
        pub rttvar_shift: u32 = 2, "RFC 6298 §2.3: beta = 1/4";
        /// Factor of the smoothed round-trip time in the timeout (m).
        pub srtt_factor: f64 = 1.0, "RFC 6298 §2.3";
        /// Factor of the deviation in the timeout (k).
        pub rttvar_factor: u32 = 4, "RFC 6298 §2.3: K = 4";
        /// Which segments are timed when timestamps do not time them.
        pub rtt_samples: RttSamples = RttSamples::OncePerRoundTrip, "RFC 6298 §3: at least one a round trip";
        /// Added to every timeout (FreeBSD's `tcp_rexmit_slop`).
        pub rto_slop: Duration = Duration::ZERO, "off";
        /// How what is left of the head's timeout is counted when the timer was set for something else.
        pub timeout_left: TimeoutLeft = TimeoutLeft::Ticks, "no effect unless the timer has another use than the timeout";
        /// Timeouts of one segment before the connection is given up (`tcp_retries2`).
        pub retries: u32 = 15, "RFC 1122 §4.2.3.5: R2 of at least 100 seconds, as Linux counts";
        /// They stand for the time that so many take from 200 ms on (`retransmits_timed_out`); else they are counted.
        pub retries_by_time: bool = false, "a count; RFC 1122 §4.2.3.5 allows either";
        /// After how long a connection is given up whose peer shut its window with data in flight.
        pub shut_window_limit: ShutWindowLimit = ShutWindowLimit::LongestTimeout, "assumption: as Linux 3.10";
        /// Timeouts of a SYN before the connection is given up (`tcp_syn_retries`).
        pub syn_retries: u32 = 6, "RFC 1122 §4.2.3.5: R2 of at least 3 minutes for a SYN, to the nearest doubling";
        /// Timeouts of a SYN that do not double (`tcp_syn_linear_timeouts`, 6.5).
        pub syn_linear_timeouts: u32 = 0, "RFC 6298 §5.5: every timeout doubles";
    }

    rules(self) {
        vec![
            (
                (1..=1_000_000).contains(&self.hz),
                "hz must be 1 to 1000000",
            ),
            (self.srtt_shift <= 16, "srtt_shift must be at most 16"),
            (self.rttvar_shift <= 16, "rttvar_shift must be at most 16"),
            (
                self.initial_rto > Duration::ZERO && self.fallback_rto > Duration::ZERO,
                "initial_rto and fallback_rto must be more than 0s",
            ),
            (
                self.max_rto >= self.min_rto && self.max_rto >= self.initial_rto,
                "max_rto must not be less than min_rto or initial_rto",
            ),
            (
                self.max_rto <= DAY && self.fallback_rto <= DAY,
                "max_rto and fallback_rto must be a day at most",
            ),
            (
                self.rto_slop == Duration::ZERO || self.estimator == Estimator::Bsd,
                "rto_slop needs estimator = bsd",
            ),
            (self.rto_slop < self.max_rto, "rto_slop must be less than max_rto"),
            (
                self.srtt_factor <= 1_000.0 && self.rttvar_factor <= 1_000,
                "srtt_factor and rttvar_factor must be at most 1000",
            ),
            (
                self.retries <= 255 && self.syn_retries <= 255 && self.syn_linear_timeouts <= 255,
                "retries, syn_retries and syn_linear_timeouts must be at most 255",
            ),
        ]
    }
}

impl Timers {
    /// The stack's ticks.
    #[must_use]
    pub const fn ticks(&self) -> Ticks {
        Ticks {
            hz: self.hz,
            wheel: self.wheel,
        }
    }

    /// The clock of a host that booted at time zero.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        Clock::linux(self.hz, self.wheel)
    }
}

choices!(Wheel);

choices! {
    /// How the round-trip time is sampled and smoothed and the timeout formed.
    pub enum Estimator ("estimator") {
        /// Linux in ticks, timestamps first: 2.4 to 3.14 (`tcp_rtt_estimator`).
        LinuxTicks = "linux-ticks",
        /// Linux in microseconds, the time of sending first: since 3.15.
        LinuxMicros = "linux-micros",
        /// RFC 6298 with the clock's tick as granularity.
        Rfc6298 = "rfc6298",
        /// BSD: fixed point in ticks (`tcp_xmit_timer`).
        Bsd = "bsd",
        /// Solaris: milliseconds, `tcp_set_rto`.
        Solaris = "solaris",
    }
}

choices! {
    /// Which segments are timed when timestamps do not time them.
    pub enum RttSamples ("round-trip time samples") {
        /// Every acknowledgement times the first segment that it acknowledges, unless one of them was sent again (Karn).
        EachAck = "each-ack",
        /// One segment at a time is timed, none while something is sent again (RFC 6298 §3).
        OncePerRoundTrip = "once-per-round-trip",
    }
}

choices! {
    /// How what is left of the head's timeout is counted when the timer was set for something else (`tcp_rearm_rto`).
    pub enum TimeoutLeft ("rest of a timeout") {
        /// In ticks; if nothing is left, a whole timeout follows.
        Ticks = "ticks",
        /// In microseconds; if nothing is left, the timeout is due at once (`tcp_rto_delta_us`).
        Micros = "micros",
    }
}

choices! {
    /// After how long a connection is given up whose peer shut its window with data in flight (`tcp_retransmit_timer`).
    pub enum ShutWindowLimit ("limit of a shut window") {
        /// The longest timeout without an acknowledgement, until now.
        LongestTimeout = "longest-timeout",
        /// Twice the longest timeout without one, until the timer was due, and since the first retransmission.
        TwiceLongestTimeout = "twice-longest-timeout",
    }
}
