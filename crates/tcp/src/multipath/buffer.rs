//! The send buffer of the whole connection (`sk_sndbuf` of the MPTCP socket), and when a writer that found it full is woken.
//!
//! It follows those of the subflows, late: 6.12 adds them up when one of them was seen to differ from what was added last
//! (`__mptcp_sync_sndbuf`), 6.1 takes the largest (`mptcp_propagate_sndbuf`). Both look when a subflow opens, and then only
//! where a writer waits (`subflow_write_space`). A subflow that the server accepts counts from the first such look on.

use rexmit_time::{Duration, Time};

use super::Meta;
use crate::settings::{MptcpBuffer, Settings};

/// The buffer's size.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendBuffer {
    limit: u32,
    /// The sum is to be taken anew once the call is over (`MPTCP_DELEGATE_SNDBUF`).
    stale: bool,
    /// The writer is still to be woken since it found the buffer full (`MPTCP_NOSPACE`, before 6.2).
    wakes: bool,
}

impl SendBuffer {
    pub fn new(settings: &Settings) -> Self {
        SendBuffer {
            limit: settings.segments.send_buffer[1],
            stale: false,
            wakes: false,
        }
    }

    /// The sum is to be taken anew.
    pub fn is_stale(&self) -> bool {
        self.stale
    }
}

impl Meta {
    /// Bytes that the send buffer of the whole connection holds, overhead counted.
    pub(super) fn send_buffer(&self) -> u32 {
        if self.is_upstream() {
            return self.send_buffer.limit;
        }
        let each = self.subflows.iter().map(|s| s.connection.send_buffer());
        let limit = match self.settings.multipath.mptcp_send_buffer {
            MptcpBuffer::Largest => each.max(),
            // mptcp_update_sndbuf, v0.9x
            MptcpBuffer::Sum => {
                let sum = each.fold(0, u32::saturating_add);
                Some(sum.min(self.settings.segments.send_buffer[2]))
            }
        };
        limit
            .unwrap_or(0)
            .max(self.settings.segments.send_buffer[1])
    }

    /// A subflow opened (`__mptcp_finish_join`, `__mptcp_sync_state`, `mptcp_stream_accept`).
    pub(super) fn buffer_of_opened(&mut self, index: usize) {
        if self.is_upstream() && self.settings.multipath.mptcp_send_buffer == MptcpBuffer::Sum {
            let subflow = &self.subflows[index];
            // A join that is accepted is put on the list after the sum is taken.
            let counts = self.is_client || subflow.first;
            self.add_up_buffers(|other| counts || other != index);
        }
    }

    /// `__mptcp_sync_sndbuf` over the subflows that `counts` names.
    fn add_up_buffers(&mut self, counts: impl Fn(usize) -> bool) {
        let mut limit = self.settings.segments.send_buffer[0];
        for (index, subflow) in self.subflows.iter_mut().enumerate() {
            if counts(index) {
                subflow.counted_buffer = subflow.connection.send_buffer();
                limit = limit.saturating_add(subflow.counted_buffer);
            }
        }
        self.send_buffer.limit = limit;
        self.send_buffer.stale = false;
    }

    /// A subflow took an acknowledgement in or sent `new` segments: where a writer waits its part of the buffer may grow, and
    /// the writer may go on (`tcp_check_space`, `subflow_write_space`).
    pub(super) fn look_for_space(&mut self, index: usize, new: u32) {
        if !self.is_upstream() {
            self.grow_send_buffer_of_pieces(index);
            self.check_space();
            return;
        }
        if !self.writer_waits {
            return;
        }
        let subflow = &mut self.subflows[index];
        subflow.connection.grow_send_buffer(new);
        let own = subflow.connection.send_buffer();
        match self.settings.multipath.mptcp_send_buffer {
            MptcpBuffer::Sum => self.send_buffer.stale |= own != subflow.counted_buffer,
            MptcpBuffer::Largest => self.send_buffer.limit = self.send_buffer.limit.max(own),
        }
        self.check_space();
    }

    /// A subflow's part of the buffer holds twice the data that go by all of them while its own window makes the longest of
    /// their round trips; it grows as long as any subflow has room in its congestion window, whether a writer waits or not
    /// (`mptcp_check_snd_buf`, `mptcp_should_expand_sndbuf`).
    fn grow_send_buffer_of_pieces(&mut self, index: usize) {
        let senders = || self.subflows.iter().filter_map(|s| s.sender());
        let has_room = senders().any(|sender| sender.packets_out() < sender.window().cwnd);
        let round_trips = senders().filter_map(|sender| sender.srtt());
        let longest = round_trips.max().unwrap_or(Duration::ZERO).as_nanos() as u64;
        if has_room {
            let connection = &mut self.subflows[index].connection;
            connection.grow_send_buffer_for(longest);
        }
    }

    /// Takes the sum that was put off (`mptcp_subflow_process_delegated`).
    pub(super) fn settle_buffer(&mut self) {
        if self.send_buffer.stale {
            self.add_up_buffers(|_| true);
            self.check_space();
        }
    }

    /// A writer that waits is woken when a third of the buffer is free (`mptcp_write_space`, `sk_stream_is_writeable`).
    pub(super) fn check_space(&mut self) {
        if !self.writer_waits {
            return;
        }
        let (used, limit) = (self.buffered(), self.send_buffer());
        let wakes = match self.settings.multipath.mptcp_send_buffer {
            MptcpBuffer::Largest if self.is_upstream() => self.send_buffer.wakes,
            _ => true,
        };
        if wakes && used < limit && limit - used >= used / 2 {
            self.send_buffer.wakes = false;
            self.writer_waits = false;
            self.writable = true;
        }
    }

    /// A writer found the buffer full: what there is goes out (`mptcp_sendmsg`, its `wait_for_memory`). The writer, which does
    /// not block, counts as one that waits even if that made room (`sk_stream_wait_memory`, its `do_eagain`).
    pub(super) fn push_when_full(&mut self, now: Time) {
        self.writer_waits = true;
        self.send_buffer.wakes = true;
        self.push_pending(now);
        self.writer_waits = true;
    }
}
