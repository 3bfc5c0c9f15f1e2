//! RACK (RFC 8985 §6): a transmission is lost when one sent later was delivered and enough time has passed.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::constants::{RACK_RECOVERIES, TIMEOUT_MIN};
use super::scoreboard::Scoreboard;
use super::CaState;

/// Whether a transmission came after another; of one time, the one with the higher number (`tcp_skb_sent_after`).
#[must_use]
pub fn sent_after(at: Time, end: SeqNum, other: Time, other_end: SeqNum) -> bool {
    at > other || (at == other && end.is_after(other_end))
}

/// A transmission that was delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// When it was sent.
    pub sent: Time,
    /// After its last byte.
    pub end: SeqNum,
    /// The segment was sent more than once.
    pub retransmitted: bool,
}

/// What decides how long reordered segments are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// The sender's state.
    pub state: CaState,
    /// Reordering was seen on the connection (`reord_seen`).
    pub seen: bool,
    /// Segments SACKed.
    pub sacked_out: u32,
    /// Duplicates that make a loss (`tp->reordering`).
    pub threshold: u32,
    /// The threshold does not end the wait (`tcp_recovery` bit 0x4).
    pub no_threshold: bool,
    /// The smallest round-trip time; none before a sample.
    pub min_rtt: Option<Duration>,
    /// The smoothed round-trip time; none before a sample.
    pub srtt: Option<Duration>,
}

/// RACK's state (RFC 8985 §5.2).
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// When the latest delivered transmission was sent, and where it ends.
    sent: Time,
    end: SeqNum,
    /// The round-trip time of the transmission delivered last.
    rtt: Duration,
    /// Something was delivered since losses were last looked for.
    pub advanced: bool,
    /// A D-SACK came in this round trip.
    pub dsack_seen: bool,
    /// The reordering window in quarters of the smallest round-trip time.
    steps: u8,
    /// Recoveries until the window falls back to one quarter.
    persist: u8,
    /// What had been delivered when the window was last widened.
    widened_at: u32,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            sent: Time::ZERO,
            end: SeqNum::default(),
            rtt: Duration::ZERO,
            advanced: false,
            dsack_seen: false,
            steps: 1,
            persist: 0,
            widened_at: 0,
        }
    }
}

impl Rack {
    /// Notes a delivered transmission (RFC 8985 §6.2 steps 1 and 2; `tcp_rack_advance`).
    pub fn advance(&mut self, delivered: &Delivered, now: Time, min_rtt: Option<Duration>) {
        let rtt = now - delivered.sent;
        // Which of its transmissions arrived cannot be told; not this one if it was too quick.
        if delivered.retransmitted && min_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if sent_after(delivered.sent, delivered.end, self.sent, self.end) {
            self.sent = delivered.sent;
            self.end = delivered.end;
        }
    }

    /// A recovery ended that was not spurious.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by D-SACKs.
    pub fn undone(&mut self) {
        self.persist = RACK_RECOVERIES.min(self.persist + 1);
    }

