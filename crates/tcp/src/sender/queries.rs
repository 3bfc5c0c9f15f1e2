//! What can be seen of a sender from outside.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::{Counters, Sender, State};
use crate::congestion::Window;

impl Sender {
    /// Retransmissions went unanswered too often: the connection is to be given up.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }

    /// Payload bytes of a full segment (`mss_cache`).
    #[must_use]
    pub fn mss(&self) -> u32 {
        self.sizes.mss
    }

    /// The first byte not acknowledged (`snd_una`).
    #[must_use]
    pub fn una(&self) -> SeqNum {
        self.una
    }

    /// The first byte not sent (`snd_nxt`).
    #[must_use]
    pub fn nxt(&self) -> SeqNum {
        self.nxt
    }

    /// The number of the next byte that leaves: new data that still wait for
    /// [`Sender::poll_transmit`](super::Sender::poll_transmit) are not counted.
    #[must_use]
    pub fn leaves_next(&self) -> SeqNum {
        let mut waiting = self.output.packets.iter();
        let new = waiting.find(|one| one.mechanism.is_none() && (one.fin || !one.range.is_empty()));
        new.map_or(self.nxt, |one| one.range.start)
    }

    /// After the last byte written, a FIN counted (`write_seq`).
    #[must_use]
    pub fn end(&self) -> SeqNum {
        self.written.end
    }

    /// Whether all that was written, a FIN also, is acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.written.backlog.is_empty()
    }

    /// Segments not acknowledged and segments not sent.
    #[must_use]
    pub fn queued(&self) -> (usize, usize) {
        (self.queue.len(), self.written.backlog.len())
    }

    /// Packets not acknowledged (`packets_out`).
    #[must_use]
    pub fn packets_out(&self) -> u32 {
        self.queue.counts.out
    }

    /// Packets sent and neither arrived nor lost, as far as is known (`tcp_packets_in_flight`).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.queue.in_flight()
    }

    /// The congestion window and what goes with it.
    #[must_use]
    pub fn window(&self) -> Window {
        self.congestion.window
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.episode.state
    }

    /// The reordering that is reckoned with, in segments.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        self.detection.threshold
    }

    /// Whether SACK was negotiated.
    #[must_use]
    pub fn has_sack(&self) -> bool {
        self.sack
    }

    /// What the sender did so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The timeout in ticks as the timer was last armed with it, back-off included (`icsk_rto`).
    #[must_use]
    pub fn rto_ticks(&self) -> i64 {
        self.moment.clock.ticks_in(self.timing.rto)
    }

    /// The timeout, back-off included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.timing.rto
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.timing.rtt.srtt()
    }

    /// Counts everything afresh and compares with the counts kept; says what is wrong.
    ///
    /// # Errors
    /// The first difference found, in words.
    pub fn check(&self) -> Result<(), String> {
        self.queue.check(self.sack)?;
        if self.nxt.is_before(self.una) || self.written.end.is_before(self.nxt) {
            return Err(format!("{} {} {}", self.una, self.nxt, self.written.end));
        }
        if self.congestion.window.cwnd == 0 {
            return Err("no window".to_owned());
        }
        Ok(())
    }
}
