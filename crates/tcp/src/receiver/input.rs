//! Taking in what came: in order, out of order, again, or without room (`tcp_data_queue`).

use rexmit_time::Time;
use rexmit_wire::{Flags, SeqRange};

use super::ecn::look_for_mark;
use super::memory::Buffer;
use super::reassembly::{Placed, Skb};
use super::{Header, Received, Receiver, Sending, COMMON_MSS, HEADER, LEAST_MSS, TIMESTAMPS};
use crate::segment::Segment;
use crate::settings::DelayedAck;

impl Receiver {
    /// Takes in a segment with data or a FIN that [`Self::accepts`] (`tcp_data_queue`). Acknowledgements that cannot wait
    /// for [`Self::acknowledge`] go to `acks`.
    ///
    /// Of a FIN the caller makes what its state wants: [`Self::enter_interactive`] or an acknowledgement at once.
    pub fn on_data(
        &mut self,
        now: Time,
        segment: &Segment,
        sending: &Sending,
        mut acks: impl FnMut(Header),
    ) -> Received {
        let reduced = self
            .ecn
            .as_mut()
            .is_some_and(|echo| echo.accept_reduction(segment));
        // The window may be small by now: since 4.19 the acknowledgement does not wait.
        self.delay.pending.now |=
            reduced && self.settings.receiver.delayed_ack != DelayedAck::Linux3;
        let range = SeqRange {
            start: segment.seq,
            end: segment.end(),
        };
        let in_order = range.start == self.next;
        // Where the fast path takes the segment, a D-SACK not yet told stays.
        if !in_order || self.queues.has_gap() || segment.flags.fin() {
            self.sacks.forget_duplicate();
        }
        let mut received = Received::default();
        if !range.end.is_after(self.next) {
            // All of it came before.
            self.sacks.set_duplicate(range);
            self.acknowledge_soon_and_quickly();
            return received;
        }
        let left = self.window.left(self.next);
        let bare_fin =
            segment.len == 0 && self.settings.receiver.delayed_ack == DelayedAck::Linux612;
        if in_order {
            if left == 0 && !bare_fin {
                self.acknowledge_soon_and_quickly();
                return received;
            }
        } else if !range.start.is_before(self.next + left) {
            self.acknowledge_soon_and_quickly();
            return received;
        }
        if !in_order && self.settings.receiver.delayed_ack == DelayedAck::Linux3 {
            self.enter_quick();
        }
        let packet = Skb {
            range,
            fin: segment.flags.fin(),
            buffer: Buffer::of(&self.settings, segment),
        };
        if range.start.is_after(self.next) {
            self.out_of_order(packet, segment, &mut acks);
            return received;
        }
        if range.start.is_before(self.next) {
            // The head of it came before.
            self.sacks.set_duplicate(SeqRange {
                start: range.start,
                end: self.next,
            });
            if left == 0 {
                self.acknowledge_soon_and_quickly();
                return received;
            }
        }
        let waits = std::mem::take(&mut self.reader_waits);
        let read = self.queues.nothing_to_read() || self.taken_directly == Some(self.next);
        let direct = self.settings.receiver.prequeue && waits && read;
        if !direct && !self.has_memory() && !self.make_do(segment) {
            return received;
        }
        received.readable = true;
        let mut packet = packet;
        packet.range.start = self.next;
        let buffer = packet.buffer;
        if direct {
            packet.buffer.cost = 0;
        }
        self.queues.append(packet);
        self.next = range.end;
        if direct && segment.len > 0 {
            // tcp_data_queue: the reader's copy comes before what the packet makes due.
            let end = packet.range.end - u32::from(packet.fin);
            self.taken_directly = Some(end);
            self.window.reader_took(now, &self.rtt, end, 0);
        }
        if segment.len > 0 {
            self.in_order(now, segment, &buffer, sending, &mut acks);
        }
        if packet.fin {
            self.finish();
        }
        if self.queues.has_gap() {
            let (next, fin) = self.queues.close_gap(self.next, &mut self.sacks);
            self.next = next;
            if fin {
                self.finish();
            }
            if !self.queues.has_gap() {
                self.gap_closed();
            }
        }
        if self.queues.has_gap() {
            self.sacks.advance(self.next);
        } else {
            self.sacks.clear();
        }
        received.fin = self.fin;
        received
    }

    /// The gap is closed: RFC 5681 §4.2 wants an acknowledgement at once.
    fn gap_closed(&mut self) {
        match self.settings.receiver.delayed_ack {
            DelayedAck::Linux3 => self.delay.leave_interactive(),
            _ => self.delay.pending.now = true,
        }
    }

    fn has_memory(&self) -> bool {
        self.queues.cost() <= self.window.buffer
    }

    /// There is no memory for a packet in order. Whether it is taken all the same (`tcp_try_rmem_schedule`).
    fn make_do(&mut self, segment: &Segment) -> bool {
        let empty = self.queues.nothing_to_read();
        match self.settings.receiver.delayed_ack {
            DelayedAck::Linux6 if empty => return true,
            _ => {}
        }
        if self.prune(segment) {
            return true;
        }
        if self.settings.receiver.delayed_ack == DelayedAck::Linux612 {
            self.delay.pending.no_memory = true;
            self.delay.pending.now = true;
            self.delay.pending.scheduled = true;
            return empty || segment.len == 0;
        }
        false
    }

