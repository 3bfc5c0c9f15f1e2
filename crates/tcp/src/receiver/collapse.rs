//! Memory is short: packets that waste theirs are copied into full buffers (`tcp_collapse`).

use std::collections::VecDeque;
use std::ops::Range;

use rexmit_wire::{SeqNum, SeqRange};

use super::memory::{Buffer, FULL};
use super::reassembly::Skb;

/// Copies the packets at `part` that hold the numbers of `range`, from the first on that wastes memory or overlaps with
/// the next, into buffers of a page; what that saves, and where the part ends now. `window` is how much window so much
/// memory makes (`tcp_win_from_space`). A FIN ends it. `header_room` bytes of a buffer stay free for headers.
///
/// Numbers of the part follow each other without a gap.
pub(super) fn collapse(
    packets: &mut VecDeque<Skb>,
    part: Range<usize>,
    range: SeqRange,
    header_room: u32,
    window: &impl Fn(u32) -> i64,
) -> (i64, usize) {
    let before = cost(packets, &part);
    let mut end = part.end;
    let (at, start) = first_waste(packets, part.start, &mut end, range.start, window);
    if at < end && !packets[at].fin {
        copy(packets, at, &mut end, start, range.end, header_room);
    }
    (before - cost(packets, &(part.start..end)), end)
}

fn cost(packets: &VecDeque<Skb>, part: &Range<usize>) -> i64 {
    let part = packets.range(part.clone());
    part.map(|packet| i64::from(packet.buffer.cost)).sum()
}

/// The first packet that is worth it, and the number to begin with. Those without anything new go.
fn first_waste(
    packets: &mut VecDeque<Skb>,
    mut at: usize,
    end: &mut usize,
    mut start: SeqNum,
    window: &impl Fn(u32) -> i64,
) -> (usize, SeqNum) {
    while at < *end {
        let packet = packets[at];
        if !start.is_before(packet.range.end) {
            packets.remove(at);
            *end -= 1;
            continue;
        }
        let bloated = window(packet.buffer.cost) > i64::from(packet.len());
        let begins_before = packet.range.start.is_before(start);
        let overlaps = at + 1 < *end && packets[at + 1].range.start != packet.range.end;
        if (!packet.fin && (bloated || begins_before)) || overlaps {
            break;
        }
        start = packet.range.end;
        at += 1;
    }
    (at, start)
}

/// Copies what is from `start` to `until`, packet by packet.
fn copy(
    packets: &mut VecDeque<Skb>,
    mut at: usize,
    end: &mut usize,
    mut start: SeqNum,
    until: SeqNum,
    header_room: u32,
) {
    while start.is_before(until) {
        let left = until.offset_from(start).unsigned_abs();
        let mut room = left.min(FULL - header_room);
        let mut full = Skb {
            range: SeqRange { start, end: start },
            fin: false,
            buffer: Buffer::empty(header_room + room),
        };
        full.buffer.fill(header_room);
        let mut more = true;
        while room > 0 && more {
            let packet = packets[at];
            let size = packet.range.end.offset_from(start).max(0) as u32;
            let size = size.min(room);
            full.buffer.fill(size);
            room -= size;
            start += size;
            if !start.is_before(packet.range.end) {
                packets.remove(at);
                *end -= 1;
                more = at < *end && !packets[at].fin;
            }
        }
        full.range.end = start;
        packets.insert(at, full);
        at += 1;
        *end += 1;
        if !more {
            break;
        }
    }
}
