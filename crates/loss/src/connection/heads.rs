//! Where the responses of a connection begin and end.

use std::collections::{BTreeMap, VecDeque};

use rexmit_wire::http::{BodyLength, HeadError, HeadReader, Progress, HEAD_LIMIT, HEAD_START};

use crate::Why;

/// Most pieces of heads that are kept while one in front of them is missing.
const PIECES_AHEAD: usize = 64;

/// What the tracker found in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A response of known length.
    Response {
        start: u64,
        head: u64,
        body: u64,
        keep_alive: bool,
    },
    /// A response that cannot be tracked.
    Untracked(Why),
}

/// Follows the responses in one direction of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Responses {
    /// A head is due, or being read.
    Head(Head),
    /// A body, up to its end.
    Body { end: u64 },
    /// In the middle of something unknown; a head is taken up where a packet begins with one.
    Searching,
    /// Nothing more can be tracked in this connection.
    Over,
    /// The lengths of all that is to come were told: where the next begins, and how long they are.
    Told { next: u64, left: VecDeque<u64> },
}

/// A head that is due or being read.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    start: u64,
    /// The next position that the reader takes.
    next: u64,
    reader: HeadReader,
    /// Pieces that came before those in front of them; at most 16 KiB ahead.
    ahead: BTreeMap<u64, Vec<u8>>,
}

impl Responses {
    /// Expects a head at `start`.
    pub fn head_at(start: u64) -> Self {
        Responses::Head(Head {
            start,
            next: start,
            reader: HeadReader::new(),
            ahead: BTreeMap::new(),
        })
    }

    /// Expects stretches of these lengths from `start` on.
    pub fn told(start: u64, bytes: &[u64]) -> Self {
        Responses::Told {
            next: start,
            left: bytes.iter().copied().collect(),
        }
    }

    /// Where the head begins that is due or being read.
    pub fn head_start(&self) -> Option<u64> {
        match self {
            Responses::Head(head) => Some(head.start),
            _ => None,
        }
    }

    /// Takes the bytes at `start`, of which `payload` was captured, in any order, `len` in all.
    pub fn feed(&mut self, start: u64, payload: &[u8], len: u32, found: &mut Vec<Found>) {
        let end = start + u64::from(len);
        if let Responses::Body { end: body } = self {
            if end <= *body {
                return;
            }
        }
        if let Responses::Told { next, left } = self {
            while let Some(body) = left.front().copied().filter(|_| *next < end) {
                left.pop_front();
                found.push(Found::Response {
                    start: *next,
                    head: 0,
                    body,
                    keep_alive: true,
                });
                *next += body;
            }
            return;
        }
        // The packet first, then the kept pieces that it makes readable. This ends: a piece comes back to
        // `later` only when the reader moved on.
        let mut later = Vec::new();
        self.take(start, payload, end, &mut later, found);
        while !later.is_empty() {
            for (start, bytes) in core::mem::take(&mut later) {
                let end = start + bytes.len() as u64;
                self.take(start, &bytes, end, &mut later, found);
            }
        }
    }

    fn take(
        &mut self,
        start: u64,
        payload: &[u8],
        end: u64,
        later: &mut Vec<(u64, Vec<u8>)>,
        found: &mut Vec<Found>,
    ) {
        loop {
            match self {
                Responses::Over | Responses::Told { .. } => return,
                Responses::Searching => {
                    if !payload.starts_with(HEAD_START) {
                        return;
                    }
                    *self = Responses::head_at(start);
                }
                Responses::Body { end: body } => {
                    if end <= *body {
                        return;
                    }
                    *self = Responses::head_at(*body);
                }
                Responses::Head(head) => {
                    if end <= head.next {
                        return;
                    }
                    if start > head.next {
                        head.keep(start, payload);
                        return;
                    }
                    let at = (head.next - start) as usize;
                    let cut = payload.len() < (end - start) as usize;
                    let progress = match payload.get(at..) {
                        Some(piece) if !piece.is_empty() => head.reader.push(piece),
                        _ => Ok(Progress::Partial),
                    };
                    match progress {
                        Ok(Progress::Partial) if cut => {
                            found.push(Found::Untracked(Why::CutShort));
                            *self = Responses::Searching;
                            return;
                        }
                        Ok(Progress::Partial) => {
                            head.next = end;
                            later.extend(core::mem::take(&mut head.ahead));
                            return;
                        }
                        Ok(Progress::Complete {
                            head: response,
                            used,
                        }) => {
                            let first = head.start;
                            let behind = head.next + used as u64;
                            later.extend(core::mem::take(&mut head.ahead));
                            *self = if response.is_interim() {
                                Responses::head_at(behind)
                            } else {
                                match response.body {
                                    BodyLength::Bytes(body) => {
                                        let (head, keep_alive) =
                                            (behind - first, response.keep_alive);
                                        // A length no stream can have would overflow the positions.
                                        let body = body.min(1 << 62);
                                        found.push(Found::Response {
                                            start: first,
                                            head,
                                            body,
                                            keep_alive,
                                        });
                                        Responses::Body { end: behind + body }
                                    }
                                    BodyLength::Chunked => {
                                        found.push(Found::Untracked(Why::Chunked));
                                        Responses::Searching
                                    }
                                    BodyLength::UntilClose => {
                                        found.push(Found::Untracked(Why::NoLength));
                                        Responses::Over
                                    }
                                }
                            };
                            if matches!(self, Responses::Searching) {
                                return; // what follows the head in this packet is body
                            }
                        }
                        Err(error) => {
                            found.push(Found::Untracked(Why::Head(error)));
                            // Bytes that never were HTTP stay so; a broken head may be followed by a good one.
                            *self = if error == HeadError::NotHttp {
                                Responses::Over
                            } else {
                                Responses::Searching
                            };
                            return;
                        }
                    }
                }
            }
        }
    }
}

impl Head {
    fn keep(&mut self, start: u64, payload: &[u8]) {
        let room = HEAD_LIMIT.saturating_sub((start - self.start).min(HEAD_LIMIT as u64) as usize);
        let piece = &payload[..payload.len().min(room)];
        let known = self.ahead.get(&start).map_or(0, Vec::len);
        if piece.len() > known && (known > 0 || self.ahead.len() < PIECES_AHEAD) {
            self.ahead.insert(start, piece.to_vec());
        }
    }
}
