//! What segments cost the socket beyond their payload, where not all cost the same (`skb->truesize`).
//!
//! What a program wrote lies in a buffer of its own for a whole segment, as the allocator gives it: powers of two. What
//! `sendfile` wrote lies in pages, with a small buffer in front for the headers, if the device gathers pieces
//! (`NETIF_F_SG`); else it is copied into such buffers, too (`sock_no_sendpage`). Since 4.17 the device's ability makes no
//! difference to TCP.

use std::collections::VecDeque;

use rexmit_wire::{SeqNum, SeqRange};

use super::queue::{Marks, SentSegment};
use crate::receiver::{allocated, truesize, SHARED_INFO};
use crate::settings::Settings;

/// Bytes of half a page.
const HALF_PAGE: u32 = 2048;

/// The buffer of a segment that begins at `seq`.
#[derive(Clone, Copy, Debug)]
struct Linear {
    seq: SeqNum,
    /// What it costs.
    cost: u32,
    /// Payload bytes in it.
    filled: u32,
    /// Payload bytes that it holds; what follows lies in pages.
    room: u32,
}

/// The buffers of segments that are neither acknowledged nor in pages, in order of sequence numbers.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Memory {
    buffers: VecDeque<Linear>,
    /// What they cost more than segments in pages would.
    more: u32,
}

impl Memory {
    /// What they cost more than segments in pages would.
    pub fn more(&self) -> u32 {
        self.more
    }

    /// A segment of up to `mss` bytes is begun in a buffer of its own: for all of it, or half a page where the device cuts
    /// segments (`select_size`, `sk_stream_alloc_skb`).
    pub fn begin(&mut self, seq: SeqNum, mss: u32, settings: &Settings) {
        let cuts = settings.segments.scatter_gather && settings.segments.gso_segments > 1;
        let room = if cuts {
            HALF_PAGE.saturating_sub(settings.segments.header_room + SHARED_INFO)
        } else {
            mss
        };
        let cost = cost_of(room, settings);
        self.more += cost.saturating_sub(settings.segments.packet_overhead);
        self.buffers.push_back(Linear {
            seq,
            cost,
            filled: 0,
            room,
        });
    }

    /// `bytes` more lie in the buffer of the segment that begins at `seq`, if it has one, as far as it has room.
    pub fn fill(&mut self, seq: SeqNum, bytes: u32) {
        if let Some(last) = self.buffers.back_mut().filter(|last| last.seq == seq) {
            let bytes = bytes.min(last.room.saturating_sub(last.filled));
            last.filled += bytes;
            self.more = self.more.saturating_sub(bytes);
        }
    }

    /// The segment is gone.
    pub fn free(&mut self, segment: SeqRange, settings: &Settings) {
        while let Some(first) = self.buffers.front() {
            if !first.seq.is_before(segment.end) {
                return;
            }
            let more = first
                .cost
                .saturating_sub(settings.segments.packet_overhead + first.filled);
            self.more = self.more.saturating_sub(more);
            self.buffers.pop_front();
        }
    }

    /// The segment that begins at `seq` is cut: `rest` bytes, from `at` on, get a buffer of their own (`tcp_fragment`).
    pub fn split(&mut self, seq: SeqNum, at: SeqNum, rest: u32, settings: &Settings) {
        let Some(place) = self.place(seq) else {
            return;
        };
        let first = &mut self.buffers[place];
        let moved = rest.min(first.filled);
        first.filled -= moved;
        let cost = cost_of(moved, settings);
        self.more += cost.saturating_sub(settings.segments.packet_overhead);
        self.buffers.insert(
            place + 1,
            Linear {
                seq: at,
                cost,
                filled: moved,
                room: moved,
            },
        );
    }

    /// The segment that begins at `next` is copied into the one that begins at `seq` (`tcp_collapse_retrans`).
    pub fn join(&mut self, seq: SeqNum, next: SeqNum, bytes: u32, settings: &Settings) {
        if let Some(gone) = self
            .place(next)
            .and_then(|place| self.buffers.remove(place))
        {
            let more = gone
                .cost
                .saturating_sub(settings.segments.packet_overhead + gone.filled);
            self.more = self.more.saturating_sub(more);
        }
        if let Some(place) = self.place(seq) {
            self.buffers[place].filled += bytes;
            self.more = self.more.saturating_sub(bytes);
        }
    }

    /// What the buffer costs of the segment that begins at `seq`, and the payload bytes in it; none of one in pages.
    pub fn find(&self, seq: SeqNum) -> Option<(u32, u32)> {
        let buffer = self.buffers[self.place(seq)?];
        Some((buffer.cost, buffer.filled))
    }

    /// Whether the segment's payload, if it has any, lies in one buffer, and nobody else holds that: neither the network
    /// nor, where both hosts are on one machine, the peer out of order (`tcp_can_collapse`, before 4.13 or so).
    pub fn can_collapse(&self, segment: &SentSegment) -> bool {
        let filled = self.find(segment.seq).map_or(0, |(_, filled)| filled);
        filled == segment.len() && segment.marks.any(Marks::ALONE)
    }

    fn place(&self, seq: SeqNum) -> Option<usize> {
        let place = self.buffers.partition_point(|one| one.seq.is_before(seq));
        let found = self.buffers.get(place)?;
        (found.seq == seq).then_some(place)
    }
}

fn cost_of(bytes: u32, settings: &Settings) -> u32 {
    truesize(allocated(
        bytes.next_multiple_of(4) + settings.segments.header_room,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    fn settings() -> Settings {
        stacks::page("linux-3.10").unwrap().settings
    }

    #[test]
    fn a_segment_of_ethernet_costs_a_page_and_the_packet_s_description() {
        let settings = settings();
        let mut memory = Memory::default();
        memory.begin(SeqNum::new(1), 1448, &settings);
        memory.fill(SeqNum::new(1), 1448);
        // As segments in pages: 1,280 and the payload.
        assert_eq!(
            settings.segments.packet_overhead + 1448 + memory.more(),
            4352
        );
        memory.free(SeqRange::new(SeqNum::new(1), 1448), &settings);
        assert_eq!(memory.more(), 0);
    }

    #[test]
    fn a_head_that_pages_follow_costs_both() {
        let settings = settings();
        let mut memory = Memory::default();
        memory.begin(SeqNum::new(1), 1448, &settings);
        memory.fill(SeqNum::new(1), 238);
        assert_eq!(
            settings.segments.packet_overhead + 1448 + memory.more(),
            5562
        );
        assert_eq!(memory.find(SeqNum::new(1)), Some((4352, 238)));
        assert_eq!(memory.find(SeqNum::new(1449)), None);
    }

    #[test]
    fn what_is_cut_and_joined_again_costs_what_its_buffers_cost() {
        let settings = settings();
        let mut memory = Memory::default();
        memory.begin(SeqNum::new(1), 1448, &settings);
        memory.fill(SeqNum::new(1), 1448);
        memory.split(SeqNum::new(1), SeqNum::new(1001), 448, &settings);
        // 448 + 304 rounded up, and what stands behind them: 2,048.
        assert_eq!(2 * 1280 + 1448 + memory.more(), 4352 + 2048 + 256);
        memory.join(SeqNum::new(1), SeqNum::new(1001), 448, &settings);
        assert_eq!(1280 + 1448 + memory.more(), 4352);
    }
}
