//! Packet lists as text: what tcpdump, tshark and Wireshark print of packets, read as a capture.
//!
//! Each line that is a packet becomes the headers that it tells, as a record of pcap: whatever reads captures reads lists.
//! What a line does not tell is left at a value that says nothing where there is one (an identification of 0), and is
//! said at the end ([`Missing`]).

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use rexmit_time::Time;

use self::clock::ListClock;
use self::flows::Flows;
use self::line::{Earlier, Form, LineKind, PacketLine};
use self::lines::Lines;
use self::missing::Missing;
use self::names::Names;
use self::utf16::{ByteOrder, Utf16};
use super::window::ByteWindow;
use crate::{pcap, LinkType};

mod clock;
mod columns;
mod details;
mod flows;
mod frame;
mod line;
mod lines;
mod missing;
mod names;
mod tcpdump;
mod utf16;

/// What is missing in a list, in words, once it has been read.
pub(super) type Said = Arc<Mutex<Option<String>>>;

/// Bytes at the begin of a stream that tell whether it is a list, and what its times count from.
const JUDGED: usize = 1 << 18;

/// The stream as it is, or the capture that a list in it becomes, and where it then says what is missing.
pub(super) fn layer(mut window: ByteWindow<'_>) -> io::Result<(ByteWindow<'_>, Option<Said>)> {
    const FIRST: usize = 16;
    window.need(FIRST)?;
    let first = window.ahead();
    let order = ByteOrder::marked(first);
    if order.is_none() && !is_text(&first[..first.len().min(FIRST)]) {
        return Ok((window, None));
    }
    window.need(JUDGED)?;
    let head = window.ahead();
    let head = &head[..head.len().min(JUDGED)];
    let judged = match order {
        Some(order) => judged(order.decoded(head).as_bytes()),
        None => judged(head),
    };
    let Some((form, clock)) = judged? else {
        return Ok((window, None));
    };
    if let Some(order) = order {
        window = ByteWindow::new(Box::new(Utf16::new(window, order)));
    }
    let said = Said::default();
    let list = List::new(Lines::new(window, form), clock, Arc::clone(&said))?;
    Ok((ByteWindow::new(Box::new(list)), Some(said)))
}

/// Whether bytes can be those of a text; a character of several bytes may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    !bytes.is_empty() && is_utf8 && !bytes.iter().any(is_control)
}

/// The form of a list and how its times are to be read, where the text has a TCP packet with its numbers.
fn judged(head: &[u8]) -> io::Result<Option<(Form, ListClock)>> {
    let read = |form| read_head(head, form);
    // A packet in detail may stand behind a line of the same packet.
    Ok(match read(Form::Details)? {
        Some(clock) => Some((Form::Details, clock)),
        None => read(Form::Lines)?.map(|clock| (Form::Lines, clock)),
    })
}

fn read_head(head: &[u8], form: Form) -> io::Result<Option<ListClock>> {
    let mut lines = Lines::new(ByteWindow::new(Box::new(head)), form);
    let mut place = Earlier::default();
    let (mut stamps, mut is_list) = (Vec::new(), false);
    while let Some((_, text)) = lines.next()? {
        let Some(Ok(line)) = line::parse(&text, &mut place) else {
            continue;
        };
        is_list |= matches!(line.kind, LineKind::Segment(..));
        stamps.extend(line.stamp);
    }
    Ok(is_list.then(|| ListClock::of(&stamps)))
}

/// A list that reads as a file of pcap.
struct List<'r> {
    lines: Lines<'r>,
    place: Earlier,
    clock: ListClock,
    names: Names,
    flows: Flows,
    missing: Missing,
    said: Said,
    out: pcap::Writer<Vec<u8>>,
    /// Bytes of `out` that were given.
    given: usize,
}

impl<'r> List<'r> {
    fn new(lines: Lines<'r>, clock: ListClock, said: Said) -> io::Result<Self> {
        Ok(List {
            lines,
            place: Earlier::default(),
            clock,
            names: Names::default(),
            flows: Flows::default(),
            missing: Missing::default(),
            said,
            out: pcap::Writer::new(Vec::new(), LinkType::ETHERNET.0, u32::from(u16::MAX))?,
            given: 0,
        })
    }

    /// Reads on to the next packet; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        while let Some((number, text)) = self.lines.next()? {
            match line::parse(&text, &mut self.place) {
                None => {}
                Some(Err(_)) => self.missing.broken(number),
                Some(Ok(line)) => {
                    if self.packet(&line)? {
                        return Ok(true);
                    }
                    self.missing.broken(number);
                }
            }
        }
        let text = self.missing.in_words(&self.clock, &self.names, &self.flows);
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        Ok(false)
    }

    /// Writes the packet of a line; false where there can be no such packet.
    fn packet(&mut self, line: &PacketLine<'_>) -> io::Result<bool> {
        let Some(time) = self.clock.time(line.stamp) else {
            return Ok(false);
        };
        let frame = match &line.kind {
            LineKind::Other(protocol) => Some(frame::other(*protocol)),
            LineKind::Segment(ends, segment) => {
                let Some(key) = self.names.key(ends) else {
                    return Ok(false);
                };
                let numbers = self.flows.segment(key, segment);
                self.missing.segment(segment);
                Some(frame::segment(key, segment, &numbers))
            }
            LineKind::Covered(covered) => {
                let ends = self.names.addresses(covered.src, covered.dst, false);
                let found = ends.and_then(|(src, dst)| self.flows.covered(src, dst, covered));
                self.missing.covered(found.is_some());
                found.map(|(key, segment, numbers)| frame::segment(key, &segment, &numbers))
            }
        };
        if let Some((bytes, on_wire)) = frame {
            return Ok(self.record(time, &bytes, on_wire).is_ok());
        }
        Ok(true)
    }

    fn record(&mut self, time: Time, bytes: &[u8], on_wire: u32) -> io::Result<()> {
        self.out.packet(time, bytes, on_wire)
    }
}

impl Read for List<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.out.out.len() {
            self.out.out.clear();
            self.given = 0;
            if !self.advance()? {
                if self.lines.is_cut() {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                return Ok(0);
            }
        }
        let left = &self.out.out[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}
