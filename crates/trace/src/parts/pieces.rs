//! Rows of stretches in pieces: each a file of its own within one, so that pieces can be read apart.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;

use super::blocks::{FileKind, Packer, Reader, Writer};
use super::exact::{self, Input};
use super::rows::{piece_of, RowsHeader, Tag};
use super::Error;
use crate::analyzer::Rows;

/// Writes pieces, one behind the other.
pub(super) struct Pieces<W> {
    head: RowsHeader,
    to: Writer<W>,
    /// Where each begins.
    begins: Vec<u64>,
}

impl<W: Write> Pieces<W> {
    pub fn new(head: RowsHeader, to: W) -> io::Result<Self> {
        Ok(Pieces {
            head,
            to: Writer::new(to, FileKind::Rows)?,
            begins: Vec::new(),
        })
    }

    /// Adds the rows of a stretch. Every piece up to its own is there then, with rows or without.
    pub fn write(&mut self, stretch: u64, rows: &Rows, packer: &mut Packer) -> Result<(), Error> {
        while self.begins.len() <= piece_of(stretch) {
            if !self.begins.is_empty() {
                exact::write(&Tag::End, &mut self.to.block);
                self.to.next_file(packer)?;
            }
            self.begins.push(self.to.begins);
            exact::write(&self.head, &mut self.to.block);
        }
        if !rows.is_empty() {
            exact::write(&Tag::Stretch(stretch), &mut self.to.block);
            exact::write(rows, &mut self.to.block);
            self.to.flush_full(packer)?;
        }
        Ok(())
    }

    /// Where each of them begins, bytes, and where the last one ends.
    pub fn finish(mut self, packer: &mut Packer) -> Result<Vec<u64>, Error> {
        exact::write(&Tag::End, &mut self.to.block);
        self.begins.push(self.to.finish(packer)?);
        Ok(self.begins)
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
