//! With few segments out, fewer duplicates make a loss: early retransmit (RFC 5827, as Linux 3.5 to 4.10 had it), and the
//! rule of UNC 2007's Smart-Config.

use rexmit_time::Duration;

use super::constants::EARLY_RETRANSMIT_MIN;
use crate::clock::Tick;
use crate::settings::EarlyRetransmit;

/// What decides whether fewer duplicates are enough.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The stack's rule.
    pub rule: EarlyRetransmit,
    /// No reordering was seen (`do_early_retrans`).
    pub in_order: bool,
    /// Segments sent and not acknowledged.
    pub packets_out: u32,
    /// Segments SACKed; without SACK, duplicate acknowledgements.
    pub sacked_out: u32,
    /// Retransmissions in flight.
    pub retransmissions_out: u32,
    /// New data could be sent now; false where that cannot be seen.
    pub new_data_can_go: bool,
}

/// Whether fewer duplicates than usual are enough now.
#[must_use]
pub const fn is_due(view: &View) -> bool {
    match view.rule {
        EarlyRetransmit::Off => false,
        EarlyRetransmit::Immediate | EarlyRetransmit::Delayed => is_early(view),
        EarlyRetransmit::Flight => {
            view.packets_out > view.sacked_out
                && view.sacked_out >= flight_threshold(view.packets_out)
        }
    }
}

/// Whether so few segments are out that an early retransmit may follow.
#[must_use]
pub const fn few_out(packets_out: u32) -> bool {
    packets_out < 4
}

/// Whether few segments are out, something arrived, nothing was sent again and no new data can go
/// (`tcp_time_to_recover`).
const fn is_early(view: &View) -> bool {
    view.in_order
        && view.retransmissions_out == 0
        && view.sacked_out > 0
        && view.packets_out > view.sacked_out
        && few_out(view.packets_out)
        && !view.new_data_can_go
}

/// The duplicates that make a loss with so many segments out: max(1, min(3, F − 2)) (UNC 2007, section V-D).
#[must_use]
pub const fn flight_threshold(packets_out: u32) -> u32 {
    match packets_out {
        0..=3 => 1,
        4 => 2,
        _ => 3,
    }
}

/// What decides whether it waits first.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    /// The smoothed round-trip time in whole units of the stack.
    pub srtt: Option<Duration>,
    /// The stack keeps it in microseconds (since 3.15), not in ticks.
    pub in_micros: bool,
    /// Until the timer is due that is set now.
    pub timer_left: Duration,
}

/// How long it waits for reordered segments: a quarter of the round-trip time. None where it goes at once: without a
/// round-trip time, or when the timer would be due before (`tcp_pause_early_retransmit`).
#[must_use]
pub fn pause(rule: EarlyRetransmit, view: &Pause, tick: Tick) -> Option<Duration> {
    if rule != EarlyRetransmit::Delayed {
        return None;
    }
    let quarter = view.srtt? / 4;
    // srtt >> 5 of ticks, or of microseconds rounded up to ticks.
    let quarter = if view.in_micros {
        tick.up(quarter)
    } else {
        tick.down(quarter)
    };
    let delay = quarter.max(tick.up(EARLY_RETRANSMIT_MIN));
    (delay < view.timer_left).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;

    #[test]
    fn one_duplicate_of_two_or_three_segments_is_enough() {
        let due = |packets_out, sacked_out| {
            is_due(&View {
                rule: EarlyRetransmit::Immediate,
                in_order: true,
                packets_out,
                sacked_out,
                retransmissions_out: 0,
                new_data_can_go: false,
            })
        };
        assert!(due(2, 1) && due(3, 1) && due(3, 2));
        assert!(!due(1, 1) && !due(3, 0) && !due(4, 2));
    }

    #[test]
    fn it_does_not_start_where_it_is_off_where_it_ran_or_where_new_data_can_go() {
        let view = View {
            rule: EarlyRetransmit::Immediate,
            in_order: true,
            packets_out: 3,
            sacked_out: 1,
            retransmissions_out: 0,
            new_data_can_go: false,
        };
        assert!(is_due(&view));
        assert!(!is_due(&View {
            in_order: false,
            ..view
        }));
        assert!(!is_due(&View {
            rule: EarlyRetransmit::Off,
            ..view
        }));
        let again = View {
            retransmissions_out: 1,
            ..view
        };
        assert!(!is_due(&again));
        let room = View {
            new_data_can_go: true,
            ..view
        };
        assert!(!is_due(&room));
    }

    #[test]
    fn by_the_flight_one_to_three_duplicates_are_enough_whatever_else_can_go() {
        let due = |packets_out, sacked_out| {
            is_due(&View {
                rule: EarlyRetransmit::Flight,
                in_order: false,
                packets_out,
                sacked_out,
                retransmissions_out: 0,
                new_data_can_go: true,
            })
        };
        assert!(due(2, 1) && due(3, 1) && due(4, 2) && due(5, 3) && due(40, 3));
        assert!(!due(1, 1) && !due(3, 0) && !due(4, 1) && !due(5, 2) && !due(40, 2));
    }

    #[test]
    fn it_waits_a_quarter_of_the_round_trip_unless_the_timer_is_due_before() {
        let tick = Tick::of_nanos(4_000_000);
        let paused = |rule, srtt, in_micros, left| {
            let view = Pause {
                srtt,
                in_micros,
                timer_left: MILLI(left),
            };
            pause(rule, &view, tick)
        };
        let delayed = EarlyRetransmit::Delayed;
        let srtt = Some(MILLI(52));
        assert_eq!(paused(delayed, srtt, false, 100), Some(MILLI(12)));
        assert_eq!(paused(delayed, srtt, true, 100), Some(MILLI(16)));
        assert_eq!(paused(delayed, Some(MILLI(1)), false, 9), Some(MILLI(4)));
        assert_eq!(paused(delayed, srtt, false, 12), None);
        assert_eq!(paused(delayed, None, false, 100), None);
        assert_eq!(paused(EarlyRetransmit::Immediate, srtt, false, 100), None);
    }
}
