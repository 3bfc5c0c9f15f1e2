//! Many connections as one capture in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;

use rexmit_time::Time;

use super::record::Point;
use super::render::Rendered;

/// Takes the packets of one point, in the order of time.
pub trait Capture {
    /// A packet of `original` bytes, of which `bytes` were captured.
    ///
    /// # Errors
    /// When it cannot be written.
    fn packet(&mut self, time: Time, bytes: &[u8], original: u32) -> io::Result<()>;

    /// All packets are there.
    ///
    /// # Errors
    /// When they cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// The connections of one point whose packets are not all written.
pub(super) struct Merge<C> {
    point: Point,
    capture: C,
    /// The next packet of each, by time; of one instant, those of the earlier connection first.
    next: BinaryHeap<Reverse<(Time, u64)>>,
    open: std::collections::BTreeMap<u64, Merging>,
    buffer: Vec<u8>,
    /// Packets written.
    pub written: u64,
}

/// A connection and its next packet.
struct Merging {
    rendered: Rc<Rendered>,
    at: usize,
}

impl<C: Capture> Merge<C> {
    pub fn new(point: Point, capture: C) -> Self {
        Merge {
            point,
            capture,
            next: BinaryHeap::new(),
            open: std::collections::BTreeMap::new(),
            buffer: Vec::new(),
            written: 0,
        }
    }

    /// Adds connection `number`.
    pub fn add(&mut self, number: u64, rendered: &Rc<Rendered>) {
        if let Some((time, _)) = rendered.seen[self.point as usize].first() {
            self.next.push(Reverse((*time, number)));
            let rendered = Rc::clone(rendered);
            self.open.insert(number, Merging { rendered, at: 0 });
        }
    }

    /// Writes all packets before `until`.
    pub fn write(&mut self, until: Time) -> io::Result<()> {
        while let Some(Reverse((time, number))) = self.next.peek().copied() {
            if time >= until {
                break;
            }
            self.next.pop();
            let Some(open) = self.open.get_mut(&number) else {
                continue;
            };
            // Until another connection's turn comes.
            let other = self.next.peek().map_or((until, 0), |Reverse(next)| *next);
            let seen = &open.rendered.seen[self.point as usize];
            while let Some((time, packet)) = seen.get(open.at).copied() {
                if (time, number) > other || time >= until {
                    break;
                }
                let (bytes, original) = open.rendered.packet(packet, self.point, &mut self.buffer);
                self.capture.packet(time, bytes, original)?;
                self.written += 1;
                open.at += 1;
            }
            match seen.get(open.at) {
                Some((time, _)) => self.next.push(Reverse((*time, number))),
                None => {
                    self.open.remove(&number);
                }
            }
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(&mut self) -> io::Result<()> {
        self.write(Time::MAX)?;
        self.capture.finish()
    }
}
