//! Captures in pcapng form (draft-ietf-opsawg-pcapng), written and read.

mod reader;
mod writer;

pub use reader::{Captured, Interface, Reader};
pub use writer::Writer;

/// LINKTYPE_RAW: packets start at their IPv4 or IPv6 header.
pub const LINKTYPE_RAW: u16 = 101;
