//! The tail loss probe: when it is sent, what it sends, and what an acknowledgement says of it.
//!
//! | | Linux 3.10 (draft-dukkipati-tcpm-tcp-loss-probe-01) | Linux 6.x (RFC 8985 §7) |
//! |---|---|---|
//! | scheduled in | Open, in place of a timeout, when no new data can go | Open and Cwr |
//! | wait | 2 srtt; one segment: 1.5 srtt + the longest delay of an acknowledgement if more; at least 10 ms | 2 srtt + 2 ms; one segment: 2 srtt + the minimum of the timeout; other stacks: [`TlpWait`] |
//! | at most | what is left of the timeout | the same |
//! | sends | new data, else the last segment if no probe is out | nothing if a probe is out; new data that the window takes, else the last segment |
//! | sets the timer | to a full timeout | to a full timeout; to what is left of it if no probe went |

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::constants::{PROBE_MIN, TIMEOUT_MIN};
use super::{CaState, Job};
use crate::clock::Tick;
use crate::settings::{Tlp, TlpWait};

/// What decides whether a probe is scheduled.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The sender's state.
    pub state: CaState,
    /// SACK was negotiated.
    pub sack: bool,
    /// What the timer is set for.
    pub timer: Option<Job>,
    /// Unsent data wait and the congestion window takes them; false where that cannot be seen.
    pub new_data_can_go: bool,
    /// A FIN is in flight, with which the stack sends no probe.
    pub held_by_fin: bool,
    /// How long it would wait.
    pub wait: Wait,
}

/// What decides how long a probe waits after the last transmission or acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// How it is reckoned; 3.10 has the draft's.
    pub form: TlpWait,
    /// The smoothed round-trip time: of 3.10 as [`Rtt::srtt`](crate::estimator::Rtt::srtt), of 6.x as
    /// [`Rtt::srtt_fraction`](crate::estimator::Rtt::srtt_fraction) if it is known so well.
    pub srtt: Option<Duration>,
    /// Segments sent and not acknowledged (`packets_out`).
    pub packets_out: u32,
    /// The smallest timeout (`tcp_rto_min`).
    pub min_rto: Duration,
    /// The timeout without a sample (`TCP_TIMEOUT_INIT`).
    pub initial_rto: Duration,
    /// The longest delay of an acknowledgement, as the sender's stack has it (`TCP_DELACK_MAX`).
    pub delayed_ack_max: Duration,
    /// How long ago the last segment was sent, if the wait counts from then.
    pub counted_from: Option<Duration>,
    /// How long until the retransmission timeout, which a probe is never later than; none where the caller sees to that.
    pub timeout_left: Option<Duration>,
}

/// How long from now a probe is to be sent, if one is (`tcp_schedule_loss_probe`).
#[must_use]
pub fn schedule(rule: Tlp, view: &Schedule, tick: Tick) -> Option<Duration> {
    if !view.sack || view.wait.packets_out == 0 || view.held_by_fin {
        return None;
    }
    let scheduled = match rule {
        Tlp::Off => false,
        Tlp::Draft => {
            view.timer == Some(Job::Timeout) && view.state == CaState::Open && !view.new_data_can_go
        }
        Tlp::Rfc8985 => matches!(view.state, CaState::Open | CaState::Cwr),
    };
    if scheduled {
        wait(rule, &view.wait, tick)
    } else {
        None
    }
}

