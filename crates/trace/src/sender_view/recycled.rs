//! Memory that the sender view of one connection leaves to that of the next: its collections, empty.

use std::collections::VecDeque;

use rexmit_time::Time;

use super::merge;
use super::pieces::Piece;
use super::{verdicts, SenderView};
use crate::emulate;

/// The largest capacity that a collection keeps.
const MOST: usize = 1024;

/// The collections of a sender view, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    pub(super) peer: VecDeque<(u32, Time)>,
    pub(super) merge: merge::Recycled,
    pub(super) pieces: VecDeque<Piece>,
    pub(super) lately: VecDeque<(Time, i64, bool)>,
    pub(super) verdicts: verdicts::Empty,
    pub(super) judges: emulate::Recycled,
}

impl SenderView {
    /// Its collections.
    pub(super) fn leave(self) -> Recycled {
        Recycled {
            peer: queue(self.times.clock.leave()),
            merge: self.merge.leave(MOST),
            pieces: queue(self.board.pieces.leave()),
            lately: queue(self.board.lately),
            verdicts: verdicts::Empty {
                held: queue(self.verdicts.held.leave()),
                open: queue(self.verdicts.waiting.leave()),
                unnamed: queue(self.verdicts.unnamed),
                rows: list(self.verdicts.episode.leave()),
                ready: list(self.verdicts.ready),
            },
            judges: self.verdicts.judges.leave(),
        }
    }
}

fn queue<T>(mut recycled: VecDeque<T>) -> VecDeque<T> {
    recycled.clear();
    recycled.shrink_to(MOST);
    recycled
}

fn list<T>(mut recycled: Vec<T>) -> Vec<T> {
    recycled.clear();
    recycled.shrink_to(MOST);
    recycled
}
