//! Captures written in pcapng form (draft-ietf-opsawg-pcapng); [`crate::capture`] reads them.

mod options;
mod writer;

pub(crate) use options::Options;
pub use writer::Writer;

/// LINKTYPE_RAW: packets start at their IPv4 or IPv6 header.
pub const LINKTYPE_RAW: u16 = crate::LinkType::RAW.0;
