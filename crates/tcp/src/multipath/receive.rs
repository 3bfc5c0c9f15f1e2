//! Data that came, put in order over all subflows (`__mptcp_move_skb`, `mptcp_data_queue_ofo`).

use std::collections::VecDeque;
use std::sync::Arc;

use rexmit_time::Time;

use crate::receiver::{truesize, window_by_steps, Arrived, Bounds, Buffer};
use crate::settings::{ReceiveBufferGrowth, Settings, WindowShare, FIRST_RATIO};

/// A packet with data, or several that were joined (`struct sk_buff`).
#[derive(Clone, Copy, Debug)]
struct Skb {
    start: u64,
    end: u64,
    /// Its first bytes were there before.
    cut: bool,
    buffer: Buffer,
}

impl Skb {
    fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }

    /// Takes in the packet `next` if it follows and both together are not too long for a receive buffer of `limit` bytes;
    /// what that costs more (`mptcp_try_coalesce`).
    fn join(&mut self, next: &Skb, limit: u32) -> Option<u32> {
        let fits = next.end - self.start <= u64::from(limit >> 3);
        if next.cut || next.start != self.end || !fits {
            return None;
        }
        let more = self.buffer.take_in(&next.buffer, next.len())?;
        self.end = next.end;
        Some(more)
    }
}

/// A window that what the reader takes needs, and the buffer for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Larger {
    pub window: u32,
    pub buffer: u32,
}

/// The data of a connection on the receiver's side.
pub(super) struct Received {
    pub settings: Arc<Settings>,
    /// The next byte in order (`ack_seq`).
    pub next: u64,
    /// Read so far.
    copied: u64,
    /// What waits for data before it (`out_of_order_queue`).
    early: Vec<Skb>,
    /// What waits for the reader (`receive_queue`).
    ready: VecDeque<Skb>,
    /// So many of them the reader has seen: nothing is joined to those any more (`__mptcp_splice_receive_queue`).
    seen: usize,
    /// What all that waits costs (`sk_rmem_alloc`).
    cost: u32,
    /// Bytes of memory for packets (`sk_rcvbuf`).
    pub buffer: u32,
    /// The share of payload in what came, of 256 (`scaling_ratio`).
    ratio: u32,
    /// After the last byte of data offered to be taken on any subflow (`rcv_wnd_sent`).
    pub offered: u64,
    /// The window last offered, bytes (`old_wspace`).
    pub last_window: u32,
    /// What bounds the window of all subflows besides memory; upstream each has bounds of its own.
    pub bounds: Option<Bounds>,

    // What the reader took in the last round trip (`rcvq_space`).
    round_began: Option<Time>,
    round_taken: u64,
    round_space: u64,
    round_trip_us: u64,
}

impl Received {
    pub fn new(settings: &Arc<Settings>) -> Self {
        Received {
            buffer: settings.receiver.receive_buffer[1],
            settings: Arc::clone(settings),
            next: 0,
            copied: 0,
            early: Vec::new(),
            ready: VecDeque::new(),
            seen: 0,
            cost: 0,
            ratio: FIRST_RATIO,
            offered: 0,
            last_window: 0,
            bounds: None,
            round_began: None,
            round_taken: 0,
            round_space: 0,
            round_trip_us: 0,
        }
    }

    /// What packets that wait cost.
    pub fn cost(&self) -> u32 {
        self.cost
    }

    /// Bytes in order that can be read.
    pub fn readable(&self) -> u64 {
        self.next - self.copied
    }

    /// `len` bytes of data came in a packet; false if all of them were there in order (`subflow_check_data_avail`,
    /// `__mptcp_move_skb`). When all packets of an instant are taken, [`Self::close_gap`].
    pub fn take(&mut self, data: u64, len: u32, arrived: &Arrived) -> bool {
        let came = Skb {
            start: data.max(self.next),
            end: data + u64::from(len),
            cut: arrived.cut || data < self.next,
            buffer: arrived.buffer,
        };
        if came.end <= self.next {
            return false;
        }
        if data > self.next {
            self.keep(came);
        } else {
            self.cost += came.buffer.cost;
            self.append(came);
        }
        true
    }

