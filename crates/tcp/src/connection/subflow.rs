//! What the connection that a subflow belongs to does with it ([`crate::multipath`]).

use rexmit_time::Time;

use super::Connection;
use crate::congestion::Siblings;
use crate::receiver::{Arrived, Bounds, Pool};

impl Connection {
    /// Appends `bytes` to the stream without sending them; in a segment of their own if they do not follow in the data
    /// what stands before them in the subflow (`mptcp_sendmsg_frag`).
    pub fn append(&mut self, now: Time, bytes: u32, apart: bool) {
        if let Some(sender) = &mut self.sender {
            sender.append(now, bytes, apart);
        }
    }

    /// Bytes that may still be appended to the last segment that was not sent; none when there is no such segment.
    #[must_use]
    pub fn open_segment_room(&self) -> Option<u32> {
        self.sender.as_ref()?.open_segment_room()
    }

    /// Sends what was appended (`tcp_push`).
    pub fn push(&mut self, now: Time) {
        if let Some(sender) = &mut self.sender {
            sender.push_appended(now);
            self.pump_and_look(now);
        }
    }

    /// The peer's window reaches at least `window` bytes beyond what is acknowledged: another subflow said so
    /// (`mptcp_check_allowed_size`).
    pub fn raise_peer_window(&mut self, window: u32) {
        if let Some(sender) = &mut self.sender {
            sender.raise_peer_window(window);
        }
    }

    /// The options on segments with data and on acknowledgements take so many bytes from now on.
    pub fn set_options(&mut self, data: u32, ack: u32) {
        let Some(options) = &mut self.local.subflow else {
            return;
        };
        let before = options.data;
        (options.data, options.ack) = (data, ack);
        if let Some(sender) = &mut self.sender {
            sender.change_options(before, data);
            self.receiver.change_options(ack);
        }
    }

    /// The window reaches `window` bytes: another subflow said so (`rwin_update`).
    pub fn extend_window(&mut self, window: u32) {
        self.receiver.extend_window(window);
    }

    /// Whether an acknowledgement waits that a reader makes leave; `empty`: the reader took all there was
    /// (`mptcp_subflow_could_cleanup`).
    #[must_use]
    pub fn acknowledges_after_read(&self, empty: bool) -> bool {
        self.receiver.acknowledges_after_read(empty)
    }

    /// The segment size that this end announced, options taken off (`advmss`).
    #[must_use]
    pub fn announced_mss(&self) -> u32 {
        self.receiver.announced_mss()
    }

    /// The share of payload in what came, of 256 (`scaling_ratio`).
    #[must_use]
    pub fn payload_ratio(&self) -> u32 {
        self.receiver.payload_ratio()
    }

    /// Halves the congestion window of a subflow on which others wait (`mptcp_rcv_buf_optimization`).
    pub fn penalise(&mut self) {
        if let Some(sender) = &mut self.sender {
            sender.penalise();
        }
    }

    /// What its congestion control may know of the connection's subflows.
    pub(crate) fn set_siblings(&mut self, siblings: Siblings) {
        if let Some(sender) = &mut self.sender {
            sender.set_siblings(siblings);
        }
    }

    /// Bytes that the send buffer holds, overhead counted (`sk_sndbuf`).
    #[must_use]
    pub fn send_buffer(&self) -> u32 {
        self.buffer.limit()
    }

    /// A writer waits for the whole connection's buffer: this subflow's part grows if its congestion window has room, or had
    /// when the first of `new` segments left just now (`tcp_new_space`).
    pub fn grow_send_buffer(&mut self, new: u32) {
        if let Some(sender) = &self.sender {
            self.buffer.grow(sender, new);
        }
    }

    /// This subflow's part of the whole connection's buffer grows so that it holds what the congestion window lets go in
    /// `longest_ns`, the longest round trip of any subflow (`mptcp_check_snd_buf`).
    pub fn grow_send_buffer_for(&mut self, longest_ns: u64) {
        let Some(sender) = &self.sender else { return };
        let own_ns = sender.srtt().map_or(0, |srtt| srtt.as_nanos() as u64);
        let in_a_round_trip = match own_ns {
            0 => 0,
            own => u64::from(sender.window().cwnd) * longest_ns.max(own) / own,
        };
        let segments = u32::try_from(in_a_round_trip).unwrap_or(u32::MAX);
        self.buffer.raise_to(segments.max(sender.reordering() + 1));
    }

    /// The next packet that came in order, for the connection.
    pub(crate) fn hand_over(&mut self) -> Option<Arrived> {
        self.receiver.hand_over()
    }

    /// Whether packets in order wait for the connection to take them (`mptcp_subflow_data_available`).
    pub(crate) fn has_packets(&self) -> bool {
        self.receiver.readable() > 0
    }

    /// Bytes of memory for packets that came (`sk_rcvbuf`).
    pub(crate) fn receive_buffer(&self) -> u32 {
        self.receiver.buffer()
    }

    /// The memory that the subflow shares with the others of its connection.
    pub fn set_pool(&mut self, pool: Pool) {
        self.receiver.set_pool(pool);
    }

    /// What bounds the window besides memory.
    pub(crate) fn window_bounds(&self) -> Bounds {
        self.receiver.window_bounds()
    }

    /// The bounds of the whole connection's window hold for this subflow's (multipath-tcp.org).
    pub(crate) fn set_window_bounds(&mut self, bounds: Bounds) {
        self.receiver.set_window_bounds(bounds);
    }

    /// The window that this subflow would offer now, bytes.
    pub fn candidate_window(&mut self) -> u32 {
        self.receiver.candidate_window()
    }

    /// Offers a window; gives the window field (`mptcp_set_rwin`).
    pub fn offer_window(&mut self, window: u32) -> u16 {
        self.receiver.offer_window(window)
    }

    /// The same of a window that is rounded up to what the field can tell.
    pub fn offer_window_rounded(&mut self, window: u32) -> u16 {
        let unit = 1 << self.receiver.scale();
        self.receiver.offer_window(window.next_multiple_of(unit))
    }

    /// What is left of the window offered, bytes.
    #[must_use]
    pub fn window_left(&self) -> u32 {
        self.receiver.window_left()
    }

    /// Smoothed round-trip time as the receiver sees it, microseconds; 0 before the first (`rcv_rtt_est`).
    #[must_use]
    pub fn receiver_rtt_us(&self) -> u64 {
        self.receiver.rtt_us()
    }

    /// The window cannot become larger than `clamp` bytes (`window_clamp`).
    pub fn set_window_clamp(&mut self, buffer: u32, clamp: u32) {
        self.receiver.set_window_clamp(buffer, clamp);
    }

    /// A reader took data of the connection, or (`took` false) looked for more: what is to be acknowledged on this subflow
    /// (`tcp_cleanup_rbuf`).
    pub fn after_read(&mut self, now: Time, took: bool) {
        if let Some(header) = self
            .receiver
            .after_read(took)
            .filter(|_| self.sender.is_some())
        {
            self.send_ack(now, header);
        }
    }

    /// The segment that comes next has `options` bytes of Multipath TCP.
    pub(crate) fn expect_options(&mut self, options: u32) {
        self.receiver.expect_options(options);
    }

    /// What came in order on this subflow cannot be read, as data of others are missing before it.
    pub(crate) fn acknowledge_unreadable(&mut self) {
        self.receiver.acknowledge_unreadable();
    }

    /// Acknowledges at once what is there (`tcp_send_ack`).
    pub fn acknowledge_now(&mut self, now: Time) {
        if self.sender.is_some() {
            let header = self.receiver.header();
            self.send_ack(now, header);
        }
    }
}
