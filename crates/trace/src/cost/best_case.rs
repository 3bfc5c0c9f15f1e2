//! What ideal loss detection would have saved of a connection: UNC 2007, section V-A, part 3.

use rexmit_tcp::Need;
use rexmit_time::Duration;

use super::equations::{fast_retransmit_avoided, half_flight, timeout_avoided};
use super::{times, Finder};
use crate::rows::Retransmission;

/// Timeouts remembered until the largest round-trip time is known; more are judged by the largest one so far.
const MOST_TIMEOUTS: usize = 1024;

/// The sum of what ideal loss detection would have saved, over the retransmissions of one direction in their order.
///
/// What is counted are loss detections, not retransmissions: the first retransmission of an episode, and every timeout
/// within one. What else an episode sends again follows from the detection, and goes when it goes. So one spurious
/// detection is avoided once, by equation (1) if acknowledgements made it and by (2) if a timeout did. Each needed timeout
/// happens at the connection's largest round-trip time instead, and never saves less than nothing; a detection of which it
/// is unknown whether it was needed counts as needed. A probe costs a packet and no rate: avoided, it saves nothing.
///
/// It is no bound of what a setting saves. A needed loss that acknowledgements found counts nothing here, and is found sooner
/// after fewer duplicates; a timer may be shorter than the largest round-trip time, and duplicates come before that.
#[derive(Clone, Debug, Default)]
pub struct BestCase {
    episode: Option<u32>,
    /// Round trips saved by detections avoided.
    round_trips: f64,
    /// Needed timeouts, nanoseconds.
    timeouts: Vec<i64>,
    settled: Duration,
}

impl BestCase {
    /// The next retransmission; `largest` is the largest round-trip time so far.
    pub fn retransmission(&mut self, row: &Retransmission, largest: Duration) {
        let first = self.episode != Some(row.episode);
        self.episode = Some(row.episode);
        let Some(finder) = Finder::of(row.mechanism) else {
            return;
        };
        if !first && finder != Finder::Timeout {
            return;
        }
        let x = half_flight(row.flight_segments);
        match (finder, row.need == Need::Spurious) {
            (Finder::Timeout, true) => self.round_trips += timeout_avoided(x),
            (Finder::Acknowledgements, true) => self.round_trips += fast_retransmit_avoided(x),
            (Finder::Timeout, false) => {
                if let Some(timeout) = row.timer.or(row.detection) {
                    self.timeouts.push(timeout.as_nanos());
                    if self.timeouts.len() > MOST_TIMEOUTS {
                        self.settle(largest);
                    }
                }
            }
            (Finder::Acknowledgements, false) | (Finder::Probe, _) => {}
        }
    }

    /// The most that could have been saved, of a connection whose average and largest round-trip times are these.
    #[must_use]
    pub fn finish(mut self, average: Duration, largest: Duration) -> Duration {
        self.settle(largest);
        self.settled + times(self.round_trips, average)
    }

    fn settle(&mut self, largest: Duration) {
        for timeout in self.timeouts.drain(..) {
            let saved = Duration::from_nanos(timeout) - largest;
            self.settled += saved.max(Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::Mechanism;
    use rexmit_time::Time;
    use rexmit_wire::{SeqNum, SeqRange};

    use super::*;
    use crate::event::Direction;
    use crate::rows::{Evidence, Position};

    fn row(episode: u32, mechanism: Mechanism, need: Need) -> Retransmission {
        Retransmission {
            direction: Direction::Forward,
            time: Time::ZERO,
            range: SeqRange::new(SeqNum::new(0), 1448),
            length: 1448,
            first_sent: None,
            copy: 1,
            mechanism,
            confidence: 1.0,
            runner_up: None,
            shown: true,
            disordered: false,
            certainty: 1.0,
            need_confidence: 1.0,
            position: Position::Sender,
            either: false,
            need,
            evidence: Evidence::None,
            episode,
            episode_cause: mechanism,
            detection: Some(ms(400)),
            recovery: None,
            waited: Duration::ZERO,
            timer: Some(ms(300)),
            opinions: None,
            moving_rtt: None,
            flight_segments: 8,
            flight_bytes: 8 * 1448,
            lost_in_flight: 1,
            multipath: None,
        }
    }

    fn ms(millis: i64) -> Duration {
        Duration::from_millis(millis)
    }

    fn best_case(rows: &[Retransmission]) -> Duration {
        let mut best = BestCase::default();
        for row in rows {
            best.retransmission(row, ms(140));
        }
        best.finish(ms(105), ms(140))
    }

    #[test]
    fn a_needed_timeout_happens_at_the_largest_round_trip_time() {
        use Mechanism::{Rto, RtoRecovery};
        use Need::{Needed, Unknown};
        assert_eq!(best_case(&[row(0, Rto, Needed)]), ms(160));
        assert_eq!(best_case(&[row(0, Rto, Unknown)]), ms(160));
        // The second timeout of an episode waits again; what a timeout sends again otherwise does not.
        let rows = [
            row(0, Rto, Needed),
            row(0, Rto, Needed),
            row(0, RtoRecovery, Needed),
        ];
        assert_eq!(best_case(&rows), ms(320));
        let mut short = row(0, Rto, Needed);
        short.timer = Some(ms(100));
        assert_eq!(best_case(&[short.clone()]), ms(0));
        // Without a known timer, what the wire shows.
        short.timer = None;
        assert_eq!(best_case(&[short]), ms(260));
    }

    #[test]
    fn a_spurious_detection_is_avoided_once_an_episode() {
        use Mechanism::{FastRetransmit, Rto, RtoRecovery, SackRecovery, Tlp};
        use Need::{Needed, Spurious};
        // R(4) and F(4) are 57/21 and 61/21 round trips of 105 ms.
        assert_eq!(best_case(&[row(0, Rto, Spurious)]), ms(285));
        let rows = [
            row(0, Rto, Spurious),
            row(0, RtoRecovery, Spurious),
            row(0, RtoRecovery, Spurious),
            row(1, FastRetransmit, Spurious),
            row(1, SackRecovery, Spurious),
        ];
        assert_eq!(best_case(&rows), ms(285 + 305));
        assert_eq!(best_case(&[row(0, FastRetransmit, Needed)]), ms(0));
        assert_eq!(best_case(&[row(0, Tlp, Spurious)]), ms(0));
    }

    #[test]
    fn many_timeouts_do_not_take_room() {
        let mut best = BestCase::default();
        for episode in 0..5_000 {
            best.retransmission(&row(episode, Mechanism::Rto, Need::Needed), ms(140));
            assert!(best.timeouts.len() <= MOST_TIMEOUTS);
        }
        assert_eq!(best.finish(ms(105), ms(140)), ms(160 * 5_000));
    }
}
