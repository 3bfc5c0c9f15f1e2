//! RACK (RFC 8985): a transmission is lost when one sent later was delivered and enough time has passed.

use super::super::clean::sent_after;
use super::super::news::News;
use super::super::queue::{Marks, Micros, Sent};
use super::super::{Sender, State};
use crate::recovery::constants::{RACK_RECOVERIES, TIMEOUT_MIN};
use crate::recovery::Job;

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

/// RACK's state (RFC 8985 §5.2).
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Rack {
    /// When the latest delivered transmission was sent, and where it ends.
    sent: Micros,
    end: SeqNum,
    /// The round-trip time of the transmission delivered last, in microseconds.
    rtt: i64,
    /// Something was delivered since losses were last looked for.
    pub advanced: bool,
    /// A D-SACK came in this round trip.
    pub duplicate_seen: bool,
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
            sent: 0,
            end: SeqNum::default(),
            rtt: 0,
            advanced: false,
            duplicate_seen: false,
            steps: 1,
            persist: 0,
            widened_at: 0,
        }
    }
}

impl Rack {
    /// A recovery ended that was not needless.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by D-SACKs.
    pub fn undone(&mut self) {
        self.persist = RACK_RECOVERIES.min(self.persist + 1);
    }

    /// Widens the reordering window once a round trip with D-SACKs (RFC 8985 §6.2 step 4; `tcp_rack_update_reo_wnd`).
    /// `prior_delivered` is what had been delivered when the latest delivered transmission was sent.
    pub fn adapt(&mut self, prior_delivered: u32, delivered: u32) {
        if (prior_delivered.wrapping_sub(self.widened_at) as i32) < 0 {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = self.steps.saturating_add(1);
            self.duplicate_seen = false;
            self.widened_at = delivered;
            self.persist = RACK_RECOVERIES;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
}

/// How long reordered segments are waited for, in microseconds (RFC 8985 §6.2 step 4).
fn reordering_window(steps: u8, min_rtt: u32, srtt: i64) -> i64 {
    (i64::from(min_rtt >> 2) * i64::from(steps)).min(srtt)
}

impl Sender {
    /// Notes a delivered transmission (RFC 8985 §6.2 steps 1 and 2; `tcp_rack_advance`).
    pub(in super::super) fn advance_rack(&mut self, segment: &Sent) {
        let rtt = self.since(segment.at);
        // Which of its transmissions arrived cannot be told; not this one if it was too quick.
        if rtt < i64::from(self.min_rtt.get()) && segment.marks.any(Marks::ANY_RESENT) {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        if sent_after(segment.at, segment.end, self.rack.sent, self.rack.end) {
            self.rack.sent = segment.at;
            self.rack.end = segment.end;
        }
    }

    /// Adapts the reordering window to what was delivered.
    pub(in super::super) fn adapt_rack(&mut self, prior_delivered: u32) {
        if prior_delivered > 0 && !self.settings.rack_static_reo_wnd {
            self.rack.adapt(prior_delivered, self.delivered);
        }
    }

    /// `tcp_rack_reo_wnd`
    fn rack_window(&self) -> i64 {
        if self.reordering_seen == 0 {
            if self.state >= State::Recovery {
                return 0;
            }
            if self.queue.sacked >= self.reordering && !self.settings.rack_no_dupack_threshold {
                return 0;
            }
        }
        let srtt = (self.rtt.srtt_us8() >> 3) as i64;
        reordering_window(self.rack.steps, self.min_rtt.get(), srtt)
    }

    /// Microseconds until the segment counts as lost (`tcp_rack_skb_timeout`).
    pub(in super::super) fn rack_wait(&self, segment: &Sent, window: i64) -> i64 {
        self.rack.rtt + window - self.since(segment.at)
    }

    /// Marks what is lost and returns how long to wait for the rest, in microseconds (RFC 8985 §6.2 step 5;
    /// `tcp_rack_detect_loss`).
    fn detect_by_rack(&mut self) -> i64 {
        let window = self.rack_window();
        let mut longest = 0;
        let mut next = self.queue.oldest();
        while let Some(index) = next {
            next = self.queue.next_sent(index);
            let segment = *self.queue.at(index);
            if segment.is_lost() && !segment.is_resent() {
                continue;
            }
            if !sent_after(self.rack.sent, self.rack.end, segment.at, segment.end) {
                break;
            }
            let wait = self.rack_wait(&segment, window);
            if wait <= 0 {
                self.queue.mark_lost(index);
                self.queue.unlist(index);
            } else {
                longest = longest.max(wait);
            }
        }
        longest
    }

    /// After an acknowledgement (`tcp_rack_mark_lost`).
    pub(in super::super) fn mark_lost_by_rack(&mut self, news: &mut News) {
        let resent = self.queue.resent;
        if core::mem::take(&mut self.rack.advanced) {
            let wait = self.detect_by_rack();
            if wait > 0 {
                let wait = Duration::from_micros(wait) + TIMEOUT_MIN;
                self.set_timer(Job::Reordering, wait.min(self.rto));
                news.clear(News::SET_TIMER);
            }
        }
        if resent > self.queue.resent {
            news.set(News::LOST_RESEND);
        }
    }

    /// The wait for reordered segments is over (`tcp_rack_reo_timeout`).
    pub(in super::super) fn on_reordering_timer(&mut self) {
        let in_flight = self.queue.in_flight();
        let losses = self.queue.losses;
        self.detect_by_rack();
        if in_flight != self.queue.in_flight() {
            if self.state != State::Recovery {
                self.enter_recovery();
                let lost = self.queue.losses.wrapping_sub(losses);
                self.reduce_window(1, lost, false);
            }
            self.send_lost();
        }
        if self.timer.job() != Some(Job::Timeout) {
            self.rearm_timeout();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip_a_step() {
        assert_eq!(reordering_window(1, 100_000, 120_000), 25_000);
        assert_eq!(reordering_window(3, 100_000, 120_000), 75_000);
        assert_eq!(reordering_window(9, 100_000, 120_000), 120_000);
    }

    #[test]
    fn the_window_widens_once_a_round_trip_and_is_kept_for_sixteen_recoveries() {
        let mut rack = Rack {
            duplicate_seen: true,
            ..Rack::default()
        };
        rack.adapt(10, 20);
        assert_eq!(rack.steps, 2);
        rack.duplicate_seen = true;
        rack.adapt(15, 25);
        assert_eq!(rack.steps, 2);
        rack.duplicate_seen = true;
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
}
