//! What came: packets in order that wait for the reader, and packets out of order that wait for those before them.

use std::collections::VecDeque;

use rexmit_wire::{SeqNum, SeqRange};

use super::memory::Buffer;
use super::sack::Sacks;

/// A packet, or several that share a buffer. Its range counts a FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub range: SeqRange,
    pub fin: bool,
    pub buffer: Buffer,
}

impl Packet {
    /// Bytes of payload.
    fn len(&self) -> u32 {
        self.range.len() - u32::from(self.fin)
    }

    /// Takes in the packet that follows at once if there is room, and what that costs more (`tcp_try_coalesce`).
    fn take_in(&mut self, next: &Packet, fin_too: bool) -> Option<u32> {
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
    in_order: VecDeque<Packet>,
    /// Sorted by first number; no packet lies within another.
    out_of_order: VecDeque<Packet>,
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
    pub fn append(&mut self, packet: Packet) {
        match self.join_last_in_order(&packet) {
            Some(more) => self.cost += more,
            None => {
                self.cost += packet.buffer.cost;
                self.in_order.push_back(packet);
            }
        }
    }

    fn join_last_in_order(&mut self, packet: &Packet) -> Option<u32> {
        let last = self.in_order.back_mut().filter(|_| !self.apart)?;
        last.take_in(packet, self.tidy)
    }

    /// The first packet for the reader.
    pub fn first(&self) -> Option<&Packet> {
        self.in_order.front()
    }

    /// Drops the first packet for the reader.
    pub fn drop_first(&mut self) {
        if let Some(packet) = self.in_order.pop_front() {
            self.cost -= packet.buffer.cost;
        }
    }

    /// Puts a packet that came out of order in its place and notes what of it came twice (`tcp_data_queue_ofo`).
    pub fn insert(&mut self, mut packet: Packet, sacks: &mut Sacks) -> Placed {
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
            let joined = Some(&packet).filter(|_| self.tidy);
            match joined.and_then(|packet| self.join_last_in_order(packet)) {
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

    /// Drops the last that came out of order until `bound` is kept; whether that was enough (`tcp_prune_ofo_queue`).
    pub fn prune(&mut self, bound: u32) -> bool {
        while self.cost > bound {
            match self.out_of_order.pop_back() {
                Some(packet) => self.cost -= packet.buffer.cost,
                None => return false,
            }
        }
        true
    }
}
