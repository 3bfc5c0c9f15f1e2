//! From the application's writes to the wire: cutting segments, and the loop that sends them.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::backlog::Unsent;
use super::nagle::Hold;
use super::queue::packets;
use super::{host, Sender, State};
use crate::recovery::machine;
use crate::settings::{IdleRestart, PacketSizing};

/// Where the data of a write lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the program's memory (`write`, `writev`, `send`).
    Memory,
    /// In pages of a file (`sendfile`).
    File,
}

/// How much a run of the write loop sends (`push_one`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that may go.
    All,
    /// One segment at most.
    One,
    /// One segment, whatever the congestion window says: a tail loss probe.
    Probe,
}

impl Sender {
    /// Appends `bytes` to the stream and sends what may be sent. `more`: MSG_MORE.
    pub fn write(&mut self, now: Time, bytes: u32, more: bool) {
        self.write_within(now, bytes, more, Origin::Memory, u32::MAX);
    }

    /// As [`Sender::write`], as far as a send buffer of `limit` bytes has room for it; returns what was taken. When it is
    /// full, what was taken is pushed out without waiting for more (`tcp_sendmsg_locked`, its `wait_for_space`).
    pub fn write_within(
        &mut self,
        now: Time,
        bytes: u32,
        more: bool,
        origin: Origin,
        limit: u32,
    ) -> u32 {
        self.moment.now = now;
        let goal = self.size_goal();
        let mut taken = 0;
        while taken < bytes {
            let room = self.written.room(goal).unwrap_or(0);
            if room == 0 && !self.begin_segment(origin, limit) {
                self.written.nagle.writer_waits = true;
                if taken > 0 {
                    self.push(false, Hold::PUSH, goal);
                }
                return taken;
            }
            let room = if room == 0 { goal } else { room };
            let some = room.min(bytes - taken);
            let first = taken == 0;
            taken += some;
            let Some(tail) = self.written.extend(some, first) else {
                return taken;
            };
            let (seq, full) = (tail.seq, tail.len() >= goal);
            if origin == Origin::Memory || !self.settings.segments.scatter_gather {
                self.written.memory.fill(seq, some);
            }
            if taken < bytes && full {
                self.push_full_segment();
            }
        }
        if taken > 0 {
            let hold = self.written.nagle.hold();
            self.push(more, hold, goal);
        }
        taken
    }

    /// Marks what was written with PSH and sends it without waiting for more, as `sendfile` does before 6.5 when it finds the
    /// buffer full (`do_tcp_sendpages`).
    pub fn push_all(&mut self, now: Time) {
        self.moment.now = now;
        let goal = self.size_goal();
        self.push(false, Hold::PUSH, goal);
    }

    /// Bytes of the send buffer in use, overhead counted (`sk_wmem_queued`).
    #[must_use]
    pub fn buffered(&self) -> u32 {
        let packets = (self.queue.len() + self.written.backlog.len()) as u32 - self.queue.joined;
        let bytes = self.written.end.offset_from(self.una).unsigned_abs();
        packets * self.settings.segments.packet_overhead + bytes + self.written.memory.more()
    }

    /// Whether a writer waits for room in the send buffer (`SOCK_NOSPACE`).
    pub fn set_writer_waits(&mut self, waits: bool) {
        self.written.nagle.writer_waits = waits;
    }

    /// Sets TCP_CORK; taking it off sends what waits.
    pub fn set_cork(&mut self, now: Time, on: bool) {
        self.moment.now = now;
        self.written.nagle.cork = on;
        if !on {
            self.written.nagle.push |= self.written.nagle.off;
            self.push_pending();
        }
    }

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(&mut self, now: Time, on: bool) {
        self.moment.now = now;
        self.written.nagle.off = on;
        if on {
            self.written.nagle.push = true;
            self.push_pending();
        }
    }

    /// Ends the stream: a FIN on the last unsent segment, else alone (`tcp_send_fin`).
    pub fn close(&mut self, now: Time) {
        if self.written.finish() {
            self.moment.now = now;
            self.push_with(Hold::OFF);
        }
    }

