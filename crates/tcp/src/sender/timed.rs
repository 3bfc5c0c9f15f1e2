//! One segment timed at a time, where timestamps do not time them all (RFC 6298 §3; BSD's `t_rtttime`).

use rexmit_wire::SeqNum;

use super::Sender;
use crate::settings::RttSamples;

/// The segment that is timed: its first byte, and the tick at which it left.
pub(super) type Timed = Option<(SeqNum, i64)>;

impl Sender {
    /// A segment leaves for the first time: it is timed unless another is.
    pub(super) fn time_segment(&mut self, seq: SeqNum) {
        if self.settings.timers.rtt_samples == RttSamples::OncePerRoundTrip
            && self.timing.timed.is_none()
        {
            self.timing.timed = Some((seq, self.moment.tick()));
        }
    }

    /// Something was sent again: what is acknowledged now may be a copy (Karn; RFC 6298 §3).
    pub(super) fn forget_timed(&mut self) {
        self.timing.timed = None;
    }

    /// The round-trip time of the timed segment in ticks, once it is acknowledged.
    pub(super) fn take_timed(&mut self) -> Option<i64> {
        let (_, tick) = self
            .timing
            .timed
            .filter(|(seq, _)| self.una.is_after(*seq))?;
        self.timing.timed = None;
        Some(self.moment.tick() - tick)
    }
}
