//! What a program does with a sender: it writes, says what holds short segments back, and ends the stream.

use super::nagle::Hold;
use super::write::Extent;
use super::Sender;
use crate::recovery::machine::Actor as _;
use crate::settings::IdleRestart;

/// Where the data of a write lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the program's memory (`write`, `writev`, `send`).
    Memory,
    /// In pages of a file (`sendfile`).
    File,
}

/// A sender as the program that writes has it, for one call.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) sender: &'a mut Sender,
    /// Bytes that a segment may hold before the next begins.
    pub(super) goal: u32,
}

impl Writer<'_> {
    /// Appends `bytes` to the stream and sends what may be sent. `more`: MSG_MORE.
    pub fn write(self, bytes: u32, more: bool) {
        self.write_within(bytes, more, Origin::Memory, u32::MAX);
    }

    /// As [`Writer::write`], as far as a send buffer of `limit` bytes has room for it; returns what was taken. When it is
    /// full, what was taken is pushed out without waiting for more (`tcp_sendmsg_locked`, its `wait_for_space`).
    pub fn write_within(mut self, bytes: u32, more: bool, origin: Origin, limit: u32) -> u32 {
        self.note_limit_by_program();
        let mut taken = 0;
        while taken < bytes {
            let room = self.sender.written.room(self.goal).unwrap_or(0);
            if room == 0 && !self.begin_segment(origin, limit) {
                self.sender.written.nagle.writer_waits = true;
                if taken > 0 {
                    self.push(false, Hold::PUSH);
                }
                return taken;
            }
            let room = if room == 0 { self.goal } else { room };
            let some = room.min(bytes - taken);
            let first = taken == 0;
            taken += some;
            let Some(tail) = self.sender.written.extend(some, first) else {
                return taken;
            };
            let (seq, full) = (tail.seq, tail.len() >= self.goal);
            if origin == Origin::Memory || !self.sender.flight.settings.segments.scatter_gather {
                self.sender.flight.memory.fill(seq, some);
            }
            if taken < bytes && full {
                self.push_full_segment();
            }
        }
        if taken > 0 {
            let hold = self.sender.written.nagle.hold();
            self.push(more, hold);
        }
        taken
    }

    /// Marks what was written with PSH and sends it without waiting for more, as `sendfile` does before 6.5 when it finds the
    /// buffer full (`do_tcp_sendpages`).
    pub fn push_all(mut self) {
        self.push(false, Hold::PUSH);
    }

    /// Sets TCP_CORK; taking it off sends what waits.
    pub fn set_cork(self, on: bool) {
        self.sender.written.nagle.cork = on;
        if !on {
            self.sender.written.nagle.push |= self.sender.written.nagle.off;
            self.sender.push_pending();
        }
    }

    /// Sets TCP_NODELAY; setting it sends what waits.
    pub fn set_nodelay(self, on: bool) {
        self.sender.written.nagle.off = on;
        if on {
            self.sender.written.nagle.push = true;
            self.sender.push_pending();
        }
    }

    /// Ends the stream: a FIN on the last unsent segment, else alone (`tcp_send_fin`).
    pub fn close(self) {
        if self.sender.written.finish() {
            self.sender.push_with(Hold::OFF);
        }
    }

    /// Appends `bytes` to the last unsent segment, or begins a segment with them if they are to stand `apart` or there is
    /// none (`mptcp_sendmsg_frag`).
    pub(crate) fn append(mut self, bytes: u32, apart: bool) {
        if apart || self.sender.written.backlog.is_empty() {
            self.begin_segment(Origin::Memory, u32::MAX);
        }
        self.sender.written.extend(bytes, true);
    }

    /// Sends what was appended. Multipath-tcp.org's kernels have done with Nagle's rule at the level of the connection
    /// (`mptcp_write_xmit`), Linux asks it here (`mptcp_push_release`).
    pub(crate) fn push_appended(mut self) {
        if self.sender.flight.settings.multipath.mptcp_subflow_nagle {
            let hold = self.sender.written.nagle.hold();
            self.push(false, hold);
        } else {
            self.sender.push_with(Hold::PUSH);
        }
    }

    /// Sends what an acknowledgement allows, after the connection above handed out what it may (`tcp_data_snd_check`).
    pub(crate) fn push_after_ack(self) {
        self.sender.push_pending();
    }

    /// Puts an empty segment at the end of the backlog if the buffer has room (`tcp_skb_entail`).
    fn begin_segment(&mut self, origin: Origin, limit: u32) -> bool {
        if self.sender.buffered() >= limit {
            return false;
        }
        let segments = &self.sender.flight.settings.segments;
        let linear =
            segments.linear_writes && (origin == Origin::Memory || !segments.scatter_gather);
        let buffer = linear.then_some(self.sender.flight.mss());
        self.sender.written.begin(buffer, &mut self.sender.flight);
        if self.sender.flight.settings.congestion.idle_restart == IdleRestart::WhenWritten {
            let last_sent = self.sender.output.last_sent;
            self.sender.window_mut().restart_after_idle(last_sent);
        }
        true
    }

    /// Sends what a full segment in the middle of a write allows.
    fn push_full_segment(&mut self) {
        if self
            .sender
            .written
            .push_is_due(self.sender.peer.largest_window)
        {
            self.sender.written.mark_push();
            self.sender.push_with(Hold::PUSH);
        } else if self.sender.written.backlog.len() == 1 {
            // tcp_push_one
            self.sender.send_new_data(Hold::PUSH, Extent::One);
        }
    }

    /// The end of a write (`tcp_push`).
    fn push(&mut self, more: bool, hold: Hold) {
        let Some(tail) = self.sender.written.backlog.tail_mut() else {
            return;
        };
        let len = tail.len();
        if !more
            || self
                .sender
                .written
                .push_is_due(self.sender.peer.largest_window)
        {
            self.sender.written.mark_push();
        }
        let packet = len + self.sender.flight.settings.segments.packet_overhead;
        // tcp_should_autocork: more may be written until the packets in the host have left.
        if self.sender.flight.settings.segments.autocorking
            && len < self.goal
            && self.sender.flight.packets_out() > 0
            && self.sender.output.host.bytes() >= packet
        {
            self.sender.output.host.throttle();
            return;
        }
        self.sender.push_with(if more { Hold::CORK } else { hold });
    }
}
