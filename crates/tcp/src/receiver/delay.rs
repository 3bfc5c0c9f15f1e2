//! When an acknowledgement is due: quick acknowledgements, interactive ("ping-pong") sessions, the delay and its timer,
//! and SACKs that wait a little for more of them.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::{Clock, KernelTimer};
use crate::settings::{DelayedAck, Settings};

use super::Sending;

/// At most so many quick acknowledgements (`TCP_MAX_QUICKACKS`).
pub(super) const MOST_QUICK: u32 = 16;
/// So many duplicate acknowledgements leave before SACKs are held back (`TCP_FASTRETRANS_THRESH`).
const UNCOMPRESSED: u8 = 3;

/// What is known of an acknowledgement to come (`icsk_ack.pending`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Something is to be acknowledged (`ICSK_ACK_SCHED`).
    pub scheduled: bool,
    /// The timer runs (`ICSK_ACK_TIMER`).
    pub timer: bool,
    /// The sender pushed: it may wait (`ICSK_ACK_PUSHED`).
    pub pushed: bool,
    /// It pushed twice (`ICSK_ACK_PUSHED2`).
    pub pushed_twice: bool,
    /// At once, whatever else holds (`ICSK_ACK_NOW`).
    pub now: bool,
    /// There was no memory: the window is to be closed (`ICSK_ACK_NOMEM`).
    pub no_memory: bool,
}

/// The delayed-acknowledgement engine of Linux (`icsk_ack`). Times are in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    form: DelayedAck,
    clock: Clock,
    least: i64,
    most: i64,
    /// Bound of every delay (`icsk_delack_max`, `tcp_delack_max`).
    bound: i64,
    pub pending: Pending,
    quick: u32,
    /// The route asks for nothing else.
    always_quick: bool,
    interactive: bool,
    /// The delay now thought right (`ato`); 0 before the first data.
    estimate: i64,
    /// When data came last (`lrcvtime`).
    pub last_data: i64,
    timeout: i64,
    kernel: KernelTimer,

    // SACK compression
    compressed: u32,
    duplicates: u8,
    duplicates_of: SeqNum,
    kick: Option<Time>,
}

impl Delay {
    pub fn new(settings: &Settings, clock: Clock) -> Self {
        let most = clock.ticks_in(settings.receiver.delayed_ack_max);
        let bound = match settings.receiver.delayed_ack {
            DelayedAck::Linux3 | DelayedAck::Rfc => i64::MAX,
            DelayedAck::Linux6 => most,
            // tcp_delack_max, 6.12: the acknowledgement comes before the sender's smallest timeout.
            DelayedAck::Linux612 => most.min(clock.ticks_in(settings.timers.min_rto).max(2) - 1),
        };
        Delay {
            form: settings.receiver.delayed_ack,
            clock,
            least: clock.ticks_in(settings.receiver.delayed_ack_min),
            most,
            bound,
            pending: Pending::default(),
            always_quick: settings.receiver.quick_acks,
            quick: 0,
            interactive: false,
            estimate: 0,
            last_data: 0,
            timeout: 0,
            kernel: KernelTimer::default(),
            compressed: 0,
            duplicates: 0,
            duplicates_of: SeqNum::default(),
            kick: None,
        }
    }

    /// Asks for at least `window / (2 * mss)` quick acknowledgements, `most` at most (`tcp_incr_quickack`).
    fn raise_quick(&mut self, most: u32, window: u32, mss: u32) {
        let quick = match window / (2 * mss.max(1)) {
            0 => 2,
            quick => quick.min(most),
        };
        self.quick = self.quick.max(quick);
    }

    /// Duplicates and the like: the sender wants to know at once (`tcp_enter_quickack_mode`).
    pub fn enter_quick(&mut self, most: u32, window: u32, mss: u32) {
        self.raise_quick(most, window, mss);
        self.interactive = false;
        self.estimate = self.least;
    }

    /// There will be a quick acknowledgement at least (`quick |= 1`).
    pub fn one_quick(&mut self) {
        self.quick |= 1;
    }

    /// No more quick acknowledgements: memory is short.
    pub fn no_quick(&mut self) {
        self.quick = 0;
    }

    /// The session is interactive: acknowledgements can ride on answers.
    pub fn enter_interactive(&mut self) {
        self.interactive = true;
    }

    /// The session is not interactive.
    pub fn leave_interactive(&mut self) {
        self.interactive = false;
    }

    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Whether each packet is acknowledged at once (`tcp_in_quickack_mode`).
    pub fn is_quick(&self) -> bool {
        self.always_quick || (self.quick > 0 && !self.interactive)
    }

    /// Data came in order (`tcp_event_data_recv`).
    pub fn on_data(&mut self, now: Time, window: u32, mss: u32, sending: &Sending) {
        let tick = self.clock.ticks(now);
        if self.estimate == 0 {
            self.raise_quick(MOST_QUICK, window, mss);
            self.estimate = self.least;
        } else {
            let gap = tick - self.last_data;
            if gap <= self.least / 2 {
                self.estimate = self.estimate / 2 + self.least / 2;
            } else if gap < self.estimate {
                self.estimate = self.capped(self.estimate / 2 + gap, sending);
            } else if gap > sending.rto_ticks {
                // The sender did not begin anew after a pause, as it seems.
                self.raise_quick(MOST_QUICK, window, mss);
            }
        }
        self.last_data = tick;
    }

