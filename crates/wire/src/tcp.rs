//! A checked view of one TCP packet, from its IP header on.

use core::fmt;

use crate::ip::{self, Located};
use crate::options::{Items, Options};
use crate::{FlowKey, SeqNum, Skip};

mod padding;

/// The flags of a TCP header (RFC 9293 §3.1), as the byte on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number holds.
    pub const ACK: Flags = Flags(0x10);
    /// A congestion mark came to the sender (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// The sender has made its congestion window smaller for a mark.
    pub const CWR: Flags = Flags(0x80);

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// FIN is set.
    #[must_use]
    pub const fn fin(self) -> bool {
        self.contains(Flags::FIN)
    }

    /// SYN is set.
    #[must_use]
    pub const fn syn(self) -> bool {
        self.contains(Flags::SYN)
    }

    /// RST is set.
    #[must_use]
    pub const fn rst(self) -> bool {
        self.contains(Flags::RST)
    }

    /// ACK is set.
    #[must_use]
    pub const fn ack(self) -> bool {
        self.contains(Flags::ACK)
    }
}

impl fmt::Display for Flags {
    /// The set flags as letters in the order `FSRPAUEC`, `-` for none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("-");
        }
        for (bit, letter) in "FSRPAUEC".chars().enumerate() {
            if self.0 & 1 << bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// A checked, zero-copy view of one TCP packet that starts at its IPv4 or IPv6 header.
///
/// [`TcpPacket::parse`] checks once; no method panics afterwards, whatever the bytes are.
/// The packet may be captured only in part: lengths are those that its headers state, and
/// [`TcpPacket::payload`] holds what is there.
#[derive(Clone, Copy, Debug)]
pub struct TcpPacket<'a> {
    flow: FlowKey,
    /// The fields up to the window.
    fixed: &'a [u8; TcpPacket::NEEDED],
    /// What was captured of the header, options included.
    head: &'a [u8],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> TcpPacket<'a> {
    /// Bytes of the TCP header that must be there: all but checksum and urgent pointer.
    pub const NEEDED: usize = 16;

    /// Views `bytes`, a whole packet or its beginning.
    ///
    /// # Errors
    /// [`Skip`] says why the bytes are no TCP packet that can be judged.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Skip> {
        Self::parse_captured(bytes, bytes.len())
    }

    /// As [`TcpPacket::parse`], for bytes captured of a packet that was `original_len` bytes long on the
    /// wire. The length only matters for packets whose IP length field is 0 (segmentation offload), and for SYNs.
    ///
    /// # Errors
    /// [`Skip`] says why the bytes are no TCP packet that can be judged.
    #[inline]
    pub fn parse_captured(bytes: &'a [u8], original_len: usize) -> Result<Self, Skip> {
        let located = ip::locate(bytes, original_len)?;
        // Neither a first nor a later fragment is a whole segment.
        if located.more_fragments {
            return Err(Skip::Fragment);
        }
        if located.protocol != ip::protocol::TCP {
            return Err(Skip::NotTcp {
                protocol: located.protocol,
            });
        }
        Self::located(bytes, &located, original_len)
    }

    /// Views the segment that `ip::locate` found in `bytes` of a packet of `on_wire` bytes.
    #[inline]
    pub(crate) fn located(
        bytes: &'a [u8],
        located: &Located,
        on_wire: usize,
    ) -> Result<Self, Skip> {
        let Located {
            src,
            dst,
            offset,
            total,
            carried,
            ..
        } = *located;
        // Link layers pad short frames: what lies behind the packet's own end is not part of it.
        let bytes = bytes.get(..total).unwrap_or(bytes);
        let Some(tcp) = bytes.get(offset..) else {
            return Err(if offset > total {
                Skip::Malformed
            } else {
                Skip::CutShort
            });
        };
        let Some(fixed) = tcp.first_chunk::<{ TcpPacket::NEEDED }>() else {
            return Err(if total < offset + 20 {
                Skip::Malformed
            } else {
                Skip::CutShort
            });
        };
        let header = usize::from(fixed[12] >> 4) * 4;
        if header < 20 || offset + header > total {
            return Err(Skip::Malformed);
        }
        let (head, payload) = tcp.split_at_checked(header).unwrap_or((tcp, &[]));
        let flow = FlowKey {
            src,
            dst,
            src_port: u16::from_be_bytes([fixed[0], fixed[1]]),
            dst_port: u16::from_be_bytes([fixed[2], fixed[3]]),
        };
        let mut payload_len = total.min(carried).saturating_sub(offset + header);
        if padding::is_counted(located, tcp, header) {
            payload_len = 0;
        }
        let payload = payload.get(..payload_len).unwrap_or(payload);
        if Flags(fixed[13]).syn() {
            // Few SYNs carry data, and where one's length goes beyond its frame, it was written wrongly.
            payload_len = payload_len.saturating_sub(total.saturating_sub(on_wire));
        }
        let payload_len = u32::try_from(payload_len).map_err(|_| Skip::Malformed)?;
        Ok(TcpPacket {
            flow,
            fixed,
            head,
            payload,
            payload_len,
        })
    }

    /// Who sends to whom.
    #[must_use]
    pub const fn flow(&self) -> FlowKey {
        self.flow
    }

    /// The sequence number of the first payload byte (of the SYN itself when SYN is set).
    #[must_use]
    pub const fn seq(&self) -> SeqNum {
        SeqNum::new(self.word(4))
    }

    /// The acknowledgement number; without meaning unless ACK is set.
    #[must_use]
    pub const fn ack(&self) -> SeqNum {
        SeqNum::new(self.word(8))
    }

    /// The flags.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        Flags(self.fixed[13])
    }

    /// The window field, not scaled.
    #[must_use]
    pub const fn window(&self) -> u16 {
        u16::from_be_bytes([self.fixed[14], self.fixed[15]])
    }

    /// The options that were captured.
    #[must_use]
    pub fn options(&self) -> Options<'a> {
        Options::new(self.option_bytes())
    }

    /// The options that were captured, as they lie there, no-operations included.
    #[must_use]
    pub fn option_items(&self) -> Items<'a> {
        Items::new(self.option_bytes())
    }

    /// Whether the capture ends before the options do.
    #[must_use]
    pub const fn options_cut(&self) -> bool {
        self.head.len() < (self.fixed[12] >> 4) as usize * 4
    }

    /// The urgent pointer, if it was captured; without meaning unless URG is set.
    #[must_use]
    pub fn urgent(&self) -> Option<u16> {
        let bytes = self.head.get(18..20)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn option_bytes(&self) -> &'a [u8] {
        self.head.get(20..).unwrap_or(&[])
    }

    /// The payload bytes that were captured; shorter than [`TcpPacket::payload_len`] when the packet was cut.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// How many payload bytes the packet carried on the wire, by its IP length.
    #[must_use]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// How much of the sequence space the packet takes: payload, plus one each for SYN and FIN.
    #[must_use]
    pub fn seq_len(&self) -> u32 {
        let flags = self.flags();
        self.payload_len
            .saturating_add(u32::from(flags.syn()))
            .saturating_add(u32::from(flags.fin()))
    }

    const fn word(&self, at: usize) -> u32 {
        let f = self.fixed;
        u32::from_be_bytes([f[at], f[at + 1], f[at + 2], f[at + 3]])
    }
}

#[cfg(test)]
mod tests;
