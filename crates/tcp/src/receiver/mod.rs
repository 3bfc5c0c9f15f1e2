//! The receiving half of a connection: what is there, what is offered, and when it is acknowledged.
//!
//! Three generations of Linux (3.10, 6.1, 6.12), which differ in what they acknowledge at once, and a receiver as plain
//! as RFC 1122, 5681 and 2018 allow. [`Receiver::on_data`] takes in what came; the acknowledgements that are due at once
//! go to the caller's `acks` as [`Header`]s, in order; [`Receiver::header`] makes the acknowledgement part of any other
//! segment that leaves.
//!
//! Not modelled: urgent data, ECN, pruning by collapsing packets, and 3.10's prequeue, which processes packets only
//! when the reader, blocked in `recv`, runs.

mod delay;
mod memory;
mod reassembly;
mod rtt;
mod sack;
mod window;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

use crate::clock::Clock;
use crate::segment::{SackList, Segment, Timestamps};
use crate::settings::{DelayedAck, Estimator, Settings, WindowShare};

use delay::Delay;
use memory::Buffer;
use reassembly::{Packet, Placed, Queues};
use rtt::{Rtt, Unit};
use sack::Sacks;
use window::Window;

pub(crate) use memory::{truesize, DESCRIPTOR, SHARED_INFO};

/// The segment size below which a peer's segments tell nothing (`TCP_MSS_DEFAULT`).
const COMMON_MSS: u32 = 536;
/// `TCP_MIN_MSS`.
const LEAST_MSS: u32 = 88;
/// Of a TCP header without options.
const HEADER: u32 = 20;
/// The aligned timestamps option.
const TIMESTAMPS: u32 = 12;

/// What a receiver has to know of the sender on its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The timeout in ticks (`icsk_rto`).
    pub rto_ticks: i64,
}

/// The fields of an outgoing segment that are the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The acknowledgement number.
    pub ack: SeqNum,
    /// The window field.
    pub window: u16,
    /// The timestamp to echo.
    pub echo: u32,
    /// The SACK option.
    pub sack: SackList,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// There is more to read.
    pub readable: bool,
    /// The peer's FIN came in order.
    pub fin: bool,
}

/// What was agreed on in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Windows are scaled.
    pub scaling: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// SACK.
    pub sack: bool,
    /// The payload bytes of our own segments.
    pub segment: u32,
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: Arc<Settings>,
    /// The next number in order (`rcv_nxt`).
    next: SeqNum,
    /// The next number to be read (`copied_seq`).
    copied: SeqNum,
    fin: bool,
    sack: bool,
    timestamps: bool,
    echo: u32,
    /// The peer's segment size as it seems (`rcv_mss`).
    peer_mss: u32,
    /// The size of the segment before, if it was not a full one (`last_seg_size`).
    last_len: u32,
    queues: Queues,
    sacks: Sacks,
    window: Window,
    delay: Delay,
    rtt: Rtt,
}

impl Receiver {
    /// A receiver before its handshake that announces segments of `mss` bytes. Its first window is a multiple of
    /// `quantum`; `clamp` bounds its windows; the field is scaled if `scaling`.
    #[must_use]
    pub fn new(
        settings: &Arc<Settings>,
        clock: Clock,
        mss: u32,
        quantum: u32,
        clamp: Option<u32>,
        scaling: bool,
    ) -> Self {
        let unit = match (settings.estimator, settings.window_share) {
            (Estimator::LinuxTicks, _) => Unit::Ticks,
            (_, WindowShare::ScalingRatio) => Unit::MicrosLate,
            _ => Unit::Micros,
        };
        let late = matches!(
            settings.delayed_ack,
            DelayedAck::Linux6 | DelayedAck::Linux612
        );
        Receiver {
            next: SeqNum::default(),
            copied: SeqNum::default(),
            fin: false,
            sack: false,
            timestamps: false,
            echo: 0,
            peer_mss: COMMON_MSS,
            last_len: 0,
            queues: Queues::new(late),
            sacks: Sacks::default(),
            window: Window::new(settings, mss, quantum, clamp, scaling),
            delay: Delay::new(settings, clock),
            rtt: Rtt::new(unit, clock),
            settings: Arc::clone(settings),
        }
    }

    /// The window field of a SYN or SYN-ACK, which is not scaled.
    #[must_use]
    pub fn syn_window(&self) -> u16 {
        self.window.offered.min(65535) as u16
    }

    /// The window scale option.
    #[must_use]
    pub fn scale(&self) -> u8 {
        self.window.scale
    }

    /// The peer's SYN came; data begin at `first`. `echo` is its timestamp.
    pub fn synchronize(&mut self, first: SeqNum, echo: u32) {
        self.next = first;
        self.copied = first;
        self.window.offered_at = first;
        self.echo = echo;
    }

