//! The list of segments by time of sending, which RACK walks (`tsorted_sent_queue`). It is woven through the segments by
//! ids.

use super::sent::{Marks, NONE};
use super::Queue;

impl Queue {
    /// The oldest transmission in the list by time of sending.
    pub fn oldest(&self) -> Option<usize> {
        (self.oldest != NONE).then(|| self.index_of_id(self.oldest))
    }

    /// The transmission after that of the segment at `index`.
    pub fn next_sent(&self, index: usize) -> Option<usize> {
        let newer = self.segments[index].newer;
        (newer != NONE).then(|| self.index_of_id(newer))
    }

    /// Puts the segment at the end of the list by time of sending (`list_move_tail` on `tsorted_sent_queue`).
    pub fn list(&mut self, index: usize) {
        self.unlist(index);
        let id = self.id(index);
        let newest = self.newest;
        let segment = &mut self.segments[index];
        segment.marks.set(Marks::LISTED);
        segment.older = newest;
        segment.newer = NONE;
        if newest == NONE {
            self.oldest = id;
        } else {
            let before = self.index_of_id(newest);
            self.segments[before].newer = id;
        }
        self.newest = id;
    }

    /// Takes the segment out of the list by time of sending.
    pub fn unlist(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        if !segment.marks.any(Marks::LISTED) {
            return;
        }
        segment.marks.clear(Marks::LISTED);
        let (older, newer) = (segment.older, segment.newer);
        if older == NONE {
            self.oldest = newer;
        } else {
            let before = self.index_of_id(older);
            self.segments[before].newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            let after = self.index_of_id(newer);
            self.segments[after].older = older;
        }
    }

    /// Puts a segment into the list by time of sending right behind another.
    pub(super) fn list_behind(&mut self, index: usize, behind: usize) {
        let id = self.id(index);
        let older = self.id(behind);
        let newer = self.segments[behind].newer;
        let segment = &mut self.segments[index];
        segment.marks.set(Marks::LISTED);
        segment.older = older;
        segment.newer = newer;
        self.segments[behind].newer = id;
        if newer == NONE {
            self.newest = id;
        } else {
            let after = self.index_of_id(newer);
            self.segments[after].older = id;
        }
    }
}
