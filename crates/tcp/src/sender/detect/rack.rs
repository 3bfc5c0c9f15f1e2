//! RACK: what [`recovery::rack`](crate::recovery::rack) decides, carried out.

use rexmit_time::{Duration, Time};

use super::super::ack_outcome::AckOutcome;
use super::super::queue::{time_of, Marks, Sent};
use super::super::{Sender, State};
use crate::recovery::rack::{self, Delivered, Reordering};
use crate::recovery::Job;

impl Sender {
    /// A transmission was delivered.
    pub(in super::super) fn advance_rack(&mut self, segment: &Sent) {
        let delivered = Delivered {
            sent: time_of(segment.at),
            end: segment.end,
            retransmitted: segment.marks.any(Marks::ANY_RETRANSMISSION),
        };
        self.detection
            .rack
            .advance(&delivered, self.now_in_micros(), self.timing.min_rtt.span());
    }

    /// Adapts the reordering window to what was delivered.
    pub(in super::super) fn adapt_rack(&mut self, prior_delivered: u32) {
        if prior_delivered > 0 && !self.settings.rack_static_reo_wnd {
            self.detection.rack.adapt(prior_delivered, self.delivered);
        }
    }

    fn reordering_window(&self) -> Duration {
        self.detection.rack.reordering_window(&Reordering {
            state: self.episode.state,
            seen: self.detection.reordering_seen > 0,
            sacked_out: self.queue.sacked,
            threshold: self.detection.threshold,
            no_threshold: self.settings.rack_no_dupack_threshold,
            min_rtt: self.timing.min_rtt.span(),
            srtt: self.timing.rtt.srtt_micros(),
        })
    }

    /// How long until RACK takes the segment for lost, without a reordering window.
    pub(in super::super) fn rack_wait(&self, segment: &Sent) -> Duration {
        let sent = time_of(segment.at);
        self.detection
            .rack
            .wait(sent, Duration::ZERO, self.now_in_micros())
    }

    /// Marks what is lost and returns how long to wait for the rest.
    fn detect_by_rack(&mut self) -> Duration {
        let (window, now) = (self.reordering_window(), self.now_in_micros());
        self.detection.rack.detect(&mut self.queue, window, now)
    }

    /// After an acknowledgement (`tcp_rack_mark_lost`).
    pub(in super::super) fn mark_lost_by_rack(&mut self, outcome: &mut AckOutcome) {
        let retransmitted = self.queue.retransmissions_out;
        if core::mem::take(&mut self.detection.rack.advanced) {
            let wait = self.detect_by_rack();
            if wait > Duration::ZERO {
                self.set_timer(Job::Reordering, rack::timer(wait, self.timing.rto));
                outcome.clear(AckOutcome::SET_TIMER);
            }
        }
        if retransmitted > self.queue.retransmissions_out {
            outcome.set(AckOutcome::LOST_RETRANSMISSION);
        }
    }

    /// The wait for reordered segments is over (`tcp_rack_reo_timeout`).
    pub(in super::super) fn on_reordering_timer(&mut self) {
        let in_flight = self.queue.in_flight();
        let losses = self.queue.losses;
        self.detect_by_rack();
        if in_flight != self.queue.in_flight() {
            if self.episode.state != State::Recovery {
                self.enter_recovery();
                let lost = self.queue.losses.wrapping_sub(losses);
                self.reduce_window(1, lost, false);
            }
            self.send_lost();
        }
        if self.timing.timer.job() != Some(Job::Timeout) {
            self.rearm_timeout();
        }
    }

    /// The time of the call that runs, as finely as times of sending are kept.
    fn now_in_micros(&self) -> Time {
        time_of(self.micros())
    }
}
