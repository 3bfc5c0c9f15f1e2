//! Sending data as upstream does: fragments to the subflow that the scheduler chooses (`__mptcp_push_pending`,
//! `__mptcp_subflow_push_pending`, `mptcp_sendmsg_frag`).

use rexmit_time::Time;

use super::Meta;
use crate::sender::Sender;
use crate::settings::{MptcpBuffer, MptcpBurst};

impl Meta {
    /// `mptcp_sendmsg`
    pub(super) fn write_fragments(&mut self, now: Time, bytes: u32) -> u32 {
        let mut taken = 0;
        while taken < bytes {
            // 6.1 lets a fragment grow that is there.
            let asks = self.settings.multipath.mptcp_send_buffer == MptcpBuffer::Sum
                || !self.fragments.grows(self.data.end);
            if asks && self.fragments.cost >= self.send_buffer.size(&self.subflows) {
                // What there is goes out. The writer, which does not block, counts as one that waits even if that made
                // room (mptcp_sendmsg, its wait_for_memory; sk_stream_wait_memory, its do_eagain).
                self.send_buffer.is_full();
                self.push_pending(now);
                self.send_buffer.writer_waits = true;
                return taken;
            }
            let some = self.fragments.take(self.data.end, bytes - taken);
            taken += some;
            self.data.end += u64::from(some);
        }
        self.push_pending(now);
        taken
    }

    /// Hands out what may be, in the name of a program (`__mptcp_push_pending`).
    pub(super) fn push_pending(&mut self, now: Time) {
        let mut last = None;
        let mut copied = false;
        while self.fragments.head().is_some() {
            let Some(index) = self.next_subflow(now) else {
                break;
            };
            if let Some(other) = last.filter(|other| *other != index) {
                self.push_subflow(now, other);
            }
            last = Some(index);
            if !self.hand_over(now, index) {
                break;
            }
            copied = true;
        }
        if let Some(index) = last {
            self.push_subflow(now, index);
        }
        if copied {
            self.timer.start(now);
        }
    }

    fn next_subflow(&mut self, now: Time) -> Option<usize> {
        match self.settings.multipath.mptcp_burst {
            MptcpBurst::Segment => self.choose_again(now),
            MptcpBurst::Fragment => {
                if !self.schedule(now) {
                    return None;
                }
                let index = self.subflows.iter().position(|s| s.scheduled)?;
                self.subflows[index].scheduled = false;
                Some(index)
            }
        }
    }

    /// Hands out what may be, as an acknowledgement on the subflow `index` allows it; other subflows' parts are put off until
    /// the call is over (`__mptcp_subflow_push_pending`).
    pub(super) fn push_from(&mut self, now: Time, index: usize, first: bool) {
        let copied = match self.settings.multipath.mptcp_burst {
            MptcpBurst::Segment => self.push_segments_from(now, index, first),
            MptcpBurst::Fragment => self.push_fragments_from(now, index, first),
        };
        if copied {
            self.push_subflow(now, index);
            self.timer.start(now);
        }
    }

    fn push_fragments_from(&mut self, now: Time, index: usize, first: bool) -> bool {
        let mut first = first;
        let mut copied = false;
        let mut keep = true;
        while self.fragments.head().is_some() && keep {
            if std::mem::take(&mut first) {
                self.subflows[index].scheduled = false;
                if !self.hand_over(now, index) {
                    break;
                }
                copied = true;
                continue;
            }
            if !self.schedule(now) {
                break;
            }
            if std::mem::take(&mut self.subflows[index].scheduled) {
                keep = self.hand_over(now, index);
                copied |= keep;
            }
            for other in 0..self.subflows.len() {
                if other != index && self.subflows[other].scheduled {
                    self.subflows[other].delegated = true;
                    keep = false;
                }
            }
        }
        copied
    }

