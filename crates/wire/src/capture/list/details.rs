//! Packets in detail: what `tshark -V` prints, and Wireshark's export of packet dissections.

use super::clock::{self, Stamp};
use super::line::{
    line, number, number_after, Broken, Ends, Ip, LineKind, Opt, PacketLine, Protocol, Segment,
    Style,
};
use crate::Flags;

/// What stands behind the length of a packet in its first line.
const ON_WIRE: &str = " bytes on wire";

/// Whether a line begins a packet: `Frame 7: 74 bytes on wire …`, of old ones `Frame 7 (74 bytes on wire, …`.
pub(super) fn begins(text: &str) -> bool {
    let behind = text.strip_prefix("Frame ").and_then(number);
    behind.is_some_and(|(_, rest)| rest.starts_with([':', ' ']) && rest.contains(ON_WIRE))
}

/// What the lines of a packet say, from the first to that before an empty one.
pub(super) fn parse(text: &str) -> Result<PacketLine<'_>, Broken> {
    let (mut stamp, mut layers, mut tcp) = (None, Layers::default(), None);
    for one in text.lines() {
        if let Some(tcp) = &mut tcp {
            Tcp::field(tcp, one);
        } else if one.starts_with("Transmission Control Protocol") {
            tcp = Some(Tcp::new(one));
        } else if one.starts_with("Internet Control Message Protocol") {
            // What it is about comes behind it.
            layers.protocol = Protocol::Icmp;
            break;
        } else {
            stamp = stamp.or_else(|| time(one));
            layers.field(one);
        }
    }
    let kind = match tcp {
        None => LineKind::Other(layers.protocol),
        Some(tcp) => {
            let (ends, mut segment) = tcp.segment(&layers).ok_or(Broken)?;
            segment.frame = text.find(ON_WIRE).and_then(|at| last_number(&text[..at]));
            LineKind::Segment(ends, segment)
        }
    };
    line(stamp.or_else(|| since_first(text)), kind)
}

/// The time of a line that tells it since 1970.
fn time(text: &str) -> Option<Stamp> {
    let value = ["Epoch Time: ", "Epoch Arrival Time: "]
        .iter()
        .find_map(|key| text.strip_prefix(key))?;
    clock::field(value.split(' ').next()?)
}

/// The time since the first packet, of versions that print no other as a number.
fn since_first(text: &str) -> Option<Stamp> {
    const KEY: &str = "Time since reference or first frame: ";
    let value = &text[text.find(KEY)? + KEY.len()..];
    clock::field(value.split(' ').next()?)
}

fn last_number(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text[digits..].parse().ok()
}

/// What is below TCP, the innermost where there are several.
struct Layers<'l> {
    protocol: Protocol,
    hosts: Option<(&'l str, &'l str)>,
    ip: Ip,
}

impl Default for Layers<'_> {
    fn default() -> Self {
        Layers {
            protocol: Protocol::Unknown,
            hosts: None,
            ip: Ip::default(),
        }
    }
}

impl<'l> Layers<'l> {
    fn field(&mut self, text: &'l str) {
        if text.starts_with("Internet Protocol") {
            let hosts = text.split_once(", Src: ").map(|(_, hosts)| hosts);
            self.hosts = hosts.and_then(|hosts| hosts.split_once(", Dst: "));
            self.ip = Ip::default();
        } else if text.starts_with("Address Resolution Protocol") {
            self.protocol = Protocol::Arp;
        } else if text.starts_with("User Datagram Protocol") {
            self.protocol = Protocol::Udp;
        }
        let hexadecimal = |key: &str| {
            let digits = text.strip_prefix(key)?.strip_prefix(": 0x")?;
            let end = digits.find(|c: char| !c.is_ascii_hexdigit());
            u16::from_str_radix(&digits[..end.unwrap_or(digits.len())], 16).ok()
        };
        let traffic = hexadecimal("Differentiated Services Field");
        if let Some(traffic) = traffic.or_else(|| traffic_class(text)) {
            self.ip.ecn = (traffic & 3) as u8;
        } else if let Some(id) = hexadecimal("Identification") {
            self.ip.id = id;
        } else if text.ends_with("Don't fragment: Set") {
            self.ip.dont_fragment = true;
        } else if let Some(hops) = hops(text) {
            self.ip.ttl = hops;
        }
    }
}

/// `.... 0000 0010 .... = Traffic Class: 0x02 (…)`, as IPv6 has it.
fn traffic_class(text: &str) -> Option<u16> {
    let digits = text
        .split_once("= Traffic Class: 0x")
        .or_else(|| text.split_once("= Traffic class: 0x"))?
        .1;
    u16::from_str_radix(digits.get(..2)?, 16).ok()
}

fn hops(text: &str) -> Option<u8> {
    let (key, value) = text.split_once(": ")?;
    let is_one = ["time to live", "hop limit"]
        .iter()
        .any(|one| key.eq_ignore_ascii_case(one));
    u8::try_from(number(value)?.0).ok().filter(|_| is_one)
}

