//! Text in UTF-16, as PowerShell redirects what a program prints, read as UTF-8.

use std::io::{self, ErrorKind, Read};

use crate::capture::window::ByteWindow;

/// Which byte of a character comes first.
#[derive(Clone, Copy)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// That of a stream by its first bytes; none where they are no byte order mark of UTF-16.
    pub fn marked(first: &[u8]) -> Option<Self> {
        match first {
            [0xff, 0xfe, ..] => Some(ByteOrder::Little),
            [0xfe, 0xff, ..] => Some(ByteOrder::Big),
            _ => None,
        }
    }

    /// The characters of whole units; a replacement for what is none.
    pub fn decoded(self, bytes: &[u8]) -> String {
        let units = bytes.chunks_exact(2).map(|pair| self.unit(pair));
        char::decode_utf16(units)
            .map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    }

    fn unit(self, pair: &[u8]) -> u16 {
        let pair = [pair[0], pair[1]];
        match self {
            ByteOrder::Little => u16::from_le_bytes(pair),
            ByteOrder::Big => u16::from_be_bytes(pair),
        }
    }
}

/// A stream of UTF-16 that reads as UTF-8.
pub(super) struct Utf16<'r> {
    window: ByteWindow<'r>,
    order: ByteOrder,
    out: Vec<u8>,
    /// Bytes of `out` that were given.
    given: usize,
}

impl<'r> Utf16<'r> {
    pub fn new(window: ByteWindow<'r>, order: ByteOrder) -> Self {
        Utf16 {
            window,
            order,
            out: Vec::new(),
            given: 0,
        }
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const SURROGATES: core::ops::Range<u16> = 0xd800..0xdc00;
        if self.given == self.out.len() {
            // Two units, of which the first may be half a character.
            self.window.need(4)?;
            let ahead = self.window.ahead();
            let mut whole = ahead.len() & !1;
            if whole > 2 && SURROGATES.contains(&self.order.unit(&ahead[whole - 2..whole])) {
                whole -= 2;
            }
            if whole == 0 && self.window.is_cut() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.out = self.order.decoded(&ahead[..whole]).into_bytes();
            self.given = 0;
            self.window.consume(whole);
        }
        let left = &self.out[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three bytes at a time: no character comes whole.
    struct Odd<'r>(&'r [u8]);

    impl Read for Odd<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(3);
            self.0.read(&mut buffer[..most])
        }
    }

    fn read(bytes: &[u8], order: ByteOrder) -> String {
        let mut text = String::new();
        Utf16::new(ByteWindow::new(Box::new(Odd(bytes))), order)
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn characters_stay_whole_wherever_a_read_ends() {
        let text = "a\u{1d11e}\u{1d11e}b\u{20ac}\n".repeat(100);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&little, ByteOrder::Little), text);
        assert_eq!(read(&big, ByteOrder::Big), text);
    }

    #[test]
    fn half_a_character_at_the_end_is_replaced_or_left_out() {
        assert_eq!(read(b"a\0\x34\xd8", ByteOrder::Little), "a\u{fffd}");
        assert_eq!(read(b"a\0b", ByteOrder::Little), "a");
    }
}
