//! The send buffer of the whole connection (`sk_sndbuf` of the MPTCP socket), and when a writer that found it full is woken.
//!
//! It follows those of the subflows, late: 6.12 adds them up when one of them was seen to differ from what was added last
//! (`__mptcp_sync_sndbuf`), 6.1 takes the largest (`mptcp_propagate_sndbuf`). Both look when a subflow opens, and then only
//! where a writer waits (`subflow_write_space`). A subflow that the server accepts counts from the first such look on.

use std::sync::Arc;

use rexmit_time::Duration;

use super::subflow::Subflow;
use crate::settings::{MptcpBuffer, Settings};

/// The buffer, and the writer that may wait for room in it.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    settings: Arc<Settings>,
    limit: u32,
    /// The sum is to be taken anew once the call is over (`MPTCP_DELEGATE_SNDBUF`).
    stale: bool,
    /// The writer is still to be woken since it found the buffer full (`MPTCP_NOSPACE`, before 6.2).
    wakes: bool,
    /// A writer waits.
    pub writer_waits: bool,
    /// A writer that waited may go on; it was not told yet.
    pub writable: bool,
}

impl SendBuffer {
    pub fn new(settings: &Arc<Settings>) -> Self {
        SendBuffer {
            limit: settings.segments.send_buffer[1],
            settings: Arc::clone(settings),
            stale: false,
            wakes: false,
            writer_waits: false,
            writable: false,
        }
    }

    /// The sum is to be taken anew.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Bytes that it holds, overhead counted.
    pub fn size(&self, subflows: &[Subflow]) -> u32 {
        if self.settings.multipath.is_upstream() {
            return self.limit;
        }
        let each = subflows.iter().map(|s| s.connection.send_buffer());
        let [_, first, most] = self.settings.segments.send_buffer;
        let limit = match self.settings.multipath.mptcp_send_buffer {
            MptcpBuffer::Largest => each.max(),
            // mptcp_update_sndbuf, v0.9x
            MptcpBuffer::Sum => Some(each.fold(0, u32::saturating_add).min(most)),
        };
        limit.unwrap_or(0).max(first)
    }

    /// A subflow opened (`__mptcp_finish_join`, `__mptcp_sync_state`, `mptcp_stream_accept`).
    pub fn opened(&mut self, subflows: &mut [Subflow], index: usize, is_client: bool) {
        let multipath = &self.settings.multipath;
        if multipath.is_upstream() && multipath.mptcp_send_buffer == MptcpBuffer::Sum {
            // A join that is accepted is put on the list after the sum is taken.
            let counts = is_client || subflows[index].first;
            self.add_up(subflows, |other| counts || other != index);
        }
    }

    /// `__mptcp_sync_sndbuf` over the subflows that `counts` names.
    fn add_up(&mut self, subflows: &mut [Subflow], counts: impl Fn(usize) -> bool) {
        let mut limit = self.settings.segments.send_buffer[0];
        for (index, subflow) in subflows.iter_mut().enumerate() {
            if counts(index) {
                subflow.counted_buffer = subflow.connection.send_buffer();
                limit = limit.saturating_add(subflow.counted_buffer);
            }
        }
        self.limit = limit;
        self.stale = false;
    }

    /// A subflow took an acknowledgement in or sent `new` segments: where a writer waits its part of the buffer may grow, and
    /// the writer may go on (`tcp_check_space`, `subflow_write_space`). `used`: bytes that are in use.
    pub fn look(&mut self, subflows: &mut [Subflow], index: usize, new: u32, used: u32) {
        if self.settings.multipath.is_upstream() {
            if !self.writer_waits {
                return;
            }
            let subflow = &mut subflows[index];
            if let Some((buffer, sender)) = subflow.connection.send_buffer_mut() {
                buffer.grow(sender, new);
            }
            let own = subflow.connection.send_buffer();
            match self.settings.multipath.mptcp_send_buffer {
                MptcpBuffer::Sum => self.stale |= own != subflow.counted_buffer,
                MptcpBuffer::Largest => self.limit = self.limit.max(own),
            }
        } else {
            grow_part(subflows, index);
        }
        self.check(subflows, used);
    }

    /// Takes the sum that was put off (`mptcp_subflow_process_delegated`).
    pub fn settle(&mut self, subflows: &mut [Subflow], used: u32) {
        if self.stale {
            self.add_up(subflows, |_| true);
            self.check(subflows, used);
        }
    }

    /// A writer that waits is woken when a third of the buffer is free (`mptcp_write_space`, `sk_stream_is_writeable`).
    pub fn check(&mut self, subflows: &[Subflow], used: u32) {
        if !self.writer_waits {
            return;
        }
        let limit = self.size(subflows);
        let multipath = &self.settings.multipath;
        let wakes = match multipath.mptcp_send_buffer {
            MptcpBuffer::Largest if multipath.is_upstream() => self.wakes,
            _ => true,
        };
        if wakes && used < limit && limit - used >= used / 2 {
            self.wakes = false;
            self.writer_waits = false;
            self.writable = true;
        }
    }

    /// A writer found the buffer full.
    pub fn is_full(&mut self) {
        self.writer_waits = true;
        self.wakes = true;
    }
}

/// A subflow's part of the buffer holds twice the data that go by all of them while its own window makes the longest of
/// their round trips; it grows as long as any subflow has room in its congestion window, whether a writer waits or not
/// (`mptcp_check_snd_buf`, `mptcp_should_expand_sndbuf`).
fn grow_part(subflows: &mut [Subflow], index: usize) {
    let senders = || subflows.iter().filter_map(Subflow::sender);
    let has_room = senders().any(|sender| sender.flight().packets_out() < sender.window().cwnd);
    let longest = senders().filter_map(|sender| sender.timing().srtt()).max();
    let longest_ns = longest.unwrap_or(Duration::ZERO).as_nanos() as u64;
    if has_room {
        if let Some((buffer, sender)) = subflows[index].connection.send_buffer_mut() {
            buffer.grow_for(sender, longest_ns);
        }
    }
}
