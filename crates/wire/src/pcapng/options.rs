//! The options of a block (§3.5), in either byte order.

/// The code that ends them.
const END: u16 = 0;
/// A comment, UTF-8.
const COMMENT: u16 = 1;

/// Options that are put together.
#[derive(Debug)]
pub(crate) struct Options {
    big_endian: bool,
    /// As they stand in a block.
    pub bytes: Vec<u8>,
    /// Whether [`Options::copy`] left a comment out.
    pub left_out: bool,
}

impl Options {
    /// None yet.
    pub fn new(big_endian: bool) -> Self {
        Options {
            big_endian,
            bytes: Vec::new(),
            left_out: false,
        }
    }

    /// Takes over all options but their end, and but the comments that `without` is true of. False where they are broken:
    /// then some are missing.
    pub fn copy(&mut self, mut rest: &[u8], without: impl Fn(&[u8]) -> bool) -> bool {
        while let Some((head, after)) = rest.split_first_chunk::<4>() {
            let code = self.number([head[0], head[1]]);
            if code == END {
                return true;
            }
            let len = usize::from(self.number([head[2], head[3]]));
            let Some(value) = after.get(..len.next_multiple_of(4)) else {
                return false;
            };
            if code == COMMENT && without(&value[..len]) {
                self.left_out = true;
            } else {
                self.bytes.extend_from_slice(head);
                self.bytes.extend_from_slice(value);
            }
            rest = &after[value.len()..];
        }
        rest.is_empty()
    }

    /// Adds a comment. It is cut at 65,535 bytes, at a character's boundary.
    pub fn comment(&mut self, text: &str) {
        let mut len = text.len().min(usize::from(u16::MAX));
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        self.head(COMMENT, len as u16);
        self.bytes.extend_from_slice(&text.as_bytes()[..len]);
        let padded = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(padded, 0);
    }

    /// Ends them, where there are any.
    pub fn end(&mut self) {
        if !self.bytes.is_empty() {
            self.head(END, 0);
        }
    }

    fn head(&mut self, code: u16, len: u16) {
        for number in [code, len] {
            self.bytes.extend(if self.big_endian {
                number.to_be_bytes()
            } else {
                number.to_le_bytes()
            });
        }
    }

    fn number(&self, bytes: [u8; 2]) -> u16 {
        if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }
}
