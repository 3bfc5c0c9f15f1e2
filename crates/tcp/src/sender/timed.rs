//! One segment timed at a time, where timestamps do not time them all (RFC 6298 §3; BSD's `t_rtttime`).

use rexmit_wire::SeqNum;

/// The segment that is timed: its first byte, and the tick at which it left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timed(Option<(SeqNum, i64)>);

impl Timed {
    /// A segment leaves for the first time at `tick`: it is timed unless another is.
    pub fn note(&mut self, seq: SeqNum, tick: i64) {
        self.0.get_or_insert((seq, tick));
    }

    /// Something was sent again: what is acknowledged now may be a copy (Karn; RFC 6298 §3).
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// The round-trip time of the timed segment in ticks, once `una` is after it.
    pub fn take(&mut self, una: SeqNum, tick: i64) -> Option<i64> {
        let (_, sent) = self.0.take_if(|(seq, _)| una.is_after(*seq))?;
        Some(tick - sent)
    }
}
