//! The window that is offered, and how it and the buffer behind it grow.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use crate::settings::{DelayedAck, ReceiveBufferGrowth, Settings, WindowShare, FIRST_RATIO};

use super::memory::{truesize, Buffer};
use super::rtt::Rtt;
use super::Pool;

/// Segments that a window holds at first at least (`TCP_INIT_CWND`, `TCP_DEFAULT_INIT_RCVWND`).
const FIRST_SEGMENTS: u32 = 10;
/// The largest buffer that a program of Linux may ask for, if nobody changed `net.core.rmem_max`.
const LARGEST_ASKED: u32 = 212_992;

/// What bounds a window besides memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// It never grows beyond (`window_clamp`).
    pub clamp: u32,
    /// It is no larger as yet; every packet raises this (`rcv_ssthresh`).
    pub threshold: u32,
}

/// A receive window (`rcv_wnd`, `rcv_ssthresh`, `window_clamp`, `sk_rcvbuf`, `rcvq_space`).
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// Bytes of memory for packets.
    pub buffer: u32,
    largest_buffer: u32,
    moderate: bool,
    share: WindowShare,
    growth: ReceiveBufferGrowth,
    /// Segments that the first window and the buffer behind it are for.
    first_segments: u32,
    /// Segments that the first window holds in place of that, unless zero (`RTAX_INITRWND`).
    route_segments: u32,
    header_room: u32,
    /// Parts of 256 of the buffer that are window, with [`WindowShare::ScalingRatio`].
    pub ratio: u32,
    /// Bound of the window.
    pub clamp: u32,
    /// Tighter bound, which grows with what comes (`rcv_ssthresh`).
    threshold: u32,
    /// The window last offered, from the acknowledgement number then.
    pub offered: u32,
    /// The acknowledgement number then (`rcv_wup`).
    pub offered_at: SeqNum,
    /// Of the window field.
    pub scale: u8,
    /// The segment size that we announced, options taken off (`advmss`).
    pub mss: u32,

    // What the reader took in the last round trip.
    round_began: Option<Time>,
    round_at: SeqNum,
    round_space: u32,
}

impl ReceiveWindow {
    /// The window before the handshake, for segments of `mss` bytes, in a stack that scales windows if `scaling`.
    pub fn new(
        settings: &Settings,
        mss: u32,
        quantum: u32,
        clamp: Option<u32>,
        scaling: bool,
    ) -> Self {
        let mut window = ReceiveWindow {
            buffer: settings.receiver.receive_buffer[1],
            largest_buffer: settings.receiver.receive_buffer[2],
            moderate: settings.receiver.moderate_receive_buffer,
            share: settings.receiver.window_share,
            growth: settings.receiver.receive_buffer_growth,
            first_segments: settings.receiver.first_window_segments,
            route_segments: settings.receiver.initial_receive_window,
            header_room: settings.segments.header_room,
            ratio: FIRST_RATIO,
            clamp: clamp.unwrap_or(65535 << 14),
            threshold: 0,
            offered: 0,
            offered_at: SeqNum::default(),
            scale: 0,
            mss,
            round_began: None,
            round_at: SeqNum::default(),
            round_space: 0,
        };
        let largest_asked = match settings.receiver.delayed_ack {
            DelayedAck::Rfc => 0,
            _ => LARGEST_ASKED,
        };
        window.first(quantum.max(1), scaling, largest_asked);
        window
    }

    /// The first window and its scale, which is for a buffer of `largest_asked` bytes too (`tcp_select_initial_window`).
    fn first(&mut self, quantum: u32, scaling: bool, largest_asked: u32) {
        let mut space = (self.full_space().max(0) as u32).min(self.clamp);
        if space > quantum && self.share != WindowShare::Whole {
            space -= space % quantum;
        }
        // Since 6.6 or so what a SYN cannot tell is offered all the same, from the next segment on.
        self.offered = match self.share {
            WindowShare::ScalingRatio => space,
            _ => space.min(65535),
        };
        if scaling {
            let most = space.max(self.largest_buffer).max(largest_asked);
            let most = most.min(self.clamp);
            self.scale = (most.max(1).ilog2().saturating_sub(15)).min(14) as u8;
        }
        let early = self.growth.is_early();
        // Before 4.20 the first window was bounded by the first window of senders (tcp_default_init_rwnd).
        let segments = match self.route_segments {
            0 if early && quantum > 1460 => Some((1460 * self.first_segments / quantum).max(2)),
            0 => early.then_some(self.first_segments),
            said => Some(said),
        };
        if let Some(segments) = segments.filter(|_| !early || quantum > 1 << self.scale) {
            self.offered = self.offered.min(segments.saturating_mul(quantum));
        }
        self.clamp = self.clamp.min(65535 << self.scale);
        self.threshold = self.offered;
    }

