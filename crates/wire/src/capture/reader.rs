//! Reading one capture.

use std::io::Read;
use std::sync::PoisonError;

use pcap_parser::pcapng::{parse_option_be, parse_option_le, OptionCode};
use pcap_parser::PcapError;
use rexmit_time::Time;

use super::dated::{self, Misdated};
use super::erf::Erf;
use super::interface::Interface;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::record::{NextRecord, RecordAt};
use super::snoop::Snoop;
use super::tsh::Tsh;
use super::window::ByteWindow;
use super::{list, packed, unknown, Batch, Drops, Error, Frame};

/// Reads the packets of one capture, whatever its format.
///
/// The input is read from its start to its end, never sought in. Memory stays the same however long the
/// capture is, but for the interfaces that it declares.
pub struct Reader<'r> {
    pub(super) window: ByteWindow<'r>,
    pub(super) format: Format,
    /// Interfaces of a format that declares none.
    interface: Vec<Interface>,
    current: Option<RecordAt>,
    /// The bytes of the current packet and its options where another has been read since; the window may have moved.
    copy: Option<Vec<u8>>,
    /// What comes after the current packet, where it has been read already.
    ahead: Option<Result<Option<RecordAt>, Error>>,
    /// The time of the packet before, and its interface: others may have another clock.
    before: Option<(Time, u16)>,
    misdated: Misdated,
    /// Where a list of packets as text says what is missing in it, once it has been read.
    list: Option<list::Said>,
    end: Option<End>,
}

/// How a capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Behind a whole packet.
    Complete,
    /// In the middle of a packet, or of what packs it. All whole packets before were given.
    Truncated {
        /// Where the last whole packet ends, in bytes from the start (after decompression).
        offset: u64,
    },
    /// An error was given.
    Failed,
}

pub(super) enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
    Erf(Erf),
    Snoop(Snoop),
    Tsh(Tsh),
}

impl<'r> Reader<'r> {
    /// Opens a capture: takes off compression, reads a list of packets as what it lists, and tells the format.
    ///
    /// # Errors
    /// [`Error::Unknown`] when the bytes are no capture of a known format; [`Error::Broken`] for one of a
    /// version that is not known; [`Error::Input`] for those of `input`.
    pub fn new(input: impl Read + Send + 'r) -> Result<Self, Error> {
        let (mut window, list) = list::layer(packed::unpack(input)?)?;
        let format = if let Some(pcap) = Pcap::recognise(&mut window)? {
            Format::Pcap(pcap)
        } else if let Some(pcapng) = Pcapng::recognise(&mut window)? {
            Format::Pcapng(pcapng)
        } else if let Some(snoop) = Snoop::recognise(&mut window)? {
            Format::Snoop(snoop)
        } else if let Some(erf) = Erf::recognise(&mut window)? {
            Format::Erf(erf)
        } else if let Some(tsh) = Tsh::recognise(&mut window)? {
            Format::Tsh(tsh)
        } else {
            window.need(512)?;
            let what = if window.is_cut() {
                "packed, and cut off before its first packet"
            } else {
                unknown::seems(window.ahead())
            };
            return Err(Error::Unknown { what });
        };
        let interface = match &format {
            Format::Pcap(pcap) => vec![Interface::unnamed(pcap.link())],
            Format::Snoop(snoop) => vec![Interface::unnamed(snoop.link())],
            Format::Pcapng(_) | Format::Erf(_) | Format::Tsh(_) => Vec::new(),
        };
        Ok(Reader {
            window,
            format,
            interface,
            current: None,
            copy: None,
            ahead: None,
            before: None,
            misdated: Misdated::default(),
            list,
            end: None,
        })
    }

