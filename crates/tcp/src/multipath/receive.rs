//! Data that came, put in order over all subflows (`__mptcp_move_skb`, `mptcp_data_queue_ofo`).

use std::sync::Arc;

use rexmit_time::Time;

use crate::receiver::truesize;
use crate::settings::{Settings, WindowShare};

/// The share of payload that is reckoned with at first, of 256 (`TCP_DEFAULT_SCALING_RATIO`).
pub(super) const HALF: u32 = 128;

/// Data that came before others.
#[derive(Clone, Copy, Debug)]
struct Early {
    start: u64,
    end: u64,
    cost: u32,
}

/// The data of a connection on the receiver's side.
pub(super) struct Received {
    settings: Arc<Settings>,
    /// The next byte in order (`ack_seq`).
    pub next: u64,
    /// Read so far.
    copied: u64,
    early: Vec<Early>,
    /// What the packets that wait cost, early ones and those to be read.
    cost: u32,
    unread_cost: u32,
    /// Bytes of memory for packets (`sk_rcvbuf`).
    pub buffer: u32,
    /// The share of payload in what came, of 256 (`scaling_ratio`).
    ratio: u32,
    /// After the last byte of data offered to be taken on any subflow (`rcv_wnd_sent`).
    pub offered: u64,
    /// The window last offered, bytes (`old_wspace`).
    pub last_window: u32,

    // What the reader took in the last round trip (`rcvq_space`).
    round_began: Option<Time>,
    round_taken: u64,
    round_space: u64,
    round_trip_us: u64,
}

impl Received {
    pub fn new(settings: &Arc<Settings>) -> Self {
        Received {
            buffer: settings.receive_buffer[1],
            settings: Arc::clone(settings),
            next: 0,
            copied: 0,
            early: Vec::new(),
            cost: 0,
            unread_cost: 0,
            ratio: HALF,
            offered: 0,
            last_window: 0,
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

    /// Data came; true if there is more to read.
    pub fn take(&mut self, data: u64, len: u32) -> bool {
        let end = data + u64::from(len);
        let cost = self.settings.packet_overhead + len;
        if end <= self.next {
            return false;
        }
        if data > self.next {
            self.keep(data, end);
            return false;
        }
        self.next = end;
        self.cost += cost;
        self.unread_cost += cost;
        let longest = u64::from(self.buffer >> 3);
        // What was kept joins what it follows, where both are not too long (__mptcp_ofo_queue).
        let mut begin = data;
        while let Some(early) = self.early.first().copied() {
            if early.start > self.next {
                break;
            }
            self.early.remove(0);
            if early.end > self.next {
                self.unread_cost += early.cost;
                if early.start == self.next && early.end - begin <= longest {
                    self.cost -= self.settings.packet_overhead;
                    self.unread_cost -= self.settings.packet_overhead;
                } else {
                    begin = early.start;
                }
                self.next = early.end;
            } else {
                self.cost -= early.cost;
            }
        }
        true
    }

    /// Keeps data that wait for others before them, together with those right before them if both are not too long
    /// (`mptcp_data_queue_ofo`, `mptcp_try_coalesce`): what is joined costs its payload alone.
    fn keep(&mut self, data: u64, end: u64) {
        let at = self.early.partition_point(|early| early.start < data);
        if self.early.get(at).is_some_and(|early| early.start == data) {
            return;
        }
        let len = (end - data) as u32;
        let longest = u64::from(self.buffer >> 3);
        if let Some(before) = at.checked_sub(1).and_then(|n| self.early.get_mut(n)) {
            if before.end >= end {
                return;
            }
            if before.end == data && end - before.start <= longest {
                before.end = end;
                before.cost += len;
                self.cost += len;
                return;
            }
        }
        let cost = self.settings.packet_overhead + len;
        self.cost += cost;
        let early = Early {
            start: data,
            end,
            cost,
        };
        self.early.insert(at, early);
    }

    /// Takes up to `most` bytes for the reader.
    pub fn read(&mut self, most: u32) -> u32 {
        let taken = self.readable().min(u64::from(most)) as u32;
        self.copied += u64::from(taken);
        if self.readable() == 0 {
            self.cost -= self.unread_cost;
            self.unread_cost = 0;
        }
        taken
    }

    /// The first subflow is up, whose window is `window` bytes for segments of `mss` (`mptcp_rcv_space_init`).
    pub fn begin(&mut self, now: Time, window: u32, mss: u32) {
        self.round_space = u64::from(window.min(10 * mss)).max(1);
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
        match self.settings.window_share {
            WindowShare::AdvWinScale(shift) if shift <= 0 => space >> -shift,
            WindowShare::AdvWinScale(shift) => space - (space >> shift),
            WindowShare::ScalingRatio => (space * i64::from(self.ratio)) >> 8,
            WindowShare::Whole => space,
        }
    }

    /// The reader took `taken` bytes; a buffer that must be larger (`mptcp_rcv_space_adjust`). `round_trip_us` is the longest of
    /// the subflows', `mss` their segment size and `ratio` the smallest share of payload in what came.
    pub fn reader_took(
        &mut self,
        now: Time,
        taken: u32,
        round_trip_us: u64,
        (mss, ratio): (u32, u32),
    ) -> Option<u32> {
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
            if self.settings.moderate_receive_buffer {
                larger = self.wanted(mss).filter(|wanted| *wanted > self.buffer);
            }
            self.round_space = self.round_taken;
        }
        self.round_taken = 0;
        self.round_began = Some(now);
        if let Some(buffer) = larger {
            self.buffer = buffer;
        }
        larger
    }

    fn wanted(&self, mss: u32) -> Option<u32> {
        let (taken, space) = (self.round_taken, self.round_space.max(1));
        let steady = 2 * taken + 16 * u64::from(mss);
        let window = steady + 2 * (steady * (taken - space) / space);
        let needed = match self.settings.window_share {
            WindowShare::ScalingRatio => (window << 8) / u64::from(self.ratio.max(1)),
            _ => {
                let mut cost = truesize(mss + self.settings.header_room);
                while self.share_of(i64::from(cost)) < i64::from(mss) {
                    cost += 128;
                }
                window / u64::from(mss.max(1)) * u64::from(cost)
            }
        };
        let most = u64::from(self.settings.receive_buffer[2]);
        u32::try_from(needed.min(most)).ok()
    }
}