    /// The peer scales no windows.
    pub fn do_not_scale(&mut self) {
        self.scale = 0;
        self.clamp = self.clamp.min(65535);
    }

    /// The handshake is over; segments are `mss` bytes long at most (`tcp_init_buffer_space`).
    pub fn open(&mut self, now: Time, next: SeqNum, mss: u32) {
        self.mss = mss;
        if self.growth.is_early() {
            self.round_space = self.offered;
            self.buffer = self.buffer.max(self.first_buffer());
        }
        if self.growth != ReceiveBufferGrowth::TwiceRead {
            self.round_began = Some(now);
            self.round_at = next;
        }
        let most = self.full_space().max(0) as u32;
        if self.clamp >= most {
            self.clamp = most;
        }
        // tcp_app_win = 31: one segment stays in reserve.
        if self.clamp > 2 * mss && self.clamp + mss > most {
            self.clamp = (2 * mss).max(most.saturating_sub(mss));
        }
        self.threshold = self.threshold.min(self.clamp);
        if !self.growth.is_early() {
            self.round_space = self
                .threshold
                .min(self.offered)
                .min(FIRST_SEGMENTS * self.mss);
        }
    }

    /// Bytes of buffer for the first window, and for more where the buffer follows it late (`tcp_fixup_rcvbuf`).
    fn first_buffer(&self) -> u32 {
        let bytes = match self.growth {
            ReceiveBufferGrowth::BySteps => {
                let window = 2 * truesize(self.mss + self.header_room) * self.first_segments;
                window << (2 * u32::from(self.moderate))
            }
            _ => self.packet_cost() * self.first_segments,
        };
        bytes.min(self.largest_buffer)
    }

    /// What a full packet costs, rounded up until its share holds it (`rcvmem`).
    fn packet_cost(&self) -> u32 {
        let mut cost = truesize(self.mss + self.header_room);
        while cost < self.largest_buffer && self.share_of(i64::from(cost)) < i64::from(self.mss) {
            cost += 128;
        }
        cost
    }

    /// How much window `space` bytes of buffer are (`tcp_win_from_space`).
    pub fn share_of(&self, space: i64) -> i64 {
        self.share.window(space, self.ratio)
    }

    /// The window of the whole buffer (`tcp_full_space`).
    fn full_space(&self) -> i64 {
        self.share_of(i64::from(self.buffer))
    }

    /// The window of what is free when packets cost `used` (`tcp_space`).
    fn space(&self, used: u32) -> i64 {
        self.share_of(i64::from(self.buffer) - i64::from(used))
    }

    /// The window of this memory when packets cost `used`.
    pub fn pool(&self, used: u32) -> Pool {
        Pool {
            space: self.space(used),
            full: self.full_space(),
        }
    }

    /// What is left of the offered window (`tcp_receive_window`).
    pub fn left(&self, next: SeqNum) -> u32 {
        let left = (self.offered_at + self.offered).offset_from(next);
        left.max(0) as u32
    }

    /// A packet of `len` bytes changed the segment size that the peer is thought to use (`tcp_measure_rcv_mss`, 6.6).
    pub fn measure(&mut self, len: u32, buffer: &Buffer) {
        if self.share != WindowShare::ScalingRatio {
            return;
        }
        let ratio = ((u64::from(len) << 8) / u64::from(buffer.cost)).clamp(1, 255) as u32;
        if ratio != self.ratio {
            self.ratio = ratio;
            self.clamp = self.full_space().max(0) as u32;
            self.round_space = self.round_space.min(self.clamp);
        }
    }