    fn capped(&self, estimate: i64, sending: &Sending) -> i64 {
        let estimate = estimate.min(sending.rto_ticks);
        match self.form {
            DelayedAck::Linux612 => estimate.min(self.most),
            _ => estimate,
        }
    }

    /// A segment with data leaves: soon after data came, it makes the session interactive (`tcp_event_data_sent`).
    pub fn data_sent(&mut self, now: Time) {
        if self.clock.ticks(now) - self.last_data < self.estimate {
            self.interactive = true;
        }
    }

    /// A segment with the current acknowledgement leaves (`tcp_event_ack_sent`).
    pub fn ack_sent(&mut self) {
        self.compressed = 0;
        self.kick = None;
        // Since 6.6 an acknowledgement that acknowledges nothing new counts for nothing (tcp_dec_quickack_mode).
        if self.quick > 0 && (self.pending.scheduled || self.form == DelayedAck::Linux3) {
            self.quick -= 1;
            if self.quick == 0 {
                self.estimate = self.least;
            }
        }
        self.pending = Pending::default();
    }

    /// The acknowledgement may wait: sets the timer. True if it is better sent at once (`tcp_send_delayed_ack`).
    pub fn wait(&mut self, now: Time, sending: &Sending) -> bool {
        let tick = self.clock.ticks(now);
        if self.form == DelayedAck::Rfc && self.pending.timer {
            return false;
        }
        let delay = self.delay(sending);
        let mut timeout = tick + delay;
        if self.pending.timer {
            if self.timeout <= tick + delay / 4 {
                return true;
            }
            timeout = timeout.min(self.timeout);
        }
        self.pending.scheduled = true;
        self.pending.timer = true;
        self.arm(now, timeout);
        false
    }

    fn delay(&self, sending: &Sending) -> i64 {
        let mut delay = self.estimate;
        if self.form == DelayedAck::Rfc {
            return self.most;
        }
        if delay > self.least {
            let mut most = i64::from(self.clock.ticks.hz) / 2;
            if self.interactive || self.pending.pushed {
                most = self.most;
            }
            if let Some(srtt) = sending.srtt {
                most = most.min(self.clock.ticks_in(srtt).max(self.least));
            }
            delay = delay.min(most);
        }
        delay.min(self.bound)
    }

    fn arm(&mut self, now: Time, timeout: i64) {
        self.timeout = timeout;
        self.kernel.set(&self.clock, now, timeout);
    }

    /// Data came out of order: whether its SACK leaves at once, or waits for more (`__tcp_ack_snd_check`). `rtt` is
    /// the round-trip time, in microseconds, eightfold.
    pub fn sack_now(&mut self, now: Time, next: SeqNum, rtt8_us: u64, settings: &Settings) -> bool {
        let rules = &settings.receiver;
        if self.compressed >= rules.sack_compression_most {
            return true;
        }
        self.kernel.fire(now);
        if self.duplicates_of != next {
            self.duplicates_of = next;
            self.duplicates = 0;
        }
        if self.duplicates < UNCOMPRESSED {
            self.duplicates += 1;
            return true;
        }
        self.compressed += 1;
        if self.kick.is_none() {
            // A twentieth of the round trip, of which rtt8_us is the eightfold in microseconds.
            let part = i64::try_from(rtt8_us * (1000 >> 3) / 20).unwrap_or(i64::MAX);
            let delay = rules.sack_compression_delay.min(Duration::from_nanos(part));
            // A high-resolution timer with slack, alone on its host, fires at the end of the slack.
            self.kick = Some(now + delay + rules.sack_compression_slack);
        }
        false
    }

    /// Whether SACKs are held back.
    pub fn holds_sacks(&self) -> bool {
        self.compressed > 0
    }

    /// Stops the timers.
    pub fn stop(&mut self) {
        self.pending = Pending::default();
        self.compressed = 0;
        self.kick = None;
    }

    pub fn deadline(&self) -> Option<Time> {
        // The timer is not stopped when its acknowledgement leaves early: it may still end a wait for more SACKs.
        let runs = self.pending.timer || self.compressed > 0;
        let timer = self.kernel.fires().filter(|_| runs);
        match (timer, self.kick) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Runs what is due; true if an acknowledgement is to be sent now.
    pub fn on_deadline(&mut self, now: Time, sending: &Sending) -> bool {
        if self.kick.is_some_and(|kick| kick <= now) {
            // tcp_compressed_ack_kick
            self.kick = None;
            if self.compressed > 0 {
                return true;
            }
        }
        if !self.kernel.fire(now) {
            return false;
        }
        // tcp_delack_timer_handler
        if self.compressed > 0 {
            return true;
        }
        if !self.pending.timer {
            return false;
        }
        self.pending.timer = false;
        if !self.pending.scheduled {
            return false;
        }
        if self.interactive {
            self.interactive = false;
            self.estimate = self.least;
        } else {
            self.estimate = self.capped(self.estimate * 2, sending);
        }
        true
    }
}
