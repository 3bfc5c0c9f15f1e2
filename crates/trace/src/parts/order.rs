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
    /// The packets of one group or of several, each with its next one.
    packets: Vec<(PacketReader<R>, Option<Recorded>)>,
    /// The packet that was given last.
    packet: Option<Recorded>,
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
        let mut readers = Vec::new();
        for (name, packets) in packets {
            let mut reader = PacketReader::new(name, packets)?;
            let first = reader.next()?;
            readers.push((reader, first));
        }
        let mut open = OpenFile {
            file,
            part,
            detail,
            stretch: 0,
            taught: 0,
            packets: readers,
            packet: None,
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
    pub fn next(&mut self) -> Result<Option<Happening<'_>>, Error> {
        let Some((_, next)) = self.next else {
            return Ok(None);
        };
        match next {
            Next::Stretch => self.stretch += 1,
            Next::Taught => self.taught += 1,
            Next::Packet(of) => {
                let (reader, head) = &mut self.packets[of];
                self.packet = head.take();
                *head = reader.next()?;
            }
        }
        self.choose();
        Ok(match next {
            Next::Stretch => Some(Happening::Stretch(&self.detail.stretches[self.stretch - 1])),
            Next::Taught => Some(Happening::Taught(&self.part.lessons[self.taught - 1])),
            Next::Packet(_) => self.packet.as_ref().map(Happening::Packet),
        })
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
        for (of, (_, head)) in self.packets.iter().enumerate() {
            if let Some(packet) = head {
                see(packet.frame, packet.latest, Next::Packet(of));
            }
        }
        self.next = first.map(|(_, latest, next)| (latest, next));
    }
}
