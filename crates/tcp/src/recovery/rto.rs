//! The retransmission timeout: when its timer is set anew, what it does, how it backs off and when it gives up.
//!
//! | setting | | Linux 3.10 | Linux 6.x |
//! |---|---|---|---|
//! | `timeout_left` | set anew after a probe or the like | what is left of the head's timeout; none left: all of it | what is left, at least 1 µs |
//! | `shut_window_limit` | a window that was shut | given up after the longest timeout without an acknowledgement | twice the longest, without one and since the first retransmission |
//! | `timeout_marks` | lost at a timeout | all that is not SACKed | the head and what RACK finds without a reordering window |

use core::ops::{Add, Mul, Sub};

use rexmit_time::Duration;

use super::constants::{ORPHAN_RETRIES, RTO_MIN};
use super::{CaState, Job};
use crate::settings::{ShutWindowLimit, TimeoutLeft, TimeoutMarks};

/// What decides when the retransmission timer is to run out.
#[derive(Clone, Copy, Debug)]
pub struct Rearm {
    /// Segments sent and not acknowledged.
    pub packets_out: u32,
    /// What the timer is set for.
    pub timer: Option<Job>,
    /// The timeout, back-off included.
    pub rto: Duration,
    /// How long ago the head was last sent, as the stack's clock counts it.
    pub head_age: Duration,
}

/// How long from now the timeout is due; none stops the timer (RFC 6298 §5.2, 5.3; `tcp_rearm_rto`). It is a full one, or
/// what is left of the head's if the timer was set for something else in between.
#[must_use]
pub fn rearm(rule: TimeoutLeft, view: &Rearm) -> Option<Duration> {
    if view.packets_out == 0 {
        return None;
    }
    let between = matches!(
        view.timer,
        Some(Job::Reordering | Job::Probe | Job::EarlyRetransmit)
    );
    if !between {
        return Some(view.rto);
    }
    let left = view.rto - view.head_age;
    Some(match rule {
        TimeoutLeft::Ticks if left > Duration::ZERO => left,
        TimeoutLeft::Ticks => view.rto,
        TimeoutLeft::Micros => left.max(Duration::from_micros(1)),
    })
}

/// Doublings after which the longest timeout is reached, whatever it began with.
const MOST_DOUBLINGS: u32 = 24;

/// How a timeout grows, a span or so many ticks.
#[derive(Clone, Copy, Debug)]
pub struct BackOff<T> {
    /// Added to every timeout, once (`tcp_rexmit_slop`, FreeBSD's `tcp_timer_rexmt`).
    pub slop: T,
    /// The longest timeout (`TCP_RTO_MAX`).
    pub max: T,
}

impl<T> BackOff<T>
where
    T: Copy + Ord + Add<Output = T> + Sub<Output = T> + Mul<i64, Output = T>,
{
    /// The timeout after one more (RFC 6298 §5.5).
    #[must_use]
    pub fn after(&self, rto: T) -> T {
        self.after_times(rto, 1)
    }

    /// The timeout after so many.
    #[must_use]
    pub fn after_times(&self, rto: T, times: u32) -> T {
        let factor = 1 << times.min(MOST_DOUBLINGS);
        ((rto - self.slop) * factor + self.slop).min(self.max)
    }
}

/// What decides about a timeout that ran out.
#[derive(Clone, Copy, Debug)]
pub struct Fire {
    /// Segments sent and not acknowledged.
    pub packets_out: u32,
    /// The peer's window is zero.
    pub window_shut: bool,
    /// The socket has no owner any more.
    pub orphan: bool,
}

/// What a timeout does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// Nothing is out.
    Nothing,
    /// The peer took its window back: the head probes it, as long as the peer answers.
    ProbeWindow,
    /// The head is sent again, unless the connection is given up.
    Retransmit,
}

/// What a timeout does (`tcp_retransmit_timer`).
#[must_use]
pub const fn fire(view: Fire) -> Timeout {
    if view.packets_out == 0 {
        Timeout::Nothing
    } else if view.window_shut && !view.orphan {
        Timeout::ProbeWindow
    } else {
        Timeout::Retransmit
    }
}

/// How long a peer that shut its window was silent.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Since the last acknowledgement: until now, or until the timer was due ([`ShutWindowLimit`]).
    pub since_ack: Duration,
    /// Since the first retransmission, or since the head was sent.
    pub since_retransmission: Duration,
}

/// Whether a connection whose peer shut its window is given up.
#[must_use]
pub fn gives_up_shut_window(limit: ShutWindowLimit, silence: Silence, max_rto: Duration) -> bool {
    match limit {
        ShutWindowLimit::LongestTimeout => silence.since_ack > max_rto,
        ShutWindowLimit::TwiceLongestTimeout => {
            silence.since_ack > max_rto * 2 && silence.since_retransmission > max_rto * 2
        }
    }
}

