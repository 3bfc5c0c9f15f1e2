//! Room to work in, of which a half leaves nothing but the room to the next.

use std::collections::VecDeque;

use rexmit_tcp::Need;
use rexmit_time::Time;

use super::merge;
use super::open::Open;
use super::pieces::Piece;
use super::Half;
use crate::emulate;
use crate::event::SenderEvent;
use crate::rows::{Evidence, Retransmission};

/// Entries of one kind that there stays room for.
const MOST: usize = 1024;

/// The room of a half: its collections, empty.
#[derive(Debug, Default)]
pub struct Room {
    pub(super) peer: VecDeque<(u32, Time)>,
    pub(super) merge: merge::Room,
    pub(super) pieces: VecDeque<Piece>,
    pub(super) sacked: Vec<(i64, i64)>,
    pub(super) lately: VecDeque<(Time, i64, bool)>,
    pub(super) open: VecDeque<Open>,
    pub(super) held: VecDeque<SenderEvent>,
    pub(super) unnamed: VecDeque<(Open, Need, Evidence)>,
    pub(super) rows: Vec<Retransmission>,
    pub(super) ready: Vec<Retransmission>,
    pub(super) judges: emulate::Room,
}

impl Half {
    /// What is left of it: its room.
    pub(super) fn leave(self) -> Room {
        Room {
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

fn queue<T>(mut room: VecDeque<T>) -> VecDeque<T> {
    room.clear();
    room.shrink_to(MOST);
    room
}

fn list<T>(mut room: Vec<T>) -> Vec<T> {
    room.clear();
    room.shrink_to(MOST);
    room
}