    /// A packet of ours that counted `bytes` left the host; packets leave in the order in which they were given out. What
    /// waited for that is sent (`tcp_wfree`, `tcp_tsq_write`).
    pub fn left_host(&mut self, now: Time, bytes: u32) {
        if !self.output.host.leave(now, bytes) {
            return;
        }
        self.moment.now = now;
        if self.settings.segments.small_queue_retransmits
            && self.queue.counts.lost > self.queue.counts.retransmissions
            && self.congestion.window.cwnd > self.queue.in_flight()
        {
            self.send_lost();
        }
        let hold = self.written.nagle.hold();
        self.send_new_data(hold, Extent::All);
    }

    /// Sends what may be sent (`tcp_push_pending_frames`).
    pub(super) fn push_pending(&mut self) {
        if !self.written.backlog.is_empty() {
            self.push_with(self.written.nagle.hold());
        }
    }

    /// As [`Sender::push_pending`]; where nothing may go and nothing is out, the peer's window is probed
    /// (`__tcp_push_pending_frames`).
    pub(super) fn push_with(&mut self, hold: Hold) {
        if self.send_new_data(hold, Extent::All) {
            self.check_persist();
        }
    }

    /// Bytes that a segment in the buffer may hold before the next begins (`tcp_xmit_size_goal`).
    pub(super) fn size_goal(&self) -> u32 {
        let largest = self.sizes.mss * self.settings.segments.gso_segments.max(1);
        match self.settings.segments.packet_sizing {
            // tcp_bound_to_half_wnd
            PacketSizing::Window => {
                let half = self.peer.largest_window / 2;
                (largest.min(half) / self.sizes.mss).max(1) * self.sizes.mss
            }
            PacketSizing::PacingRate => largest,
        }
    }

    /// Puts an empty segment at the end of the backlog if the buffer has room (`tcp_skb_entail`).
    pub(super) fn begin_segment(&mut self, origin: Origin, limit: u32) -> bool {
        if self.buffered() >= limit {
            return false;
        }
        let segments = &self.settings.segments;
        let linear =
            segments.linear_writes && (origin == Origin::Memory || !segments.scatter_gather);
        self.written
            .begin(linear.then_some(self.sizes.mss), &self.settings);
        if self.settings.congestion.idle_restart == IdleRestart::WhenWritten {
            self.restart_after_idle();
        }
        true
    }

    /// Sends what a full segment in the middle of a write allows.
    fn push_full_segment(&mut self) {
        if self.written.push_is_due(self.peer.largest_window) {
            self.written.mark_push();
            self.push_with(Hold::PUSH);
        } else if self.written.backlog.len() == 1 {
            // tcp_push_one
            self.send_new_data(Hold::PUSH, Extent::One);
        }
    }

    /// The end of a write (`tcp_push`).
    pub(super) fn push(&mut self, more: bool, hold: Hold, goal: u32) {
        let Some(tail) = self.written.backlog.tail_mut() else {
            return;
        };
        let len = tail.len();
        if !more || self.written.push_is_due(self.peer.largest_window) {
            self.written.mark_push();
        }
        let packet = len + self.settings.segments.packet_overhead;
        // tcp_should_autocork: more may be written until the packets in the host have left.
        if self.settings.segments.autocorking
            && len < goal
            && !self.queue.is_empty()
            && self.output.host.bytes() >= packet
        {
            self.output.host.throttle();
            return;
        }
        self.push_with(if more { Hold::CORK } else { hold });
    }