/// How long a probe waits. None in 3.10 without a round-trip time: the timeout stays.
#[must_use]
pub fn wait(rule: Tlp, view: &Wait, tick: Tick) -> Option<Duration> {
    let srtt = view.srtt.filter(|srtt| *srtt > Duration::ZERO);
    let one = view.packets_out == 1;
    let form = match rule {
        Tlp::Draft => TlpWait::Draft,
        Tlp::Off | Tlp::Rfc8985 => view.form,
    };
    let wait = match (rule, srtt) {
        (Tlp::Off, _) | (Tlp::Draft, None) => return None,
        (Tlp::Draft | Tlp::Rfc8985, Some(srtt)) if form == TlpWait::Draft => {
            // Jiffies; microseconds rounded up to them since 3.15.
            let rtt = tick.up(srtt);
            let delayed = if one {
                rtt + tick.down(rtt / 2) + tick.up(view.delayed_ack_max)
            } else {
                Duration::ZERO
            };
            (rtt * 2).max(delayed).max(tick.up(PROBE_MIN))
        }
        (Tlp::Rfc8985, None) => view.initial_rto,
        (Tlp::Draft | Tlp::Rfc8985, Some(srtt)) => {
            // srtt_us >> 2, plus time for a delayed acknowledgement (RFC 8985 §7.2: max_ack_delay).
            let twice = Duration::from_micros(srtt.as_nanos() / 500);
            twice
                + match form {
                    _ if !one => TIMEOUT_MIN,
                    TlpWait::SmallestTimeout => view.min_rto,
                    TlpWait::DelayedAck | TlpWait::Draft => view.delayed_ack_max,
                }
        }
    };
    let wait = match view.counted_from {
        None => wait,
        Some(age) => (wait - age).max(match form {
            // `rack_tlp_min`.
            TlpWait::Draft => PROBE_MIN,
            TlpWait::SmallestTimeout | TlpWait::DelayedAck => tick.span(),
        }),
    };
    match view.timeout_left {
        Some(left) if left > Duration::ZERO => Some(wait.min(left)),
        _ => Some(wait),
    }
}

/// What the timer of a probe finds.
#[derive(Clone, Copy, Debug)]
pub struct Fire {
    /// A probe was sent and not yet judged ([`Episode::high`]).
    pub probe_out: bool,
    /// Unsent data wait; false where that cannot be seen.
    pub new_data: bool,
    /// The peer's window takes the first of them.
    pub fits_peer_window: bool,
}

/// What a probe sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Nothing.
    Nothing,
    /// One new segment; 3.10 begins no episode with it.
    NewData,
    /// The last segment sent, again.
    LastSegment,
}

/// What to send when the wait is over (RFC 8985 §7.3; `tcp_send_loss_probe`).
#[must_use]
pub const fn fire(rule: Tlp, view: Fire) -> Probe {
    let Fire {
        probe_out,
        new_data,
        fits_peer_window,
    } = view;
    match rule {
        Tlp::Off => Probe::Nothing,
        // New data that the window does not take are not replaced by old.
        Tlp::Draft if new_data => Probe::NewData,
        Tlp::Draft if probe_out => Probe::Nothing,
        Tlp::Draft => Probe::LastSegment,
        Tlp::Rfc8985 if probe_out => Probe::Nothing,
        Tlp::Rfc8985 if new_data && fits_peer_window => Probe::NewData,
        Tlp::Rfc8985 => Probe::LastSegment,
    }
}

/// Whether a full timeout follows, or what is left of the head's.
#[must_use]
pub const fn full_timeout_follows(rule: Tlp, probe_sent: bool) -> bool {
    probe_sent || matches!(rule, Tlp::Draft)
}

/// A probe on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// What had been sent when the probe was; none without a probe (`tlp_high_seq`).
    pub high: Option<SeqNum>,
    /// The probe was a retransmission (`tlp_retrans`).
    pub retransmission: bool,
}

/// An acknowledgement while a probe is out.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The acknowledgement number.
    pub ack: SeqNum,
    /// It is a duplicate: it acknowledges and SACKs nothing new, carries no data and no other window.
    pub duplicate: bool,
    /// It holds a D-SACK.
    pub dsack: bool,
    /// The D-SACK is for the probe.
    pub dsack_of_probe: bool,
}

/// What an acknowledgement says of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeVerdict {
    /// Nothing yet.
    Pending,
    /// The original arrived too, or the probe was new data: nothing was lost.
    NoLoss,
    /// The probe repaired a loss: the window is reduced. 3.10 is in Open then, whatever else is out.
    Loss,
}

impl Episode {
    /// What an acknowledgement says of the probe; the episode ends unless it is pending (RFC 8985 §7.4.2;
    /// `tcp_process_tlp_ack`).
    pub fn on_ack(&mut self, rule: Tlp, answer: &Answer) -> ProbeVerdict {
        let verdict = match self.high {
            None => ProbeVerdict::Pending,
            Some(high) => self.judge(rule, high, answer),
        };
        if verdict != ProbeVerdict::Pending {
            self.high = None;
        }
        verdict
    }

