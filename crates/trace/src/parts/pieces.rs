//! Rows of stretches in pieces: files of their own, so that pieces can be read apart.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;

use super::blocks::{FileKind, Packer, Reader, Writer};
use super::exact::{self, Input};
use super::rows::{piece_of, RowsHeader, Tag};
use super::Error;
use crate::analyzer::Rows;

/// Writes pieces.
pub(super) struct Pieces<W, P> {
    head: RowsHeader,
    open: P,
    /// The piece that is written, and its number.
    current: Option<(u32, Writer<W>)>,
    /// How many there are.
    count: u32,
}

impl<W: Write, P: FnMut(u32) -> io::Result<W>> Pieces<W, P> {
    pub fn new(head: RowsHeader, open: P) -> Self {
        Pieces {
            head,
            open,
            current: None,
            count: 0,
        }
    }

    /// Adds the rows of a stretch. Every piece up to its own is there then, with rows or without.
    pub fn write(&mut self, stretch: u64, rows: &Rows, packer: &mut Packer) -> Result<(), Error> {
        while self.count <= piece_of(stretch) {
            self.end(packer)?;
            let mut writer = Writer::new((self.open)(self.count)?, FileKind::Rows)?;
            exact::write(&self.head, &mut writer.block);
            self.current = Some((self.count, writer));
            self.count += 1;
        }
        if let Some((_, writer)) = self.current.as_mut().filter(|_| !rows.is_empty()) {
            exact::write(&Tag::Stretch(stretch), &mut writer.block);
            exact::write(rows, &mut writer.block);
            writer.flush_full(packer)?;
        }
        Ok(())
    }

    fn end(&mut self, packer: &mut Packer) -> Result<(), Error> {
        if let Some((_, mut writer)) = self.current.take() {
            exact::write(&Tag::End, &mut writer.block);
            writer.finish(packer)?;
        }
        Ok(())
    }

    /// How many there are.
    pub fn finish(mut self, packer: &mut Packer) -> Result<u32, Error> {
        self.end(packer)?;
        Ok(self.count)
    }
}

/// Reads what was written stretch by stretch: rows, or what waits.
pub(super) struct Stretches<R> {
    from: Reader<R>,
    /// Bytes of the block that are read.
    read: usize,
    /// The next stretch of which there is something; none at the end.
    pub next: Option<u64>,
}

impl<R: Read> Stretches<R> {
    pub fn new(name: String, from: R, kind: FileKind) -> Result<(Self, RowsHeader), Error> {
        let mut stretches = Stretches {
            from: Reader::new(name, from, kind)?,
            read: 0,
            next: None,
        };
        let head = stretches.value()?;
        stretches.advance()?;
        Ok((stretches, head))
    }

    /// What there is of this stretch, if anything.
    pub fn stretch<T: DeserializeOwned>(&mut self, stretch: u64) -> Result<Option<T>, Error> {
        if self.next != Some(stretch) {
            return Ok(None);
        }
        let value = self.value()?;
        self.advance()?;
        Ok(Some(value))
    }

    /// The next value.
    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        if self.read == self.from.block.len() {
            if !self.from.advance()? {
                return Err(self.from.broken());
            }
            self.read = 0;
        }
        let mut input = Input(&self.from.block[self.read..]);
        let value = input.value().map_err(|_| self.from.broken())?;
        self.read = self.from.block.len() - input.0.len();
        Ok(value)
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.next = match self.value()? {
            Tag::Stretch(stretch) => Some(stretch),
            Tag::End => None,
        };
        Ok(())
    }

    /// The file must have nothing more.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.read < self.from.block.len() || self.from.advance()? {
            return Err(self.from.broken());
        }
        Ok(())
    }

    /// An error of this file.
    pub fn error(&self, what: &str) -> Error {
        self.from.error(what)
    }
}
