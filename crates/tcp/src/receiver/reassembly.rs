//! What came: packets in order that wait for the reader, and packets out of order that wait for those before them.

use std::collections::VecDeque;
use std::ops::Range;

use rexmit_wire::{SeqNum, SeqRange};

use super::collapse::collapse;
use super::memory::{Buffer, FULL};
use super::sack::Sacks;

/// A packet, or several that share a buffer. Its range counts a FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skb {
    pub range: SeqRange,
    pub fin: bool,
    pub buffer: Buffer,
}

impl Skb {
    /// Bytes of payload.
    pub fn len(&self) -> u32 {
        self.range.len() - u32::from(self.fin)
    }

    /// Takes in the packet that follows at once if there is room, and what that costs more (`tcp_try_coalesce`).
    fn take_in(&mut self, next: &Skb, fin_too: bool) -> Option<u32> {
        if next.range.start != self.range.end || (next.fin && !fin_too) {
            return None;
        }
        let more = self.buffer.take_in(&next.buffer, next.len())?;
        self.range.end = next.range.end;
        self.fin |= next.fin;
        Some(more)
    }
}

/// What became of a packet that came out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It stands in the queue.
    Queued,
    /// It went into the buffer of the one before.
    Joined,
    /// All of it was there.
    Known,
}

/// The two queues of a receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    in_order: VecDeque<Skb>,
    /// Sorted by first number; no packet lies within another.
    out_of_order: VecDeque<Skb>,
    /// What both cost (`sk_rmem_alloc`).
    cost: u32,
    /// Packets share buffers also when the second bears a FIN; packets out of order do so with any before them, not only
    /// with the last, and are charged anew (Linux since about 4.9).
    tidy: bool,
    /// Packets of a subflow never share buffers: each has a mapping of its own (`mptcp_skb_can_collapse`).
    apart: bool,
}

impl Queues {
    pub fn new(tidy: bool) -> Self {
        Queues {
            tidy,
            ..Queues::default()
        }
    }

    /// From here on packets share no buffers.
    pub fn keep_apart(&mut self) {
        self.apart = true;
    }

    pub fn is_tidy(&self) -> bool {
        self.tidy
    }

    /// What all packets cost.
    pub fn cost(&self) -> u32 {
        self.cost
    }

    /// Whether packets wait for others before them.
    pub fn has_gap(&self) -> bool {
        !self.out_of_order.is_empty()
    }

    /// Whether nothing waits for the reader.
    pub fn nothing_to_read(&self) -> bool {
        self.in_order.is_empty()
    }

    /// Appends a packet for the reader (`tcp_queue_rcv`).
    pub fn append(&mut self, packet: Skb) {
        match self.join_last_in_order(&packet) {
            Some(more) => self.cost += more,
            None => {
                self.cost += packet.buffer.cost;
                self.in_order.push_back(packet);
            }
        }
    }

    fn join_last_in_order(&mut self, packet: &Skb) -> Option<u32> {
        let last = self.in_order.back_mut().filter(|_| !self.apart)?;
        last.take_in(packet, self.tidy)
    }

    /// The first packet for the reader.
    pub fn first(&self) -> Option<&Skb> {
        self.in_order.front()
    }

    /// Drops the first packet for the reader.
    pub fn drop_first(&mut self) {
        if let Some(packet) = self.in_order.pop_front() {
            self.cost -= packet.buffer.cost;
        }
    }

    /// Puts a packet that came out of order in its place and notes what of it came twice (`tcp_data_queue_ofo`).
    pub fn insert(&mut self, mut packet: Skb, sacks: &mut Sacks) -> Placed {
        let range = packet.range;
        let fin_too = self.tidy;
        // Mostly it comes behind all others.
        let mut at = match self.out_of_order.back() {
            Some(last) if range.start.is_before(last.range.end) => self
                .out_of_order
                .partition_point(|other| !other.range.start.is_after(range.start)),
            _ => self.out_of_order.len(),
        };
        if at > 0 {
            let last = at == self.out_of_order.len();
            let before = &mut self.out_of_order[at - 1];
            if (last || self.tidy) && !self.apart {
                if let Some(more) = before.take_in(&packet, fin_too) {
                    self.cost += more;
                    return Placed::Joined;
                }
            }
            if range.start.is_before(before.range.end) {
                if !range.end.is_after(before.range.end) {
                    sacks.set_duplicate(range);
                    return Placed::Known;
                }
                if range.start == before.range.start {
                    // It covers the other, which the loop below removes.
                    at -= 1;
                } else {
                    sacks.set_duplicate(SeqRange {
                        start: range.start,
                        end: before.range.end,
                    });
                }
            }
        }
        while let Some(after) = self.out_of_order.get(at).copied() {
            if !range.end.is_after(after.range.start) {
                break;
            }
            if range.end.is_before(after.range.end) {
                sacks.extend_duplicate(SeqRange {
                    start: after.range.start,
                    end: range.end,
                });
                break;
            }
            sacks.extend_duplicate(after.range);
            self.out_of_order.remove(at);
            self.cost -= after.buffer.cost;
        }
        if self.tidy {
            packet.buffer.condense(packet.len());
        }
        self.cost += packet.buffer.cost;
        self.out_of_order.insert(at, packet);
        Placed::Queued
    }

