//! What may leave now: how much the windows take, and as what packets (`bursts`).

use rexmit_wire::SeqNum;

use super::backlog::Unsent;
use super::congestion::Congestion;
use super::flight::{packets, Flight};
use super::nagle::Hold;
use super::peer::PeerState;
use super::written::Written;
use super::{CaState, Sender, Timing};
use crate::recovery::machine::Episode;
use crate::recovery::retransmit::{self, Forward};
use crate::settings::{PacketSizing, Settings};

/// What says how much may leave.
pub(super) struct Room<'a> {
    pub settings: &'a Settings,
    pub peer: &'a PeerState,
    pub written: &'a Written,
    pub flight: &'a Flight,
    pub timing: &'a Timing,
    pub congestion: &'a Congestion,
    pub episode: &'a Episode,
}

impl Sender {
    /// What may leave now.
    pub(super) fn room(&self) -> Room<'_> {
        Room {
            settings: &self.flight.settings,
            peer: &self.peer,
            written: &self.written,
            flight: &self.flight,
            timing: &self.timing,
            congestion: &self.congestion,
            episode: &self.episode,
        }
    }
}

impl Room<'_> {
    /// After the last byte that the peer's window takes (`tcp_wnd_end`).
    pub fn window_end(&self) -> SeqNum {
        self.peer.window_end(self.flight.una())
    }

    /// Bytes that a segment in the buffer may hold before the next begins (`tcp_xmit_size_goal`).
    pub fn size_goal(&self) -> u32 {
        let largest = self.flight.sizes.mss * self.settings.segments.gso_segments.max(1);
        match self.settings.segments.packet_sizing {
            // tcp_bound_to_half_wnd
            PacketSizing::Window => {
                let half = self.peer.largest_window / 2;
                (largest.min(half) / self.flight.sizes.mss).max(1) * self.flight.sizes.mss
            }
            PacketSizing::PacingRate => largest,
        }
    }

    /// Whether a short segment waits for more to be written, or for what is out.
    pub fn waits(&self, head: &Unsent, hold: Hold) -> bool {
        self.written
            .waits_for_more(head, &self.flight.sizes, hold, self.out())
    }

    /// Packets that are out, and where they lie.
    fn out(&self) -> (u32, SeqNum, SeqNum) {
        (
            self.flight.counts().out,
            self.flight.una(),
            self.flight.nxt(),
        )
    }

    /// Packets that the congestion window allows (`tcp_cwnd_test`).
    pub fn quota(&self, head: &Unsent) -> u32 {
        if self.settings.segments.fin_exempt && head.fin && head.len() <= self.flight.sizes.mss {
            return 1;
        }
        let mut in_flight = self.flight.in_flight();
        if self.episode.state <= CaState::Disorder && !self.settings.loss.limited_transmit {
            // What duplicates say left the network still counts (RFC 3042).
            in_flight += self.flight.counts().sacked;
        }
        let cwnd = self.congestion.window.cwnd;
        let left = cwnd.saturating_sub(in_flight);
        match self.settings.segments.packet_sizing {
            PacketSizing::Window => left,
            // Two packets of several segments are to be in flight at least.
            PacketSizing::PacingRate => left.min((cwnd / 2).max(1)),
        }
    }

    /// Whether new data could be sent now (`tcp_may_send_now`).
    pub fn can_send_now(&self) -> bool {
        let Some(head) = self.written.backlog.head() else {
            return false;
        };
        let hold = self.written.nagle.hold();
        !self.waits(&head, hold)
            && self.quota(&head) > 0
            && self.flight.sizes.fit(&head, self.window_end())
    }

    /// Bytes of the segment that go now (`tcp_mss_split_point`).
    pub fn cut_at(&self, head: &Unsent, quota: u32, hold: Hold) -> u32 {
        if packets(head.len(), self.flight.sizes.mss) == 1 {
            return self.flight.sizes.mss;
        }
        let window = self.window_end().offset_from(head.seq).unsigned_abs();
        let most = quota * self.flight.sizes.mss;
        let needed = head.len().min(window);
        if most <= needed {
            return most;
        }
        let short = needed % self.flight.sizes.mss;
        if self.settings.segments.packet_sizing == PacketSizing::Window {
            return needed - short;
        }
        let (out, una, nxt) = self.out();
        if short > 0 && self.written.nagle.waits(hold, out, una, nxt) {
            needed - short
        } else {
            needed
        }
    }

    /// Whether the walk goes on with what is not lost, where the stack does so and no new data can be sent.
    pub fn may_go_forward(&self) -> bool {
        self.settings.loss.forward_retransmit
            && retransmit::may_go_forward(&Forward {
                on: true,
                state: self.episode.state,
                sack: self.flight.has_sack(),
                new_data_can_go: self.can_send_now(),
            })
    }

    /// Segments that a retransmission may hold.
    pub fn segments_again(&self) -> u32 {
        let cwnd = self.congestion.window.cwnd;
        match self.settings.segments.packet_sizing {
            PacketSizing::Window => 1,
            PacketSizing::PacingRate => cwnd
                .saturating_sub(self.flight.in_flight())
                .min(self.burst_segments()),
        }
    }

    /// Whether the congestion window and the peer's have room for `len` more bytes, those counted that wait already; not
    /// while a timeout is repaired (`mptcp_is_temp_unavailable`).
    pub fn takes_more(&self, len: u32) -> bool {
        if self.episode.state == CaState::Loss
            && (self.flight.has_sack() || self.flight.una() != self.episode.point)
        {
            return false;
        }
        let in_flight = self.flight.in_flight();
        let waiting = self
            .written
            .end
            .offset_from(self.flight.nxt())
            .unsigned_abs();
        let room = self.congestion.window.cwnd.saturating_sub(in_flight) * self.flight.sizes.mss;
        in_flight < self.congestion.window.cwnd
            && waiting <= room
            && !(self.written.end + len.min(self.flight.sizes.mss)).is_after(self.window_end())
    }
}
