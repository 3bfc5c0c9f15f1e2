//! Lines in columns: tshark's, and those that Wireshark exports as text and CSV.

use super::clock;
use super::line::{
    is_number, line, number, Broken, Covered, Ends, LineKind, Opt, PacketLine, Protocol, Segment,
    Style,
};
use crate::Flags;

/// What stands between who sends and who receives.
const ARROWS: [&str; 3] = ["→", "->", ">"];

/// Which column of CSV is which.
pub(super) struct Columns {
    time: usize,
    src: usize,
    dst: usize,
    protocol: usize,
    length: usize,
    info: usize,
}

impl Default for Columns {
    /// As Wireshark has them, unless a first line names others.
    fn default() -> Self {
        Columns {
            time: 1,
            src: 2,
            dst: 3,
            protocol: 4,
            length: 5,
            info: 6,
        }
    }
}

impl Columns {
    /// A line of CSV; none for the one that names the columns.
    pub fn quoted<'l>(&mut self, text: &'l str) -> Option<Result<PacketLine<'l>, Broken>> {
        let fields = fields(text);
        let named = |name: &str| fields.iter().position(|&field| field == name);
        if let (Some(src), Some(dst), Some(info)) =
            (named("Source"), named("Destination"), named("Info"))
        {
            let time = named("Time").unwrap_or(usize::MAX);
            let (protocol, length) = (named("Protocol"), named("Length"));
            *self = Columns {
                time,
                src,
                dst,
                protocol: protocol.unwrap_or(usize::MAX),
                length: length.unwrap_or(usize::MAX),
                info,
            };
            return None;
        }
        let field = |at: usize| fields.get(at).copied();
        let (Some(src), Some(dst), Some(info)) =
            (field(self.src), field(self.dst), field(self.info))
        else {
            return Some(Err(Broken));
        };
        let stamp = field(self.time).and_then(clock::field);
        let frame = field(self.length).and_then(|length| length.parse().ok());
        let kind = kind(src, dst, field(self.protocol).unwrap_or(""), frame, info);
        Some(kind.and_then(|kind| line(stamp, kind)))
    }
}

/// The fields of a line of CSV; a quote within one is doubled, and no field that is used has one.
fn fields(text: &str) -> Vec<&str> {
    text.trim_start_matches('"')
        .trim_end_matches('"')
        .split("\",\"")
        .collect()
}

/// What is printed behind the time: addresses, an arrow between them or not, the protocol, a length or not, and the rest.
pub(super) fn parse(text: &str) -> Option<Result<LineKind<'_>, Broken>> {
    let (src, rest) = word(text)?;
    let (mut dst, mut rest) = word(rest)?;
    let has_arrow = ARROWS.contains(&dst);
    if has_arrow {
        (dst, rest) = word(rest)?;
    }
    let (protocol, rest) = word(rest)?;
    // Without a column of lengths a port may be the number.
    let length = word(rest).filter(|(length, after)| {
        let next = word(after).map_or("", |(next, _)| next);
        is_number(length) && !ARROWS.contains(&next)
    });
    let (frame, info) = match length {
        Some((length, after)) => (length.parse().ok(), after),
        None => (None, rest),
    };
    let is_name = |text: &str| text.contains(['.', ':']) && !text.ends_with([',', ':']);
    (has_arrow || (is_name(src) && is_name(dst))).then(|| kind(src, dst, protocol, frame, info))
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (!word.is_empty()).then_some((word, rest))
}

fn kind<'l>(
    src: &'l str,
    dst: &'l str,
    protocol: &'l str,
    frame: Option<u32>,
    info: &'l str,
) -> Result<LineKind<'l>, Broken> {
    if let Some(at) = info.find(" Seq=") {
        if !protocol.starts_with("ICMP") {
            return segment(src, dst, frame, info, at);
        }
    }
    Ok(match (protocol, frame) {
        ("TCP", None) => return Err(Broken),
        ("ARP", _) => LineKind::Other(Protocol::Arp),
        ("UDP" | "DNS" | "MDNS" | "NTP" | "SSDP" | "QUIC" | "DHCP", _) => {
            LineKind::Other(Protocol::Udp)
        }
        (icmp, _) if icmp.starts_with("ICMP") => LineKind::Other(Protocol::Icmp),
        (_, Some(frame)) if usual_port(protocol).is_some() => LineKind::Covered(Covered {
            src,
            dst,
            protocol,
            frame,
            is_next: !info.starts_with("[TCP "),
        }),
        _ => LineKind::Other(Protocol::Unknown),
    })
}

