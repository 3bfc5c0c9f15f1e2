//! Files of packed blocks, each of which is whole or not there.
//!
//! Magic bytes, the version of the format, what the file is; then blocks: its length, its length as packed by zstd (with a
//! checksum), and its bytes. A block of length 0 is the end: a file without it was not written to its end.

use std::io::{self, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::Serialize;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use super::exact::{self, Input};
use super::{Error, FORMAT};

const MAGIC: &[u8; 8] = b"rexmit\x00P";

/// One of the fast levels: the files are read soon, and once.
const LEVEL: i32 = -3;

/// Bytes in a block, more or less.
const BLOCK: usize = 1 << 16;

/// No block is longer.
const LONGEST: u32 = 1 << 30;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Part = 1,
    Packets = 2,
    Rows = 3,
    Waiting = 4,
    Judged = 5,
    Detail = 6,
}

impl FileKind {
    const fn name(self) -> &'static str {
        match self {
            FileKind::Part | FileKind::Detail => "what a step `read` says of a file",
            FileKind::Packets => "packets that a step `read` wrote",
            FileKind::Rows => "rows",
            FileKind::Waiting => "what a step `analyse` wrote for the step `judge`",
            FileKind::Judged => "what a step `judge` says",
        }
    }
}

/// Packs blocks of any number of files.
pub(super) struct Packer(Compressor<'static>);

impl Packer {
    pub fn new() -> io::Result<Self> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Packer(compressor))
    }
}

/// Writes a file, or several, one behind the other.
pub(super) struct Writer<W> {
    to: W,
    kind: FileKind,
    /// Bytes that were written.
    written: u64,
    /// Where the file begins that is written.
    pub begins: u64,
    /// What the next block will hold so far.
    pub block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(to: W, kind: FileKind) -> io::Result<Self> {
        let mut writer = Writer {
            to,
            kind,
            written: 0,
            begins: 0,
            block: Vec::new(),
        };
        writer.begin()?;
        Ok(writer)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.begins = self.written;
        let [low, high] = FORMAT.to_le_bytes();
        self.write(MAGIC)?;
        self.write(&[low, high, self.kind as u8])
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    /// Writes the block if it is long enough. True if it did: what comes next is in another block.
    #[inline]
    pub fn flush_full(&mut self, packer: &mut Packer) -> Result<bool, Error> {
        if self.block.len() < BLOCK {
            return Ok(false);
        }
        self.flush(packer)?;
        Ok(true)
    }

    fn flush(&mut self, packer: &mut Packer) -> Result<(), Error> {
        if self.block.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.block.len()).ok();
        let length = length.filter(|length| *length <= LONGEST);
        let length = length.ok_or_else(|| Error::format("a block of more than 1 GiB"))?;
        let packed = packer.0.compress(&self.block)?;
        self.write(&length.to_le_bytes())?;
        self.write(&(packed.len() as u32).to_le_bytes())?;
        self.write(&packed)?;
        self.block.clear();
        Ok(())
    }

    /// Writes what is left, and the end. How many bytes there are in all.
    pub fn finish(mut self, packer: &mut Packer) -> Result<u64, Error> {
        self.end(packer)?;
        self.to.flush()?;
        Ok(self.written)
    }

    /// Ends the file, and begins another behind it.
    pub fn next_file(&mut self, packer: &mut Packer) -> Result<(), Error> {
        self.end(packer)?;
        self.begin()?;
        Ok(())
    }

    fn end(&mut self, packer: &mut Packer) -> Result<(), Error> {
        self.flush(packer)?;
        self.write(&[0; 8])?;
        Ok(())
    }
}

/// Reads a file.
pub(super) struct Reader<R> {
    /// Its name, for errors.
    name: String,
    from: R,
    unpacker: Decompressor<'static>,
    packed: Vec<u8>,
    /// The block that was read last.
    pub block: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// # Errors
    /// [`Error::Format`] for another kind of file or version.
    pub fn new(name: impl Into<String>, from: R, kind: FileKind) -> Result<Self, Error> {
        let mut reader = Reader {
            name: name.into(),
            from,
            unpacker: Decompressor::new()?,
            packed: Vec::new(),
            block: Vec::new(),
        };
        let mut head = [0; 11];
        reader.read(&mut head)?;
        if &head[..8] != MAGIC || head[10] != kind as u8 {
            let what = kind.name();
            return Err(reader.error(format_args!("this is not {what}")));
        }
        let version = u16::from_le_bytes([head[8], head[9]]);
        if version != FORMAT {
            return Err(reader.error(format_args!(
                "written in version {version} of the format; this program has version {FORMAT}: repeat the step that wrote it"
            )));
        }
        Ok(reader)
    }

