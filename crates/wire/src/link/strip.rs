//! From the first byte of a frame to its IP packet.

use super::LinkType;
use crate::Skip;

/// What the next byte begins.
#[derive(Clone, Copy)]
enum Layer {
    Ip,
    Ethernet,
    /// What follows an EtherType.
    EtherType(u16),
    Llc,
    /// PPP, its HDLC framing optional.
    Ppp,
}

/// Layers that are looked through in one frame.
const MOST_LAYERS: usize = 16;

/// No layer states the length of what it carries.
pub(crate) const UNLIMITED: usize = usize::MAX;

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried<'a> {
    /// The IP packet, with whatever follows it.
    pub bytes: &'a [u8],
    /// The length of it that link layers state, or [`UNLIMITED`]: what lies behind is padding.
    pub most: usize,
}

impl<'a> Carried<'a> {
    /// Of layers that state no length.
    pub const fn unlimited(bytes: &'a [u8]) -> Self {
        Carried {
            bytes,
            most: UNLIMITED,
        }
    }
}

/// The IP packet in a frame.
#[inline]
pub(crate) fn strip<'a>(link: LinkType, data: &'a [u8]) -> Result<Carried<'a>, Skip> {
    // By far the most frames.
    if link == LinkType::ETHERNET {
        if let Some((&[0x08, 0x00], rest)) = data.get(12..).and_then(|b| b.split_first_chunk()) {
            return Ok(Carried::unlimited(rest));
        }
    }
    let (layer, rest) = enter(link, data)?;
    walk(layer, rest)
}

/// The IP packet behind an EtherType, in a tunnel.
pub(crate) fn behind_ether_type<'a>(kind: u16, rest: &'a [u8]) -> Result<Carried<'a>, Skip> {
    walk(Layer::EtherType(kind), rest)
}

/// The header that only this type of link has.
fn enter(link: LinkType, data: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    if data.is_empty() {
        return Err(Skip::Empty);
    }
    Ok(match link {
        LinkType::ETHERNET => (Layer::Ethernet, data),
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => (Layer::Ip, data),
        LinkType::NULL | LinkType::LOOP => family(data)?,
        LinkType::PPP => (Layer::Ppp, data),
        // Cisco HDLC tells unicast from broadcast in its first byte; PPP has all stations there.
        LinkType::PPP_HDLC | LinkType::C_HDLC if data[0] == 0xff => (Layer::Ppp, data),
        LinkType::PPP_HDLC | LinkType::C_HDLC => {
            let (kind, rest) = word(skip(data, 2)?)?;
            // Its keep-alives and discovery bear numbers of their own.
            if matches!(kind, 0x8035 | 0x2000) {
                return Err(Skip::LinkControl);
            }
            (Layer::EtherType(kind), rest)
        }
        LinkType::PPPOE => (Layer::EtherType(0x8864), data),
        LinkType::ATM_RFC1483 => (Layer::Llc, data),
        // Flags with the kind of traffic, virtual path, virtual channel.
        LinkType::SUNATM if data[0] & 0x0f == 2 => (Layer::Llc, skip(data, 4)?),
        // LAN emulation: two bytes of its own, then Ethernet.
        LinkType::SUNATM if data[0] & 0x0f == 1 => (Layer::Ethernet, skip(data, 6)?),
        // Frame control, two addresses.
        LinkType::FDDI if data[0] & 0xf0 == 0x50 => (Layer::Llc, skip(data, 13)?),
        LinkType::FDDI => return Err(Skip::LinkControl),
        LinkType::LINUX_SLL => cooked(word(skip(data, 14)?)?, word(skip(data, 2)?)?.0),
        LinkType::LINUX_SLL2 => {
            let kind = word(data)?.0;
            cooked((kind, skip(data, 20)?), word(skip(data, 8)?)?.0)
        }
        link => return Err(Skip::UnknownLink { link }),
    })
}

