//! Rows as bytes.

use serde::{Deserialize, Serialize};

/// What a file of rows is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowsHeader {
    pub groups: u16,
    /// The group whose rows these are.
    pub group: u16,
    /// A hash of the settings.
    pub settings: u64,
    /// A hash of the files' names and their numbers of frames.
    pub files: u64,
}

/// What comes next in a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Tag {
    /// The rows of the stretch of this number.
    Stretch(u64),
    /// Nothing.
    End,
}

/// Stretches whose rows are in one piece.
const STRETCHES: u64 = 64;

/// The piece of a stretch.
pub(super) const fn piece_of(stretch: u64) -> usize {
    (stretch / STRETCHES) as usize
}

/// The first stretch of a piece.
pub(super) const fn first_of(piece: usize) -> u64 {
    piece as u64 * STRETCHES
}
