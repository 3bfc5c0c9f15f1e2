//! What happens in one file, in its order: ends of stretches, what is taught of subflows, and packets.

use std::io::Read;

use rexmit_time::Time;

use super::packets::{PacketReader, Recorded};
use super::part::{Detail, Key, Part, Stretch, Taught};
use super::Error;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening<'o> {
    Stretch(&'o Stretch),
    Taught(&'o Taught),
    Packet(&'o Recorded),
}

/// One file of those that are open.
pub(super) struct OpenFile<'p, R> {
    pub file: usize,
    part: &'p Part,
    pub detail: Detail,
    stretch: usize,
    taught: usize,
    /// The packets of one group or of several.
    packets: Vec<PacketReader<R>>,
    /// What comes next, and where it stands.
    next: Option<(Time, Next)>,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Stretch,
    Taught,
    Packet(usize),
}

impl<'p, R: Read> OpenFile<'p, R> {
    pub fn new(
        file: usize,
        part: &'p Part,
        detail: Detail,
        packets: impl IntoIterator<Item = (String, R)>,
    ) -> Result<Self, Error> {
        let packets = packets.into_iter();
        let readers = packets.map(|(name, packets)| PacketReader::new(name, packets));
        let mut open = OpenFile {
            file,
            part,
            detail,
            stretch: 0,
            taught: 0,
            packets: readers.collect::<Result<_, _>>()?,
            next: None,
        };
        open.choose();
        Ok(open)
    }

    /// Where what comes next stands; none at the end.
    #[inline]
    pub fn key(&self) -> Option<Key> {
        self.next.map(|(latest, _)| (latest, self.file))
    }

    /// What comes next; none at the end.
    #[inline]
    pub fn next(&self) -> Option<Happening<'_>> {
        Some(match self.next?.1 {
            Next::Stretch => Happening::Stretch(self.detail.stretches.get(self.stretch)?),
            Next::Taught => Happening::Taught(self.part.lessons.get(self.taught)?),
            Next::Packet(of) => Happening::Packet(self.packets[of].packet.as_ref()?),
        })
    }

    /// Goes on behind what came next.
    #[inline]
    pub fn advance(&mut self) -> Result<(), Error> {
        match self.next {
            Some((_, Next::Stretch)) => self.stretch += 1,
            Some((_, Next::Taught)) => self.taught += 1,
            Some((_, Next::Packet(of))) => self.packets[of].advance()?,
            None => {}
        }
        self.choose();
        Ok(())
    }

    /// Before a packet comes what it teaches, and before that the end of a stretch.
    #[inline]
    fn choose(&mut self) {
        let mut first: Option<(u64, Time, Next)> = None;
        let mut see = |frame: u64, latest: Time, next: Next| {
            if first.is_none_or(|(before, ..)| frame < before) {
                first = Some((frame, latest, next));
            }
        };
        if let Some(stretch) = self.detail.stretches.get(self.stretch) {
            see(stretch.frame, stretch.latest, Next::Stretch);
        }
        if let Some(taught) = self.part.lessons.get(self.taught) {
            see(taught.frame, taught.latest, Next::Taught);
        }
        for (of, reader) in self.packets.iter().enumerate() {
            if let Some(packet) = &reader.packet {
                see(packet.frame, packet.latest, Next::Packet(of));
            }
        }
        self.next = first.map(|(_, latest, next)| (latest, next));
    }
}