/// The lines of TCP.
struct Tcp<'l> {
    /// The first of them, with ports and length.
    head: &'l str,
    /// Numbers as they are on the wire, and as they are printed first, which may be relative.
    seq: [Option<u32>; 2],
    ack: [Option<u32>; 2],
    /// The window as it is in the header, and as it is meant.
    window: [Option<u32>; 2],
    flags: Option<u8>,
    urgent: Option<u32>,
    options: Vec<Opt>,
    left: u32,
    /// What follows is not of the header.
    is_over: bool,
}

impl<'l> Tcp<'l> {
    fn new(head: &'l str) -> Self {
        Tcp {
            head,
            seq: [None; 2],
            ack: [None; 2],
            window: [None; 2],
            flags: None,
            urgent: None,
            options: Vec::new(),
            left: 0,
            is_over: false,
        }
    }

    fn field(&mut self, text: &str) {
        self.is_over |= ["TCP payload (", "[Timestamps]", "[SEQ/ACK analysis]"]
            .iter()
            .any(|key| text.starts_with(key));
        if self.is_over {
            return;
        }
        let (key, value) = text
            .trim_start_matches('[')
            .split_once(": ")
            .unwrap_or((text, ""));
        let value_of = number(value).map(|(value, _)| value);
        let place = match key.to_ascii_lowercase().as_str() {
            "sequence number (raw)" => &mut self.seq[0],
            "sequence number" => &mut self.seq[1],
            "acknowledgment number (raw)" => &mut self.ack[0],
            "acknowledgment number" | "acknowledgement number" => &mut self.ack[1],
            "window" | "window size value" => &mut self.window[0],
            "window size" | "calculated window size" => &mut self.window[1],
            "urgent pointer" => &mut self.urgent,
            "flags" => {
                let digits = value.strip_prefix("0x").unwrap_or("");
                let digits = digits.split(' ').next().unwrap_or("");
                let bits = u16::from_str_radix(digits, 16).ok();
                self.flags = self.flags.or(bits.map(|bits| bits as u8));
                return;
            }
            _ => return self.option(text),
        };
        *place = place.or(value_of);
    }

    fn option(&mut self, text: &str) {
        let text = text.strip_prefix("TCP Option - ").unwrap_or(text);
        let after = |key| number_after(text, key);
        let option = if text.starts_with("No-Operation (NOP)") {
            Some(Opt::Nop)
        } else if text.starts_with("End of Option List (EOL)") {
            Some(Opt::End)
        } else if text.starts_with("SACK permitted")
            || text.starts_with("TCP SACK Permitted Option")
        {
            Some(Opt::SackPermitted)
        } else if text.starts_with("Maximum segment size: ") {
            after("size: ").map(|mss| Opt::Mss(mss as u16))
        } else if text.starts_with("Window scale: ") {
            after("scale: ").map(|shift| Opt::Scale(shift.min(255) as u8))
        } else if text.starts_with("Timestamps: ") {
            let stamps = (after("TSval "), after("TSecr "));
            stamps
                .0
                .zip(stamps.1)
                .map(|(value, echo)| Opt::Stamps(value, echo))
        } else if text.starts_with("left edge = ") {
            self.left = after("= ").unwrap_or(0);
            None
        } else if text.starts_with("right edge = ") {
            after("= ").map(|right| Opt::Block(self.left, right))
        } else {
            None
        };
        self.options.extend(option);
    }

    /// The segment; none where a line is missing, as in a packet that was cut short.
    fn segment(self, layers: &Layers<'l>) -> Option<(Ends<'l>, Segment)> {
        let (_, ports) = self.head.split_once("Src Port: ")?;
        let (src_port, ports) = ports.split_once(", Dst Port: ")?;
        let (dst_port, _) = ports.split_once(", ")?;
        let (src, dst) = layers.hosts?;
        let flags = Flags(self.flags?);
        let is_absolute = self.seq[0].is_some() && self.window[0].is_some();
        let style = if is_absolute {
            Style::Absolute
        } else {
            Style::Columns
        };
        let one = |both: [Option<u32>; 2]| {
            if is_absolute {
                both[0]
            } else {
                both[1].or(both[0])
            }
        };
        let ack = one(self.ack).filter(|_| flags.ack());
        // Edges count as the acknowledgement that is printed first.
        let from = match self.ack {
            [Some(raw), Some(printed)] if is_absolute => raw.wrapping_sub(printed),
            _ => 0,
        };
        let options = self.options.into_iter().map(|option| match option {
            Opt::Block(left, right) => {
                Opt::Block(left.wrapping_add(from), right.wrapping_add(from))
            }
            other => other,
        });
        let segment = Segment {
            seq: Some(one(self.seq)?),
            ack,
            window: one(self.window),
            urgent: self.urgent.unwrap_or(0) as u16,
            payload_len: number_after(self.head, ", Len: ")?,
            options: options.collect(),
            ip: layers.ip,
            ..Segment::new(style, flags)
        };
        let ends = Ends {
            src: address(src),
            src_port,
            dst: address(dst),
            dst_port,
            v6: false,
        };
        (flags.ack() == ack.is_some()).then_some((ends, segment))
    }
}

/// The address where a name stands before it, as in `a.example (10.0.0.1)`.
fn address(text: &str) -> &str {
    let inner = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('));
    inner.map_or(text, |(_, address)| address)
}