/// BSD loopback: the address family in the order of a machine, which then the value tells.
fn family(data: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    let (head, rest) = data.split_first_chunk::<4>().ok_or(Skip::CutShort)?;
    let family = u32::from_le_bytes(*head);
    let family = if family >> 16 == 0 {
        family
    } else {
        family.swap_bytes()
    };
    match family {
        // AF_INET6 of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
        2 | 10 | 23 | 24 | 28 | 30 => Ok((Layer::Ip, rest)),
        // OpenBSD tells an EtherType there for some.
        kind => Err(Skip::OtherFrame { kind: kind as u16 }),
    }
}

/// Linux cooked capture: `protocol` and what follows the header; `hardware` is the ARPHRD type.
fn cooked((protocol, rest): (u16, &[u8]), hardware: u16) -> (Layer, &[u8]) {
    const ARPHRD_GRE: u16 = 778;
    match protocol {
        4 => (Layer::Llc, rest),
        // A GRE device without an address tells no EtherType.
        0 if hardware == ARPHRD_GRE => (Layer::Ip, rest),
        kind => (Layer::EtherType(kind), rest),
    }
}

fn walk<'a>(mut layer: Layer, mut rest: &'a [u8]) -> Result<Carried<'a>, Skip> {
    let mut most = UNLIMITED;
    for _ in 0..MOST_LAYERS {
        let (next, behind) = match layer {
            Layer::Ip => return Ok(Carried { bytes: rest, most }),
            Layer::Ethernet => type_or_length(skip(rest, 12)?)?,
            Layer::EtherType(kind) => ether_type(kind, rest)?,
            Layer::Llc => llc(rest)?,
            Layer::Ppp => ppp(rest)?,
        };
        if most != UNLIMITED {
            most = most.saturating_sub(rest.len() - behind.len());
        }
        most = most.min(stated(layer, rest, behind));
        (layer, rest) = (next, behind);
    }
    Err(Skip::TooDeep)
}

/// The length of what a layer carries, by its own field; `rest` begins with the layer, `behind` with what it carries.
fn stated(layer: Layer, rest: &[u8], behind: &[u8]) -> usize {
    let end = rest.len() - behind.len();
    let before = |bytes: usize| end.checked_sub(bytes).and_then(|at| rest.get(at..end));
    let field = match layer {
        // An 802.3 length stands where a type would.
        Layer::Ethernet | Layer::EtherType(0x8100 | 0x88a8 | 0x9100 | 0x9200) => before(2),
        // PPPoE, RFC 2516 §4: the length is the last field.
        Layer::EtherType(0x8864) => before(2),
        _ => None,
    };
    let Some(&[high, low]) = field else {
        return UNLIMITED;
    };
    let length = u16::from_be_bytes([high, low]);
    let is_type = length >= FIRST_TYPE && !matches!(layer, Layer::EtherType(0x8864));
    if is_type {
        UNLIMITED
    } else {
        length.into()
    }
}

/// IEEE 802.3 §3.2.6: lengths up to 1,500, types from 1,536.
const FIRST_TYPE: u16 = 0x0600;

fn type_or_length(rest: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    let (kind, rest) = word(rest)?;
    Ok(if kind < FIRST_TYPE {
        (Layer::Llc, rest)
    } else {
        (Layer::EtherType(kind), rest)
    })
}

fn ether_type(kind: u16, rest: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    match kind {
        0x0800 | 0x86dd => Ok((Layer::Ip, rest)),
        // IEEE 802.1Q and 802.1ad, with the numbers used before: tag, then the next type.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => type_or_length(skip(rest, 2)?),
        0x8847 | 0x8848 => mpls(rest),
        // PPPoE, RFC 2516 §4: version and type, code, session, length.
        0x8864 => match rest.first_chunk::<6>() {
            None => Err(Skip::CutShort),
            Some([0x11, 0, ..]) => Ok((Layer::Ppp, skip(rest, 6)?)),
            Some(_) => Err(Skip::LinkControl),
        },
        0x8863 | 0x9000 | 0x88cc | 0x8809 => Err(Skip::LinkControl),
        0x0806 | 0x8035 => Err(Skip::Arp),
        // Transparent Ethernet bridging.
        0x6558 => Ok((Layer::Ethernet, rest)),
        0x880b => Ok((Layer::Ppp, rest)),
        kind => Err(Skip::OtherFrame { kind }),
    }
}