    /// The handshake is over.
    pub fn open(&mut self, now: Time, clock: &Clock, agreed: &Agreed) {
        if !agreed.scaling {
            self.window.do_not_scale();
        }
        self.sack = agreed.sack;
        self.timestamps = agreed.timestamps;
        self.sacks.tell_duplicates = agreed.sack && self.settings.dsack;
        let options = if agreed.timestamps { TIMESTAMPS } else { 0 };
        let mss = self.window.mss - options;
        // tcp_initialize_rcv_mss
        self.peer_mss = mss
            .min(agreed.segment)
            .min(self.window.offered / 2)
            .clamp(LEAST_MSS, COMMON_MSS);
        self.delay.last_data = clock.ticks(now);
        self.window.open(now, self.next, mss);
    }

    /// The timestamp to echo (`ts_recent`).
    #[must_use]
    pub fn echo(&self) -> u32 {
        self.echo
    }

    /// The timestamp of a segment that ends the handshake.
    pub fn remember(&mut self, timestamp: u32) {
        if timestamp.wrapping_sub(self.echo) as i32 >= 0 {
            self.echo = timestamp;
        }
    }

    /// The peer's FIN came where nothing is read any more.
    pub fn skip_fin(&mut self, timestamps: Option<Timestamps>) {
        self.next += 1;
        self.copied = self.next;
        if let Some(timestamps) = timestamps.filter(|_| self.timestamps) {
            self.echo = timestamps.value;
        }
    }

    /// Nothing more will be acknowledged.
    pub fn stop(&mut self) {
        self.delay.stop();
        self.queues.drop_out_of_order();
    }

    /// The next number in order.
    #[must_use]
    pub fn next(&self) -> SeqNum {
        self.next
    }

    /// Bytes in order that were not read.
    #[must_use]
    pub fn readable(&self) -> u32 {
        let waiting = self.next.offset_from(self.copied).max(0) as u32;
        // The FIN takes a number but is not read, except where its packet was.
        waiting - u32::from(self.fin && waiting > 0)
    }

    /// Whether the peer's FIN came in order.
    #[must_use]
    pub fn has_fin(&self) -> bool {
        self.fin
    }

    /// Whether a segment lies in the window or at its edges (`tcp_sequence`).
    #[must_use]
    pub fn accepts(&self, segment: &Segment) -> bool {
        !segment.end().is_before(self.window.offered_at)
            && !segment
                .seq
                .is_after(self.next + self.window.left(self.next))
    }

    /// Whether a reset with the number `seq` is to be believed (RFC 5961 §3.2, and what Linux adds to it).
    #[must_use]
    pub fn believes_reset(&self, seq: SeqNum) -> bool {
        seq == self.next || (self.sack && self.sacks.highest() == Some(seq))
    }

    /// Whether `value` is an older timestamp than data in order had (PAWS, RFC 7323 §5; `tcp_paws_check`). By how much.
    #[must_use]
    pub fn is_old(&self, segment: &Segment) -> Option<u32> {
        let value = segment.timestamps.filter(|_| self.timestamps)?.value;
        let behind = self.echo.wrapping_sub(value) as i32;
        (behind > 1 && self.echo != 0).then_some(behind as u32)
    }

