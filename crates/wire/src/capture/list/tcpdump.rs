//! Lines of tcpdump, of any of its options that leave sequence numbers in them.

use super::line::{
    number, number_after, Broken, Ends, Ip, LineKind, Opt, Protocol, Segment, Style,
};
use crate::Flags;

/// Addresses in one line that are looked at: those of the link, of tunnels, of what they carry.
const MOST_PAIRS: usize = 8;

/// Whether a line begins a packet by its first two words, where no time does (`-t`).
pub(super) fn begins_without_time(first: &str, second: &str) -> bool {
    let is_link = first.len() == 17 && first.bytes().filter(|&byte| byte == b':').count() == 5;
    matches!(first, "IP" | "IP6" | "ARP,")
        || (matches!(first, "In" | "Out") && second == "IP")
        || (matches!(second, "In" | "Out") && !first.ends_with([',', ':', ']']))
        || (is_link && (second == ">" || second.starts_with('(')))
}

/// What is printed behind the time; none where it is not of tcpdump.
pub(super) fn parse(text: &str) -> Option<Result<LineKind<'_>, Broken>> {
    let (mut from, mut is_packet) = (0, false);
    for _ in 0..MOST_PAIRS {
        let Some(at) = text[from..].find(" > ") else {
            break;
        };
        let at = from + at;
        from = at + 3;
        let left = &text[..at];
        let src = left.rsplit(char::is_whitespace).next().unwrap_or(left);
        let (dst, rest) = text[from..].split_once(' ').unwrap_or((&text[from..], ""));
        let Some(dst) = dst.strip_suffix(':') else {
            // Addresses of the link.
            is_packet |= dst.ends_with(',');
            continue;
        };
        is_packet = true;
        if rest.starts_with("ICMP") {
            return Some(Ok(LineKind::Other(Protocol::Icmp)));
        }
        let prefix = &left[..left.len() - src.len()];
        let segment = match rest.strip_prefix("Flags [") {
            Some(rest) => segment(rest),
            None if rest.starts_with("tcp ") || rest.starts_with("[|tcp]") => Err(Broken),
            None => match old(rest) {
                Some(segment) => segment,
                None => continue,
            },
        };
        return Some(segment.and_then(|mut segment| {
            segment.ip = ip(prefix);
            Ok(LineKind::Segment(ends(src, dst, prefix)?, segment))
        }));
    }
    other(text, is_packet)
}

/// A packet of something else.
fn other(text: &str, is_packet: bool) -> Option<Result<LineKind<'_>, Broken>> {
    if text.contains("proto TCP (6)") {
        return Some(Err(Broken));
    }
    let is_arp = text.starts_with("ARP,") || text.contains("ethertype ARP");
    let is_ip = text.starts_with("IP ") || text.starts_with("IP6 ") || is_packet;
    let protocol = if is_arp {
        Protocol::Arp
    } else if text.contains("ICMP") {
        Protocol::Icmp
    } else if text.contains("proto UDP (17)") || text.contains(": UDP, ") {
        Protocol::Udp
    } else {
        Protocol::Unknown
    };
    (is_arp || is_ip).then_some(Ok(LineKind::Other(protocol)))
}

/// Addresses and ports, a dot between them.
fn ends<'l>(src: &'l str, dst: &'l str, prefix: &str) -> Result<Ends<'l>, Broken> {
    let (src, src_port) = src.rsplit_once('.').ok_or(Broken)?;
    let (dst, dst_port) = dst.rsplit_once('.').ok_or(Broken)?;
    Ok(Ends {
        src,
        src_port,
        dst,
        dst_port,
        v6: prefix.contains("IP6") || prefix.contains("IPv6"),
    })
}

/// What `-v` prints of the IP header, the innermost where there are several.
fn ip(prefix: &str) -> Ip {
    let Some(at) = prefix
        .rfind('(')
        .filter(|_| prefix.trim_end().ends_with(')'))
    else {
        return Ip::default();
    };
    // Parentheses stand around names in the parenthesis, too.
    let at = ["(tos ", "(hlim ", "(class ", "(flowlabel "]
        .iter()
        .filter_map(|begin| prefix.rfind(begin))
        .max()
        .unwrap_or(at);
    let head = &prefix[at..];
    let traffic = ["tos 0x", "class 0x"].iter().find_map(|key| {
        let digits = head[head.find(key)? + key.len()..].get(..2)?;
        u8::from_str_radix(digits.trim_end_matches(','), 16).ok()
    });
    let hops = number_after(head, "ttl ").or_else(|| number_after(head, "hlim "));
    let id = number_after(head, " id ");
    Ip {
        ttl: hops.and_then(|hops| u8::try_from(hops).ok()).unwrap_or(0),
        id: id.and_then(|id| u16::try_from(id).ok()).unwrap_or(0),
        dont_fragment: head.contains("flags [DF]"),
        ecn: traffic.unwrap_or(0) & 3,
    }
}