/// A label stack (RFC 3032 §2.1). Nothing says what follows it; the first four bits do (RFC 4385 §3).
pub(crate) fn behind_labels<'a>(rest: &'a [u8]) -> Result<Carried<'a>, Skip> {
    let (layer, rest) = mpls(rest)?;
    walk(layer, rest)
}

fn mpls(mut rest: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    for _ in 0..MOST_LAYERS {
        let (label, behind) = rest.split_first_chunk::<4>().ok_or(Skip::CutShort)?;
        rest = behind;
        if label[2] & 1 == 0 {
            continue;
        }
        return match behind.first().map(|first| first >> 4) {
            None => Err(Skip::CutShort),
            Some(4 | 6) => Ok((Layer::Ip, behind)),
            // A pseudowire with its control word: Ethernet, as a rule.
            Some(0) => Ok((Layer::Ethernet, skip(behind, 4)?)),
            Some(_) => Err(Skip::OtherFrame { kind: 0x8847 }),
        };
    }
    Err(Skip::TooDeep)
}

/// Logical link control (IEEE 802.2), with SNAP.
fn llc(rest: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    let (points, behind) = word(rest)?;
    match (points, behind.first()) {
        (0xaaaa, Some(3)) => {
            let (oui, behind) = skip(behind, 1)?
                .split_first_chunk::<3>()
                .ok_or(Skip::CutShort)?;
            let (kind, behind) = word(behind)?;
            match (*oui, kind) {
                // RFC 1042; 802.1H for bridges.
                ([0, 0, 0] | [0, 0, 0xf8], kind) => Ok((Layer::EtherType(kind), behind)),
                // RFC 2684 §5.2: bridged Ethernet, with or without its check sequence.
                ([0, 0x80, 0xc2], 1 | 7) => Ok((Layer::Ethernet, skip(behind, 2)?)),
                (_, kind) => Err(Skip::OtherFrame { kind }),
            }
        }
        (0x0606, Some(3)) => Ok((Layer::Ip, skip(behind, 1)?)),
        // Routed protocols of ISO, where 0xcc stands for IP (RFC 2684 §5.1).
        (0xfefe, Some(3)) if behind.get(1) == Some(&0xcc) => Ok((Layer::Ip, skip(behind, 2)?)),
        (0x4242 | 0, _) => Err(Skip::LinkControl),
        (kind, _) => Err(Skip::OtherFrame { kind }),
    }
}

/// PPP (RFC 1661 §2), in HDLC framing (RFC 1662 §3.1) or without, the protocol number in one byte or two.
fn ppp(rest: &[u8]) -> Result<(Layer, &[u8]), Skip> {
    let rest = rest.strip_prefix(&[0xff, 0x03]).unwrap_or(rest);
    let (protocol, rest) = match rest.first() {
        None => return Err(Skip::CutShort),
        Some(&short) if short & 1 == 1 => (u16::from(short), skip(rest, 1)?),
        Some(_) => word(rest)?,
    };
    match protocol {
        0x0021 | 0x0057 => Ok((Layer::Ip, rest)),
        0x0281 | 0x0283 => mpls(rest),
        // Bridged frames (RFC 3518 §4.2): flags, the kind of network (1: Ethernet).
        0x0031 if rest.get(1) == Some(&1) => Ok((Layer::Ethernet, skip(rest, 2)?)),
        // Network and link control protocols.
        0x8000.. => Err(Skip::LinkControl),
        kind => Err(Skip::OtherFrame { kind }),
    }
}

fn skip(bytes: &[u8], count: usize) -> Result<&[u8], Skip> {
    bytes.get(count..).ok_or(Skip::CutShort)
}

fn word(bytes: &[u8]) -> Result<(u16, &[u8]), Skip> {
    let (word, rest) = bytes.split_first_chunk::<2>().ok_or(Skip::CutShort)?;
    Ok((u16::from_be_bytes(*word), rest))
}
