//! BLEST, the blocking estimation-based scheduler (Ferlin and others, IFIP Networking 2016; `mptcp_blest.c`, v0.95): as the
//! lowest round-trip time, but a slow subflow waits where what the fast one could send in the meantime would no longer fit
//! into the peer's window beside it.

use super::lowest_rtt;
use super::pieces::DataPiece;
use super::scheduler::Choice;
use super::subflow::Subflow;
use crate::congestion::Window;

/// The factor by which the estimate is too low, in thousandths, at first and its bounds (`lambda`, `min_lambda`,
/// `max_lambda`).
const LAMBDA: [i64; 3] = [1_200, 1_000, 1_300];
/// What is added to it after a round trip in which a window was full, and taken off after one in which it was not
/// (`dyn_lambda_bad`, `dyn_lambda_good`).
const STEPS: [i64; 2] = [40, -10];
/// Round trips of slow start that are reckoned with at most.
const MOST_DOUBLINGS: u64 = 16;

/// What BLEST is told of the connection at the moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The tick, and how long one is, nanoseconds.
    pub tick: i64,
    pub tick_ns: u64,
    /// Bytes from what is acknowledged to the end of the peer's window.
    pub window: u64,
}

/// What BLEST remembers of a connection.
#[derive(Clone, Debug)]
pub(super) struct Blest {
    lambda: i64,
    /// The tick at which that was changed last.
    changed: i64,
    /// The peer's window was full since (`retrans_flag`).
    blocked: bool,
}

impl Default for Blest {
    fn default() -> Self {
        Blest {
            lambda: LAMBDA[0],
            changed: 0,
            blocked: false,
        }
    }
}

impl Blest {
    /// The peer's window, or the send buffer, was full.
    pub fn note_blocked(&mut self) {
        self.blocked = true;
    }

    /// The subflow for a segment (`blest_get_available_subflow`).
    pub fn choose(&mut self, subflows: &mut [Subflow], room: Room, piece: &DataPiece) -> Choice {
        let fast = note_round_trips(subflows);
        let choice = lowest_rtt::choose(subflows, piece.len(), piece.carried_by);
        let (Choice::New(slow) | Choice::Used(slow), Some(fast)) = (choice, fast) else {
            return choice;
        };
        let (other, fast) = (slow != fast, &subflows[fast]);
        if other && self.would_block(room, &subflows[slow], fast, piece.len()) {
            return Choice::Wait;
        }
        choice
    }

    /// While a segment of `len` bytes is on its way on the slow subflow, the fast one could send more than the peer's window
    /// has room for besides.
    fn would_block(&mut self, room: Room, slow: &Subflow, fast: &Subflow, len: u32) -> bool {
        let least = slow.round_trips.map_or(0, |range| range.least);
        self.update(room.tick, (least / room.tick_ns) as i64);
        let (Some(linger), Some(wanted)) = (linger_of(slow), rounds_of(fast)) else {
            return false;
        };
        let bytes = wanted(linger) * self.lambda.unsigned_abs() / 1_000;
        let out = slow.sender().map_or(0, |sender| sender.unacknowledged());
        bytes > room.window.saturating_sub(u64::from(len) + u64::from(out))
    }

    /// Once a round trip of the slow subflow, of `round_trip` ticks (`blestsched_update_lambda`).
    fn update(&mut self, tick: i64, round_trip: i64) {
        if tick - self.changed < round_trip {
            return;
        }
        let step = STEPS[usize::from(!self.blocked)];
        self.lambda = (self.lambda + step).clamp(LAMBDA[1], LAMBDA[2]);
        self.blocked = false;
        self.changed = tick;
    }
}

/// The shortest and the longest smoothed round-trip time of a subflow, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub least: u64,
    pub most: u64,
}

impl Range {
    fn of(before: Option<Range>, srtt: u64) -> Self {
        before.map_or(
            Range {
                least: srtt,
                most: srtt,
            },
            |before| Range {
                least: before.least.min(srtt),
                most: before.most.max(srtt),
            },
        )
    }
}

/// Takes note of the round-trip times; the subflow with the shortest, whether it has room or not.
fn note_round_trips(subflows: &mut [Subflow]) -> Option<usize> {
    let mut fast: Option<(u64, usize)> = None;
    for (index, subflow) in subflows.iter_mut().enumerate().rev() {
        if !subflow.is_usable() {
            continue;
        }
        let srtt = subflow.srtt_ns();
        subflow.round_trips = Some(Range::of(subflow.round_trips, srtt));
        if fast.is_none_or(|(least, _)| srtt < least) {
            fast = Some((srtt, index));
        }
    }
    fast.map(|(_, index)| index)
}

/// How long a segment takes on the subflow until it is acknowledged: its longest round trip when its window is full, its
/// shortest when it is empty (`blestsched_estimate_linger_time`).
fn linger_of(subflow: &Subflow) -> Option<u64> {
    let (sender, range) = (subflow.sender()?, subflow.round_trips?);
    let (in_flight, cwnd) = (
        u64::from(sender.flight().in_flight()) + 1,
        u64::from(sender.window().cwnd),
    );
    let estimate = if in_flight >= cwnd {
        range.most
    } else {
        range.least + (range.most - range.least) * in_flight / cwnd.max(1)
    };
    Some(estimate.max(subflow.srtt_ns()))
}

/// Bytes that the subflow can send in a time, in nanoseconds (`blestsched_estimate_bytes`).
fn rounds_of(subflow: &Subflow) -> Option<impl Fn(u64) -> u64 + use<>> {
    let (sender, range) = (subflow.sender()?, subflow.round_trips?);
    let window = sender.window();
    let average = (range.least + range.most) / 2;
    let mss = u64::from(sender.flight().mss());
    Some(move |time: u64| {
        let rounds = time.checked_div(average).unwrap_or(0) + 1;
        let packets = if window.ssthresh == Window::INFINITE {
            u64::from(window.cwnd) * ((1 << rounds.min(MOST_DOUBLINGS)) - 1)
        } else {
            let avoiding = u64::from(window.cwnd.max(window.ssthresh + 1));
            (avoiding + (rounds - 1) / 2) * rounds
        };
        packets * mss
    })
}
