//! Segments on their way out: for the first time, and again.

use rexmit_wire::{SeqNum, SeqRange};

use super::queue::{packets, Marks, Sent};
use super::{Sender, Transmit};
use crate::recovery::machine;
use crate::recovery::Job;
use crate::settings::{IdleRestart, RttSamples};
use crate::words::Mechanism;

impl Sender {
    /// Sends the first unsent segment; returns the packets it makes (`tcp_transmit_skb`, `tcp_event_new_data_sent`).
    pub(super) fn transmit_new(&mut self, probe: bool) -> u32 {
        let Some(head) = self.written.backlog.pop() else {
            return 0;
        };
        let mut marks = Marks::default();
        if head.fin {
            marks.set(Marks::FIN);
        }
        if head.push {
            marks.set(Marks::PUSH);
        }
        let len = head.len();
        let mut segment = Sent::new(head.seq, head.end, packets(len, self.sizes.mss), marks);
        self.put_out(&mut segment, None, probe);
        if self.settings.timers.rtt_samples == RttSamples::OncePerRoundTrip {
            self.timing.timed.note(head.seq, self.moment.tick());
        }
        // New data turn the timer back to the timeout, from what it was set for in between.
        let job = self.timing.timer.job();
        let converts = matches!(job, Some(Job::Probe | Job::EarlyRetransmit));
        let nothing_out = self.queue.counts.out == 0;
        self.nxt = head.end;
        self.queue.push(segment);
        if nothing_out || converts {
            machine::rearm(self);
        }
        // tcp_minshall_update
        if len < segment.count() * self.sizes.mss {
            self.written.nagle.last_short = head.end;
        }
        segment.count()
    }

    /// Hands a packet out and notes when.
    fn put_out(&mut self, segment: &mut Sent, mechanism: Option<Mechanism>, probe: bool) {
        let len = segment.len();
        if len > 0 {
            self.note_data_sent();
        }
        let in_host_bytes = match self.settings.segments.limit_output_bytes {
            Some(_) => len + self.settings.segments.packet_overhead,
            None => 0,
        };
        if in_host_bytes > 0 {
            segment.transmission = self.output.host.enter(in_host_bytes);
        }
        segment.at = self.moment.micros();
        segment.delivered = self.delivered;
        segment.marks.clear(Marks::SAMPLED | Marks::ALONE);
        self.output.packets.push_back(Transmit {
            range: SeqRange::new(segment.seq, len),
            fin: segment.marks.any(Marks::FIN),
            psh: segment.marks.any(Marks::PUSH),
            mechanism,
            probe,
            in_host_bytes,
            buffer: self.written.memory.of(segment.seq),
        });
    }

    /// The congestion control hears of data after silence (`tcp_event_data_sent`).
    fn note_data_sent(&mut self) {
        if self.settings.congestion.idle_restart == IdleRestart::WhenSent {
            self.restart_after_idle();
        }
        if self.queue.in_flight() == 0 {
            let clock = self.moment.clock;
            let context = self.context(&clock);
            self.congestion
                .control
                .tx_start(&context, self.output.last_sent);
        }
        self.output.last_sent = self.moment.now;
    }

    /// Sends a segment again as far as the peer's window and what the host still holds allow; `most` bounds its packets.
    /// Whether it went out (`__tcp_retransmit_skb`).
    pub(super) fn transmit_again(
        &mut self,
        index: usize,
        most: u32,
        mechanism: Mechanism,
        probe: bool,
    ) -> bool {
        if self.is_in_host(index) {
            return false;
        }
        let una = self.una;
        let segment = self.queue.at_mut(index);
        if segment.seq.is_before(una) {
            // tcp_trim_head
            segment.seq = una;
        }
        let segment = *segment;
        let mut room = self.window_end().offset_from(segment.seq);
        if room <= 0 {
            // A window that shrank to nothing is probed by its first segment.
            if segment.seq != una {
                return false;
            }
            room = self.sizes.mss as i32;
        }
        let room = room.unsigned_abs();
        let mut len = self.sizes.mss * most;
        if len > room {
            len = room / self.sizes.mss * self.sizes.mss;
            if len == 0 {
                len = room;
            }
        }
        if segment.len() > len {
            self.split(index, len);
        } else if segment.len() < room.min(self.sizes.mss) || self.settings.segments.linear_writes {
            self.join_following(index, room.min(self.sizes.mss));
        }
        let mut segment = *self.queue.at(index);
        self.counters.retransmissions += segment.count();
        self.total_retransmitted += segment.count();
        self.episode.causes.note(mechanism);
        self.put_out(&mut segment, Some(mechanism), probe);
        if !probe || self.settings.loss.tlp_marks_retransmission {
            segment.marks.set(Marks::EVER_RETRANSMITTED);
        }
        segment.nxt_then = self.nxt;
        *self.queue.at_mut(index) = segment;
        self.queue.list(index);
        true
    }

