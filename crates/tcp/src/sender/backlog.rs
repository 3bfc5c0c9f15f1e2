//! What was written and not sent, already cut into segments as the writes cut it.

use std::collections::VecDeque;

use rexmit_wire::SeqNum;

/// A segment that was never sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    /// Its first byte.
    pub seq: SeqNum,
    /// After its last byte, the FIN counted.
    pub end: SeqNum,
    /// Carries the FIN.
    pub fin: bool,
    /// Carries PSH.
    pub push: bool,
}

impl Unsent {
    /// Payload bytes.
    pub fn len(&self) -> u32 {
        self.end.offset_from(self.seq).unsigned_abs() - u32::from(self.fin)
    }
}

/// The unsent segments in order (`sk_write_queue`).
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    segments: VecDeque<Unsent>,
}

impl Backlog {
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub fn head(&self) -> Option<Unsent> {
        self.segments.front().copied()
    }

    pub fn tail(&self) -> Option<&Unsent> {
        self.segments.back()
    }

    pub fn tail_mut(&mut self) -> Option<&mut Unsent> {
        self.segments.back_mut()
    }

    pub fn push(&mut self, segment: Unsent) {
        self.segments.push_back(segment);
    }

    pub fn pop(&mut self) -> Option<Unsent> {
        let head = self.segments.pop_front();
        if self.segments.is_empty() && self.segments.capacity() > 64 {
            self.segments.shrink_to(16);
        }
        head
    }

    /// Sets PSH on the head.
    pub fn push_head(&mut self) {
        if let Some(head) = self.segments.front_mut() {
            head.push = true;
        }
    }

    /// Cuts the head so that it holds `len` bytes; PSH and FIN go with the rest (`tso_fragment`).
    pub fn cut_head(&mut self, len: u32) {
        if let Some(head) = self.segments.front_mut() {
            let rest = Unsent {
                seq: head.seq + len,
                ..*head
            };
            head.end = rest.seq;
            head.fin = false;
            head.push = false;
            self.segments.insert(1, rest);
        }
    }

    /// Fills the head up with up to `missing` bytes of the segment behind it (`tcp_grow_skb`).
    pub fn fill_head(&mut self, missing: u32) {
        let Some(&next) = self.segments.get(1) else {
            return;
        };
        let moved = missing.min(next.len());
        if moved == 0 {
            return;
        }
        let head = &mut self.segments[0];
        head.end += moved;
        if moved == next.len() {
            head.end = next.end;
            head.fin = next.fin;
            head.push |= next.push;
            self.segments.remove(1);
        } else {
            self.segments[1].seq += moved;
        }
    }
}