    /// What waited for data that are there now becomes readable (`__mptcp_ofo_queue`).
    pub fn close_gap(&mut self) {
        while let Some(early) = self.early.first().copied() {
            if early.start > self.next {
                break;
            }
            self.early.remove(0);
            if early.end > self.next {
                self.append(early);
            } else {
                self.cost -= early.buffer.cost;
            }
        }
    }

    /// Puts what is in order, and paid for, behind the rest, joined with the last that the reader has not seen if it can be.
    fn append(&mut self, packet: Skb) {
        let limit = self.buffer;
        let unseen = self.ready.len() > self.seen;
        let last = self.ready.back_mut().filter(|_| unseen);
        match last.and_then(|last| last.join(&packet, limit)) {
            Some(more) => self.cost = self.cost + more - packet.buffer.cost,
            None => {
                let start = packet.start.max(self.next);
                let cut = packet.cut || start > packet.start;
                self.ready.push_back(Skb {
                    start,
                    cut,
                    ..packet
                });
            }
        }
        self.next = packet.end;
    }

    /// Keeps data that wait for others before them, joined with those right before them if they can be
    /// (`mptcp_data_queue_ofo`). What lies beyond the window that was offered is dropped.
    fn keep(&mut self, mut came: Skb) {
        let upstream = self.settings.multipath.is_upstream();
        if upstream && came.end > self.offered {
            return;
        }
        let mut at = self
            .early
            .partition_point(|early| early.start <= came.start);
        if let Some(before) = at.checked_sub(1).and_then(|n| self.early.get_mut(n)) {
            if before.end >= came.end {
                return;
            }
            if let Some(more) = before.join(&came, self.buffer) {
                self.cost += more;
                return;
            }
            if before.start == came.start {
                self.cost -= before.buffer.cost;
                at -= 1;
                self.early.remove(at);
            }
        }
        while self
            .early
            .get(at)
            .is_some_and(|early| early.end <= came.end)
        {
            self.cost -= self.early.remove(at).buffer.cost;
        }
        if upstream {
            came.buffer.condense(came.len());
        }
        self.cost += came.buffer.cost;
        self.early.insert(at, came);
    }

    /// Takes up to `most` bytes for the reader (`__mptcp_recvmsg_mskq`).
    pub fn read(&mut self, most: u32) -> u32 {
        let taken = self.readable().min(u64::from(most)) as u32;
        self.copied += u64::from(taken);
        while self
            .ready
            .front()
            .is_some_and(|first| first.end <= self.copied)
        {
            if let Some(gone) = self.ready.pop_front() {
                self.cost -= gone.buffer.cost;
            }
        }
        self.seen = self.ready.len();
        taken
    }

    /// The first subflow is up, whose window is `window` bytes for segments of `mss` (`mptcp_rcv_space_init`).
    pub fn begin(&mut self, now: Time, window: u32, mss: u32) {
        let most = match self.settings.receiver.receive_buffer_growth {
            ReceiveBufferGrowth::ByRate => 10 * mss,
            _ => u32::MAX,
        };
        self.round_space = u64::from(window.min(most)).max(1);
        self.round_began = Some(now);
    }

    /// The window of what is free (`__mptcp_space`).
    pub fn space(&self) -> i64 {
        self.share_of(i64::from(self.buffer) - i64::from(self.cost))
    }

    /// The window of the whole buffer.
    pub fn full_space(&self) -> i64 {
        self.share_of(i64::from(self.buffer))
    }

    /// How much window `space` bytes of buffer are (`mptcp_win_from_space`).
    fn share_of(&self, space: i64) -> i64 {
        self.settings
            .receiver
            .window_share
            .window(space, self.ratio)
    }

