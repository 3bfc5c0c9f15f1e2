//! Captures of all kinds, read from any stream.
//!
//! [`Reader`] reads one capture: pcap, pcapng, ERF, snoop, TSH or a list of packets as text, packed or not, all known by
//! their content.
//! [`Rotation`] reads several as one stream in the order of time. Both lend a [`Frame`] at a time, or copy many into
//! a [`Batch`] for another thread.

mod batch;
mod copy;
mod dated;
mod erf;
mod error;
mod frame;
mod interface;
mod list;
mod packed;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod rotation;
mod snoop;
mod statistics;
mod tsh;
mod unknown;
mod unpacked;
mod window;

pub use batch::{Batch, Record};
pub use copy::Copy;
pub use dated::Misdated;
pub use error::Error;
pub use frame::Frame;
pub use interface::Interface;
pub use reader::{End, Reader};
pub use rotation::{FileError, Rotation};
pub use statistics::Drops;
pub use unpacked::{set_unpack_limit, unpack_limit};

/// Bytes of one packet that a capture may hold at most, as libpcap's `MAXIMUM_SNAPLEN`: a length above it is
/// no length.
const MOST_CAPTURED: usize = 1 << 18;
