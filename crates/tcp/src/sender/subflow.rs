//! A sender as a subflow's: the connection above hands it segments that may not be joined with others, as the data that
//! they carry need not follow each other.

use rexmit_time::Time;

use super::congestion::Congestion;
use super::write::Origin;
use super::{Sender, State};
use crate::congestion::{Sibling, Siblings};

impl Sender {
    /// Segments are not joined, neither before they are sent nor when they are sent again (`mptcp_skb_can_collapse`).
    pub(crate) fn be_subflow(&mut self, options: u32) {
        self.sizes.apart = true;
        self.sizes.options = options;
    }

    /// Sends what an acknowledgement allows, after the connection above handed out what it may (`tcp_data_snd_check`).
    pub(crate) fn push_after_ack(&mut self, now: Time) {
        self.moment.now = now;
        self.push_pending();
    }

    /// Appends `bytes` to the last unsent segment, or begins a segment with them if they are to stand `apart` or there is
    /// none (`mptcp_sendmsg_frag`).
    pub(crate) fn append(&mut self, now: Time, bytes: u32, apart: bool) {
        self.moment.now = now;
        if apart || self.written.backlog.is_empty() {
            self.begin_segment(Origin::Memory, u32::MAX);
        }
        self.written.extend(bytes, true);
    }

    /// Bytes that the last unsent segment has room for.
    pub(crate) fn open_segment_room(&self) -> Option<u32> {
        self.written.room(self.size_goal())
    }

    /// Sends what was appended. Multipath-tcp.org's kernels have done with Nagle's rule at the level of the connection
    /// (`mptcp_write_xmit`), Linux asks it here (`mptcp_push_release`).
    pub(crate) fn push_appended(&mut self, now: Time) {
        self.moment.now = now;
        if self.settings.multipath.mptcp_subflow_nagle {
            let goal = self.size_goal();
            let hold = self.written.nagle.hold();
            self.push(false, hold, goal);
        } else {
            self.push_with(super::nagle::Hold::PUSH);
        }
    }

    /// The peer's window, which other subflows tell as well.
    pub(crate) fn raise_peer_window(&mut self, window: u32) {
        self.peer.window = self.peer.window.max(window);
    }

    /// The options on every segment change from `before` to `after` bytes.
    pub(crate) fn change_options(&mut self, before: u32, after: u32) {
        self.sizes.change_options(before, after);
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
        self.written.end.offset_from(self.una).unsigned_abs()
    }

    /// What the congestion controls of the other subflows may know of this one; none before its first round-trip time.
    pub(crate) fn as_sibling(&self) -> Option<Sibling> {
        let Congestion {
            control, window, ..
        } = &self.congestion;
        Some(Sibling {
            // In a recovery the window says little (RFC 6356 §3).
            window: match self.episode.state {
                State::Recovery => window.ssthresh.max(1),
                _ => window.cwnd.max(1),
            },
            rtt_s: self
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
    /// while a timeout is repaired (`mptcp_is_temp_unavailable`).
    #[must_use]
    pub fn takes_more(&self, len: u32) -> bool {
        if self.episode.state == State::Loss && (self.sack || self.una != self.episode.point) {
            return false;
        }
        let in_flight = self.queue.in_flight();
        let waiting = self.written.end.offset_from(self.nxt).unsigned_abs();
        let room = self.congestion.window.cwnd.saturating_sub(in_flight) * self.sizes.mss;
        !self.output.host.is_throttled()
            && in_flight < self.congestion.window.cwnd
            && waiting <= room
            && !(self.written.end + len.min(self.sizes.mss)).is_after(self.window_end())
    }

    /// Bytes a second at which the sender thinks it sends (`sk_pacing_rate`).
    #[must_use]
    pub fn pacing_rate(&self) -> u64 {
        self.congestion.pacing_rate
    }

    /// Ticks until the timer is due, whatever it is set for (`icsk_timeout`); none when it is set for nothing.
    #[must_use]
    pub fn pending_ticks(&self, now: Time) -> Option<i64> {
        self.timing.timer.job()?;
        Some(self.timing.timer.due() - self.moment.clock.ticks(now))
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