    /// The next packet, or none at the capture's end, of which [`Reader::end`] tells more.
    ///
    /// # Errors
    /// [`Error::Broken`] where the capture makes no sense; there are no packets after it.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        Ok(if self.advance()? { self.frame() } else { None })
    }

    /// Moves on to the next packet, which [`Reader::frame`] then lends; false at the capture's end.
    ///
    /// # Errors
    /// As [`Reader::next_frame`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.current = None;
        self.copy = None;
        if self.end.is_some() {
            return Ok(false);
        }
        let next = match self.ahead.take() {
            Some(next) => next,
            None => self.find(),
        };
        match next {
            Ok(Some(found)) => {
                self.current = Some(found);
                let before = self
                    .before
                    .filter(|(_, interface)| *interface == found.interface);
                if let Some((before, _)) =
                    before.filter(|(before, _)| dated::may_be_wrong(*before, found.time))
                {
                    self.check_time(before, found);
                }
                self.before = self.current.map(|found| (found.time, found.interface));
                Ok(true)
            }
            Ok(None) => {
                self.end = Some(self.how_it_ended());
                Ok(false)
            }
            Err(error) => {
                self.end = Some(End::Failed);
                Err(error)
            }
        }
    }

    /// The next packet in the window, or none at the capture's end.
    #[inline]
    pub(super) fn find(&mut self) -> Result<Option<RecordAt>, Error> {
        loop {
            let step = match &mut self.format {
                Format::Pcap(pcap) => pcap.next(&mut self.window),
                Format::Pcapng(pcapng) => pcapng.next(&mut self.window),
                Format::Erf(erf) => erf.next(&mut self.window),
                Format::Snoop(snoop) => snoop.next(&mut self.window),
                Format::Tsh(tsh) => tsh.next(&mut self.window),
            };
            match step? {
                NextRecord::Packet(found) => return Ok(Some(found)),
                NextRecord::Other => {}
                NextRecord::End => return Ok(None),
            }
        }
    }

    /// Reads the packet after the current one to judge the current one's time, and gives it another if it is wrong.
    #[cold]
    fn check_time(&mut self, before: Time, found: RecordAt) {
        let len = match found.options {
            0 => found.len,
            options => found.len.next_multiple_of(4) + options,
        };
        self.copy = Some(self.window.at(found.from, len).to_vec());
        let next = self.find();
        let after = next.as_ref().ok().copied().flatten();
        let apart = after.is_some_and(|after| after.interface != found.interface);
        let time = dated::mended(before, found.time, after.map(|after| after.time));
        if let Some(time) = time.filter(|_| !apart) {
            self.misdated.count(found.time, time);
            self.current = Some(RecordAt { time, ..found });
        }
        self.ahead = Some(next);
    }

    /// Bytes of the current packet: `from` its first byte.
    #[inline]
    fn bytes(&self, found: &RecordAt, from: usize, len: usize) -> &[u8] {
        match &self.copy {
            Some(copy) => &copy[from..from + len],
            None => self.window.at(found.from + from, len),
        }
    }

    #[cold]
    fn how_it_ended(&self) -> End {
        if self.window.ahead().is_empty() && !self.window.is_cut() {
            return End::Complete;
        }
        End::Truncated {
            offset: self.window.offset(),
        }
    }

    /// Packets so far whose time stamp no clock can have had: they are given the time of the packet before.
    #[must_use]
    pub fn undated(&self) -> u64 {
        match &self.format {
            Format::Pcapng(pcapng) => pcapng.undated,
            _ => 0,
        }
    }

    /// Packets so far whose time stamp their neighbours refute: they are given the time of the packet before.
    #[must_use]
    pub const fn misdated(&self) -> Misdated {
        self.misdated
    }

    /// What a list of packets as text does not tell of them, in words, once it has been read; none for captures.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let said = self.list.as_ref()?;
        said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The packet at which the reader stands.
    #[inline]
    #[must_use]
    pub fn frame(&self) -> Option<Frame<'_>> {
        let found = self.current.as_ref()?;
        Some(Frame {
            time: found.time,
            link: found.link,
            interface: found.interface,
            original_len: found.original_len,
            data: self.bytes(found, 0, found.len),
        })
    }

    /// Adds the next packets to `batch`, the first `keep` bytes of each, until it holds `most` packets.
    /// False at the capture's end.
    ///
    /// # Errors
    /// As [`Reader::next_frame`]; the packets before the error are in the batch.
    pub fn fill(&mut self, batch: &mut Batch, most: usize, keep: usize) -> Result<bool, Error> {
        while batch.len() < most {
            match self.next_frame()? {
                Some(frame) => batch.push(&frame, keep),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The first comment on the packet at which the reader stands.
    #[must_use]
    pub fn comment(&self) -> Option<String> {
        let (Format::Pcapng(pcapng), Some(found)) = (&self.format, &self.current) else {
            return None;
        };
        if found.options == 0 {
            return None;
        }
        let mut rest = self.bytes(found, found.len.next_multiple_of(4), found.options);
        let parse = if pcapng.big_endian {
            parse_option_be::<PcapError<&[u8]>>
        } else {
            parse_option_le::<PcapError<&[u8]>>
        };
        while let Ok((after, option)) = parse(rest) {
            match option.code {
                OptionCode::Comment => {
                    let text = String::from_utf8_lossy(option.as_bytes().ok()?);
                    return Some(text.into_owned());
                }
                OptionCode::EndOfOpt => break,
                _ => rest = after,
            }
        }
        None
    }

    /// How the capture ended; none before it did.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }

    /// What the capture says was lost before it could be written, as far as it has been read.
    #[must_use]
    pub fn drops(&self) -> Drops {
        match &self.format {
            Format::Pcapng(pcapng) => pcapng.statistics.all(),
            _ => Drops::default(),
        }
    }

    /// The interfaces declared so far, over all sections; a format without such has one without a name, or
    /// none when each packet tells its own link.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcapng(pcapng) => &pcapng.interfaces,
            _ => &self.interface,
        }
    }

    /// The format's name.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self.format {
            _ if self.list.is_some() => "text",
            Format::Pcap(_) => "pcap",
            Format::Pcapng(_) => "pcapng",
            Format::Erf(_) => "ERF",
            Format::Snoop(_) => "snoop",
            Format::Tsh(_) => "TSH",
        }
    }
}