    /// Sends new data as far as the windows, Nagle's rule and the host's limit allow. Whether data wait although nothing is
    /// out (`tcp_write_xmit`).
    pub(super) fn send_new_data(&mut self, hold: Hold, extent: Extent) -> bool {
        let mut sent = 0;
        let mut limited = false;
        while let Some(mut head) = self.written.backlog.head() {
            let quota = match self.quota(&head) {
                0 if extent == Extent::Probe => 1,
                0 => break,
                quota => quota.min(self.burst_segments()),
            };
            if self.settings.segments.fill_segments && !self.sizes.apart {
                self.written
                    .backlog
                    .fill_head((quota * self.sizes.mss).saturating_sub(head.len()));
                head = self.written.backlog.head().unwrap_or(head);
            }
            if !self.sizes.fit(&head, self.window_end()) {
                break;
            }
            if head.len() > self.sizes.mss {
                if extent == Extent::All && self.defers(&head, &mut limited) {
                    break;
                }
            } else if self
                .written
                .waits_for_more(&head, &self.sizes, hold, self.out())
            {
                break;
            }
            let most = self.cut_at(&head, quota, hold);
            if head.len() > most {
                self.written.cut_head(&head, most, &self.settings);
                head = self.written.backlog.head().unwrap_or(head);
            }
            if self.host_is_full(head.len(), false) {
                break;
            }
            sent += self.transmit_new(extent == Extent::Probe);
            if extent != Extent::All {
                break;
            }
        }
        limited |= self.queue.in_flight() >= self.congestion.window.cwnd;
        self.validate_window(sent, limited);
        if sent == 0 {
            return self.queue.counts.out == 0 && !self.written.backlog.is_empty();
        }
        if self.episode.in_reduction() {
            self.congestion.prr.sent += sent;
        }
        if extent != Extent::Probe {
            machine::schedule_probe(self, false);
        }
        false
    }

    /// Packets that are out, and where they lie.
    fn out(&self) -> (u32, SeqNum, SeqNum) {
        (self.queue.counts.out, self.una, self.nxt)
    }

    /// Packets that the congestion window allows (`tcp_cwnd_test`).
    pub(super) fn quota(&self, head: &Unsent) -> u32 {
        if self.settings.segments.fin_exempt && head.fin && head.len() <= self.sizes.mss {
            return 1;
        }
        let mut in_flight = self.queue.in_flight();
        if self.episode.state <= State::Disorder && !self.settings.loss.limited_transmit {
            // What duplicates say left the network still counts (RFC 3042).
            in_flight += self.queue.counts.sacked;
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
    pub(super) fn can_send_now(&self) -> bool {
        let Some(head) = self.written.backlog.head() else {
            return false;
        };
        let hold = self.written.nagle.hold();
        let held = self
            .written
            .waits_for_more(&head, &self.sizes, hold, self.out());
        !held && self.quota(&head) > 0 && self.sizes.fit(&head, self.window_end())
    }

    /// Bytes of the segment that go now (`tcp_mss_split_point`).
    fn cut_at(&self, head: &Unsent, quota: u32, hold: Hold) -> u32 {
        if packets(head.len(), self.sizes.mss) == 1 {
            return self.sizes.mss;
        }
        let window = self.window_end().offset_from(head.seq).unsigned_abs();
        let most = quota * self.sizes.mss;
        let needed = head.len().min(window);
        if most <= needed {
            return most;
        }
        let short = needed % self.sizes.mss;
        if self.settings.segments.packet_sizing == PacketSizing::Window {
            return needed - short;
        }
        if short > 0 && {
            let (out, una, nxt) = self.out();
            self.written.nagle.waits(hold, out, una, nxt)
        } {
            needed - short
        } else {
            needed
        }
    }

    /// Whether too much of ours is in the host for one more packet; then sending goes on when a packet leaves
    /// (`tcp_small_queue_check`).
    pub(super) fn host_is_full(&mut self, len: u32, retransmission: bool) -> bool {
        let Some(most) = self.settings.segments.limit_output_bytes else {
            return false;
        };
        let packet = len + self.settings.segments.packet_overhead;
        let limit = if self.settings.segments.pacing_rate {
            host::limit(packet, self.congestion.pacing_rate, most, retransmission)
        } else if retransmission {
            return false;
        } else {
            u64::from(most)
        };
        // The socket itself counts one (`sk_wmem_alloc`).
        if u64::from(self.output.host.bytes()) < limit {
            return false;
        }
        if self.settings.segments.pacing_rate && self.queue.len() <= 1 {
            return false;
        }
        self.output.host.throttle();
        true
    }
}
