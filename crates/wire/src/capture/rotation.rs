//! Several captures as one stream in the order of time.

use core::cmp::Reverse;
use core::fmt;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Read};

use rexmit_time::Time;

use super::{Batch, Drops, End, Error, Frame, Misdated, Reader};

/// Reads several captures as one, packets in the order of their time stamps: the files of a rotation, whatever
/// order they are given in, or captures whose times overlap.
///
/// Every file is opened twice, first for the time of its first packet and again when that time has come, so that
/// of a long rotation only what overlaps is open. A single file, and what is no file but a pipe, is opened once.
/// Where a clock steps back inside a file, its packets still come in the file's order.
pub struct Rotation<'r, F> {
    open: F,
    /// Files whose time has not come, the next one last.
    waiting: Vec<NextPacket>,
    readers: Vec<Option<Reader<'r>>>,
    /// The packets at which open files stand, but for the one that is lent.
    heads: BinaryHeap<Reverse<NextPacket>>,
    lent: Option<usize>,
    /// Files of which not even the first packet could be read, until that is told.
    unread: VecDeque<FileError>,
    ends: Vec<(usize, End)>,
    undated: Vec<(usize, u64)>,
    misdated: Vec<(usize, Misdated)>,
    missing: Vec<(usize, String)>,
    /// Of files that have ended.
    drops: Drops,
}

/// The next packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NextPacket {
    time: Time,
    file: usize,
}

/// What is wrong with one file of several.
#[derive(Debug)]
pub struct FileError {
    /// The file, counted from 0 in the order given.
    pub file: usize,
    /// What is wrong with it.
    pub error: Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file {}: {}", self.file + 1, self.error)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<'r, F, R> Rotation<'r, F>
where
    F: FnMut(usize) -> io::Result<R>,
    R: Read + Send + 'r,
{
    /// Reads `files` captures that can be opened again; `open` opens one of them, counted from 0.
    ///
    /// # Errors
    /// As [`Reader::new`], of the only file; of one of several, [`Rotation::advance`] tells.
    pub fn new(files: usize, open: F) -> Result<Self, FileError> {
        Self::with_pipes(files, open, |_| false)
    }

    /// As [`Rotation::new`], of captures some of which `is_pipe` says can be opened only once.
    ///
    /// # Errors
    /// As [`Rotation::new`].
    pub fn with_pipes(
        files: usize,
        open: F,
        is_pipe: impl Fn(usize) -> bool,
    ) -> Result<Self, FileError> {
        let mut rotation = Rotation {
            open,
            waiting: Vec::new(),
            readers: Vec::new(),
            heads: BinaryHeap::new(),
            lent: None,
            unread: VecDeque::new(),
            ends: Vec::new(),
            undated: Vec::new(),
            misdated: Vec::new(),
            missing: Vec::new(),
            drops: Drops::default(),
        };
        rotation.readers.resize_with(files, || None);
        if files == 1 {
            rotation.readers[0] = Some(rotation.reader(0)?);
            // Found first, whatever its time; it is read when it is asked for.
            rotation.lent = Some(0);
            return Ok(rotation);
        }
        for file in 0..files {
            let opened = rotation.reader(file).and_then(|mut reader| {
                let first = reader.advance();
                if !matches!(first, Ok(true)) {
                    rotation.drops.add(&reader.drops());
                }
                first.map_err(|error| FileError { file, error })?;
                Ok(reader)
            });
            let reader = match opened {
                Ok(reader) => reader,
                Err(error) => {
                    rotation.unread.push_back(error);
                    continue;
                }
            };
            let Some(time) = reader.frame().map(|frame| frame.time) else {
                let end = reader.end().unwrap_or(End::Complete);
                rotation.ends.push((file, end));
                continue;
            };
            let head = NextPacket { time, file };
            if is_pipe(file) {
                rotation.readers[file] = Some(reader);
                rotation.heads.push(Reverse(head));
            } else {
                rotation.waiting.push(head);
            }
        }
        rotation.waiting.sort_unstable_by_key(|&head| Reverse(head));
        Ok(rotation)
    }

    fn reader(&mut self, file: usize) -> Result<Reader<'r>, FileError> {
        let failed = |error| FileError { file, error };
        let input = (self.open)(file).map_err(|error| failed(error.into()))?;
        Reader::new(input).map_err(failed)
    }

