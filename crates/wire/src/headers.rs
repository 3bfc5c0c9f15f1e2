//! The plain value of one TCP packet's headers.

use serde::{Deserialize, Serialize};

use crate::{Flags, FlowKey, SeqNum, SeqRange};

mod decode;
mod record;
mod returned;
mod syn;

pub use record::Record;
pub use returned::Heads;
pub use syn::{OptionLayout, SynOptions};

/// What the headers of one TCP packet say, decoded once.
///
/// Numbers are as on the wire. Of the payload its length is kept, and what it begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Who sends to whom.
    pub flow: FlowKey,
    /// The sequence number of the first payload byte (of the SYN itself when SYN is set).
    pub seq: SeqNum,
    /// The acknowledgement number; without meaning unless ACK is set.
    pub ack: SeqNum,
    /// Payload bytes on the wire, by the IP length. When that is 0 (segmentation offload, RFC 2675
    /// jumbograms), by the length on the wire: [`Notes::LENGTH_FROM_CAPTURE`].
    pub payload_len: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// The flags.
    pub flags: Flags,
    /// Time to live (IPv4) or hop limit (IPv6).
    pub ttl: u8,
    /// The identification of an IPv4 packet; none for IPv6.
    pub ip_id: Option<u16>,
    /// IPv4's "don't fragment"; true for IPv6.
    pub dont_fragment: bool,
    /// The ECN field of IP (RFC 3168 §5), 0..=3: not capable, ECT(1), ECT(0), CE.
    pub ecn: u8,
    /// What the payload begins with.
    pub record: Record,
    /// What else is to be known about the packet.
    pub notes: Notes,
    /// The timestamps option (RFC 7323 §3.2).
    pub timestamps: Option<Timestamps>,
    /// The SACK option's blocks.
    pub sack: Sack,
    /// The options of a packet with SYN; none for packets without.
    pub syn: Option<SynOptions>,
}

impl Headers {
    /// How much of the sequence space the packet takes: payload, plus one each for SYN and FIN.
    #[must_use]
    pub fn seq_len(&self) -> u32 {
        self.payload_len
            .saturating_add(u32::from(self.flags.syn()))
            .saturating_add(u32::from(self.flags.fin()))
    }

    /// The numbers that the packet takes, SYN and FIN counted.
    #[must_use]
    pub fn range(&self) -> SeqRange {
        SeqRange::new(self.seq, self.seq_len())
    }
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The peer's clock as last seen; without meaning unless ACK is set.
    pub echo: u32,
}

/// The blocks of a SACK option in the order sent (RFC 2018 §3); the first may be a D-SACK (RFC 2883 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    blocks: [SeqRange; 4],
    count: u8,
}

impl Sack {
    /// The blocks.
    #[must_use]
    pub fn blocks(&self) -> &[SeqRange] {
        self.blocks.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a block; more than four do not fit into an option and are left out.
    pub fn push(&mut self, block: SeqRange) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }
}

impl FromIterator<SeqRange> for Sack {
    fn from_iter<I: IntoIterator<Item = SeqRange>>(blocks: I) -> Self {
        let mut sack = Sack::default();
        blocks.into_iter().for_each(|block| sack.push(block));
        sack
    }
}

/// What is to be known about a packet besides its numbers, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Notes(u8);

impl Notes {
    /// The capture ends before the last TCP option does: options may be missing.
    pub const OPTIONS_CUT: Notes = Notes(0x01);
    /// The packet travelled inside another one (GRE, VXLAN, Geneve, GTP-U, IP in IP).
    pub const TUNNELLED: Notes = Notes(0x02);
    /// The first of several fragments: `payload_len` counts this fragment's bytes only.
    pub const FIRST_FRAGMENT: Notes = Notes(0x04);
    /// The IP length is 0; `payload_len` follows from the length on the wire.
    pub const LENGTH_FROM_CAPTURE: Notes = Notes(0x08);
    /// A router or a host has returned the packet by ICMP, as too large for its next link, or as one that cannot be delivered: these
    /// are what its message quotes of the headers.
    pub const RETURNED: Notes = Notes(0x10);
    /// There is a Multipath TCP option.
    pub const MPTCP: Notes = Notes(0x20);
    /// Other packets of its host in the capture show that the host numbers those of each connection apart.
    pub const NUMBERED_APART: Notes = Notes(0x40);
    /// They show that it numbers them together.
    pub const NUMBERED_TOGETHER: Notes = Notes(0x80);

    /// Whether all notes of `other` are there.
    #[must_use]
    pub const fn contains(self, other: Notes) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub const fn and(self, other: Notes) -> Notes {
        Notes(self.0 | other.0)
    }

    /// Those that are also in `other`.
    #[must_use]
    pub const fn common(self, other: Notes) -> Notes {
        Notes(self.0 & other.0)
    }

    /// Adds those of `other`.
    pub fn insert(&mut self, other: Notes) {
        self.0 |= other.0;
    }
}
