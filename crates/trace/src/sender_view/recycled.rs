//! Memory that the sender view of one connection leaves to that of the next: its collections, empty.

use std::collections::VecDeque;

use rexmit_tcp::Need;
use rexmit_time::Time;

use super::merge;
use super::open::Open;
use super::pieces::Piece;
use super::SenderView;
use crate::emulate;
use crate::event::SenderEvent;
use crate::rows::{Evidence, Retransmission};

/// The largest capacity that a collection keeps.
const MOST: usize = 1024;

/// The collections of a sender view, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    pub(super) peer: VecDeque<(u32, Time)>,
    pub(super) merge: merge::Recycled,
    pub(super) pieces: VecDeque<Piece>,
    pub(super) sacked: Vec<(i64, i64)>,
    pub(super) lately: VecDeque<(Time, i64, bool)>,
    pub(super) open: VecDeque<Open>,
    pub(super) held: VecDeque<SenderEvent>,
    pub(super) unnamed: VecDeque<(Open, Need, Evidence)>,
    pub(super) rows: Vec<Retransmission>,
    pub(super) ready: Vec<Retransmission>,
    pub(super) judges: emulate::Recycled,
}

impl SenderView {
    /// Its collections.
    pub(super) fn leave(self) -> Recycled {
        Recycled {
            peer: queue(self.clock.leave()),
            merge: self.merge.leave(MOST),
            pieces: queue(self.pieces.leave()),
            sacked: list(self.sacked.leave()),
            lately: queue(self.lately),
            open: queue(self.waiting.leave()),
            held: queue(self.held.leave()),
            unnamed: queue(self.unnamed),
            rows: list(self.episode.leave()),
            ready: list(self.ready),
            judges: self.judges.leave(),
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
