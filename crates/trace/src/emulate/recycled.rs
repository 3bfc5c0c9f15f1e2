//! Memory that the emulations of one connection leave to those of the next: their collections, empty.

use std::collections::VecDeque;

use super::board::{self, AckReport};
use super::left_out::Input;
use super::sender::{self, EmulatedSender};
use super::Judges;

/// The largest capacity that a collection keeps.
const MOST: usize = 1024;

/// The collections of [`Judges`], empty.
#[derive(Debug, Default)]
pub struct Recycled {
    pub(super) board: board::Recycled,
    pub(super) report: AckReport,
    pub(super) senders: Vec<EmulatedSender>,
    pub(super) spare: Vec<sender::Recycled>,
    pub(super) places: VecDeque<u32>,
    pub(super) told: Vec<Input>,
}

impl Judges {
    /// Their collections.
    #[must_use]
    pub fn leave(mut self) -> Recycled {
        self.spare
            .extend(self.senders.drain(..).map(EmulatedSender::leave));
        self.report.clear(MOST);
        self.places.clear();
        self.places.shrink_to(MOST);
        self.told.clear();
        self.told.shrink_to(MOST);
        Recycled {
            board: self.board.leave(MOST),
            report: self.report,
            senders: self.senders,
            spare: self.spare,
            places: self.places,
            told: self.told,
        }
    }
}