    /// A packet of `len` bytes came that costs `cost`. If its memory is well used more may come at once: true if the window
    /// grows (`tcp_grow_window`).
    pub fn grow(&mut self, len: u32, cost: u32, used: u32, peer_mss: u32) -> bool {
        if self.growth.is_early() {
            if self.threshold >= self.clamp || i64::from(self.threshold) >= self.space(used) {
                return false;
            }
        } else if i64::from(self.clamp).min(self.space(used)) <= i64::from(self.threshold) {
            return false;
        }
        let room = if self.growth.is_early() {
            i64::from(self.clamp) - i64::from(self.threshold)
        } else {
            i64::from(self.clamp).min(self.space(used)) - i64::from(self.threshold)
        };
        let increment = if self.share_of(i64::from(cost)) <= i64::from(len) {
            2 * self.mss
        } else {
            self.careful_increment(len, cost, peer_mss)
        };
        if increment == 0 {
            return false;
        }
        self.threshold += room.min(i64::from(increment.max(2 * len))) as u32;
        true
    }

    /// As long as the window is small, packets may waste memory (`__tcp_grow_window`).
    fn careful_increment(&self, len: u32, cost: u32, peer_mss: u32) -> u32 {
        let mut cost = self.share_of(i64::from(cost)) >> 1;
        let mut window = self.share_of(i64::from(self.largest_buffer)) >> 1;
        while i64::from(self.threshold) <= window {
            if cost <= i64::from(len) {
                return 2 * peer_mss;
            }
            cost >>= 1;
            window >>= 1;
        }
        0
    }

    /// What bounds the window besides memory (`window_clamp`, `rcv_ssthresh`).
    pub fn bounds(&self) -> Bounds {
        Bounds {
            clamp: self.clamp,
            threshold: self.threshold,
        }
    }

