//! Ways of a sender that no retransmission shows: how fast the clock of its stamps ticks, and how much it sends before the
//! first acknowledgement. They tell stacks apart whose retransmissions look alike.

use rexmit_tcp::congestion::Window;
use rexmit_tcp::settings::{Estimator, Settings};
use rexmit_time::{Duration, Time};

use super::board::Board;
use super::TOGETHER;
use crate::event::{Acked, Sent};
use crate::facts::SenderFacts;

/// A rate is known once its bounds are so close.
const NARROW: f64 = 1.25;

/// A rate within this factor of a clock's is that clock's: constants of a build may be a little off.
const SAME: f64 = 1.15;

/// What became known of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SenderTrait {
    /// Its stamps tick so often a second.
    StampRate(f64),
    /// Its first window was so many segments of so many bytes, and no less.
    FirstWindow(u32, u32),
}

/// Watches a sender from its first packet on; each trait is reported once.
#[derive(Clone, Debug, Default)]
pub struct SenderTraits {
    stamps: Stamps,
    first: First,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stamps {
    #[default]
    None,
    /// From the first stamp on, with the bounds of the rate.
    Since(Time, Duration, u32, f64, f64),
    AckFlags,
}

#[derive(Clone, Copy, Debug, Default)]
enum First {
    #[default]
    Waiting,
    /// So many full segments had left when the first acknowledgement of data came, then.
    Left(u32, Time),
    AckFlags,
}

impl SenderTraits {
    /// A packet with new data leaves, which the board does not know yet.
    pub fn sent(&mut self, sent: &Sent, facts: &SenderFacts) -> Option<SenderTrait> {
        if let First::Left(segments, at) = self.first {
            self.first = First::AckFlags;
            if sent.at - at <= TOGETHER + sent.slack && !sent.flags.syn() {
                return Some(SenderTrait::FirstWindow(segments, facts.mss));
            }
        }
        self.stamp(sent)
    }

    /// An acknowledgement came, which the board does not know yet.
    pub fn acked(&mut self, acked: &Acked, board: &Board, facts: &SenderFacts) {
        let First::Waiting = self.first else { return };
        if board.is_empty() || !acked.ack.is_after(board.una) {
            return;
        }
        let bytes = board.nxt.offset_from(board.una).max(0).unsigned_abs();
        let segments = bytes / facts.mss.max(1);
        let full = bytes % facts.mss.max(1) == 0;
        let from_start = facts
            .isn
            .is_some_and(|isn| board.una.offset_from(isn) == 1 && facts.syns <= 1);
        let room = u64::from(bytes) + u64::from(facts.mss) <= u64::from(acked.window);
        self.first = if from_start && full && room {
            First::Left(segments, acked.at)
        } else {
            First::AckFlags
        };
    }