/// What decides whether a connection is given up.
#[derive(Clone, Copy, Debug)]
pub struct GiveUp {
    /// Timeouts without progress, the one that ran out not counted.
    pub timeouts: u32,
    /// Timeouts that are allowed (`tcp_retries2`).
    pub retries: u32,
    /// Retries stand for a span of time.
    pub by_time: bool,
    /// Since the first retransmission, if there was one.
    pub since_retransmission: Option<Duration>,
    /// The socket has no owner any more.
    pub orphan: bool,
    /// The timeout has reached the longest.
    pub rto_is_longest: bool,
    /// The longest timeout.
    pub max_rto: Duration,
}

/// Whether timeouts went unanswered too often (RFC 1122 §4.2.3.5), or on Linux for too long: as long as so many retries take
/// when they start from 200 ms (`retransmits_timed_out`).
#[must_use]
pub fn gives_up(view: &GiveUp) -> bool {
    if view.timeouts == 0 {
        return false;
    }
    if !view.by_time {
        return view.timeouts >= view.retries;
    }
    let retries = match (view.orphan, view.rto_is_longest) {
        (false, _) => view.retries,
        (true, false) => ORPHAN_RETRIES,
        (true, true) => 0,
    };
    view.since_retransmission
        .is_some_and(|age| age >= model_timeout(retries, view.max_rto))
}

/// How long so many timeouts take that start from 200 ms (`tcp_model_timeout`).
fn model_timeout(retries: u32, longest: Duration) -> Duration {
    let ratio = (longest.as_nanos() / RTO_MIN.as_nanos()).max(1);
    let doublings = ratio.ilog2();
    let doubled = |times: u32| RTO_MIN * ((2_i64 << times) - 1);
    if retries <= doublings {
        doubled(retries)
    } else {
        doubled(doublings) + longest * i64::from(retries - doublings)
    }
}

/// What decides how a timeout enters the state Loss.
#[derive(Clone, Copy, Debug)]
pub struct LossView {
    /// The state before.
    pub state: CaState,
    /// The recovery point of that state is acknowledged.
    pub point_acknowledged: bool,
    /// Timeouts without progress, this one not counted.
    pub timeouts: u32,
}

impl LossView {
    /// Whether the threshold is reduced: not by a further timeout of the same losses (`tcp_enter_loss`).
    #[must_use]
    pub fn reduces(&self) -> bool {
        self.state <= CaState::Disorder
            || self.point_acknowledged
            || (self.state == CaState::Loss && self.timeouts == 0)
    }
}

/// The threshold of duplicates after a timeout. It falls to its first value if the timeout `forgets` reordering, or if many
/// duplicates came before it (`tcp_enter_loss`).
#[must_use]
pub fn reordering_after(
    forgets: bool,
    state: CaState,
    sacked_out: u32,
    reordering: u32,
    threshold: u32,
) -> u32 {
    let overrated = state <= CaState::Disorder && sacked_out >= threshold;
    if forgets || overrated {
        reordering.min(threshold)
    } else {
        reordering
    }
}