    /// The reader took `taken` bytes; a window that must be larger, and the buffer for it (`mptcp_rcv_space_adjust`).
    /// `round_trip_us` is the longest of the subflows', `mss` their segment size and `ratio` the smallest share of payload in
    /// what came.
    pub fn reader_took(
        &mut self,
        now: Time,
        taken: u32,
        round_trip_us: u64,
        (mss, ratio): (u32, u32),
    ) -> Option<Larger> {
        self.round_taken += u64::from(taken);
        let began = self.round_began?;
        let micros = now.since(began).as_nanos().unsigned_abs() / 1_000;
        if self.round_trip_us > 0 && micros < self.round_trip_us {
            return None;
        }
        self.round_trip_us = round_trip_us;
        self.ratio = ratio;
        if micros < round_trip_us || round_trip_us == 0 {
            return None;
        }
        let mut larger = None;
        if self.round_taken > self.round_space {
            if self.settings.receiver.moderate_receive_buffer {
                larger = Some(self.wanted(mss)).filter(|wanted| wanted.buffer > self.buffer);
            }
            self.round_space = self.round_taken;
        }
        self.round_taken = 0;
        self.round_began = Some(now);
        if let Some(larger) = larger {
            self.buffer = larger.buffer;
        }
        larger
    }

    fn wanted(&self, mss: u32) -> Larger {
        let (taken, space) = (self.round_taken, self.round_space.max(1));
        let window = match self.settings.receiver.receive_buffer_growth {
            ReceiveBufferGrowth::TwiceRead => 2 * taken,
            ReceiveBufferGrowth::BySteps => window_by_steps(taken, space, mss),
            ReceiveBufferGrowth::ByRate => {
                let steady = 2 * taken + 16 * u64::from(mss);
                steady + 2 * (steady * (taken - space) / space)
            }
        };
        let needed = match self.settings.receiver.window_share {
            WindowShare::ScalingRatio => (window << 8) / u64::from(self.ratio.max(1)),
            _ => {
                let mut cost = truesize(mss + self.settings.segments.header_room);
                while self.share_of(i64::from(cost)) < i64::from(mss) {
                    cost += 128;
                }
                window / u64::from(mss.max(1)) * u64::from(cost)
            }
        };
        let most = u64::from(self.settings.receiver.receive_buffer[2]);
        let fit = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        Larger {
            window: fit(window),
            buffer: fit(needed.min(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::segment::Segment;
    use crate::stacks;

    const OVERHEAD: u32 = 768;
    const MSS: u32 = 1000;

    /// With a buffer of `buffer` bytes, and so large a window offered that nothing lies beyond.
    fn received(stack: &str, buffer: u32) -> Received {
        let (mut settings, _) = stacks::build(stack, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        settings.segments.packet_overhead = OVERHEAD;
        settings.receiver.receive_buffer = [4_096, buffer, buffer];
        let mut received = Received::new(&Arc::new(settings));
        received.offered = u64::MAX;
        received
    }

    /// `len` bytes of data come in a packet of so many pages.
    fn come(received: &mut Received, data: u64, len: u32, pages: u32) -> bool {
        let segment = Segment {
            len,
            pages,
            ..Segment::default()
        };
        let buffer = Buffer::of(&received.settings, &segment);
        let arrived = Arrived {
            at: 0,
            len,
            cut: false,
            buffer,
        };
        let before = received.next;
        received.take(data, len, &arrived);
        received.close_gap();
        received.next > before
    }

    /// Data come in segments of [`MSS`] from `first` on, in order.
    fn take(received: &mut Received, segments: std::ops::Range<u64>) {
        for n in segments {
            come(received, n * u64::from(MSS), MSS, 1);
        }
    }

    /// What so many segments cost in so many buffers.
    fn cost(segments: u32, buffers: u32) -> u32 {
        segments * MSS + buffers * OVERHEAD
    }

    #[test]
    fn packets_in_order_are_joined_up_to_17_pages() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 0..17);
        assert_eq!(received.cost(), cost(17, 1));
        take(&mut received, 17..18);
        assert_eq!(received.cost(), cost(18, 2));
        take(&mut received, 18..34);
        assert_eq!(received.cost(), cost(34, 2));
    }

    #[test]
    fn a_packet_of_two_pages_counts_twice() {
        let mut received = received("linux-6.12", 1 << 20);
        come(&mut received, 0, MSS, 2);
        take(&mut received, 1..16);
        assert_eq!(received.cost(), cost(16, 1));
        take(&mut received, 16..17);
        assert_eq!(received.cost(), cost(17, 2));
    }

    #[test]
    fn packets_are_joined_up_to_an_eighth_of_the_buffer() {
        let mut received = received("linux-6.12", 8 * 3 * MSS);
        take(&mut received, 0..3);
        assert_eq!(received.cost(), cost(3, 1));
        take(&mut received, 3..4);
        assert_eq!(received.cost(), cost(4, 2));
    }

    #[test]
    fn nothing_is_joined_to_what_the_reader_has_seen() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 0..2);
        assert_eq!(received.read(1), 1);
        take(&mut received, 2..4);
        assert_eq!(received.cost(), cost(4, 2));
    }

    #[test]
    fn reading_frees_whole_buffers() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 0..18);
        assert_eq!(received.read(17 * MSS - 1), 17 * MSS - 1);
        assert_eq!(received.cost(), cost(18, 2));
        assert_eq!(received.read(2), 2);
        assert_eq!(received.cost(), cost(1, 1));
        assert_eq!(received.read(2 * MSS), MSS - 1);
        assert_eq!(received.cost(), 0);
    }

    #[test]
    fn packets_out_of_order_are_joined_to_those_before_them() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 1..18);
        assert_eq!(received.cost(), cost(17, 1));
        take(&mut received, 18..19);
        assert_eq!(received.cost(), cost(18, 2));
        // Not to those behind them.
        take(&mut received, 21..22);
        take(&mut received, 20..21);
        assert_eq!(received.cost(), cost(20, 4));
        assert_eq!((received.next, received.readable()), (0, 0));
    }

    /// The gap closes, and the one packet in order takes nothing in that would make it too long.
    #[test]
    fn what_waited_is_joined_to_what_closes_the_gap() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 1..3);
        assert!(come(&mut received, 0, MSS, 1));
        assert_eq!(received.cost(), cost(3, 1));
        assert_eq!(received.readable(), 3 * u64::from(MSS));
        take(&mut received, 4..21);
        assert!(come(&mut received, 3 * u64::from(MSS), MSS, 1));
        // The fourth joins the first three, the other 17 are too many for that.
        assert_eq!(received.cost(), cost(21, 2));
        assert_eq!(received.readable(), 21 * u64::from(MSS));
    }

    #[test]
    fn what_is_there_already_costs_nothing() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 1..3);
        take(&mut received, 2..3);
        take(&mut received, 1..2);
        assert_eq!(received.cost(), cost(2, 1));
        take(&mut received, 0..1);
        take(&mut received, 0..3);
        assert_eq!(received.cost(), cost(3, 1));
        assert_eq!(received.readable(), 3 * u64::from(MSS));
    }

    /// What is left of a packet joins none (`MPTCP_SKB_CB(from)->offset`), but others join it.
    #[test]
    fn of_what_is_there_in_part_the_rest_counts() {
        let mut received = received("linux-6.12", 1 << 20);
        take(&mut received, 0..1);
        assert!(come(&mut received, u64::from(MSS) / 2, MSS, 1));
        assert_eq!(received.readable(), 3 * u64::from(MSS) / 2);
        assert_eq!(received.cost(), cost(2, 2));
        assert!(come(&mut received, 3 * u64::from(MSS) / 2, MSS, 1));
        assert_eq!(received.cost(), cost(3, 2));
    }

    #[test]
    fn upstream_drops_what_lies_beyond_the_window() {
        for (stack, kept) in [("linux-6.1", 1), ("linux-6.12", 1), ("linux-4.1", 2)] {
            let mut received = received(stack, 1 << 20);
            received.offered = 3 * u64::from(MSS);
            take(&mut received, 2..3);
            assert_eq!(received.cost(), cost(1, 1));
            come(&mut received, 4 * u64::from(MSS) - 1, 1, 1);
            let more = (kept - 1) * (1 + OVERHEAD);
            assert_eq!(received.cost(), cost(1, 1) + more, "{stack}");
        }
    }
}