    /// Widens the reordering window once a round trip with D-SACKs (RFC 8985 §6.2 step 4; `tcp_rack_update_reo_wnd`).
    /// `prior_delivered` is what had been delivered when the latest delivered transmission was sent, `delivered` what has
    /// been by now, in segments.
    pub fn adapt(&mut self, prior_delivered: u32, delivered: u32) {
        if (prior_delivered.wrapping_sub(self.widened_at) as i32) < 0 {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = self.steps.saturating_add(1);
            self.dsack_seen = false;
            self.widened_at = delivered;
            self.persist = RACK_RECOVERIES;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// How long reordered segments are waited for (RFC 8985 §6.2 step 4; `tcp_rack_reo_wnd`).
    #[must_use]
    pub fn reordering_window(&self, view: &Reordering) -> Duration {
        if !view.seen {
            if view.state >= CaState::Recovery {
                return Duration::ZERO;
            }
            if view.sacked_out >= view.threshold && !view.no_threshold {
                return Duration::ZERO;
            }
        }
        let srtt = view.srtt.unwrap_or(Duration::ZERO);
        match view.min_rtt {
            Some(least) => quarters(least, self.steps).min(srtt),
            None => srtt,
        }
    }

    /// How long from now until a transmission counts as lost (`tcp_rack_skb_timeout`).
    #[must_use]
    pub fn wait(&self, sent: Time, window: Duration, now: Time) -> Duration {
        self.rtt + window - (now - sent)
    }

    /// Whether a delivered transmission was sent after this one.
    #[must_use]
    pub fn overtook(&self, sent: Time, end: SeqNum) -> bool {
        sent_after(self.sent, self.end, sent, end)
    }

    /// Marks what is lost; returns how long to wait for the rest, no time if nothing is waited for (RFC 8985 §6.2 step 5;
    /// `tcp_rack_detect_loss`).
    pub fn detect<B: Scoreboard>(&self, board: &mut B, window: Duration, now: Time) -> Duration {
        let mut longest = Duration::ZERO;
        let mut next = board.first_sent();
        while let Some(place) = next {
            next = board.next_sent(place);
            let segment = board.segment(place);
            if segment.sacked || (segment.lost && !segment.retransmission_out) {
                continue;
            }
            if !self.overtook(segment.sent, segment.end) {
                if board.rest_was_sent_later(place) {
                    break;
                }
                continue;
            }
            let wait = self.wait(segment.sent, window, now);
            if wait > Duration::ZERO {
                longest = longest.max(wait);
            } else {
                board.mark_lost(place);
            }
        }
        longest
    }
}

/// So many quarters of the smallest round-trip time, in whole microseconds.
fn quarters(min_rtt: Duration, steps: u8) -> Duration {
    let quarter = min_rtt.as_nanos() / 1_000 / 4;
    Duration::from_micros(quarter * i64::from(steps))
}

/// The timer of the wait for reordered segments, at most the timeout (`tcp_rack_mark_lost`).
#[must_use]
pub fn timer(wait: Duration, rto: Duration) -> Duration {
    (wait + TIMEOUT_MIN).min(rto)
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Segment;
    use super::*;

    const MICRO: fn(i64) -> Duration = Duration::from_micros;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    const VIEW: Reordering = Reordering {
        state: CaState::Open,
        seen: true,
        sacked_out: 1,
        threshold: 3,
        no_threshold: false,
        min_rtt: Some(Duration::from_micros(100_003)),
        srtt: Some(Duration::from_micros(120_000)),
    };

    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip_a_step() {
        let window = |steps| {
            let rack = Rack {
                steps,
                ..Rack::default()
            };
            rack.reordering_window(&VIEW)
        };
        assert_eq!(window(1), MICRO(25_000));
        assert_eq!(window(3), MICRO(75_000));
        assert_eq!(window(9), MICRO(120_000));
    }

    #[test]
    fn without_reordering_nothing_is_waited_for_in_recovery_or_after_three_duplicates() {
        let window = |state, sacked_out, no_threshold| {
            let view = Reordering {
                seen: false,
                state,
                sacked_out,
                no_threshold,
                ..VIEW
            };
            Rack::default().reordering_window(&view)
        };
        let (open, none) = (CaState::Open, Duration::ZERO);
        assert_eq!(window(open, 2, false), MICRO(25_000));
        assert_eq!(window(open, 3, false), none);
        assert_eq!(window(open, 3, true), MICRO(25_000));
        assert_eq!(window(CaState::Recovery, 1, false), none);
    }

    #[test]
    fn the_window_widens_once_a_round_trip_and_is_kept_for_sixteen_recoveries() {
        let mut rack = Rack {
            dsack_seen: true,
            ..Rack::default()
        };
        rack.adapt(10, 20);
        assert_eq!(rack.steps, 2);
        rack.dsack_seen = true;
        rack.adapt(15, 25);
        assert_eq!(rack.steps, 2);
        rack.dsack_seen = true;
        rack.adapt(20, 30);
        assert_eq!(rack.steps, 3);
        for _ in 0..16 {
            rack.adapt(40, 40);
            assert_eq!(rack.steps, 3);
            rack.recovered();
        }
        rack.adapt(40, 40);
        assert_eq!(rack.steps, 1);
    }

    /// Segments in the order of their numbers, of ten bytes each.
    struct Board(Vec<Segment>);

    impl Scoreboard for Board {
        fn first_sent(&self) -> Option<usize> {
            (!self.0.is_empty()).then_some(0)
        }

        fn next_sent(&self, place: usize) -> Option<usize> {
            (place + 1 < self.0.len()).then_some(place + 1)
        }

        fn rest_was_sent_later(&self, place: usize) -> bool {
            let sent = self.0[place].sent;
            self.0[place..].iter().all(|segment| segment.sent >= sent)
        }

        fn segment(&self, place: usize) -> Segment {
            self.0[place]
        }

        fn mark_lost(&mut self, place: usize) {
            self.0[place].lost = true;
            self.0[place].retransmission_out = false;
        }
    }

    fn board(sent: &[u64]) -> Board {
        let segment = |(place, millis): (u32, &u64)| Segment {
            end: SeqNum::new(u32::MAX - 25) + 10 * (place + 1),
            sent: at(*millis),
            sacked: false,
            lost: false,
            retransmission_out: false,
        };
        Board((0..).zip(sent).map(segment).collect())
    }

    fn lost(board: &Board) -> Vec<usize> {
        let lost = |place: &usize| board.0[*place].lost;
        (0..board.0.len()).filter(lost).collect()
    }

    fn deliver(rack: &mut Rack, board: &mut Board, place: usize, now: u64) {
        let segment = &mut board.0[place];
        segment.sacked = true;
        let delivered = Delivered {
            sent: segment.sent,
            end: segment.end,
            retransmitted: false,
        };
        rack.advance(&delivered, at(now), None);
    }

    #[test]
    fn what_was_sent_before_a_delivered_one_is_lost_after_the_window() {
        let (mut rack, mut board) = (Rack::default(), board(&[0, 0, 4, 8]));
        deliver(&mut rack, &mut board, 2, 54);
        let window = MICRO(10_000);
        // The first two are 4 ms older than the one that took 50 ms; the last was sent later.
        assert_eq!(rack.detect(&mut board, window, at(54)), MICRO(6_000));
        assert!(lost(&board).is_empty());
        assert_eq!(timer(MICRO(6_000), MICRO(300_000)), MICRO(8_000));
        assert_eq!(timer(MICRO(6_000), MICRO(7_000)), MICRO(7_000));
        assert_eq!(rack.detect(&mut board, window, at(60)), Duration::ZERO);
        assert_eq!(lost(&board), [0, 1]);
    }

    #[test]
    fn a_retransmission_is_lost_in_its_turn() {
        let (mut rack, mut board) = (Rack::default(), board(&[60, 0, 62]));
        board.0[0].lost = true;
        board.0[0].retransmission_out = true;
        deliver(&mut rack, &mut board, 2, 112);
        rack.detect(&mut board, Duration::ZERO, at(112));
        assert!(!board.0[0].retransmission_out);
        assert_eq!(lost(&board), [0, 1]);
    }

    #[test]
    fn a_retransmission_acknowledged_too_soon_tells_nothing() {
        let mut rack = Rack::default();
        let delivered = Delivered {
            sent: at(100),
            end: SeqNum::new(10),
            retransmitted: true,
        };
        rack.advance(&delivered, at(120), Some(MICRO(20_001)));
        assert!(!rack.advanced);
        rack.advance(&delivered, at(120), None);
        assert!(!rack.advanced);
        rack.advance(&delivered, at(120), Some(MICRO(20_000)));
        assert!(rack.advanced);
    }
}