    /// Reads the next block; false at the end.
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.block.clear();
        let mut lengths = [0; 8];
        self.read(&mut lengths)?;
        let [a, b, c, d, e, f, g, h] = lengths;
        let length = u32::from_le_bytes([a, b, c, d]);
        let packed = u32::from_le_bytes([e, f, g, h]);
        if (length, packed) == (0, 0) {
            return Ok(false);
        }
        if length == 0 || length > LONGEST || packed > LONGEST {
            return Err(self.broken());
        }
        self.packed.clear();
        // No more memory than there are bytes, whatever the length says.
        let taken = (&mut self.from)
            .take(u64::from(packed))
            .read_to_end(&mut self.packed)?;
        if taken < packed as usize {
            return Err(self.cut());
        }
        self.block.reserve(length as usize);
        match self
            .unpacker
            .decompress_to_buffer(&self.packed, &mut self.block)
        {
            Ok(unpacked) if unpacked == length as usize => Ok(true),
            _ => Err(self.broken()),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        let read = self.from.read_exact(bytes);
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.cut(),
            kind => Error::Io(io::Error::new(kind, format!("{}: {error}", self.name))),
        })
    }

    /// The error of a file whose bytes make no sense.
    pub fn broken(&self) -> Error {
        self.error("the bytes are broken: repeat the step that wrote it")
    }

    /// The error of a file that was not written to its end.
    fn cut(&self) -> Error {
        self.error("the file is cut off: repeat the step that wrote it")
    }

    /// An error of this file.
    pub fn error(&self, what: impl core::fmt::Display) -> Error {
        Error::format(format!("{}: {what}", self.name))
    }
}

/// Writes a file of one value.
pub(super) fn write_one(
    value: &impl Serialize,
    to: impl Write,
    kind: FileKind,
) -> Result<(), Error> {
    let mut packer = Packer::new()?;
    let mut writer = Writer::new(to, kind)?;
    exact::write(value, &mut writer.block);
    writer.finish(&mut packer)?;
    Ok(())
}

/// Reads a file of one value.
pub(super) fn read_one<T: DeserializeOwned>(
    name: impl Into<String>,
    from: impl Read,
    kind: FileKind,
) -> Result<T, Error> {
    let mut reader = Reader::new(name, from, kind)?;
    if !reader.advance()? {
        return Err(reader.broken());
    }
    let mut input = Input(&reader.block);
    let value = input.value().map_err(|_| reader.broken())?;
    if !input.0.is_empty() || reader.advance()? {
        return Err(reader.broken());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(blocks: &[&[u8]]) -> Vec<u8> {
        let mut packer = Packer::new().unwrap();
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, FileKind::Rows).unwrap();
        for block in blocks {
            writer.block.extend(*block);
            writer.flush(&mut packer).unwrap();
        }
        writer.finish(&mut packer).unwrap();
        file
    }

    fn blocks(file: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let read = || -> Result<_, Error> {
            let mut reader = Reader::new("a", file, FileKind::Rows)?;
            let mut blocks = Vec::new();
            while reader.advance()? {
                blocks.push(reader.block.clone());
            }
            Ok(blocks)
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let long = vec![7; 100_000];
        let file = file(&[b"one", &long]);
        assert_eq!(blocks(&file).unwrap(), [b"one".to_vec(), long]);
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_told() {
        let file = file(&[b"one", b"two"]);
        for end in 0..file.len() {
            let error = blocks(&file[..end]).unwrap_err();
            assert!(error.contains("cut off"), "{end}: {error}");
        }
    }

    #[test]
    fn a_bit_that_fell_over_is_told() {
        let file = file(&[b"one and two and three"]);
        let whole = blocks(&file);
        for bit in 0..(file.len() - 8) * 8 {
            let mut broken = file.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let read = blocks(&broken);
            // Of zstd's header one bit means nothing.
            assert!(read.is_err() || read == whole, "{bit}: {read:?}");
        }
    }

    #[test]
    fn another_version_and_another_kind_are_told() {
        let mut other = file(&[b"one"]);
        other[8] ^= 0x40;
        let version = format!("version {}", FORMAT ^ 0x40);
        assert!(blocks(&other).unwrap_err().contains(&version));
        let file = file(&[]);
        let error = Reader::new("a", &file[..], FileKind::Part).err().unwrap();
        assert!(error.to_string().contains("not what a step `read` says"));
    }
}
