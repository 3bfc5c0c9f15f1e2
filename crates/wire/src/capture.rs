//! Captures of all kinds, read from any stream.
//!
//! [`Reader`] reads one capture: pcap, pcapng, ERF, snoop or TSH, packed or not, all known by their content.

mod batch;
mod erf;
mod error;
mod frame;
mod interface;
mod packed;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod snoop;
mod tsh;
mod unknown;
mod window;

pub use batch::{Batch, Record};
pub use error::Error;
pub use frame::Frame;
pub use interface::Interface;
pub use reader::{End, Reader};

/// Bytes of one packet that a capture may hold at most, as libpcap's `MAXIMUM_SNAPLEN`: a length above it is
/// no length.
const MOST_CAPTURED: usize = 1 << 18;
