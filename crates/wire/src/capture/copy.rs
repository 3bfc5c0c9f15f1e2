//! Copying a capture as pcapng, with comments added to packets.
//!
//! Of pcapng every block is copied as it is: interfaces, names, secrets, statistics, what nobody here understands, and what
//! is said of packets already. Only packets that get a comment change, and the length that a section may say of itself.
//! Captures of other formats become one section, with an interface for each of theirs and times in nanoseconds.

use std::io::{self, Read, Write};

use super::pcapng::{block, Pcapng};
use super::reader::Format;
use super::record::{NextRecord, RecordAt};
use super::window::ByteWindow;
use super::{End, Error, Frame, Reader};
use crate::link::LinkType;
use crate::pcapng::{Options, Writer};

/// Bytes of a block that Wireshark reads at most (`MAX_BLOCK_SIZE`, wiretap/pcapng.c).
const MOST_BLOCK: u32 = 16 << 20;

/// A capture that is copied, packet by packet.
pub struct Copy<'r, W: Write> {
    reader: Reader<'r>,
    to: To<W>,
    current: Option<RecordAt>,
    /// Comments that begin so are left out of what is copied.
    without: String,
    over: bool,
}

enum To<W: Write> {
    /// Of a pcapng capture the block of the current packet, or of what is before it.
    Blocks { out: W, block: Vec<u8> },
    /// Of all other captures, with the interfaces declared so far: their number in the capture and their link.
    Anew {
        writer: Writer<W>,
        interfaces: Vec<(u16, LinkType)>,
    },
}

impl<'r, W: Write> Copy<'r, W> {
    /// Begins to copy a capture of any kind to `out`, without the comments of packets that begin with `without`.
    ///
    /// # Errors
    /// As [`Reader::new`]; those of `out`.
    pub fn new(input: impl Read + Send + 'r, out: W, without: &str) -> Result<Self, Error> {
        let reader = Reader::new(input)?;
        let to = match reader.format {
            Format::Pcapng(_) => To::Blocks {
                out,
                block: Vec::new(),
            },
            _ => To::Anew {
                writer: Writer::new(out)?,
                interfaces: Vec::new(),
            },
        };
        Ok(Copy {
            reader,
            to,
            current: None,
            without: without.to_owned(),
            over: false,
        })
    }

    /// Moves on to the next packet, which [`Copy::frame`] then lends, and copies what stands before it; false at the
    /// capture's end. They are the packets that [`Reader::advance`] gives, with the times that the capture has.
    ///
    /// # Errors
    /// As [`Reader::next_frame`]; those of `out`.
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.current = None;
        if self.over {
            return Ok(false);
        }
        let next = match (&mut self.reader.format, &mut self.to) {
            (Format::Pcapng(pcapng), To::Blocks { out, block }) => {
                next_packet(pcapng, &mut self.reader.window, block, out)
            }
            _ => self.reader.find(),
        };
        self.over = !matches!(next, Ok(Some(_)));
        self.current = next?;
        Ok(self.current.is_some())
    }

    /// The packet at which the copy stands.
    #[must_use]
    pub fn frame(&self) -> Option<Frame<'_>> {
        let found = self.current.as_ref()?;
        let data = match &self.to {
            To::Blocks { block, .. } => &block[found.from..found.from + found.len],
            To::Anew { .. } => self.reader.window.at(found.from, found.len),
        };
        Some(Frame {
            time: found.time,
            link: found.link,
            interface: found.interface,
            original_len: found.original_len,
            data,
        })
    }

    /// Writes the packet at which the copy stands; one that is not written is left out. False where the packet's kind of
    /// block has no room for comments.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write<S: AsRef<str>>(&mut self, comments: &[S]) -> io::Result<bool> {
        let Some(found) = self.current else {
            return Ok(true);
        };
        match &mut self.to {
            To::Blocks { out, block } => {
                let Format::Pcapng(pcapng) = &self.reader.format else {
                    return Ok(true);
                };
                let simple = block.starts_with(&kind_bytes(block::SIMPLE, pcapng.big_endian));
                if !simple {
                    comment(block, &found, pcapng.big_endian, comments, &self.without);
                }
                out.write_all(block)?;
                Ok(!simple || comments.is_empty())
            }
            To::Anew { writer, interfaces } => {
                let key = (found.interface, found.link);
                let known = interfaces.iter().position(|one| *one == key);
                let interface = match known {
                    Some(known) => known as u32,
                    None => {
                        interfaces.push(key);
                        writer.add_interface_of("", found.link.0, 0)?
                    }
                };
                let data = self.reader.window.at(found.from, found.len);
                let comments = comments.iter().map(AsRef::as_ref);
                writer.packet(interface, found.time, data, found.original_len, comments)?;
                Ok(true)
            }
        }
    }

    /// How the capture ended, after [`Copy::advance`] was false.
    #[must_use]
    pub fn end(&self) -> End {
        let window = &self.reader.window;
        // Of a block that the window does not hold what came is here.
        let begun = match &self.to {
            To::Blocks { block, .. } => block.len() as u64,
            To::Anew { .. } => 0,
        };
        if begun == 0 && window.ahead().is_empty() && !window.is_cut() {
            return End::Complete;
        }
        let offset = window.offset() - begun;
        End::Truncated { offset }
    }
}

