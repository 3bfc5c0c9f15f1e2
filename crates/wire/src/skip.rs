//! Why a packet gives no TCP headers.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::link::LinkType;

/// Why some bytes are no TCP packet that can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// No bytes at all.
    Empty,
    /// Neither IPv4 nor IPv6.
    NotIp {
        /// The first four bits.
        version: u8,
    },
    /// Another protocol than TCP.
    NotTcp {
        /// The IANA protocol number (of the first header that is not understood).
        protocol: u8,
    },
    /// One fragment of a packet, without its TCP header.
    Fragment,
    /// The bytes end before the fixed TCP header does.
    CutShort,
    /// Lengths that contradict each other.
    Malformed,
    /// Address resolution (ARP or RARP).
    Arp,
    /// A frame that carries something else than IP.
    OtherFrame {
        /// Its EtherType or PPP protocol number, or the two service access points of LLC.
        kind: u16,
    },
    /// The link's own control traffic (PPP negotiation, PPPoE discovery, spanning tree, keep-alives).
    LinkControl,
    /// A kind of link that is not understood.
    UnknownLink {
        /// Its type.
        link: LinkType,
    },
    /// More layers around each other than are looked through.
    TooDeep,
}

impl Skip {
    /// Kinds that [`Skips`] counts, by [`Skip::index`].
    const NAMES: [&'static str; 13] = [
        "empty",
        "not-ip",
        "udp",
        "icmp",
        "other-protocol",
        "fragment",
        "cut-short",
        "malformed",
        "arp",
        "other-frame",
        "link-control",
        "unknown-link",
        "too-deep",
    ];

    const fn index(self) -> usize {
        match self {
            Skip::Empty => 0,
            Skip::NotIp { .. } => 1,
            Skip::NotTcp { protocol: 17 } => 2,
            Skip::NotTcp { protocol: 1 | 58 } => 3,
            Skip::NotTcp { .. } => 4,
            Skip::Fragment => 5,
            Skip::CutShort => 6,
            Skip::Malformed => 7,
            Skip::Arp => 8,
            Skip::OtherFrame { .. } => 9,
            Skip::LinkControl => 10,
            Skip::UnknownLink { .. } => 11,
            Skip::TooDeep => 12,
        }
    }

    /// One word for the kind, as in `cut-short`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::Empty => f.write_str("no bytes"),
            Skip::NotIp { version } => write!(f, "no IP packet (version {version})"),
            Skip::NotTcp { protocol } => write!(f, "no TCP packet (protocol {protocol})"),
            Skip::Fragment => f.write_str("a fragment"),
            Skip::CutShort => f.write_str("cut short before the end of the TCP header"),
            Skip::Malformed => f.write_str("lengths in the headers contradict each other"),
            Skip::Arp => f.write_str("address resolution"),
            Skip::OtherFrame { kind } => write!(f, "a frame of another kind ({kind:#06x})"),
            Skip::LinkControl => f.write_str("control traffic of the link"),
            Skip::UnknownLink { link } => write!(f, "a link that is not understood: {link}"),
            Skip::TooDeep => f.write_str("too many layers around each other"),
        }
    }
}

impl std::error::Error for Skip {}

/// How many packets were skipped, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skips {
    counts: [u64; Skip::NAMES.len()],
}

impl Skips {
    /// Counts one packet.
    pub fn count(&mut self, skip: Skip) {
        self.counts[skip.index()] += 1;
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Skips) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    /// The kinds that were met, each with its [`Skip::name`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let all = Skip::NAMES.into_iter().zip(self.counts);
        all.filter(|&(_, count)| count > 0)
    }

    /// All packets skipped.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_packets_are_counted_by_kind() {
        let mut skips = Skips::default();
        for skip in [
            Skip::NotTcp { protocol: 17 },
            Skip::NotTcp { protocol: 58 },
            Skip::NotTcp { protocol: 132 },
            Skip::Fragment,
            Skip::Fragment,
        ] {
            skips.count(skip);
        }
        let mut twice = skips;
        twice.add(&skips);
        let told: Vec<_> = twice.iter().collect();
        assert_eq!(
            told,
            [
                ("udp", 2),
                ("icmp", 2),
                ("other-protocol", 2),
                ("fragment", 4)
            ]
        );
        assert_eq!((skips.total(), twice.total()), (5, 10));
        assert_eq!(Skip::TooDeep.name(), "too-deep");
    }
}