/// Whether a timeout takes a segment for lost that is not SACKed. `rack_wait` is how long RACK, if it is on, would wait
/// for it without a reordering window (`tcp_timeout_mark_lost`; 3.10: `tcp_enter_loss`).
#[must_use]
pub fn marks_lost(rule: TimeoutMarks, head: bool, rack_wait: Option<Duration>) -> bool {
    match rule {
        TimeoutMarks::All => true,
        TimeoutMarks::Rack => head || rack_wait.is_none_or(|wait| wait <= Duration::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;

    #[test]
    fn a_timer_set_for_something_else_goes_on_with_what_is_left() {
        let rearmed = |timer, age| {
            let view = Rearm {
                packets_out: 1,
                timer,
                rto: MILLI(300),
                head_age: MILLI(age),
            };
            [TimeoutLeft::Ticks, TimeoutLeft::Micros].map(|rule| rearm(rule, &view))
        };
        let both = |wait| [Some(MILLI(wait)); 2];
        assert_eq!(rearmed(None, 100), both(300));
        assert_eq!(rearmed(Some(Job::Timeout), 100), both(300));
        assert_eq!(rearmed(Some(Job::Probe), 100), both(200));
        let late = [Some(MILLI(300)), Some(Duration::from_micros(1))];
        assert_eq!(rearmed(Some(Job::Probe), 300), late);
    }

    #[test]
    fn nothing_out_stops_the_timer() {
        let view = Rearm {
            packets_out: 0,
            timer: Some(Job::Probe),
            rto: MILLI(300),
            head_age: MILLI(0),
        };
        assert_eq!(rearm(TimeoutLeft::Micros, &view), None);
    }

    #[test]
    fn timeouts_double_up_to_the_longest_and_what_is_added_is_added_once() {
        let linux = BackOff {
            slop: Duration::ZERO,
            max: MILLI(1_000),
        };
        assert_eq!(linux.after(MILLI(300)), MILLI(600));
        assert_eq!(linux.after(MILLI(600)), MILLI(1_000));
        let freebsd = BackOff {
            slop: MILLI(200),
            ..linux
        };
        assert_eq!(freebsd.after(MILLI(300)), MILLI(400));
        assert_eq!(freebsd.after_times(MILLI(300), 0), MILLI(300));
        assert_eq!(freebsd.after_times(MILLI(300), 3), MILLI(1_000));
        assert_eq!(linux.after_times(MILLI(1), 5), MILLI(32));
        let ticks = BackOff { slop: 50, max: 400 };
        assert_eq!(ticks.after_times(100, 2), 250);
        assert_eq!(linux.after_times(MILLI(1), u32::MAX), MILLI(1_000));
    }

    #[test]
    fn fifteen_retries_take_924_600_milliseconds() {
        let longest = Duration::from_secs(120);
        assert_eq!(model_timeout(15, longest), MILLI(924_600));
        assert_eq!(model_timeout(3, longest), MILLI(3_000));
    }

    #[test]
    fn only_linux_gives_up_by_time() {
        let view = GiveUp {
            timeouts: 15,
            retries: 15,
            by_time: true,
            since_retransmission: Some(MILLI(924_599)),
            orphan: false,
            rto_is_longest: false,
            max_rto: Duration::from_secs(120),
        };
        assert!(!gives_up(&view));
        let longer = GiveUp {
            since_retransmission: Some(MILLI(924_600)),
            ..view
        };
        assert!(gives_up(&longer));
        let other = GiveUp {
            by_time: false,
            ..view
        };
        assert!(gives_up(&other));
        let fewer = GiveUp {
            timeouts: 14,
            ..other
        };
        assert!(!gives_up(&fewer));
        // Eight retries of a socket without an owner: (2^9 - 1) * 200 ms.
        let orphan = |millis, rto_is_longest| GiveUp {
            orphan: true,
            since_retransmission: Some(MILLI(millis)),
            rto_is_longest,
            ..view
        };
        assert!(!gives_up(&orphan(102_199, false)));
        assert!(gives_up(&orphan(102_200, false)));
        assert!(gives_up(&orphan(200, true)));
    }

    #[test]
    fn a_shut_window_is_probed_for_longer_by_linux_6() {
        let given_up = |since_ack, since_retransmission| {
            let silence = Silence {
                since_ack: MILLI(since_ack),
                since_retransmission: MILLI(since_retransmission),
            };
            [
                ShutWindowLimit::LongestTimeout,
                ShutWindowLimit::TwiceLongestTimeout,
            ]
            .map(|limit| gives_up_shut_window(limit, silence, MILLI(120_000)))
        };
        assert_eq!(given_up(120_000, 500_000), [false, false]);
        assert_eq!(given_up(120_001, 500_000), [true, false]);
        assert_eq!(given_up(240_001, 240_000), [true, false]);
        assert_eq!(given_up(240_001, 240_001), [true, true]);
    }

    #[test]
    fn a_further_timeout_of_the_same_losses_reduces_nothing() {
        let entry = |state, point_acknowledged, timeouts| {
            LossView {
                state,
                point_acknowledged,
                timeouts,
            }
            .reduces()
        };
        assert!(entry(CaState::Open, false, 0));
        assert!(!entry(CaState::Recovery, false, 0));
        assert!(entry(CaState::Recovery, true, 0));
        assert!(!entry(CaState::Loss, false, 1));
        assert!(entry(CaState::Loss, false, 0));
    }

    #[test]
    fn linux_6_leaves_in_flight_what_rack_waits_for() {
        let wait = Some(MILLI(1));
        assert!(marks_lost(TimeoutMarks::All, false, wait));
        assert!(marks_lost(TimeoutMarks::Rack, true, wait));
        assert!(!marks_lost(TimeoutMarks::Rack, false, wait));
        assert!(marks_lost(TimeoutMarks::Rack, false, Some(Duration::ZERO)));
        assert!(marks_lost(TimeoutMarks::Rack, false, None));
    }

    #[test]
    fn duplicates_before_a_timeout_say_that_reordering_was_overrated() {
        let after = |state, sacked| {
            [true, false].map(|forgets| reordering_after(forgets, state, sacked, 9, 3))
        };
        assert_eq!(after(CaState::Disorder, 3), [3, 3]);
        assert_eq!(after(CaState::Disorder, 2), [3, 9]);
        assert_eq!(after(CaState::Recovery, 5), [3, 9]);
    }
}
