//! A window that slides over a stream.

use std::io::{self, BufRead, ErrorKind, Read};

/// Any stream that can be handed to another thread.
pub(super) type Input<'r> = Box<dyn Read + Send + 'r>;

/// The next bytes of a stream, at least as many as are asked for.
pub(super) struct ByteWindow<'r> {
    input: Input<'r>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Offset in the stream of the buffer's first byte.
    base: u64,
    /// The stream has no more bytes.
    ended: bool,
    /// The stream ended where its own form says that more follows.
    cut: bool,
}

impl<'r> ByteWindow<'r> {
    /// Bytes that can be asked for at once: a packet of 256 KiB with all that describes it.
    pub const CAPACITY: usize = 1 << 19;

    pub fn new(input: Input<'r>) -> Self {
        ByteWindow {
            input,
            buffer: vec![0; Self::CAPACITY].into_boxed_slice(),
            start: 0,
            end: 0,
            base: 0,
            ended: false,
            cut: false,
        }
    }

    /// Whether `count` bytes are there, read if need be. False at the stream's end only, and for more than
    /// the window holds.
    #[inline]
    pub fn need(&mut self, count: usize) -> io::Result<bool> {
        if self.end - self.start >= count {
            return Ok(true);
        }
        self.read(count)
    }

    #[cold]
    fn read(&mut self, count: usize) -> io::Result<bool> {
        if count > self.buffer.len() {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        while self.end < count && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read.min(self.buffer.len() - self.end),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A packed stream that was cut off.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    self.ended = true;
                    self.cut = true;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.end >= count)
    }

    /// The bytes that are there.
    #[inline]
    pub fn ahead(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Where [`ByteWindow::ahead`] begins in the window, valid until more is read.
    #[inline]
    pub const fn position(&self) -> usize {
        self.start
    }

    /// Bytes at a position.
    #[inline]
    pub fn at(&self, position: usize, len: usize) -> &[u8] {
        &self.buffer[position..position + len]
    }

    /// Where [`ByteWindow::ahead`] begins in the stream.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Passes over bytes that are there.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Passes over bytes, read if need be; false if the stream ends before.
    pub fn skip(&mut self, mut count: u64) -> io::Result<bool> {
        while count > 0 {
            if !self.need(1)? {
                return Ok(false);
            }
            let step = count.min((self.end - self.start) as u64);
            self.consume(step as usize);
            count -= step;
        }
        Ok(true)
    }

    /// Whether the stream ended where its own form says that more follows.
    pub const fn is_cut(&self) -> bool {
        self.cut
    }
}

impl Read for ByteWindow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for ByteWindow<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.need(1)? && self.cut {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(self.ahead())
    }

    fn consume(&mut self, count: usize) {
        ByteWindow::consume(self, count);
    }
}
