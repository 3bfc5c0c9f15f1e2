//! What one line says, as it stands there.

use super::clock::{self, Stamp};
use super::columns::Columns;
use super::{columns, details, tcpdump};
use crate::Flags;

/// A line that is a packet.
pub(super) struct PacketLine<'l> {
    pub stamp: Option<Stamp>,
    pub kind: LineKind<'l>,
}

/// What it is a packet of.
pub(super) enum LineKind<'l> {
    /// TCP, with its numbers.
    Segment(Ends<'l>, Segment),
    /// TCP whose numbers a protocol above it covers.
    Covered(Covered<'l>),
    /// Something else.
    Other(Protocol),
}

/// Packets that are no TCP.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Arp,
    Icmp,
    Udp,
    Unknown,
}

/// What a list has of each packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A line, or a few.
    Lines,
    /// All its fields. A line that stands before them says nothing else.
    Details,
}

/// Who prints lines like it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// tcpdump: numbers count from those of the first segment with ACK, which is printed with its own.
    Tcpdump,
    /// tshark and Wireshark: numbers count from the first of each direction, windows are scaled.
    Columns,
    /// Both in detail: numbers and windows as they are in the header.
    Absolute,
}

/// Who sends to whom, as printed.
pub(super) struct Ends<'l> {
    pub src: &'l str,
    pub src_port: &'l str,
    pub dst: &'l str,
    pub dst_port: &'l str,
    /// Names are those of IPv6 addresses.
    pub v6: bool,
}

/// A TCP segment.
pub(super) struct Segment {
    pub style: Style,
    pub flags: Flags,
    pub seq: Option<u32>,
    pub ack: Option<u32>,
    pub window: Option<u32>,
    pub urgent: u16,
    pub payload_len: u32,
    pub options: Vec<Opt>,
    pub ip: Ip,
    /// The frame's length on the wire, where it is printed.
    pub frame: Option<u32>,
    /// It is said to take up the ports of an older connection.
    pub is_reuse: bool,
}

impl Segment {
    /// One of which nothing but its flags is known yet.
    pub fn new(style: Style, flags: Flags) -> Self {
        Segment {
            style,
            flags,
            seq: None,
            ack: None,
            window: None,
            urgent: 0,
            payload_len: 0,
            options: Vec::new(),
            ip: Ip::default(),
            frame: None,
            is_reuse: false,
        }
    }
}

/// A packet that is printed by what it carries.
pub(super) struct Covered<'l> {
    pub src: &'l str,
    pub dst: &'l str,
    pub protocol: &'l str,
    pub frame: u32,
    /// It is not marked as a retransmission, as out of order or the like: it follows what was sent last.
    pub is_next: bool,
}

/// What `tcpdump -v` prints of the IP header.
#[derive(Clone, Copy, Default)]
pub(super) struct Ip {
    pub ttl: u8,
    pub id: u16,
    pub dont_fragment: bool,
    pub ecn: u8,
}

/// A TCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opt {
    End,
    Nop,
    Mss(u16),
    Scale(u8),
    SackPermitted,
    Stamps(u32, u32),
    Block(u32, u32),
}

/// A line that begins as a packet and cannot be read.
#[derive(Debug)]
pub(super) struct Broken;

/// What earlier lines said of those that follow.
#[derive(Default)]
pub(super) struct Earlier {
    columns: Columns,
}

/// Payload of one packet at most: that of the largest merged ones.
const MOST_PAYLOAD: u32 = 1 << 19;
/// The same with its headers.
const MOST_FRAME: u32 = MOST_PAYLOAD + 1024;

/// How a line begins a packet; others go on with one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// With its time, or with a quote.
    Time,
    /// As lines of `tcpdump -t` do, and those of packets within others.
    NoTime,
}

/// Whether and how a line begins a packet.
pub(super) fn begins(text: &str) -> Option<Begin> {
    let mut words = text.split_ascii_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let is_time = |word| clock::is_time(word) || clock::is_date(word);
    if text.starts_with('"') || is_time(first) || (is_number(first) && is_time(second)) {
        return Some(Begin::Time);
    }
    tcpdump::begins_without_time(first, second).then_some(Begin::NoTime)
}

/// What a line that begins a packet says; none where it is no packet after all.
pub(super) fn parse<'l>(
    text: &'l str,
    place: &mut Earlier,
) -> Option<Result<PacketLine<'l>, Broken>> {
    if text.starts_with('"') {
        return place.columns.quoted(text);
    }
    if details::begins(text) {
        return Some(details::parse(text));
    }
    let (stamp, rest) = clock::split(text);
    let kind = tcpdump::parse(rest).or_else(|| columns::parse(rest))?;
    Some(kind.and_then(|kind| line(stamp, kind)))
}

/// A line, where its lengths can be.
pub(super) fn line(stamp: Option<Stamp>, kind: LineKind<'_>) -> Result<PacketLine<'_>, Broken> {
    match &kind {
        LineKind::Segment(_, segment) if segment.payload_len > MOST_PAYLOAD => Err(Broken),
        LineKind::Segment(
            _,
            Segment {
                frame: Some(frame), ..
            },
        )
        | LineKind::Covered(Covered { frame, .. })
            if *frame > MOST_FRAME =>
        {
            Err(Broken)
        }
        _ => Ok(PacketLine { stamp, kind }),
    }
}

pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number at the begin of a text, and what follows it.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number behind the first `key` of a text.
pub(super) fn number_after(text: &str, key: &str) -> Option<u32> {
    let at = text.find(key)? + key.len();
    Some(number(&text[at..])?.0)
}