/// A segment, from behind `Flags [`.
fn segment(text: &str) -> Result<Segment, Broken> {
    let (letters, mut rest) = text.split_once(']').ok_or(Broken)?;
    let mut segment = Segment::new(Style::Tcpdump, flags(letters)?);
    let (mut end, mut is_whole) = (None, false);
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        let Some((key, value)) = rest.split_once(' ') else {
            break;
        };
        rest = match key {
            "seq" => {
                let (seq, after) = number(value).ok_or(Broken)?;
                segment.seq = Some(seq);
                match after.strip_prefix(':') {
                    Some(after) => {
                        let (last, after) = number(after).ok_or(Broken)?;
                        end = Some(last);
                        after
                    }
                    None => after,
                }
            }
            "ack" | "win" | "urg" => {
                let (number, after) = number(value).ok_or(Broken)?;
                match key {
                    "ack" => segment.ack = Some(number),
                    "win" => segment.window = Some(number),
                    _ => segment.urgent = number as u16,
                }
                after
            }
            "options" => {
                let list = value.strip_prefix('[').ok_or(Broken)?;
                let (list, after) = list.split_once(']').unwrap_or((list, ""));
                segment.options = options(list);
                after
            }
            "length" => {
                segment.payload_len = number(value).ok_or(Broken)?.0;
                is_whole = true;
                break;
            }
            "cksum" => value.split_once(',').map_or("", |(_, after)| after),
            _ => break,
        };
    }
    lengths(segment, end, is_whole)
}

/// A segment in the form of tcpdump before 4.0, from behind the addresses: `P 1:21(20) ack 1 win 5840 <nop>`.
fn old(text: &str) -> Option<Result<Segment, Broken>> {
    let (letters, mut rest) = text.split_once(' ')?;
    let is_flags = !letters.is_empty() && letters.bytes().all(|byte| b"SFRPWE.".contains(&byte));
    let mut segment = Segment::new(Style::Tcpdump, flags(letters).ok().filter(|_| is_flags)?);
    // The dot stands for no flags at all.
    segment.flags.0 &= !Flags::ACK.0;
    let (mut end, mut is_whole) = (None, false);
    if let Some((seq, after)) = number(rest) {
        let (last, after) = number(after.strip_prefix(':')?)?;
        let (len, after) = number(after.strip_prefix('(')?)?;
        segment.seq = Some(seq);
        segment.payload_len = len;
        (end, is_whole) = (Some(last), true);
        rest = after.strip_prefix(')')?;
    }
    while let Some((key, value)) = rest.trim_start().split_once(' ') {
        let Some((number, after)) = number(value) else {
            break;
        };
        match key {
            "ack" => {
                segment.ack = Some(number);
                segment.flags.0 |= Flags::ACK.0;
            }
            "win" => segment.window = Some(number),
            "urg" => segment.urgent = number as u16,
            _ => break,
        }
        rest = after;
    }
    segment.window?;
    let list = rest.trim_start().strip_prefix('<');
    if let Some((list, _)) = list.and_then(|list| list.split_once('>')) {
        segment.options = options(list);
    }
    Some(lengths(segment, end, is_whole))
}

/// The segment where its numbers can be those of one: a wrapped or cut line may have no length.
fn lengths(mut segment: Segment, end: Option<u32>, is_whole: bool) -> Result<Segment, Broken> {
    let has_ack = segment.flags.ack() == segment.ack.is_some();
    let counts = segment.flags.syn() || segment.flags.fin() || segment.payload_len > 0;
    if !has_ack || (counts && segment.seq.is_none()) {
        return Err(Broken);
    }
    if let (Some(seq), Some(end)) = (segment.seq, end) {
        let len = end.wrapping_sub(seq);
        if is_whole && len != segment.payload_len {
            return Err(Broken);
        }
        segment.payload_len = len;
    }
    Ok(segment)
}

fn flags(letters: &str) -> Result<Flags, Broken> {
    if letters == "none" {
        return Ok(Flags(0));
    }
    letters.bytes().try_fold(Flags(0), |flags, letter| {
        let bit = match letter {
            b'F' => 0x01,
            b'S' => 0x02,
            b'R' => 0x04,
            b'P' => 0x08,
            b'.' => 0x10,
            b'U' => 0x20,
            b'E' => 0x40,
            b'W' => 0x80,
            // Accurate ECN's, which is not in the byte of the flags.
            b'e' => 0,
            _ => return Err(Broken),
        };
        Ok(Flags(flags.0 | bit))
    })
}

/// The options that are understood, in their order.
fn options(list: &str) -> Vec<Opt> {
    let mut found = Vec::new();
    for text in list.split(',') {
        let mut words = text.split_ascii_whitespace();
        let (key, mut value) = (words.next().unwrap_or(""), words.clone());
        let mut next = || value.next()?.parse::<u32>().ok();
        match key {
            "nop" => found.push(Opt::Nop),
            "eol" => found.push(Opt::End),
            "sackOK" => found.push(Opt::SackPermitted),
            "mss" => found.extend(next().map(|mss| Opt::Mss(mss as u16))),
            "wscale" => found.extend(next().map(|shift| Opt::Scale(shift.min(255) as u8))),
            "timestamp" => {
                if let (Some(value), Some(echo)) = (next(), next()) {
                    found.push(Opt::Stamps(value, echo));
                }
            }
            "TS" => {
                let number = |key| number_after(text, key);
                if let (Some(value), Some(echo)) = (number("val "), number("ecr ")) {
                    found.push(Opt::Stamps(value, echo));
                }
            }
            // `sack 2 {1:2}{5:9}`; of old ones the word stands twice.
            "sack" => found.extend(text.split(['{', '}']).filter_map(|block| {
                let (start, end) = block.split_once(':')?;
                Some(Opt::Block(start.parse().ok()?, end.parse().ok()?))
            })),
            _ => {}
        }
    }
    found
}