    fn judge(&self, rule: Tlp, high: SeqNum, answer: &Answer) -> ProbeVerdict {
        let beyond = answer.ack.is_after(high);
        if answer.ack.is_before(high) {
            return ProbeVerdict::Pending;
        }
        let answered = match rule {
            Tlp::Rfc8985 => !self.retransmission || answer.dsack_of_probe,
            Tlp::Off | Tlp::Draft => beyond && answer.dsack,
        };
        match (answered, beyond) {
            (true, _) => ProbeVerdict::NoLoss,
            (false, true) => ProbeVerdict::Loss,
            (false, false) if answer.duplicate => ProbeVerdict::NoLoss,
            (false, false) => ProbeVerdict::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;
    const TICK: Tick = Tick::of_nanos(1_000_000);

    fn of(srtt: i64, packets_out: u32) -> Wait {
        Wait {
            form: TlpWait::SmallestTimeout,
            counted_from: None,
            srtt: Some(MILLI(srtt)),
            packets_out,
            min_rto: MILLI(200),
            initial_rto: MILLI(1_000),
            delayed_ack_max: MILLI(200),
            timeout_left: None,
        }
    }

    #[test]
    fn linux_3_10_waits_as_the_draft_says() {
        let draft = |view: Wait| wait(Tlp::Draft, &view, TICK);
        assert_eq!(draft(of(50, 3)), Some(MILLI(100)));
        assert_eq!(draft(of(20, 1)), Some(MILLI(230)));
        assert_eq!(draft(of(1_000, 1)), Some(MILLI(2_000)));
        assert_eq!(draft(of(1, 2)), Some(MILLI(10)));
        // 1.5 jiffies are one, a part of one is one.
        let jiffies = Tick::of_nanos(4_000_000);
        assert_eq!(wait(Tlp::Draft, &of(12, 1), jiffies), Some(MILLI(216)));
        assert_eq!(wait(Tlp::Draft, &of(9, 2), jiffies), Some(MILLI(24)));
        let unknown = Wait {
            srtt: None,
            ..of(0, 2)
        };
        assert_eq!(draft(unknown), None);
    }

    #[test]
    fn linux_6_waits_two_round_trips_and_for_a_delayed_acknowledgement_of_one_segment() {
        let rfc = |view: Wait| wait(Tlp::Rfc8985, &view, TICK);
        assert_eq!(rfc(of(50, 3)), Some(MILLI(102)));
        assert_eq!(rfc(of(50, 1)), Some(MILLI(300)));
        let unknown = Wait {
            srtt: None,
            ..of(0, 2)
        };
        assert_eq!(rfc(unknown), Some(MILLI(1_000)));
        // srtt_us = 100_001 >> 2
        let fraction = Wait {
            srtt: Some(Duration::from_nanos(100_001 * 125)),
            ..of(0, 2)
        };
        assert_eq!(rfc(fraction), Some(Duration::from_micros(27_000)));
    }

    #[test]
    fn other_stacks_wait_for_the_delay_of_an_acknowledgement_or_as_the_draft_says() {
        let rfc = |form, view: Wait| wait(Tlp::Rfc8985, &Wait { form, ..view }, TICK);
        assert_eq!(rfc(TlpWait::DelayedAck, of(50, 3)), Some(MILLI(102)));
        let soon = Wait {
            delayed_ack_max: MILLI(40),
            ..of(20, 1)
        };
        assert_eq!(rfc(TlpWait::DelayedAck, soon), Some(MILLI(80)));
        assert_eq!(rfc(TlpWait::Draft, soon), Some(MILLI(70)));
        assert_eq!(rfc(TlpWait::Draft, of(1, 2)), Some(MILLI(10)));
    }

    #[test]
    fn a_wait_may_count_from_the_last_segment() {
        let after = |form, age| {
            let view = Wait {
                form,
                counted_from: Some(MILLI(age)),
                ..of(50, 3)
            };
            wait(Tlp::Rfc8985, &view, TICK)
        };
        assert_eq!(after(TlpWait::DelayedAck, 60), Some(MILLI(42)));
        assert_eq!(after(TlpWait::DelayedAck, 200), Some(MILLI(1)));
        assert_eq!(after(TlpWait::Draft, 60), Some(MILLI(40)));
        assert_eq!(after(TlpWait::Draft, 95), Some(MILLI(10)));
    }

    #[test]
    fn no_probe_is_later_than_the_timeout() {
        for rule in [Tlp::Draft, Tlp::Rfc8985] {
            let left = |millis| Wait {
                timeout_left: Some(MILLI(millis)),
                ..of(50, 3)
            };
            assert_eq!(wait(rule, &left(70), TICK), Some(MILLI(70)));
            assert!(wait(rule, &left(0), TICK) >= Some(MILLI(100)));
        }
    }

    #[test]
    fn only_linux_6_probes_while_a_reduction_runs_or_new_data_can_go() {
        let view = Schedule {
            state: CaState::Open,
            sack: true,
            timer: Some(Job::Timeout),
            new_data_can_go: false,
            held_by_fin: false,
            wait: of(50, 3),
        };
        let cwr = Schedule {
            state: CaState::Cwr,
            ..view
        };
        let room = Schedule {
            new_data_can_go: true,
            ..view
        };
        let idle = Schedule {
            timer: None,
            ..view
        };
        let closed = Schedule {
            held_by_fin: true,
            ..view
        };
        for rule in [Tlp::Draft, Tlp::Rfc8985] {
            assert_eq!(schedule(rule, &closed, TICK), None);
        }
        let deaf = Schedule {
            sack: false,
            ..view
        };
        let scheduled =
            |rule| [view, cwr, room, idle, deaf].map(|view| schedule(rule, &view, TICK).is_some());
        assert_eq!(scheduled(Tlp::Off), [false; 5]);
        assert_eq!(scheduled(Tlp::Draft), [true, false, false, false, false]);
        assert_eq!(scheduled(Tlp::Rfc8985), [true, true, true, true, false]);
    }

    #[test]
    fn a_probe_sends_new_data_or_the_last_segment() {
        let fires = |probe_out, new_data, fits_peer_window| {
            let view = Fire {
                probe_out,
                new_data,
                fits_peer_window,
            };
            (fire(Tlp::Draft, view), fire(Tlp::Rfc8985, view))
        };
        let last = Probe::LastSegment;
        assert_eq!(fires(false, false, false), (last, last));
        assert_eq!(fires(false, true, true), (Probe::NewData, Probe::NewData));
        assert_eq!(fires(false, true, false), (Probe::NewData, last));
        assert_eq!(fires(true, true, true), (Probe::NewData, Probe::Nothing));
        assert_eq!(fires(true, false, true), (Probe::Nothing, Probe::Nothing));
    }

    #[test]
    fn an_acknowledgement_beyond_the_probe_proves_a_loss_unless_a_d_sack_comes_with_it() {
        let high = SeqNum::new(u32::MAX - 9);
        let judged = |rule, retransmission, ack, duplicate, dsack| {
            let mut episode = Episode {
                high: Some(high),
                retransmission,
            };
            let answer = Answer {
                ack,
                duplicate,
                dsack,
                dsack_of_probe: dsack,
            };
            let verdict = episode.on_ack(rule, &answer);
            assert_eq!(episode.high.is_some(), verdict == ProbeVerdict::Pending);
            verdict
        };
        for rule in [Tlp::Draft, Tlp::Rfc8985] {
            let judged = |ack, duplicate, dsack| judged(rule, true, ack, duplicate, dsack);
            assert_eq!(judged(high - 1, false, false), ProbeVerdict::Pending);
            assert_eq!(judged(high, false, false), ProbeVerdict::Pending);
            assert_eq!(judged(high, true, false), ProbeVerdict::NoLoss);
            assert_eq!(judged(high + 20, false, true), ProbeVerdict::NoLoss);
            assert_eq!(judged(high + 20, false, false), ProbeVerdict::Loss);
        }
        // New data that were a probe; 3.10 has no episode then.
        let new = judged(Tlp::Rfc8985, false, high, false, false);
        assert_eq!(new, ProbeVerdict::NoLoss);
    }
}