    /// Other bounds hold: those of the connection that a subflow belongs to.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.clamp = bounds.clamp;
        self.threshold = bounds.threshold;
    }

    /// More came than the buffer holds: it grows to what is there, or the window shuts (`tcp_clamp_window`).
    pub fn overrun(&mut self, used: u32) {
        if self.buffer < self.largest_buffer {
            self.buffer = used.min(self.largest_buffer);
        }
        if used > self.buffer {
            self.threshold = self.clamp.min(2 * self.mss);
        }
    }

    /// The window that could be offered now out of `pool`, and whether memory is so short that quick acknowledgements end
    /// (`__tcp_select_window`).
    pub fn candidate(&self, pool: &Pool, peer_mss: u32) -> (u32, bool) {
        let Pool {
            space: mut free,
            full: allowed,
        } = *pool;
        let full = i64::from(self.clamp).min(allowed);
        let mss = i64::from(peer_mss).min(full);
        if mss <= 0 {
            return (0, false);
        }
        let short = free < full >> 1;
        if short {
            let late = self.growth != ReceiveBufferGrowth::TwiceRead;
            if late {
                free = free >> self.scale << self.scale;
            }
            if (free < allowed >> 4 && late) || free < mss {
                return (0, true);
            }
        }
        free = free.min(i64::from(self.threshold));
        let window = if self.scale > 0 {
            round_up(free, self.scale)
        } else {
            let offered = i64::from(self.offered);
            if offered <= free - mss || offered > free {
                free - free % mss
            } else if mss == full && free > offered + (full >> 1) {
                free
            } else {
                offered
            }
        };
        (window as u32, short)
    }

    /// Offers the window `candidate`, or what was offered already, as it never shrinks; returns the window field
    /// (`tcp_select_window`).
    pub fn offer(&mut self, next: SeqNum, candidate: u32) -> u16 {
        let left = self.left(next);
        let window = if candidate < left {
            round_up(i64::from(left), self.scale) as u32
        } else {
            candidate
        };
        self.offered = window;
        self.offered_at = next;
        (window.min(65535 << self.scale) >> self.scale) as u16
    }

    /// What was acknowledged is remembered; the window is offered later.
    pub fn acknowledge(&mut self, next: SeqNum) {
        let left = self.left(next);
        self.offered = left;
        self.offered_at = next;
    }

    /// The window reaches `window` bytes beyond `next`.
    pub fn extend(&mut self, next: SeqNum, window: u32) {
        let told = next.offset_from(self.offered_at).unsigned_abs();
        self.offered = told.saturating_add(window);
    }

    /// Offers exactly this window, even a smaller one than before; returns the window field.
    pub fn offer_exactly(&mut self, next: SeqNum, window: u32) -> u16 {
        self.offered = window;
        self.offered_at = next;
        (window.min(65535 << self.scale) >> self.scale) as u16
    }

    /// Shuts the window: there was no memory for what came.
    pub fn shut(&mut self, next: SeqNum) {
        self.offered = 0;
        self.offered_at = next;
    }

    /// The reader took data up to `copied`; what it takes in a round trip decides how large the buffer must be
    /// (`tcp_rcv_space_adjust`). `waiting` bytes stand behind.
    pub fn reader_took(&mut self, now: Time, rtt: &Rtt, copied: SeqNum, waiting: u32) {
        if let Some(began) = self.round_began {
            if !rtt.has_passed(began, now) {
                return;
            }
            let taken = copied.offset_from(self.round_at).max(0) as u32;
            match self.growth {
                ReceiveBufferGrowth::TwiceRead => self.follow_early(taken),
                ReceiveBufferGrowth::BySteps => self.follow_by_steps(taken),
                ReceiveBufferGrowth::ByRate => self.follow(taken, waiting),
            }
        }
        self.round_at = copied;
        self.round_began = Some(now);
    }

    fn follow(&mut self, taken: u32, waiting: u32) {
        let taken = match self.share {
            // Since 6.12 what still waits does not count.
            WindowShare::ScalingRatio => taken.saturating_sub(waiting),
            _ => taken,
        };
        if taken <= self.round_space {
            return;
        }
        if self.moderate {
            let steady = 2 * u64::from(taken) + 16 * u64::from(self.mss);
            let growth = steady * u64::from(taken - self.round_space) / u64::from(self.round_space);
            let window = steady + 2 * growth;
            let needed = match self.share {
                WindowShare::ScalingRatio => (window << 8) / u64::from(self.ratio),
                _ => window / u64::from(self.mss) * u64::from(self.packet_cost()),
            };
            let buffer = needed.min(u64::from(self.largest_buffer)) as u32;
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = self.full_space().max(0) as u32;
            }
        }
        self.round_space = taken;
    }

    /// 3.14 to 4.18: twice what was taken and some more, threefold or fourfold where it rose by a quarter or a half.
    fn follow_by_steps(&mut self, taken: u32) {
        if taken <= self.round_space {
            return;
        }
        if self.moderate {
            let window = window_by_steps(taken.into(), self.round_space.into(), self.mss);
            let needed = window / u64::from(self.mss) * u64::from(self.packet_cost());
            let buffer = needed.min(u64::from(self.largest_buffer)) as u32;
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = u32::try_from(window).unwrap_or(u32::MAX);
            }
        }
        self.round_space = taken;
    }

    /// 3.10: twice what was taken.
    fn follow_early(&mut self, taken: u32) {
        let space = (2 * taken).max(self.round_space);
        if space == self.round_space {
            return;
        }
        self.round_space = space;
        if self.moderate {
            let segments = (space / self.mss).max(1);
            let buffer = u64::from(segments) * u64::from(self.packet_cost());
            let buffer = buffer.min(u64::from(self.largest_buffer)) as u32;
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = space;
            }
        }
    }
}

/// The window that the buffer is to hold once `taken` bytes were read in a round trip, after `before` in the one before it
/// (`tcp_rcv_space_adjust`, 4.1).
pub(crate) fn window_by_steps(taken: u64, before: u64, mss: u32) -> u64 {
    let steady = 2 * taken + 16 * u64::from(mss);
    if taken >= before + (before >> 1) {
        2 * steady
    } else if taken >= before + (before >> 2) {
        steady + (steady >> 1)
    } else {
        steady
    }
}

fn round_up(bytes: i64, scale: u8) -> i64 {
    let unit = 1_i64 << scale;
    (bytes + unit - 1) & !(unit - 1)
}
