//! A head that comes in pieces.

use super::{HeadError, ResponseHead, HEAD_START};

/// Longest head that is read, bytes.
pub const HEAD_LIMIT: usize = 16 * 1024;

/// What a piece of the stream brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The head is not complete yet; all bytes were taken.
    Partial,
    /// The head is complete.
    Complete {
        /// The head.
        head: ResponseHead,
        /// How many bytes of the last piece belong to it.
        used: usize,
    },
}

/// Collects one response head from pieces of the stream, split at any byte.
///
/// A head that lies whole in the first piece is read where it is, without a copy.
#[derive(Clone, Debug, Default)]
pub struct HeadReader {
    buffer: Vec<u8>,
}

impl HeadReader {
    /// Waits for the first byte of a head.
    #[must_use]
    pub const fn new() -> Self {
        HeadReader { buffer: Vec::new() }
    }

    /// How many bytes of the head have been taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.buffer.len()
    }

    /// Takes the next bytes of the stream. After [`Progress::Complete`] or an error the reader is empty
    /// and waits for another head.
    ///
    /// # Errors
    /// [`HeadError`] as soon as the bytes cannot become a usable head.
    pub fn push(&mut self, piece: &[u8]) -> Result<Progress, HeadError> {
        let progress = self.advance(piece);
        if !matches!(progress, Ok(Progress::Partial)) {
            self.buffer = Vec::new();
        }
        progress
    }

    fn advance(&mut self, piece: &[u8]) -> Result<Progress, HeadError> {
        let before = self.buffer.len();
        let start = piece.iter().zip(HEAD_START.iter().skip(before));
        if start.clone().any(|(got, want)| got != want) {
            return Err(HeadError::NotHttp);
        }
        let room = HEAD_LIMIT - before.min(HEAD_LIMIT);
        let piece = &piece[..piece.len().min(room + 1)];
        let (whole, end) = if before == 0 {
            (piece, end_of_head(piece, 0))
        } else {
            self.buffer.extend_from_slice(piece);
            (&self.buffer[..], end_of_head(&self.buffer, before))
        };
        match end {
            Some(end) if end <= HEAD_LIMIT => {
                let head = ResponseHead::parse(&whole[..end])?;
                // The parser must agree where the head ends, or the body would start elsewhere.
                if head.len != end {
                    return Err(HeadError::Broken);
                }
                Ok(Progress::Complete {
                    head,
                    used: end - before,
                })
            }
            _ if whole.len() > HEAD_LIMIT => Err(HeadError::TooLong),
            _ => {
                if before == 0 {
                    self.buffer.extend_from_slice(piece);
                }
                Ok(Progress::Partial)
            }
        }
    }
}

/// The length of the head in `bytes`, when its empty line is there. Bytes before `from` were searched
/// before. A bare LF ends a line as well (RFC 9112 §2.2).
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(feed) = bytes[at..].iter().position(|byte| *byte == b'\n') {
        at += feed + 1;
        let line = bytes[..at - 1]
            .strip_suffix(b"\r")
            .unwrap_or(&bytes[..at - 1]);
        if line.ends_with(b"\n") {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::BodyLength;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 42\r\nConnection: close\r\n\r\n";

    #[test]
    fn takes_a_head_whole() {
        let stream = [HEAD, b"body"].concat();
        let Ok(Progress::Complete { head, used }) = HeadReader::new().push(&stream) else {
            panic!()
        };
        assert_eq!((used, head.len), (HEAD.len(), HEAD.len()));
        assert_eq!(
            (head.status, head.body, head.keep_alive),
            (200, BodyLength::Bytes(42), false)
        );
    }

    #[test]
    fn refuses_what_is_not_http_at_the_first_wrong_byte() {
        let mut reader = HeadReader::new();
        assert_eq!(reader.push(b"HTT"), Ok(Progress::Partial));
        assert_eq!(reader.push(b"Q"), Err(HeadError::NotHttp));
        assert_eq!(reader.taken(), 0);
        assert_eq!(HeadReader::new().push(b"HTTP/2"), Err(HeadError::NotHttp));
        assert_eq!(HeadReader::new().push(b""), Ok(Progress::Partial));
    }

    #[test]
    fn bare_line_feeds_end_lines() {
        let Ok(Progress::Complete { used, .. }) =
            HeadReader::new().push(b"HTTP/1.1 200 OK\nA: b\n\nbody")
        else {
            panic!()
        };
        assert_eq!(used, 22);
    }

    #[test]
    fn a_head_may_be_16_kib_long_and_no_longer() {
        let head = |len: usize| {
            let mut head = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
            head.resize(len - 4, b'x');
            [&head[..], b"\r\n\r\n"].concat()
        };
        for piece in [1, 1000, 100_000] {
            let feed = |bytes: &[u8]| {
                let mut reader = HeadReader::new();
                bytes
                    .chunks(piece)
                    .map(|chunk| reader.push(chunk))
                    .find(|p| *p != Ok(Progress::Partial))
            };
            let full = feed(&head(HEAD_LIMIT));
            assert!(
                matches!(full, Some(Ok(Progress::Complete { .. }))),
                "{full:?} in pieces of {piece}"
            );
            assert_eq!(feed(&head(HEAD_LIMIT + 1)), Some(Err(HeadError::TooLong)));
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(cuts in proptest::collection::vec(0usize..80, 0..6), body in 0usize..10) {
            let stream = [HEAD, &vec![b'\n'; body]].concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let mut reader = HeadReader::new();
            let mut found = None;
            for pair in cuts.windows(2) {
                if let Progress::Complete { head, used } = reader.push(&stream[pair[0]..pair[1]]).unwrap() {
                    prop_assert_eq!(pair[0] + used, HEAD.len());
                    found = Some(head);
                    break;
                }
            }
            prop_assert_eq!(found.map(|h| (h.len, h.body)), Some((HEAD.len(), BodyLength::Bytes(42))));
        }

        #[test]
        fn never_panics(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..6)) {
            let mut reader = HeadReader::new();
            let _ = reader.push(b"HTTP/1.1 200 OK\r\n");
            for piece in &pieces {
                let _ = reader.push(piece);
            }
        }
    }
}
