//! A sender as a subflow's: the connection above hands it segments that may not be joined with others, as the data that
//! they carry need not follow each other.

use super::congestion::Congestion;
use super::{CaState, Flight, Sender};
use crate::congestion::{Sibling, Siblings};

impl Sender {
    /// What was sent and not acknowledged.
    pub(crate) fn flight_mut(&mut self) -> &mut Flight {
        &mut self.flight
    }

    /// Bytes that the last unsent segment has room for.
    pub(crate) fn open_segment_room(&self) -> Option<u32> {
        self.written.room(self.room().size_goal())
    }

    /// The peer's window, which other subflows tell as well.
    pub(crate) fn raise_peer_window(&mut self, window: u32) {
        self.peer.window = self.peer.window.max(window);
    }

    /// The options on every segment change from `before` to `after` bytes.
    pub(crate) fn change_options(&mut self, before: u32, after: u32) {
        self.flight.sizes.change_options(before, after);
    }

    /// The window halves, but not below one segment (`mptcp_rcv_buf_optimization`).
    pub(crate) fn penalise(&mut self) {
        let window = &mut self.congestion.window;
        if window.cwnd >= window.ssthresh {
            window.ssthresh = (window.ssthresh / 2).max(2);
        }
        window.cwnd = (window.cwnd / 2).max(1);
    }

    /// Bytes that wait for an acknowledgement or to be sent.
    pub(crate) fn unacknowledged(&self) -> u32 {
        self.written
            .end
            .offset_from(self.flight.una())
            .unsigned_abs()
    }

    /// What the congestion controls of the other subflows may know of this one; none before its first round-trip time.
    pub(crate) fn as_sibling(&self) -> Option<Sibling> {
        let Congestion {
            control, window, ..
        } = &self.congestion;
        Some(Sibling {
            // In a recovery the window says little (RFC 6356 §3).
            window: match self.episode.state {
                CaState::Recovery => window.ssthresh.max(1),
                _ => window.cwnd.max(1),
            },
            rtt_s: self
                .timing
                .srtt()
                .filter(|srtt| srtt.as_nanos() > 0)?
                .as_secs_f64(),
            between_losses: control.between_losses(),
        })
    }

    /// What the congestion control may know of the connection's subflows.
    pub(crate) fn set_siblings(&mut self, siblings: Siblings) {
        self.congestion.siblings = siblings;
    }

    /// Whether the congestion window and the peer's have room for `len` more bytes, those counted that wait already; not
    /// while a timeout is repaired, nor while the host holds too much (`mptcp_is_temp_unavailable`).
    #[must_use]
    pub fn takes_more(&self, len: u32) -> bool {
        !self.output.host.is_throttled() && self.room().takes_more(len)
    }

    /// Bytes a second at which the sender thinks it sends (`sk_pacing_rate`).
    #[must_use]
    pub fn pacing_rate(&self) -> u64 {
        self.congestion.pacing_rate
    }

    /// The tick of the last acknowledgement (`rcv_tstamp`).
    #[must_use]
    pub fn last_heard(&self) -> i64 {
        self.peer.last_ack
    }

    /// The peer's window, bytes (`snd_wnd`).
    #[must_use]
    pub fn peer_window(&self) -> u32 {
        self.peer.window
    }
}
