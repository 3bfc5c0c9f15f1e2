//! Multipath TCP's options (RFC 8684 §3; version 0 as in RFC 6824 §3), read and written.

mod key;
mod option;
mod read;
mod write;

pub use key::{Identity, Version};
pub use option::{AddAddr, Capable, DataNumber, Dss, Join, Mapping, MptcpOption, Numbers, KIND};

use crate::options::TcpOption;
use crate::TcpPacket;

/// The Multipath TCP options of a packet, in order; those of broken form left out.
pub fn options<'a>(packet: &TcpPacket<'a>) -> impl Iterator<Item = MptcpOption<'a>> {
    packet.options().filter_map(|option| match option {
        TcpOption::Other { kind: KIND, data } => MptcpOption::parse(data),
        _ => None,
    })
}

/// The packet's data sequence signal, if it has one.
#[must_use]
pub fn dss(packet: &TcpPacket<'_>) -> Option<Dss> {
    options(packet).find_map(|option| match option {
        MptcpOption::Dss(dss) => Some(dss),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
