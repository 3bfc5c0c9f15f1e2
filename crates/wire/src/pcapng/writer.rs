//! Writing pcapng.

use std::io::{self, Write};

use rexmit_time::Time;

use super::LINKTYPE_RAW;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const OPT_SHB_USERAPPL: u16 = 4;
const OPT_IF_NAME: u16 = 2;
const OPT_IF_TSRESOL: u16 = 9;

/// Writes one pcapng section with any number of interfaces, timestamps in nanoseconds.
///
/// Every block is handed to the writer in one call; give it a `BufWriter` for many small packets, and call
/// [`Writer::flush`] or [`Writer::into_inner`] at the end.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a section.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Writer {
            out,
            interfaces: 0,
            block: Vec::with_capacity(2048),
        };
        writer.begin(SECTION_HEADER);
        writer.block.extend(0x1a2b_3c4d_u32.to_le_bytes());
        writer.block.extend([1, 0, 0, 0]); // version 1.0
        writer.block.extend(u64::MAX.to_le_bytes()); // the section's length is not known
        writer.option(OPT_SHB_USERAPPL, b"rexmit");
        writer.option(OPT_END, &[]);
        writer.end()?;
        Ok(writer)
    }

    /// Declares an interface of link type RAW and gives its number, counted from 0.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add_interface(&mut self, name: &str) -> io::Result<u32> {
        self.add_interface_of(name, LINKTYPE_RAW, 0)
    }

    /// Declares an interface of any link type, whose packets are cut to `snaplen` bytes, and gives its number; 0 is no limit,
    /// and an empty name is none.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add_interface_of(&mut self, name: &str, linktype: u16, snaplen: u32) -> io::Result<u32> {
        self.begin(INTERFACE_DESCRIPTION);
        self.block.extend(linktype.to_le_bytes());
        self.block.extend([0; 2]); // reserved
        self.block.extend(snaplen.to_le_bytes());
        if !name.is_empty() {
            self.option(OPT_IF_NAME, name.as_bytes());
        }
        self.option(OPT_IF_TSRESOL, &[9]);
        self.option(OPT_END, &[]);
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes one packet, `data` being what was captured of its `original_len` bytes, with any number of comments.
    ///
    /// # Errors
    /// Those of `out`; `InvalidInput` for an interface that was not declared or data over 4 GiB.
    pub fn packet<'a>(
        &mut self,
        interface: u32,
        time: Time,
        data: &[u8],
        original_len: u32,
        comments: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<()> {
        if interface >= self.interfaces {
            let what = format!(
                "interface {interface} of a capture that has {}",
                self.interfaces
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let captured = u32::try_from(data.len())
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let nanos = time.as_nanos();
        self.begin(ENHANCED_PACKET);
        for word in [
            interface,
            (nanos >> 32) as u32,
            nanos as u32,
            captured,
            original_len,
        ] {
            self.block.extend(word.to_le_bytes());
        }
        self.block.extend(data);
        self.pad();
        let mut any = false;
        for comment in comments {
            self.option(OPT_COMMENT, comment.as_bytes());
            any = true;
        }
        if any {
            self.option(OPT_END, &[]);
        }
        self.end()
    }

    /// Flushes what lies below.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes and gives back what lies below.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]); // the length, written by `end`
    }

    /// An option's value is cut at 65,535 bytes, at a character's boundary, which the format cannot exceed.
    fn option(&mut self, code: u16, value: &[u8]) {
        let mut len = value.len().min(usize::from(u16::MAX));
        while len < value.len() && value[len] & 0xc0 == 0x80 {
            len -= 1;
        }
        self.block.extend(code.to_le_bytes());
        self.block.extend((len as u16).to_le_bytes());
        self.block.extend(&value[..len]);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn end(&mut self) -> io::Result<()> {
        let total = u32::try_from(self.block.len() + 4)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        self.block[4..8].copy_from_slice(&total.to_le_bytes());
        self.block.extend(total.to_le_bytes());
        self.out.write_all(&self.block)
    }
}