fn kind_bytes(kind: u32, big_endian: bool) -> [u8; 4] {
    if big_endian {
        kind.to_be_bytes()
    } else {
        kind.to_le_bytes()
    }
}

/// Copies blocks up to the next packet, whose block is then in `block`; what is found counts from its start.
fn next_packet(
    pcapng: &mut Pcapng,
    window: &mut ByteWindow<'_>,
    block: &mut Vec<u8>,
    out: &mut impl Write,
) -> Result<Option<RecordAt>, Error> {
    loop {
        block.clear();
        let Some((kind, total)) = pcapng.head(window)? else {
            return Ok(None);
        };
        let length = total as usize;
        if total > MOST_BLOCK {
            let what = format!("a block of {total} bytes, more than Wireshark reads");
            return Err(Error::broken(window.offset(), what));
        }
        if length <= ByteWindow::CAPACITY {
            if !window.need(length)? {
                return Ok(None);
            }
            let position = window.position();
            block.extend_from_slice(window.at(position, length));
            match pcapng.next(window)? {
                NextRecord::Packet(found) => {
                    let from = found.from - position;
                    return Ok(Some(RecordAt { from, ..found }));
                }
                NextRecord::Other => {}
                NextRecord::End => return Ok(None),
            }
        } else if !long(pcapng, window, kind, length, block)? {
            return Ok(None);
        }
        if kind == block::SECTION {
            // Its length would no longer be true; all ones say that it is not known (§4.1).
            if let Some(of_section) = block.get_mut(16..24) {
                of_section.fill(0xff);
            }
        }
        out.write_all(block)?;
    }
}

/// Reads a block that the window does not hold; false where the stream ends before it does.
fn long(
    pcapng: &mut Pcapng,
    window: &mut ByteWindow<'_>,
    kind: u32,
    length: usize,
    into: &mut Vec<u8>,
) -> Result<bool, Error> {
    if [
        block::INTERFACE,
        block::PACKET,
        block::SIMPLE,
        block::ENHANCED,
    ]
    .contains(&kind)
    {
        // It says what is wrong.
        pcapng.next(window)?;
        return Ok(false);
    }
    while into.len() < length {
        if !window.need(1)? {
            return Ok(false);
        }
        let ahead = window.ahead();
        let some = ahead.len().min(length - into.len());
        into.extend_from_slice(&ahead[..some]);
        window.consume(some);
    }
    Ok(true)
}

/// Puts comments behind what else is said of the packet in `block`.
fn comment<S: AsRef<str>>(
    block: &mut Vec<u8>,
    found: &RecordAt,
    big_endian: bool,
    comments: &[S],
    without: &str,
) {
    let from = found.from + found.len.next_multiple_of(4);
    let to = from + found.options;
    let mut options = Options::new(big_endian);
    let is_whole = options.copy(&block[from.min(to)..to], |comment| {
        comment.starts_with(without.as_bytes())
    });
    if comments.is_empty() && (found.options == 0 || !is_whole || !options.left_out) {
        return;
    }
    if is_whole {
        comments
            .iter()
            .for_each(|one| options.comment(one.as_ref()));
        options.end();
    } else {
        // Where these options end is not known: what is added must stand before them.
        let mut first = Options::new(big_endian);
        comments.iter().for_each(|one| first.comment(one.as_ref()));
        first.bytes.extend_from_slice(&block[from..to]);
        options = first;
    }
    block.truncate(from);
    block.append(&mut options.bytes);
    let total = kind_bytes(block.len() as u32 + 4, big_endian);
    block[4..8].copy_from_slice(&total);
    block.extend(total);
}
