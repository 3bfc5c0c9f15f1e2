//! How many segments leave as one packet where the host cuts them later (segmentation offload), and when a packet waits to
//! become larger.

use rexmit_time::Duration;

use super::backlog::Unsent;
use super::{Sender, State};
use crate::settings::PacketSizing;

/// The share of the window that is sent at once when it is free (`tcp_tso_win_divisor`).
const SHARE: u32 = 3;

/// Bytes of the largest packet (`gso_max_size`).
const LARGEST: u64 = 65_536;

/// The longest wait for an acknowledgement that would make a packet larger.
const LONGEST_WAIT: Duration = Duration::from_millis(1);

impl Sender {
    /// Segments that a packet may hold: by the pacing rate a millisecond of it, more where the peer is near, two at least
    /// (`tcp_tso_segs`, `tcp_tso_autosize`).
    pub(super) fn burst_segments(&self) -> u32 {
        let most = self.settings.segments.gso_segments.max(1);
        if most == 1 || self.settings.segments.packet_sizing == PacketSizing::Window {
            return most;
        }
        let near = LARGEST
            .checked_shr(self.timing.min_rtt.get() >> 9)
            .unwrap_or(0);
        let bytes = (self.congestion.pacing_rate >> 10)
            .saturating_add(near)
            .min(LARGEST);
        let segments = bytes / u64::from(self.sizes.mss);
        u32::try_from(segments).unwrap_or(most).max(2).min(most)
    }

    /// Whether a packet of several segments waits for the windows to take more of it (`tcp_tso_should_defer`). `limited` is
    /// set where the congestion window is the reason.
    pub(super) fn defers(&mut self, head: &Unsent, limited: &mut bool) -> bool {
        let waits = match self.settings.segments.packet_sizing {
            PacketSizing::Window => self.defers_for_ticks(head),
            PacketSizing::PacingRate => self.defers_for_ack(head, limited),
        };
        if !waits {
            self.output.deferred = None;
        }
        waits
    }

    /// What the windows take of the segment now is too little to be worth a packet: less than the largest packet, than the
    /// whole segment, than a third of the window.
    fn is_worth_waiting(&self, head: &Unsent) -> bool {
        let (own, peer) = self.free_windows(head);
        let limit = own.min(peer);
        let share = self
            .peer
            .window
            .min(self.congestion.window.cwnd * self.sizes.mss)
            / SHARE;
        let middle = self.written.backlog.len() > 1;
        limit < self.burst_segments() * self.sizes.mss
            && !(middle && limit >= head.len())
            && limit < share
    }

    /// Bytes that the congestion window and the peer's window take of the segment.
    fn free_windows(&self, head: &Unsent) -> (u32, u32) {
        let peer = self.window_end().offset_from(head.seq).max(0);
        let free = self
            .congestion
            .window
            .cwnd
            .saturating_sub(self.queue.in_flight());
        (free * self.sizes.mss, peer.unsigned_abs())
    }

    fn defers_for_ticks(&mut self, head: &Unsent) -> bool {
        let tick = self.moment.tick();
        let long = self.output.deferred.is_some_and(|since| tick - since > 1);
        if head.fin || self.episode.state != State::Open || long || !self.is_worth_waiting(head) {
            return false;
        }
        self.output.deferred.get_or_insert(tick);
        true
    }

    fn defers_for_ack(&self, head: &Unsent, limited: &mut bool) -> bool {
        let recent = self.moment.now - self.output.last_sent <= LONGEST_WAIT;
        if self.episode.state >= State::Recovery || !recent || !self.is_worth_waiting(head) {
            return false;
        }
        let Some(first) = self.queue.head() else {
            return false;
        };
        // The acknowledgement must be near: half a round trip, a millisecond at most.
        let srtt = (self.timing.rtt.srtt_us8() >> 3) as i64;
        let away = srtt - self.moment.since(first.at);
        if away > (srtt / 2).min(LONGEST_WAIT.as_nanos() / 1_000) {
            return false;
        }
        let (own, peer) = self.free_windows(head);
        if own < peer && own <= head.len() {
            *limited = true;
            return true;
        }
        (own >= peer && peer <= head.len()) || !head.fin
    }
}
