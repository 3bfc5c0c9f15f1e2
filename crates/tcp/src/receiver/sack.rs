//! The SACK option of outgoing segments: newest block first, a D-SACK before them (RFC 2018 §4, RFC 2883).

use rexmit_wire::{SeqNum, SeqRange};

use crate::segment::SackList;

/// Blocks to be told (`selective_acks`, `duplicate_sack`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sacks {
    blocks: [SeqRange; 4],
    len: usize,
    duplicate: Option<SeqRange>,
    /// Whether duplicates are told (`tcp_dsack`).
    pub tell_duplicates: bool,
}

/// From this position on a block that changes must be told at once, as an option holds few
/// (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Sacks {
    /// Forgets the blocks; a D-SACK stays (`tcp_sack_reset`).
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets the D-SACK that was not told.
    pub fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// The end of the highest block.
    pub fn highest(&self) -> Option<SeqNum> {
        self.blocks[..self.len]
            .iter()
            .map(|block| block.end)
            .reduce(|a, b| if b.is_after(a) { b } else { a })
    }

    /// `range` came twice (`tcp_dsack_set`).
    pub fn set_duplicate(&mut self, range: SeqRange) {
        if self.tell_duplicates {
            self.duplicate = Some(range);
        }
    }

    /// `range` came twice as well (`tcp_dsack_extend`).
    pub fn extend_duplicate(&mut self, range: SeqRange) {
        match &mut self.duplicate {
            Some(known) => {
                joined(known, range);
            }
            None => self.set_duplicate(range),
        }
    }

    /// Whether `range`, which came out of order, changes a block that an option may not have room for.
    pub fn lands_low(&self, range: SeqRange) -> bool {
        self.position(range) >= EXPECTED
    }

    fn position(&self, range: SeqRange) -> usize {
        let touches = |block: &SeqRange| joined(&mut block.clone(), range);
        self.blocks[..self.len]
            .iter()
            .position(touches)
            .unwrap_or(self.len)
    }

    /// `range` came out of order: its block moves to the front (`tcp_sack_new_ofo_skb`).
    pub fn add(&mut self, range: SeqRange) {
        let at = self.position(range);
        if at < self.len {
            joined(&mut self.blocks[at], range);
            self.blocks[..=at].rotate_right(1);
            self.join_to_first();
            return;
        }
        // The oldest block makes room.
        self.len = (self.len + 1).min(self.blocks.len());
        self.blocks[..self.len].rotate_right(1);
        self.blocks[0] = range;
    }

    /// The first block grew: it swallows those it now touches (`tcp_sack_maybe_coalesce`).
    fn join_to_first(&mut self) {
        let mut at = 1;
        while at < self.len {
            let other = self.blocks[at];
            if joined(&mut self.blocks[0], other) {
                self.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Everything before `next` is in order now (`tcp_sack_remove`).
    pub fn advance(&mut self, next: SeqNum) {
        let mut at = 0;
        while at < self.len {
            if next.is_before(self.blocks[at].start) {
                at += 1;
            } else {
                self.remove(at);
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.blocks[at..self.len].rotate_left(1);
        self.len -= 1;
    }

    /// The option's blocks, at most `most`; a D-SACK is told once (`tcp_established_options`, `tcp_options_write`).
    pub fn tell(&mut self, most: usize) -> SackList {
        let mut list = SackList::default();
        for block in self
            .duplicate
            .take()
            .iter()
            .chain(&self.blocks[..self.len])
            .take(most)
        {
            list.push(*block);
        }
        list
    }
}

/// Extends `block` by `range` if they overlap or touch (`tcp_sack_extend`).
fn joined(block: &mut SeqRange, range: SeqRange) -> bool {
    if range.start.is_after(block.end) || block.start.is_after(range.end) {
        return false;
    }
    if range.start.is_before(block.start) {
        block.start = range.start;
    }
    if range.end.is_after(block.end) {
        block.end = range.end;
    }
    true
}