    /// Remembers the timestamp of a segment that begins before what was acknowledged last (RFC 7323 §4.3;
    /// `tcp_replace_ts_recent`), and learns of the round-trip time; `clock` is the clock of our timestamps and `echo` what
    /// the segment echoes of it. One whose acknowledgement is not `current` is not remembered.
    pub fn on_timestamps(
        &mut self,
        segment: &Segment,
        clock: u32,
        echo: Option<u32>,
        current: bool,
    ) {
        let Some(timestamps) = segment.timestamps.filter(|_| self.timestamps) else {
            return;
        };
        let newer = timestamps.value.wrapping_sub(self.echo) as i32 >= 0;
        if current && newer && !segment.seq.is_after(self.window.offered_at) {
            self.echo = timestamps.value;
        }
        let full = segment.space() >= self.peer_mss;
        self.rtt.on_echo(clock, echo.unwrap_or(0), full);
    }

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
        let bare_fin = segment.len == 0 && self.settings.delayed_ack == DelayedAck::Linux612;
        if in_order {
            if left == 0 && !bare_fin {
                self.acknowledge_soon_and_quickly();
                return received;
            }
        } else if !range.start.is_before(self.next + left) {
            self.acknowledge_soon_and_quickly();
            return received;
        }
        if !in_order && self.settings.delayed_ack == DelayedAck::Linux3 {
            self.enter_quick();
        }
        let packet = Packet {
            range,
            fin: segment.flags.fin(),
            buffer: Buffer::of(&self.settings, segment.len),
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
        if !self.has_memory() && !self.make_do(segment.len) {
            return received;
        }
        received.readable = true;
        let mut packet = packet;
        packet.range.start = self.next;
        let buffer = packet.buffer;
        self.queues.append(packet);
        self.next = range.end;
        if segment.len > 0 {
            self.in_order(now, segment, &buffer, sending);
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
        match self.settings.delayed_ack {
            DelayedAck::Linux3 => self.delay.leave_interactive(),
            _ => self.delay.pending.now = true,
        }
    }

    fn has_memory(&self) -> bool {
        self.queues.cost() <= self.window.buffer
    }

    /// There is no memory for a packet in order. Whether it is taken all the same (`tcp_try_rmem_schedule`).
    fn make_do(&mut self, len: u32) -> bool {
        let empty = self.queues.nothing_to_read();
        match self.settings.delayed_ack {
            DelayedAck::Linux6 if empty => return true,
            _ => {}
        }
        if self.prune() {
            return true;
        }
        if self.settings.delayed_ack == DelayedAck::Linux612 {
            self.delay.pending.no_memory = true;
            self.delay.pending.now = true;
            self.delay.pending.scheduled = true;
            return empty || len == 0;
        }
        false
    }

    /// Gets back within the bounds of memory, if need be by dropping what came out of order (`tcp_prune_queue`).
    fn prune(&mut self) -> bool {
        self.delay.no_quick();
        self.window.overrun(self.queues.cost());
        if self.has_memory() {
            return true;
        }
        let enough = self.queues.prune(self.window.buffer);
        self.sacks.clear();
        enough
    }

    /// Data in order (`tcp_event_data_recv`).
    fn in_order(&mut self, now: Time, segment: &Segment, buffer: &Buffer, sending: &Sending) {
        self.delay.pending.scheduled = true;
        self.measure(segment, buffer);
        self.rtt.on_data(now, self.next, self.window.offered);
        self.delay
            .on_data(now, self.window.offered, self.peer_mss, sending);
        if segment.len >= 128 {
            self.grow(segment.len, buffer, self.queues.cost());
        }
    }

    fn grow(&mut self, len: u32, buffer: &Buffer, used: u32) {
        if self.window.grow(len, buffer, used, self.peer_mss) {
            self.delay.one_quick();
        }
    }

    /// Data that wait for others before them (`tcp_data_queue_ofo`).
    fn out_of_order(&mut self, packet: Packet, segment: &Segment, acks: &mut impl FnMut(Header)) {
        if !self.has_memory() && !self.prune() {
            return;
        }
        self.delay.pending.scheduled = true;
        if self.settings.delayed_ack == DelayedAck::Linux612 {
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
            self.grow(segment.len, &packet.buffer, used);
        }
        if self.delay.holds_sacks() && self.sacks.lands_low(packet.range) {
            // tcp_sack_compress_send_ack: what was held back leaves before this changes it.
            acks(self.header());
        }
        self.sacks.add(packet.range);
        if placed == Placed::Queued && tidy {
            self.grow(segment.len, &packet.buffer, used);
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
            if self.settings.delayed_ack == DelayedAck::Linux3 {
                self.peer_mss = segment.len;
                return;
            }
            self.peer_mss = segment.len.min(self.window.mss);
            self.delay.pending.pushed |= pushed;
            return;
        }
        let whole = segment.len + segment.header_len();
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

    /// The connection is half closed by the peer: the acknowledgement of its FIN may ride on ours.
    pub fn enter_interactive(&mut self) {
        self.delay.enter_interactive();
    }

    fn enter_quick(&mut self) {
        self.delay.enter_quick(self.window.offered, self.peer_mss);
    }

    fn acknowledge_soon_and_quickly(&mut self) {
        self.enter_quick();
        self.delay.pending.scheduled = true;
        // A plain receiver knows no quick acknowledgements but this one.
        self.delay.pending.now |= self.settings.delayed_ack == DelayedAck::Rfc;
    }

    /// A segment outside the window came: it is answered by an acknowledgement of what is there (`tcp_send_dupack`).
    pub fn reject(&mut self, segment: &Segment) -> Header {
        if segment.space() > 0 && segment.seq.is_before(self.next) {
            self.enter_quick();
            let end = segment.end();
            self.sacks.set_duplicate(SeqRange {
                start: segment.seq,
                end: if end.is_after(self.next) {
                    self.next
                } else {
                    end
                },
            });
        }
        self.header()
    }

    /// All that a segment brought is worked through and our data have left: what is to be acknowledged is so now, or later
    /// (`tcp_ack_snd_check`).
    pub fn acknowledge(&mut self, now: Time, sending: &Sending) -> Option<Header> {
        if !self.delay.pending.scheduled {
            return None;
        }
        let at_once = match self.settings.delayed_ack {
            DelayedAck::Rfc => self.plainly_at_once(),
            form => self.at_once(now, sending, form),
        };
        match at_once {
            Some(true) => Some(self.header()),
            Some(false) => None,
            None => self.delay.wait(now, sending).then(|| self.header()),
        }
    }

    /// Now, not now, or after the delay (`__tcp_ack_snd_check`).
    fn at_once(&mut self, now: Time, sending: &Sending, form: DelayedAck) -> Option<bool> {
        let more_than_one = self.unacknowledged() > self.peer_mss
            && ((form != DelayedAck::Linux3 && self.next == self.copied)
                || self.candidate() >= self.window.offered);
        if more_than_one || self.delay.is_quick() || self.delay.pending.now {
            return Some(true);
        }
        if !self.queues.has_gap() {
            return None;
        }
        if form == DelayedAck::Linux3 || !self.sack {
            return Some(true);
        }
        let mut rtt = self.rtt.eightfold();
        if let Some(srtt) = sending.srtt {
            rtt = rtt.min(srtt.as_nanos().max(0) as u64 * 8 / 1000);
        }
        Some(self.delay.sack_now(now, self.next, rtt))
    }

    /// RFC 5681 §4.2: at least every second full-sized segment, and at once while data are missing.
    fn plainly_at_once(&self) -> Option<bool> {
        let two_full = self.unacknowledged() >= 2 * self.peer_mss;
        let at_once = two_full || self.queues.has_gap() || self.delay.pending.now || self.fin;
        at_once.then_some(true)
    }

    fn unacknowledged(&self) -> u32 {
        self.next.offset_from(self.window.offered_at).max(0) as u32
    }

    /// The window that could be offered.
    fn candidate(&mut self) -> u32 {
        let (window, short) = self.window.candidate(self.queues.cost(), self.peer_mss);
        if short {
            self.delay.no_quick();
        }
        window
    }

    /// The acknowledgement part of a segment that leaves now: it is taken as sent (`tcp_select_window`,
    /// `tcp_established_options`, `tcp_event_ack_sent`).
    pub fn header(&mut self) -> Header {
        let most = if self.timestamps { 3 } else { 4 };
        let sack = if self.sack {
            self.sacks.tell(most)
        } else {
            SackList::default()
        };
        let window = if self.delay.pending.no_memory {
            self.window.shut(self.next);
            0
        } else {
            let candidate = self.candidate();
            self.window.offer(self.next, candidate)
        };
        self.delay.ack_sent();
        Header {
            ack: self.next,
            window,
            echo: self.echo,
            sack,
        }
    }

    /// A segment with data left, after its [`Self::header`] was made (`tcp_event_data_sent`).
    pub fn data_sent(&mut self, now: Time) {
        self.delay.data_sent(now);
    }

    /// Takes up to `most` bytes for the reader; what that makes due goes to `acks`. A reader that finds nothing takes 0
    /// and looks again whether something is to be acknowledged (`tcp_recvmsg`).
    pub fn read(&mut self, now: Time, most: u32) -> (u32, Option<Header>) {
        let mut taken = 0;
        while let Some(packet) = self.queues.first().copied() {
            let end = packet.range.end - u32::from(packet.fin);
            let there = end.offset_from(self.copied).max(0) as u32;
            let used = there.min(most - taken);
            if used > 0 {
                self.copied += used;
                taken += used;
                let waiting = self.next.offset_from(self.copied).max(0) as u32;
                self.window
                    .reader_took(now, &self.rtt, self.copied, waiting);
            }
            if used < there {
                break;
            }
            self.queues.drop_first();
            if packet.fin {
                self.copied += 1;
                break;
            }
            if taken == most {
                break;
            }
        }
        let due = self.is_due_after_read(taken);
        (taken, due.then(|| self.header()))
    }

    /// Whether reading made room that is worth telling, or took what was pushed (`tcp_cleanup_rbuf`).
    fn is_due_after_read(&mut self, taken: u32) -> bool {
        let pending = self.delay.pending;
        if pending.scheduled && self.settings.delayed_ack != DelayedAck::Rfc {
            let drained = taken > 0
                && self.queues.cost() == 0
                && (pending.pushed_twice || (pending.pushed && !self.delay.is_interactive()));
            if drained || self.unacknowledged() > self.peer_mss {
                return true;
            }
        }
        if taken == 0 || self.fin {
            return false;
        }
        let left = self.window.left(self.next);
        if 2 * left > self.window.clamp {
            return false;
        }
        let candidate = self.candidate();
        candidate > 0 && candidate >= 2 * left
    }

    /// When [`Self::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.delay.deadline()
    }

    /// Runs the timers that are due.
    pub fn on_deadline(&mut self, now: Time, sending: &Sending) -> Option<Header> {
        self.delay.on_deadline(now, sending).then(|| self.header())
    }
}
