//! What packets cost in buffers: Linux charges a socket for the memory behind them, not for their payload.

use crate::segment::Segment;
use crate::settings::Settings;

/// `struct sk_buff`, rounded up to cache lines of 64 bytes.
pub(crate) const DESCRIPTOR: u32 = 256;
/// `struct skb_shared_info`, which stands behind every buffer.
pub(crate) const SHARED_INFO: u32 = 320;
/// Pieces of pages that a packet has room for (`MAX_SKB_FRAGS`).
const MOST_PAGES: u32 = 17;

/// Bytes of data in a buffer of one page (`SKB_MAX_ORDER(0, 0)`).
pub(crate) const FULL: u32 = 4096 - SHARED_INFO;

/// What a buffer of `bytes` costs (`SKB_TRUESIZE`).
pub(crate) const fn truesize(bytes: u32) -> u32 {
    bytes + DESCRIPTOR + SHARED_INFO
}

/// The memory of a packet that came in.
///
/// It is taken to have come over a veth pair from a sender that computes checksums in software: the sender's charge for
/// the packet comes along with it. What a program wrote lies in pages; those of a file were copied into one new buffer on
/// the way (`skb_checksum_help`, `pskb_expand_head`). What lay in one buffer already is not copied: the sender, who keeps it
/// until it is acknowledged, and the receiver share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// What it costs (`truesize`).
    pub cost: u32,
    /// Pieces of pages that hold data (`nr_frags`).
    pages: u32,
    /// The first data lie in the buffer in front of them, which cannot be moved (`skb_head_is_locked`).
    in_front: bool,
    /// Bytes of payload that still fit into the buffer (`skb_end_offset` less what it holds).
    room: u32,
    /// What the buffer alone costs.
    buffer: u32,
    /// The sender has it, too (`skb_cloned`), so nothing is put into it.
    shared: bool,
}

impl Buffer {
    /// The memory of a segment.
    pub fn of(settings: &Settings, segment: &Segment) -> Self {
        let len = segment.len;
        if let Some((cost, filled)) = segment.buffer {
            return Buffer {
                cost: cost + len.saturating_sub(filled),
                pages: segment.pages,
                in_front: true,
                room: 0,
                buffer: cost,
                shared: true,
            };
        }
        let in_pages = segment.pages > 0;
        let first = settings
            .segments
            .packet_overhead
            .saturating_sub(truesize(0));
        let filled = settings.segments.header_room + if in_pages { 0 } else { len };
        let capacity = if filled <= first {
            first
        } else {
            // Linearised with 128 bytes to spare.
            allocated(filled + 128)
        };
        Buffer {
            cost: settings.segments.packet_overhead + len,
            pages: segment.pages,
            in_front: !in_pages,
            room: capacity.saturating_sub(filled),
            buffer: if in_pages {
                settings.segments.packet_overhead
            } else {
                truesize(capacity)
            },
            shared: false,
        }
    }

    /// A new buffer for `bytes` of data (`alloc_skb`).
    pub fn empty(bytes: u32) -> Self {
        let capacity = allocated(bytes);
        Buffer {
            cost: truesize(capacity),
            pages: 0,
            in_front: true,
            room: capacity,
            buffer: truesize(capacity),
            shared: false,
        }
    }

    /// `bytes` of data are put into it, for which it has room.
    pub fn fill(&mut self, bytes: u32) {
        self.room = self.room.saturating_sub(bytes);
    }

    /// What counts of a packet's cost where the buffer in front of its pages does not (`truesize_adjust`).
    pub fn cost_of_data(&self) -> u32 {
        if self.in_front {
            self.cost
        } else {
            self.cost - self.buffer
        }
    }

    /// Takes in what the buffer `next` holds, `len` bytes that follow, if there is room; what that costs more
    /// (`skb_try_coalesce`).
    pub fn take_in(&mut self, next: &Buffer, len: u32) -> Option<u32> {
        if self.pages == 0 && len <= self.room {
            self.room -= len;
            return Some(0);
        }
        if self.shared || next.in_front || self.pages + next.pages > MOST_PAGES {
            return None;
        }
        let more = next.cost_of_data();
        self.pages += next.pages;
        self.cost += more;
        Some(more)
    }

    /// Looked at again, as it may stay for long: few data in pages, `len` bytes, move into the buffer, and that is charged
    /// for what it is (`skb_condense`).
    pub fn condense(&mut self, len: u32) {
        if self.pages > 0 {
            if len > self.room {
                return;
            }
            self.room -= len;
            self.pages = 0;
            self.in_front = true;
        }
        self.cost = self.buffer;
    }
}

/// What the allocator gives for `bytes` of data: powers of two, less what stands behind (`kmalloc_size_roundup`).
pub(crate) fn allocated(bytes: u32) -> u32 {
    (bytes.next_multiple_of(64) + SHARED_INFO).next_power_of_two() - SHARED_INFO
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::stacks;

    /// What 6.12 charges for a packet without data, 64 of which fit into it besides the headers.
    const EMPTY: u32 = 832;

    fn buffer(len: u32, pages: u32) -> Buffer {
        let (settings, _) =
            stacks::build("linux-6.12", &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let segment = Segment {
            len,
            pages,
            ..Segment::default()
        };
        Buffer::of(&settings, &segment)
    }

    #[test]
    fn pages_are_taken_in_without_the_buffer_in_front_of_them() {
        let mut first = buffer(1448, 1);
        assert_eq!(first.take_in(&buffer(1448, 2), 1448), Some(1448));
        assert_eq!(first.cost, EMPTY + 2 * 1448);
        // What is short could be copied behind what lies in a buffer, but not behind pages.
        assert_eq!(first.take_in(&buffer(10, 1), 10), Some(10));
        assert_eq!(first.take_in(&buffer(1448, 14), 1448), None);
        assert_eq!(first.take_in(&buffer(1448, 13), 1448), Some(1448));
    }

    #[test]
    fn what_lies_in_a_buffer_is_copied_if_it_fits() {
        // One page of 4,096 bytes, less what stands behind and the room for headers.
        let mut first = buffer(1448, 0);
        assert_eq!(first.take_in(&buffer(1448, 0), 1448), Some(0));
        assert_eq!(first.cost, EMPTY + 1448);
        assert_eq!(first.take_in(&buffer(1448, 0), 1448), None);
        // Pages may hang on to it.
        assert_eq!(first.take_in(&buffer(1448, 1), 1448), Some(1448));
        // Those of one that begins in a buffer do not move.
        assert_eq!(buffer(1448, 1).take_in(&first, 4344), None);
    }

    #[test]
    fn few_data_move_out_of_their_page() {
        let mut short = buffer(64, 1);
        short.condense(64);
        assert_eq!((short.cost, short.cost_of_data()), (EMPTY, EMPTY));
        let mut longer = buffer(65, 1);
        longer.condense(65);
        assert_eq!((longer.cost, longer.cost_of_data()), (EMPTY + 65, 65));
        assert_eq!(longer.take_in(&short, 64), None);
        let mut full = buffer(1448, 0);
        full.condense(1448);
        assert_eq!(full.cost, truesize(4096 - SHARED_INFO));
    }
}
