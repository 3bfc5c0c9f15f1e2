//! TCP options.

use crate::{SeqNum, SeqRange};

/// One TCP option that rexmit reads; others come as [`TcpOption::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Largest segment the sender of the option takes, bytes (RFC 9293 §3.7.1).
    MaxSegmentSize(u16),
    /// Shift count of the window (RFC 7323 §2.2), as sent: values above 14 are not clipped.
    WindowScale(u8),
    /// Selective acknowledgements are understood (RFC 2018 §2).
    SackPermitted,
    /// Blocks received out of order (RFC 2018 §3; the first may be a D-SACK, RFC 2883 §4).
    Sack(SackBlocks<'a>),
    /// Timestamps (RFC 7323 §3.2).
    Timestamps {
        /// The sender's clock.
        value: u32,
        /// The peer's clock as last seen; without meaning unless ACK is set.
        echo: u32,
    },
    /// Any other kind, or a known kind of the wrong length.
    Other {
        /// The option's kind.
        kind: u8,
        /// What follows kind and length.
        data: &'a [u8],
    },
}

/// The blocks of a SACK option, in the order sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks<'a>(&'a [u8]);

impl SackBlocks<'_> {
    /// The blocks; at most four fit into an option.
    pub fn iter(&self) -> impl Iterator<Item = SeqRange> + '_ {
        self.0.chunks_exact(8).map(|b| SeqRange {
            start: SeqNum::new(u32::from_be_bytes([b[0], b[1], b[2], b[3]])),
            end: SeqNum::new(u32::from_be_bytes([b[4], b[5], b[6], b[7]])),
        })
    }
}

/// One option as it lies in a header: its kind, its length with kind and length fields, its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The option's kind.
    pub kind: u8,
    /// Bytes it takes; of the end of the list (kind 0) with all that follows.
    pub length: u8,
    /// What follows kind and length.
    pub data: &'a [u8],
}

/// Walks the options of one TCP header as they lie there: no-operations (kind 1) and the end of the list
/// (kind 0) come, too. A broken length ends the walk; nothing panics.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Items<'a> {
    /// The options in `bytes`, which start right after the fixed header.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Items { rest: bytes }
    }

    /// What was not walked yet; after the walk, what a broken length made unreadable.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        match *self.rest {
            [0, ref data @ ..] => {
                let length = u8::try_from(self.rest.len()).unwrap_or(u8::MAX);
                self.rest = &[];
                Some(Item {
                    kind: 0,
                    length,
                    data,
                })
            }
            [1, ref rest @ ..] => {
                self.rest = rest;
                Some(Item {
                    kind: 1,
                    length: 1,
                    data: &[],
                })
            }
            [kind, length, ref rest @ ..] => {
                let (data, rest) = usize::from(length)
                    .checked_sub(2)
                    .and_then(|n| rest.split_at_checked(n))?;
                self.rest = rest;
                Some(Item { kind, length, data })
            }
            _ => None,
        }
    }
}

impl<'a> Item<'a> {
    /// The option's meaning; kinds 0 and 1 come as [`TcpOption::Other`].
    #[must_use]
    pub fn decode(&self) -> TcpOption<'a> {
        decode(self.kind, self.data)
    }
}

/// Walks the options of one TCP header, without no-operations, up to the end of the list.
#[derive(Clone, Debug)]
pub struct Options<'a>(Items<'a>);

impl<'a> Options<'a> {
    /// The options in `bytes`, which start right after the fixed header.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Options(Items::new(bytes))
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = TcpOption<'a>;

    #[inline]
    fn next(&mut self) -> Option<TcpOption<'a>> {
        loop {
            let item = self.0.next()?;
            match item.kind {
                0 => return None,
                1 => {}
                _ => return Some(item.decode()),
            }
        }
    }
}

#[inline]
fn decode(kind: u8, data: &[u8]) -> TcpOption<'_> {
    match (kind, data) {
        (2, &[a, b]) => TcpOption::MaxSegmentSize(u16::from_be_bytes([a, b])),
        (3, &[shift]) => TcpOption::WindowScale(shift),
        (4, []) => TcpOption::SackPermitted,
        (5, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
            TcpOption::Sack(SackBlocks(blocks))
        }
        (8, &[a, b, c, d, e, f, g, h]) => TcpOption::Timestamps {
            value: u32::from_be_bytes([a, b, c, d]),
            echo: u32::from_be_bytes([e, f, g, h]),
        },
        _ => TcpOption::Other { kind, data },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_options_of_a_syn() {
        let bytes = [
            2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 3, 3, 7,
        ];
        let got: Vec<_> = Options::new(&bytes).collect();
        assert_eq!(
            got,
            [
                TcpOption::MaxSegmentSize(1460),
                TcpOption::SackPermitted,
                TcpOption::Timestamps { value: 7, echo: 9 },
                TcpOption::WindowScale(7),
            ]
        );
    }

    #[test]
    fn reads_sack_blocks_across_the_wrap() {
        let bytes = [
            1, 1, 5, 18, 255, 255, 255, 255, 0, 0, 0, 9, 0, 0, 0, 20, 0, 0, 0, 30, 0, 99,
        ];
        let Some(TcpOption::Sack(blocks)) = Options::new(&bytes).next() else {
            panic!("no SACK")
        };
        let lens: Vec<u32> = blocks.iter().map(SeqRange::len).collect();
        assert_eq!(lens, [10, 10]);
        assert_eq!(Options::new(&bytes).count(), 1, "the list ends at kind 0");
    }

    #[test]
    fn broken_lengths_end_the_walk() {
        for broken in [
            &[8, 0, 1, 1][..],
            &[8, 1, 1, 1],
            &[8, 10, 0],
            &[8],
            &[254, 255],
        ] {
            assert_eq!(Options::new(broken).count(), 0, "{broken:?}");
        }
        let odd: Vec<_> = Options::new(&[2, 3, 1, 5, 4, 0, 0]).collect();
        assert_eq!(
            odd,
            [
                TcpOption::Other {
                    kind: 2,
                    data: &[1]
                },
                TcpOption::Other {
                    kind: 5,
                    data: &[0, 0]
                }
            ]
        );
    }
}