    /// Moves what follows `next` without a gap to the reader's queue; returns the new end and whether a FIN came up
    /// (`tcp_ofo_queue`).
    pub fn close_gap(&mut self, mut next: SeqNum, sacks: &mut Sacks) -> (SeqNum, bool) {
        let mut told_up_to = next;
        while let Some(packet) = self.out_of_order.front().copied() {
            let range = packet.range;
            if range.start.is_after(next) {
                break;
            }
            if range.start.is_before(told_up_to) {
                let ends_before = range.end.is_before(told_up_to);
                let end = match (ends_before, self.tidy) {
                    (true, true) => range.end,
                    _ => told_up_to,
                };
                // Before 4.9 the bound moved instead of the block's end.
                if ends_before && !self.tidy {
                    told_up_to = range.end;
                }
                sacks.extend_duplicate(SeqRange {
                    start: range.start,
                    end,
                });
            }
            self.out_of_order.pop_front();
            if !range.end.is_after(next) {
                self.cost -= packet.buffer.cost;
                continue;
            }
            let joined = if self.tidy {
                self.join_last_in_order(&packet)
            } else {
                None
            };
            match joined {
                Some(more) => self.cost = self.cost + more - packet.buffer.cost,
                None => self.in_order.push_back(packet),
            }
            next = range.end;
            if packet.fin {
                return (next, true);
            }
        }
        (next, false)
    }

    /// Drops all that came out of order: nothing comes after a FIN.
    pub fn drop_out_of_order(&mut self) {
        for packet in self.out_of_order.drain(..) {
            self.cost -= packet.buffer.cost;
        }
        self.out_of_order.shrink_to_fit();
    }

    /// Copies packets that waste memory into full buffers, those out of order first (`tcp_collapse_ofo_queue`). The reader
    /// has what is before `read`; `bound` is the bytes of memory that there are, and `window` how much window some make.
    /// `header_room` bytes of a buffer stay free.
    pub fn collapse(
        &mut self,
        read: SeqNum,
        bound: u32,
        header_room: u32,
        window: &impl Fn(u32) -> i64,
    ) {
        let (mut at, mut tiny) = (0, 0);
        while at < self.out_of_order.len() {
            let (part, range) = self.run(at);
            let cost = self.out_of_order.range(part.clone());
            let cost: u32 = cost.map(|packet| packet.buffer.cost).sum();
            at = part.end;
            let alone = cost == self.out_of_order[part.start].buffer.cost;
            if self.tidy && alone && range.len() < FULL {
                tiny += cost;
                if tiny > bound >> 3 {
                    break;
                }
            } else {
                let (saved, end) =
                    collapse(&mut self.out_of_order, part, range, header_room, window);
                self.save(saved);
                at = end;
            }
        }
        if let Some(last) = self.in_order.back() {
            let range = SeqRange {
                start: read,
                end: last.range.end,
            };
            let all = 0..self.in_order.len();
            let (saved, _) = collapse(&mut self.in_order, all, range, header_room, window);
            self.save(saved);
        }
    }

    fn save(&mut self, saved: i64) {
        self.cost = (i64::from(self.cost) - saved) as u32;
    }

    /// The packets out of order from the one at `at` on that follow each other without a gap.
    fn run(&self, at: usize) -> (Range<usize>, SeqRange) {
        let mut range = self.out_of_order[at].range;
        let mut end = at + 1;
        while let Some(next) = self.out_of_order.get(end).map(|packet| packet.range) {
            if next.start.is_after(range.end) {
                break;
            }
            if next.end.is_after(range.end) {
                range.end = next.end;
            }
            end += 1;
        }
        (at..end, range)
    }

    /// Drops the last that came out of order until `bound` is kept, `step` bytes of memory at a time; none of before
    /// `keep`. Whether any went (`tcp_prune_ofo_queue`).
    pub fn prune(&mut self, bound: u32, step: u32, keep: Option<SeqNum>) -> bool {
        let (mut goal, mut any) = (i64::from(step), false);
        while let Some(last) = self.out_of_order.back().copied() {
            if keep.is_some_and(|keep| keep.is_after(last.range.start)) {
                break;
            }
            self.out_of_order.pop_back();
            self.cost -= last.buffer.cost;
            any = true;
            goal -= i64::from(last.buffer.cost);
            if goal <= 0 {
                if self.cost <= bound {
                    break;
                }
                goal = i64::from(step);
            }
        }
        any
    }
}