    fn push_segments_from(&mut self, now: Time, index: usize, first: bool) -> bool {
        let mut first = first;
        let mut copied = false;
        while self.fragments.head().is_some() {
            let chosen = if std::mem::take(&mut first) {
                Some(index)
            } else {
                self.choose_again(now)
            };
            match chosen {
                Some(chosen) if chosen == index => {}
                Some(other) => {
                    self.subflows[other].delegated = true;
                    break;
                }
                None => break,
            }
            if !self.hand_over(now, index) {
                break;
            }
            copied = true;
        }
        copied
    }

    /// Hands data to the subflow: a segment, or fragments for a burst (`__subflow_push_pending`). Whether any went.
    fn hand_over(&mut self, now: Time, index: usize) -> bool {
        let mut copied = false;
        while let Some(head) = self.fragments.head() {
            let mut left = head.len - head.sent;
            let mut at = head.start + u64::from(head.sent);
            while left > 0 {
                let some = self.hand_segment(now, index, at, left);
                if some == 0 {
                    return copied;
                }
                copied = true;
                left -= some;
                at += u64::from(some);
                self.fragments.advance(some);
                self.data.nxt = self.data.nxt.max(at);
                if self.settings.multipath.mptcp_burst == MptcpBurst::Segment {
                    break;
                }
            }
            if left == 0 {
                self.fragments.next();
            }
            if self.settings.multipath.mptcp_burst == MptcpBurst::Segment {
                return copied;
            }
            let subflow = &mut self.subflows[index];
            if self.fragments.burst <= 0 || !subflow.has_memory() || !subflow.is_active() {
                return copied;
            }
            self.timer.follow(&self.subflows, now);
        }
        copied
    }

    /// Hands at most a segment of the data at `at` to the subflow, which does not send it yet; its bytes
    /// (`mptcp_sendmsg_frag`).
    pub(super) fn hand_segment(&mut self, now: Time, index: usize, at: u64, most: u32) -> u32 {
        let window = self.data.window_end.saturating_sub(at);
        let again = at < self.data.nxt;
        let head = self.fragments.head();
        let begins_page = head.is_some_and(|head| head.sent == 0 && head.start == at);
        let subflow = &mut self.subflows[index];
        let Some(mss) = subflow.sender().map(|sender| sender.flight().mss()) else {
            return 0;
        };
        let follows = subflow.mappings.last().is_some_and(|map| {
            map.data_end() == at && map.end() == subflow.written && map.again == again
        });
        let room = subflow.sender().and_then(Sender::open_segment_room);
        let room = room.filter(|room| follows && *room > 0);
        let len = u64::from(room.unwrap_or(mss).min(most)).min(window) as u32;
        if len == 0 {
            return 0;
        }
        // Each segment has a mapping of its own.
        let by = 1 << index;
        subflow.raise_peer_window(window);
        subflow.append(now, at, len, room.is_none(), again, by);
        if room.is_some() && begins_page {
            subflow.mappings.add_page();
        }
        len
    }

    /// Sends what was handed over (`mptcp_push_release`).
    pub(super) fn push_subflow(&mut self, now: Time, index: usize) {
        self.subflows[index].connection.push(now);
        self.drain(now, index);
    }

    /// Data were acknowledged on a subflow, or its window moved (`ack_update_msk`).
    pub(super) fn take_data_ack(&mut self, now: Time, index: usize, next: u64) {
        // What another subflow's acknowledgement overtook tells no more of the window.
        let una = if next > self.data.nxt {
            self.data.una
        } else {
            next
        };
        let window = self.subflows[index]
            .sender()
            .map_or(0, |sender| sender.peer_window());
        self.data.window_end = self.data.window_end.max(una + u64::from(window));
        if self.data.window_end > self.data.nxt {
            self.push_from(now, index, false);
        }
        if una > self.data.una {
            self.data.una = una;
            // __mptcp_clean_una
            self.fragments.acknowledge(una);
            if una == self.data.nxt && una == self.data.end {
                self.timer.stop();
            } else {
                self.timer.restart(now);
            }
        }
    }
}