    /// Gets back within the bounds of memory before `segment` is taken in, if need be by dropping what came out of order
    /// (`tcp_prune_queue`).
    fn prune(&mut self, segment: &Segment) -> bool {
        self.delay.no_quick();
        self.window.overrun(self.queues.cost());
        let bound = self.window.buffer;
        let form = self.settings.receiver.delayed_ack;
        // Before 4.18 packets were copied even where the larger buffer has room for them as they are.
        if self.has_memory() && form != DelayedAck::Linux3 {
            return true;
        }
        // Packets of a subflow, each with a mapping of its own, are not put together.
        if form != DelayedAck::Rfc && self.subflow.is_none() {
            let window = |cost| self.window.share_of(i64::from(cost));
            let room = self.settings.receiver.collapse_header_room;
            self.queues.collapse(self.copied, bound, room, &window);
            if self.has_memory() {
                return true;
            }
        }
        let (step, keep) = match form {
            DelayedAck::Rfc => (0, None),
            // All of them.
            DelayedAck::Linux3 => (u32::MAX, None),
            DelayedAck::Linux6 => (bound >> 3, None),
            DelayedAck::Linux612 => (bound >> 3, Some(segment.seq)),
        };
        if self.queues.prune(bound, step, keep) {
            self.sacks.clear();
        }
        self.has_memory()
    }

    /// Data in order (`tcp_event_data_recv`).
    fn in_order(
        &mut self,
        now: Time,
        segment: &Segment,
        buffer: &Buffer,
        sending: &Sending,
        acks: &mut impl FnMut(Header),
    ) {
        self.delay.pending.scheduled = true;
        self.measure(segment, buffer);
        self.rtt.on_data(now, self.next, self.window.offered);
        self.delay
            .on_data(now, self.window.offered, self.peer_mss, sending);
        look_for_mark(self, segment, acks);
        if segment.len >= 128 {
            let cost = if self.queues.is_tidy() {
                buffer.cost_of_data()
            } else {
                buffer.cost
            };
            self.grow(segment.len, cost, self.queues.cost());
        }
    }

    fn grow(&mut self, len: u32, cost: u32, used: u32) {
        if self.window.grow(len, cost, used, self.peer_mss) {
            self.delay.one_quick();
        }
    }

    /// Data that wait for others before them (`tcp_data_queue_ofo`).
    fn out_of_order(&mut self, packet: Skb, segment: &Segment, acks: &mut impl FnMut(Header)) {
        look_for_mark(self, segment, acks);
        if !self.has_memory() && !self.prune(segment) {
            return;
        }
        self.delay.pending.scheduled = true;
        if self.settings.receiver.delayed_ack == DelayedAck::Linux612 {
            self.measure(segment, &packet.buffer);
        }
        let first = !self.queues.has_gap();
        let used = self.queues.cost();
        let placed = self.queues.insert(packet, &mut self.sacks);
        if !self.sack {
            return;
        }
        let tidy = self.queues.is_tidy();
        if first {
            self.sacks.clear();
        }
        if placed == Placed::Joined && tidy {
            self.grow(segment.len, packet.buffer.cost_of_data(), used);
        }
        if self.delay.holds_sacks() && self.sacks.lands_low(packet.range) {
            // tcp_sack_compress_send_ack: what was held back leaves before this changes it.
            acks(self.header());
        }
        self.sacks.add(packet.range);
        if placed == Placed::Queued && tidy {
            self.grow(segment.len, packet.buffer.cost, used);
        }
    }

    /// Guesses the peer's segment size (`tcp_measure_rcv_mss`).
    fn measure(&mut self, segment: &Segment, buffer: &Buffer) {
        let last = std::mem::take(&mut self.last_len);
        let pushed = segment.flags.contains(Flags::PSH);
        if segment.len >= self.peer_mss {
            if segment.len != self.peer_mss {
                self.window.measure(segment.len, buffer);
            }
            if self.settings.receiver.delayed_ack == DelayedAck::Linux3 {
                self.peer_mss = segment.len;
                return;
            }
            self.peer_mss = segment.len.min(self.window.mss);
            self.delay.pending.pushed |= pushed;
            return;
        }
        // Options of a subflow in the header count as data here.
        let whole = segment.len + segment.header_len() + self.subflow_options();
        if whole >= COMMON_MSS + HEADER
            || (whole >= LEAST_MSS + HEADER && !pushed && !segment.flags.fin())
        {
            let options = if self.timestamps { TIMESTAMPS } else { 0 };
            let len = whole - (HEADER + options);
            self.last_len = len;
            if len == last {
                self.peer_mss = len;
                return;
            }
        }
        let pending = &mut self.delay.pending;
        pending.pushed_twice |= pending.pushed;
        pending.pushed = true;
    }

    /// The FIN is in order: nothing comes after it (`tcp_fin`).
    fn finish(&mut self) {
        self.delay.pending.scheduled = true;
        self.fin = true;
        self.queues.drop_out_of_order();
        self.sacks.clear();
    }
}
