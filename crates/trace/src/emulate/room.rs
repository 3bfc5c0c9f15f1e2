//! Room to work in, of which emulations leave nothing but the room to the next.

use std::collections::VecDeque;

use super::board::{self, News};
use super::shadow::{self, Shadow};
use super::{Judges, Place};

/// Entries of one kind that there stays room for.
const MOST: usize = 1024;

/// The room of [`Judges`]: their collections, empty.
#[derive(Debug, Default)]
pub struct Room {
    pub(super) board: board::Room,
    pub(super) news: News,
    pub(super) shadows: Vec<Shadow>,
    pub(super) spare: Vec<shadow::Room>,
    pub(super) places: VecDeque<Place>,
}

impl Judges {
    /// What is left of them: their room.
    #[must_use]
    pub fn leave(mut self) -> Room {
        self.spare.extend(self.shadows.drain(..).map(Shadow::leave));
        self.news.clear(MOST);
        self.places.clear();
        self.places.shrink_to(MOST);
        Room {
            board: self.board.leave(MOST),
            news: self.news,
            shadows: self.shadows,
            spare: self.spare,
            places: self.places,
        }
    }
}
