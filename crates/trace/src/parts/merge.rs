//! Step 4: the rows of all groups as one run gives them, a piece after the other or each for itself.

use std::io::Read;

use super::blocks::FileKind;
use super::judge::Judged;
use super::pieces::Stretches;
use super::Error;
use crate::analyzer::Rows;

/// The rows of one piece, stretch after stretch.
pub struct PieceRows<R> {
    files: Vec<Stretches<R>>,
}

impl<R: Read> PieceRows<R> {
    /// Merges what [`analyse`](super::analyse()) and [`judge`](super::judge()) wrote of a piece: of the groups that have it
    /// ([`Judged::has`]), and of what was judged, in any order; each with a name for errors.
    ///
    /// # Errors
    /// When they are of other files or settings, or cannot be read.
    pub fn new(
        judged: &Judged,
        files: impl IntoIterator<Item = (String, R)>,
    ) -> Result<Self, Error> {
        let mut opened = Vec::new();
        for (name, from) in files {
            let (from, head) = Stretches::new(name, from, FileKind::Rows)?;
            if !judged.is_of(&head) {
                return Err(
                    from.error("this is of other files or settings: analyse the group again")
                );
            }
            opened.push(from);
        }
        Ok(PieceRows { files: opened })
    }

    /// The rows of the next stretch that has any; none when there are no more.
    ///
    /// # Errors
    /// When a file is broken, or not whole.
    pub fn next_rows(&mut self) -> Result<Option<Rows>, Error> {
        let Some(stretch) = self.files.iter().filter_map(|file| file.next).min() else {
            self.files.iter_mut().try_for_each(Stretches::finish)?;
            self.files.clear();
            return Ok(None);
        };
        let mut all = Rows::default();
        for file in &mut self.files {
            if let Some(mut rows) = file.stretch(stretch)? {
                all.append(&mut rows);
            }
        }
        all.sort();
        Ok(Some(all))
    }
}
