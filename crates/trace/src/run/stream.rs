//! Files in the order of their frames' times, one frame after the other.

use rexmit_time::Time;

use super::carry::Carry;
use super::decode::{Beside, Counted, Decoded, Decoder, Spread};
use super::promptly::{Promptly, Span};
use super::{Progress, Source, STRETCH};

/// The files of a run that are being read, and what passes from one to the next.
#[derive(Debug)]
pub(super) struct Stream {
    spread: Spread,
    /// Files that have begun and are not known to have ended, with what the source calls them.
    open: Vec<(usize, Decoder)>,
    /// How many files have begun: the number of the next one.
    begun: usize,
    /// The place in `open` of the file of the last frame.
    current: usize,
    /// Files that have ended.
    ended: usize,
    over: Counted,
    carry: Carry,
    frames: u64,
    latest: Time,
    /// The clock as the last frame has it.
    pub now: Time,
    stretch: Span,
}

impl Stream {
    /// Nothing is read.
    pub fn new(spread: Spread, promptly: Option<Promptly>) -> Self {
        Stream {
            spread,
            open: Vec::new(),
            begun: 0,
            current: 0,
            ended: 0,
            over: Counted::default(),
            carry: Carry::default(),
            frames: 0,
            latest: Time::default(),
            now: Time::default(),
            stretch: Span::new(promptly.map(|promptly| promptly.stretch)),
        }
    }

    /// Looks at the frame at which the source stands, once for each frame, before it is decoded. Where a stretch ends before
    /// it, the time of that end.
    #[inline]
    pub fn stretch_ends(&mut self, source: &impl Source) -> Option<Time> {
        let file = source.file();
        if self.open.get(self.current).is_none_or(|of| of.0 != file) {
            match self.open.iter().position(|of| of.0 == file) {
                Some(place) => self.current = place,
                None => return self.begin(file, source),
            }
        }
        let decoder = &self.open[self.current].1;
        if decoder.progress().frames % STRETCH == 0 {
            self.stretch.begin(decoder.now);
            return Some(decoder.now);
        }
        let next = source.frame().map(|frame| frame.time);
        next.filter(|&next| self.stretch.is_over(next))
    }

    /// A file begins: what those that have ended say holds from here on.
    #[cold]
    fn begin(&mut self, file: usize, source: &impl Source) -> Option<Time> {
        while let Some(ended) = source.ended(self.ended) {
            self.ended += 1;
            // A file without frames never began.
            if let Some(place) = self.open.iter().position(|of| of.0 == ended) {
                let (_, decoder) = self.open.remove(place);
                self.over.add(&decoder.counted());
                self.carry.verdicts.add(decoder.numbering.verdicts());
            }
        }
        self.current = self.open.len();
        self.open
            .push((file, Decoder::new(self.begun, self.spread)));
        self.begun += 1;
        let begins = source.frame().map(|frame| frame.time);
        begins.filter(|_| self.frames > 0)
    }

    /// Puts the packet in the frame at which the source stands, if there is one, at the end of `packets`, and what there is
    /// beside it at that of `besides`.
    #[inline]
    pub fn decode<'p>(
        &mut self,
        source: &impl Source,
        packets: &'p mut Vec<Decoded>,
        besides: &mut Vec<Beside>,
    ) -> Option<&'p Decoded> {
        let frame = source.frame()?;
        self.frames += 1;
        self.now = frame.time;
        self.latest = self.latest.max(frame.time);
        let decoder = &mut self.open.get_mut(self.current)?.1;
        let packet = decoder.decode(&frame, packets, besides)?;
        let beside = packet.has_beside().then(|| besides.last()).flatten();
        let signal = beside.and_then(|beside| beside.signal.as_ref());
        self.carry.pass(packet, signal);
        Some(packet)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            frames: self.frames,
            clock: self.latest,
        }
    }

    /// What was counted of all files.
    pub fn counted(&self) -> Counted {
        let mut all = self.over.clone();
        self.open
            .iter()
            .for_each(|(_, one)| all.add(&one.counted()));
        all
    }
}
