//! What lies around an IP packet: link layers and their types.

use core::fmt;

mod strip;
mod tunnel;

pub(crate) use strip::{strip, UNLIMITED};
pub(crate) use tunnel::inside;

/// The type of a link, as the registry of the pcap formats numbers it
/// (draft-ietf-opsawg-pcaplinktype): what the first byte of a captured packet begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Loopback of BSD: a word with the address family in the order of the machine, then the packet.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet, from the destination address on.
    pub const ETHERNET: LinkType = LinkType(1);
    /// PPP, with or without the two bytes of HDLC framing (RFC 1662).
    pub const PPP: LinkType = LinkType(9);
    /// FDDI, from the frame control on.
    pub const FDDI: LinkType = LinkType(10);
    /// Raw IP, as some systems number it in files.
    pub const RAW_BSD: LinkType = LinkType(12);
    /// Raw IP, as OpenBSD numbers it in files.
    pub const RAW_OPENBSD: LinkType = LinkType(14);
    /// PPP in HDLC-like framing (RFC 1662), or Cisco HDLC, known by the first byte.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// PPP over Ethernet, from the PPPoE header on (RFC 2516).
    pub const PPPOE: LinkType = LinkType(51);
    /// LLC and SNAP in front of the packet (RFC 2684 over AAL5).
    pub const ATM_RFC1483: LinkType = LinkType(100);
    /// Raw IP: packets start at their IPv4 or IPv6 header.
    pub const RAW: LinkType = LinkType(101);
    /// Cisco HDLC.
    pub const C_HDLC: LinkType = LinkType(104);
    /// 802.11 without further headers.
    pub const IEEE802_11: LinkType = LinkType(105);
    /// Loopback of OpenBSD: as [`LinkType::NULL`], in network order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux "cooked" capture, version 1.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// SunATM: four bytes of flags and circuit, then LLC or LANE.
    pub const SUNATM: LinkType = LinkType(123);
    /// 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIOTAP: LinkType = LinkType(127);
    /// IPv4 packets.
    pub const IPV4: LinkType = LinkType(228);
    /// IPv6 packets.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
}

impl fmt::Display for LinkType {
    /// The number, with the registry's name where it is known, as in `1 (Ethernet)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            LinkType::NULL => "BSD loopback",
            LinkType::ETHERNET => "Ethernet",
            LinkType::PPP => "PPP",
            LinkType::FDDI => "FDDI",
            LinkType::RAW_BSD | LinkType::RAW_OPENBSD | LinkType::RAW => "raw IP",
            LinkType::PPP_HDLC => "PPP in HDLC framing",
            LinkType::PPPOE => "PPP over Ethernet",
            LinkType::ATM_RFC1483 => "LLC over ATM",
            LinkType::C_HDLC => "Cisco HDLC",
            LinkType::IEEE802_11 => "802.11",
            LinkType::LOOP => "OpenBSD loopback",
            LinkType::LINUX_SLL => "Linux cooked v1",
            LinkType::SUNATM => "SunATM",
            LinkType::IEEE802_11_RADIOTAP => "802.11 with radiotap",
            LinkType::IPV4 => "IPv4",
            LinkType::IPV6 => "IPv6",
            LinkType::LINUX_SLL2 => "Linux cooked v2",
            LinkType(number) => return number.fmt(f),
        };
        write!(f, "{} ({name})", self.0)
    }
}