    fn stamp(&mut self, sent: &Sent) -> Option<SenderTrait> {
        let value = sent.stamp?;
        if sent.flags.syn() {
            return None;
        }
        match self.stamps {
            Stamps::None => {
                self.stamps = Stamps::Since(sent.at, sent.slack, value, 0.0, f64::INFINITY);
                None
            }
            Stamps::Since(at, slack, first, low, high) => {
                let ticks = f64::from(value.wrapping_sub(first) as i32);
                let unsure = (slack + sent.slack).as_secs_f64() + 1e-4;
                let time = (sent.at - at).as_secs_f64();
                let low = low.max((ticks - 1.0) / (time + unsure));
                let high = if time > unsure {
                    high.min((ticks + 1.0) / (time - unsure))
                } else {
                    high
                };
                if low > 0.0 && high < low * NARROW {
                    self.stamps = Stamps::AckFlags;
                    return Some(SenderTrait::StampRate((low * high.max(low)).sqrt()));
                }
                self.stamps = Stamps::Since(at, slack, first, low, high);
                None
            }
            Stamps::AckFlags => None,
        }
    }
}

impl SenderTrait {
    /// How likely the trait is of a stack with these settings, as a natural logarithm.
    pub fn score(self, settings: &Settings) -> f64 {
        match self {
            SenderTrait::StampRate(rate) => likely_rate(rate, settings),
            SenderTrait::FirstWindow(segments, mss) => likely_window(segments, mss, settings),
        }
    }
}

impl SenderTrait {
    /// The ticks a second that kernels are built with of which one fits.
    pub fn ticks(self) -> Option<u32> {
        let SenderTrait::StampRate(rate) = self else {
            return None;
        };
        let fits = |hz: &u32| rate < f64::from(*hz) * SAME && f64::from(*hz) < rate * SAME;
        [100, 250, 300, 1000].into_iter().find(fits)
    }
}

/// The clock of the stamps is fixed at a millisecond in Linux since 4.13; elsewhere it is the tick, which builds choose.
fn likely_rate(rate: f64, settings: &Settings) -> f64 {
    let is = |hz: f64| rate < hz * SAME && hz < rate * SAME;
    if settings.timers.estimator == Estimator::LinuxMicros {
        return f64::ln(if is(1000.0) { 0.99 } else { 0.001 });
    }
    let own = is(f64::from(settings.timers.hz));
    let common = [100.0, 250.0, 300.0, 1000.0].into_iter().any(is);
    f64::ln(match (own, common) {
        (true, _) => 0.7,
        (false, true) => 0.1,
        (false, false) => 0.02,
    })
}

/// What left first may be less than the window when the program had no more yet; never more.
fn likely_window(segments: u32, mss: u32, settings: &Settings) -> f64 {
    let allowed = [None, Some(Duration::ZERO)]
        .map(|srtt| Window::initial(settings.congestion.initial_window, mss, srtt));
    f64::ln(if allowed.contains(&segments) {
        0.85
    } else if allowed.iter().all(|allowed| segments < *allowed) {
        0.1
    } else {
        0.01
    })
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;
    use rexmit_wire::{SeqNum, SeqRange};

    use super::*;
    use crate::event::SentKind;
    use crate::testing;

    fn sent(at_us: u64, stamp: u32) -> Sent {
        Sent {
            stamp: Some(stamp),
            ..testing::sent(
                Time::from_nanos(at_us * 1000),
                SeqRange::new(SeqNum::new(1), 1000),
                SentKind::New,
            )
        }
    }

    fn rate_of(hz: u64, gaps_us: &[u64]) -> Option<f64> {
        let mut traits = SenderTraits::default();
        let mut at = 777_777;
        let facts = SenderFacts::default();
        gaps_us.iter().find_map(|gap| {
            at += gap;
            let stamp = 0xffff_fff0u32.wrapping_add((at * hz / 1_000_000) as u32);
            match traits.sent(&sent(at, stamp), &facts) {
                Some(SenderTrait::StampRate(rate)) => Some(rate),
                _ => None,
            }
        })
    }

    fn likely(page: &str, seen: SenderTrait) -> f64 {
        seen.score(&stacks::page(page).unwrap().settings)
    }

    #[test]
    fn the_rate_of_stamps_is_learned_as_soon_as_it_can_be() {
        for hz in [10, 100, 250, 1000] {
            let rate = rate_of(hz, &[40_000; 100]).unwrap();
            assert!((rate / hz as f64 - 1.0).abs() < 0.2, "{rate} for {hz}");
        }
        assert_eq!(rate_of(100, &[3_000; 10]), None, "three ticks are too few");
    }

    #[test]
    fn a_rate_speaks_for_the_stacks_that_tick_so() {
        let fast = SenderTrait::StampRate(998.0);
        assert!(likely("linux-6.12", fast) > likely("linux-2.4", fast) + 1.0);
        let slow = SenderTrait::StampRate(101.0);
        assert!(likely("linux-2.4", slow) > likely("linux-6.12", slow) + 5.0);
    }

    #[test]
    fn a_first_window_speaks_against_stacks_with_a_smaller_one() {
        let ten = SenderTrait::FirstWindow(10, 1448);
        assert!(likely("linux-6.12", ten) > likely("linux-2.4", ten) + 4.0);
        let two = SenderTrait::FirstWindow(2, 1448);
        assert!(likely("linux-2.4", two) > likely("linux-6.12", two) + 2.0);
    }
}