    /// The next packet of all files, or none at the end of the last one.
    ///
    /// # Errors
    /// As [`Reader::next_frame`], with the file; the packets of the other files still come after it.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError> {
        Ok(if self.advance()? { self.frame() } else { None })
    }

    /// Moves on to the next packet, which [`Rotation::frame`] then lends; false at the end of the last file.
    ///
    /// # Errors
    /// As [`Rotation::next_frame`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, FileError> {
        if let Some(file) = self.lent {
            let head = self.advance_file(file)?;
            if let Some(head) = head {
                // Mostly the file that was read before goes on.
                let first = self.heads.peek().is_none_or(|&Reverse(other)| head < other)
                    && self.waiting.last().is_none_or(|&other| head < other);
                if first {
                    return Ok(true);
                }
                self.heads.push(Reverse(head));
            }
        }
        self.choose()
    }

    /// Moves one file on; none at its end.
    #[inline]
    fn advance_file(&mut self, file: usize) -> Result<Option<NextPacket>, FileError> {
        let Some(reader) = &mut self.readers[file] else {
            return Ok(None);
        };
        let more = reader.advance();
        if let (Ok(true), Some(frame)) = (&more, reader.frame()) {
            let time = frame.time;
            return Ok(Some(NextPacket { time, file }));
        }
        self.lent = None;
        self.ends
            .push((file, reader.end().unwrap_or(End::Complete)));
        if reader.undated() > 0 {
            self.undated.push((file, reader.undated()));
        }
        if reader.misdated().packets > 0 {
            self.misdated.push((file, reader.misdated()));
        }
        self.missing
            .extend(reader.missing().map(|missing| (file, missing)));
        self.drops.add(&reader.drops());
        self.readers[file] = None;
        match more {
            Ok(_) => Ok(None),
            Err(error) => Err(FileError { file, error }),
        }
    }

    /// Takes the file with the earliest packet, opening those whose time has come.
    #[cold]
    fn choose(&mut self) -> Result<bool, FileError> {
        self.lent = None;
        if let Some(error) = self.unread.pop_front() {
            return Err(error);
        }
        while let Some(&next) = self.waiting.last() {
            if self.heads.peek().is_some_and(|&Reverse(head)| head < next) {
                break;
            }
            self.waiting.pop();
            self.readers[next.file] = Some(self.reader(next.file)?);
            let head = self.advance_file(next.file)?;
            self.heads.extend(head.map(Reverse));
        }
        self.lent = self.heads.pop().map(|Reverse(head)| head.file);
        Ok(self.lent.is_some())
    }

    /// Adds the next packets to `batch`, the first `keep` bytes of each, until it holds `most` packets.
    /// False at the end of the last file.
    ///
    /// # Errors
    /// As [`Rotation::next_frame`]; the packets before the error are in the batch.
    pub fn fill(&mut self, batch: &mut Batch, most: usize, keep: usize) -> Result<bool, FileError> {
        while batch.len() < most {
            match self.next_frame()? {
                Some(frame) => batch.push(&frame, keep),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl<'r, F> Rotation<'r, F> {
    /// The packet at which the stream stands.
    #[inline]
    #[must_use]
    pub fn frame(&self) -> Option<Frame<'_>> {
        self.current()?.frame()
    }

    /// The file of the packet at which the stream stands, counted from 0 in the order given.
    #[must_use]
    pub const fn file(&self) -> Option<usize> {
        self.lent
    }

    /// The reader of that file.
    #[must_use]
    pub fn current(&self) -> Option<&Reader<'r>> {
        self.readers.get(self.lent?)?.as_ref()
    }

    /// What the captures say was lost before it could be written, as far as they have been read.
    #[must_use]
    pub fn drops(&self) -> Drops {
        let mut all = self.drops;
        let open = self.readers.iter().flatten();
        open.for_each(|reader| all.add(&reader.drops()));
        all
    }

    /// The files that have ended, in that order, and how.
    #[must_use]
    pub fn ends(&self) -> &[(usize, End)] {
        &self.ends
    }

    /// Files that have ended and had [packets without a time that can be](Reader::undated), and how many.
    #[must_use]
    pub fn undated(&self) -> &[(usize, u64)] {
        &self.undated
    }

    /// Files that have ended and had [packets with a wrong time](Reader::misdated).
    #[must_use]
    pub fn misdated(&self) -> &[(usize, Misdated)] {
        &self.misdated
    }

    /// Files that have ended and are lists as text, and [what is missing in them](Reader::missing).
    #[must_use]
    pub fn missing(&self) -> &[(usize, String)] {
        &self.missing
    }
}