    /// Cuts a segment that was sent so that its first part holds `len` bytes (`tcp_fragment`).
    pub(super) fn split(&mut self, index: usize, len: u32) {
        let whole = *self.queue.at(index);
        self.queue.split(index, len, self.sizes.mss, self.sack);
        self.written.memory.split(
            whole.seq,
            whole.seq + len,
            whole.len() - len,
            &self.settings,
        );
    }

    /// Takes the first segment off: all of it is acknowledged.
    pub(super) fn free_first(&mut self) {
        if let Some(head) = self.queue.head() {
            let range = SeqRange {
                start: head.seq,
                end: head.end,
            };
            self.written.memory.free(range, &self.settings);
        }
        self.queue.pop_front();
    }

    /// Whether the packet of the last transmission has not left the host yet (`skb_still_in_host_queue`).
    pub(super) fn is_in_host(&mut self, index: usize) -> bool {
        let held = self.settings.segments.limit_output_bytes.is_some()
            && self.settings.segments.pacing_rate
            && self
                .output
                .host
                .holds(self.moment.now, self.queue.at(index).transmission);
        if held {
            self.output.host.throttle();
            self.counters.held_in_host += 1;
        }
        held
    }

    /// Joins short segments behind one that is sent again (`tcp_retrans_try_collapse`).
    fn join_following(&mut self, index: usize, room: u32) {
        let linear = self.settings.segments.collapse_linear;
        if !self.settings.segments.retrans_collapse || self.sizes.apart {
            return;
        }
        let first = *self.queue.at(index);
        if first.packets > 1
            || first.is_sacked()
            || (linear && !self.written.memory.can_collapse(&first))
        {
            return;
        }
        let mut room = room.saturating_sub(first.len());
        while index + 1 < self.queue.len() {
            let next = *self.queue.at(index + 1);
            let held = self.output.host.holds(self.moment.now, next.transmission)
                && self.settings.segments.pacing_rate;
            if next.packets > 1 || next.is_sacked() || held {
                return;
            }
            if linear && !self.written.memory.can_collapse(&next) {
                return;
            }
            if next.len() > room || next.end.is_after(self.window_end()) {
                return;
            }
            room -= next.len();
            let seq = self.queue.at(index).seq;
            self.queue.join_next(index, self.sack);
            self.written
                .memory
                .join(seq, next.seq, next.len(), &self.settings);
        }
    }

    /// The packet that began at `seq` was dropped on its way.
    pub(crate) fn dropped(&mut self, seq: SeqNum) {
        if let Some(index) = self.queue.find(seq) {
            self.queue.at_mut(index).marks.set(Marks::ALONE);
        }
    }

    /// Sends a segment again and counts the retransmission as in flight; the first of them starts the clock of undo and give-up
    /// (`tcp_retransmit_skb`).
    pub(super) fn retransmit(&mut self, index: usize, most: u32, mechanism: Mechanism) -> bool {
        let sent = self.transmit_again(index, most, mechanism, false);
        let segment = self.queue.at_mut(index);
        let count = segment.count();
        if sent {
            segment.marks.set(Marks::ANY_RETRANSMISSION);
            self.queue.counts.retransmissions += count;
            self.timing.timed.forget();
        }
        if sent || self.settings.congestion.attempts_count {
            let stamp = self.moment.stamp(self.queue.at(index).at);
            self.episode.undo.note_retransmission(Some(stamp), count);
        }
        sent
    }
}
