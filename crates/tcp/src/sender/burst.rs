//! How many segments leave as one packet where the host cuts them later (segmentation offload), and when a packet waits to
//! become larger.

use rexmit_time::{Duration, Time};

use super::backlog::Unsent;
use super::output::Output;
use super::room::Room;
use super::CaState;
use crate::settings::PacketSizing;

/// The share of the window that is sent at once when it is free (`tcp_tso_win_divisor`).
const SHARE: u32 = 3;

/// Bytes of the largest packet (`gso_max_size`).
const LARGEST: u64 = 65_536;

/// The longest wait for an acknowledgement that would make a packet larger.
const LONGEST_WAIT: Duration = Duration::from_millis(1);

/// A packet waits to become larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred {
    /// The congestion window is the reason.
    pub limited: bool,
}

impl Room<'_> {
    /// Segments that a packet may hold: by the pacing rate a millisecond of it, more where the peer is near, two at least
    /// (`tcp_tso_segs`, `tcp_tso_autosize`).
    pub fn burst_segments(&self) -> u32 {
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
        let segments = bytes / u64::from(self.flight.sizes.mss);
        let least = self
            .congestion
            .control
            .least_segments(self.congestion.pacing_rate);
        u32::try_from(segments).unwrap_or(most).max(least).min(most)
    }

    /// Whether a packet of several segments waits for the windows to take more of it (`tcp_tso_should_defer`).
    pub fn defers(&self, head: &Unsent, output: &Output) -> Option<Deferred> {
        match self.settings.segments.packet_sizing {
            PacketSizing::Window => self.defers_for_ticks(head, output.deferred),
            PacketSizing::PacingRate => self.defers_for_ack(head, output.last_sent),
        }
    }

    /// What the windows take of the segment now is too little to be worth a packet: less than the largest packet, than the
    /// whole segment, than a third of the window.
    fn is_worth_waiting(&self, head: &Unsent) -> bool {
        let (own, peer) = self.free_windows(head);
        let limit = own.min(peer);
        let share = self
            .peer
            .window
            .min(self.congestion.window.cwnd * self.flight.sizes.mss)
            / SHARE;
        let middle = self.written.backlog.len() > 1;
        limit < self.burst_segments() * self.flight.sizes.mss
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
            .saturating_sub(self.flight.in_flight());
        (free * self.flight.sizes.mss, peer.unsigned_abs())
    }

    fn defers_for_ticks(&self, head: &Unsent, since: Option<i64>) -> Option<Deferred> {
        let tick = self.timing.moment.tick();
        let long = since.is_some_and(|since| tick - since > 1);
        let waits = !head.fin
            && self.episode.state == CaState::Open
            && !long
            && self.is_worth_waiting(head);
        waits.then_some(Deferred { limited: false })
    }

    fn defers_for_ack(&self, head: &Unsent, last_sent: Time) -> Option<Deferred> {
        let moment = &self.timing.moment;
        let recent = moment.now - last_sent <= LONGEST_WAIT;
        if self.episode.state >= CaState::Recovery || !recent || !self.is_worth_waiting(head) {
            return None;
        }
        let first = self.flight.head()?;
        // The acknowledgement must be near: half a round trip, a millisecond at most.
        let srtt = (self.timing.rtt.srtt_us8() >> 3) as i64;
        let away = srtt - moment.since(first.at);
        if away > (srtt / 2).min(LONGEST_WAIT.as_nanos() / 1_000) {
            return None;
        }
        let (own, peer) = self.free_windows(head);
        let limited = own < peer && own <= head.len();
        let waits = limited || (own >= peer && peer <= head.len()) || !head.fin;
        waits.then_some(Deferred { limited })
    }
}