/// The usual port of a protocol that is carried by TCP; 0 where there is none.
pub(super) fn usual_port(protocol: &str) -> Option<u16> {
    Some(match protocol {
        "HTTP" | "HTTP/XML" | "HTTP/JSON" | "OCSP" | "WebSocket" => 80,
        "HTTP2" | "SSL" => 443,
        tls if tls.starts_with("TLSv1") || tls.starts_with("SSLv") => 443,
        ssh if ssh.starts_with("SSH") => 22,
        "FTP" => 21,
        "TELNET" => 23,
        "SMTP" => 25,
        "POP" => 110,
        "IMAP" => 143,
        "NBSS" | "SMB" | "SMB2" => 445,
        "LDAP" => 389,
        "BGP" => 179,
        "MySQL" => 3306,
        "PGSQL" => 5432,
        "RESP" => 6379,
        "AMQP" => 5672,
        "RTSP" => 554,
        "TNS" => 1521,
        "TDS" => 1433,
        "MQTT" => 1883,
        "TCP" | "FTP-DATA" | "TPKT" | "DCERPC" | "THRIFT" | "FB_ZERO" | "Kafka" | "MSNMS"
        | "IRC" | "BitTorrent" | "Socks" => 0,
        _ => return None,
    })
}

/// `[marks] 53350 → 80 [SYN] Seq=0 Win=29200 Len=0 MSS=1460 …`, ` Seq=` at `at`.
fn segment<'l>(
    src: &'l str,
    dst: &'l str,
    frame: Option<u32>,
    info: &'l str,
    at: usize,
) -> Result<LineKind<'l>, Broken> {
    let (head, numbers) = info.split_at(at);
    let (ports, names) = head
        .trim_end()
        .strip_suffix(']')
        .and_then(|head| head.rsplit_once('['))
        .ok_or(Broken)?;
    let mut last = ports.split_whitespace().rev();
    let (dst_port, arrow, src_port) = (last.next(), last.next(), last.next());
    let (Some(dst_port), Some(arrow), Some(src_port)) = (dst_port, arrow, src_port) else {
        return Err(Broken);
    };
    if !ARROWS.contains(&arrow) {
        return Err(Broken);
    }
    let mut segment = Segment {
        frame,
        is_reuse: ports.contains("Port numbers reused"),
        ..Segment::new(Style::Columns, flags(names))
    };
    let (mut len, mut start, mut stamp) = (None, 0, 0);
    for word in numbers.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = number(value).map(|(value, _)| value);
        match (key, value) {
            ("Seq", value) => segment.seq = value,
            ("Ack", value) => segment.ack = value,
            ("Win", value) => segment.window = value,
            ("Len", value) => len = value,
            ("Urg", Some(urgent)) => segment.urgent = urgent as u16,
            ("MSS", Some(mss)) => segment.options.push(Opt::Mss(mss as u16)),
            // Wireshark prints what is multiplied with.
            ("WS", Some(by)) if by > 0 => segment.options.push(Opt::Scale(by.ilog2() as u8)),
            ("SACK_PERM", _) => segment.options.push(Opt::SackPermitted),
            ("TSval", Some(value)) => stamp = value,
            ("TSecr", Some(echo)) => segment.options.push(Opt::Stamps(stamp, echo)),
            ("SLE", Some(value)) => start = value,
            ("SRE", Some(end)) => segment.options.push(Opt::Block(start, end)),
            _ => {}
        }
    }
    segment.payload_len = len.ok_or(Broken)?;
    if segment.seq.is_none() || segment.flags.ack() != segment.ack.is_some() {
        return Err(Broken);
    }
    let ends = Ends {
        src,
        src_port,
        dst,
        dst_port,
        v6: false,
    };
    Ok(LineKind::Segment(ends, segment))
}

fn flags(names: &str) -> Flags {
    let bit = |name: &str| match name.trim() {
        "FIN" => 0x01,
        "SYN" => 0x02,
        "RST" => 0x04,
        "PSH" => 0x08,
        "ACK" => 0x10,
        "URG" => 0x20,
        "ECE" | "ECN" => 0x40,
        "CWR" => 0x80,
        _ => 0,
    };
    Flags(names.split(',').map(bit).fold(0, |all, bit| all | bit))
}
