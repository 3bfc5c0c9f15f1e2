//! Sending again what the walk over the flight finds.

use super::Sender;
use crate::recovery::machine::Actor as _;
use crate::recovery::Job;

impl Sender {
    /// Sends a segment again; a retransmission of the head starts a fresh timeout. Whether it went out.
    pub(super) fn send_again(&mut self, index: usize) -> bool {
        let len = self.flight.at(index).len();
        let rate = self.congestion.pacing_rate;
        let alone = self.flight.segments() <= 1;
        if self.flight.settings.segments.small_queue_retransmits
            && self
                .output
                .is_full(&self.flight.settings.segments, len, true, rate, alone)
        {
            return false;
        }
        self.flight.begin_retransmission();
        // As the kernel counts it, and by what finds losses here.
        let (state, sack) = (self.episode.state, self.flight.has_sack());
        let rack = self.flight.settings.loss.rack;
        let mechanism = self.episode.causes.of_lost(state, sack, rack);
        if !self.retransmit(index, self.room().segments_again(), mechanism) {
            return false;
        }
        let segments = self.flight.at(index).count();
        self.window_mut().note_sent(segments);
        if index == 0 && self.timing.job() != Some(Job::Reordering) {
            self.timing.set_to_timeout();
        }
        true
    }
}
