//! The data on the sender's side as the out-of-tree kernels keep them: segments in the write queue of the whole
//! connection, and copies of those that are to be sent again (`reinject_queue`).

use std::collections::VecDeque;

/// A segment of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataPiece {
    pub start: u64,
    pub end: u64,
    /// The subflows that carried it, as bits (`path_mask`).
    pub carried_by: u32,
}

impl DataPiece {
    pub fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// Segments in order, from the first that is not acknowledged. They leave at the front of each queue, so that no place is looked for
/// in what is out.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    sent: VecDeque<DataPiece>,
    unsent: VecDeque<DataPiece>,
    again: VecDeque<DataPiece>,
}

impl Pieces {
    /// `bytes` more were written at `at`, which go in segments of `mss`.
    pub fn write(&mut self, at: u64, bytes: u32, mss: u32) {
        let mut at = at;
        let mut left = bytes;
        if let Some(last) = self.unsent.back_mut() {
            let more = mss.saturating_sub(last.len()).min(left);
            last.end += u64::from(more);
            at += u64::from(more);
            left -= more;
        }
        while left > 0 {
            let len = left.min(mss);
            self.unsent.push_back(DataPiece {
                start: at,
                end: at + u64::from(len),
                carried_by: 0,
            });
            at += u64::from(len);
            left -= len;
        }
    }

    /// Segments in the send buffer.
    pub fn len(&self) -> usize {
        self.sent.len() + self.unsent.len()
    }

    /// The next that is to be sent again.
    pub fn again_mut(&mut self) -> Option<&mut DataPiece> {
        self.again.front_mut()
    }

    /// What is acknowledged up to `una` is not sent again.
    pub fn forget_again(&mut self, una: u64) {
        while self.again.front().is_some_and(|first| first.end <= una) {
            self.again.pop_front();
        }
    }

    pub fn drop_again(&mut self) {
        self.again.pop_front();
    }

    /// Puts a copy in its place among those to be sent again; not twice (`__mptcp_reinject_data`).
    pub fn send_again(&mut self, piece: DataPiece) {
        let at = self
            .again
            .partition_point(|other| other.start < piece.start);
        let known = self
            .again
            .get(at)
            .is_some_and(|other| other.start == piece.start);
        if !known {
            self.again.insert(at, piece);
        }
    }

    /// The first that was never sent.
    pub fn unsent(&self) -> Option<&DataPiece> {
        self.unsent.front()
    }

    /// Cuts the first unsent one so that it has `len` bytes.
    pub fn cut_unsent(&mut self, len: u32) {
        if let Some(first) = self.unsent.front_mut() {
            let rest = DataPiece {
                start: first.start + u64::from(len),
                ..*first
            };
            if rest.start < first.end {
                first.end = rest.start;
                self.unsent.insert(1, rest);
            }
        }
    }

    /// The first unsent one went on the subflows `by`.
    pub fn sent(&mut self, by: u32) {
        if let Some(mut piece) = self.unsent.pop_front() {
            piece.carried_by |= by;
            self.sent.push_back(piece);
        }
    }

    /// The first that is out.
    pub fn head_mut(&mut self) -> Option<&mut DataPiece> {
        self.sent.front_mut()
    }

    /// All that are out, in order.
    pub fn out(&self) -> impl Iterator<Item = &DataPiece> {
        self.sent.iter()
    }

    /// The one so many places behind the first that is out went on the subflows `by`.
    pub fn carried(&mut self, at: usize, by: u32) {
        if let Some(piece) = self.sent.get_mut(at) {
            piece.carried_by = by;
        }
    }

    /// Everything before `una` is acknowledged.
    pub fn acknowledge(&mut self, una: u64) {
        while self.sent.front().is_some_and(|first| first.end <= una) {
            self.sent.pop_front();
        }
    }
}
