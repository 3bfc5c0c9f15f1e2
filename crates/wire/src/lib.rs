//! Packets as bytes and as values; what programs' messages name; captures in and out.
//!
//! Everything here works on bytes handed in; nothing opens a file or a socket by itself.

pub mod capture;
pub mod dns;
mod flow;
pub mod headers;
pub mod http;
mod intervals;
mod ip;
pub mod link;
pub mod message;
pub mod mptcp;
pub mod options;
pub mod pcap;
pub mod pcapng;
mod seq;
mod skip;
pub mod table;
mod tcp;
pub mod tls;

pub use flow::FlowKey;
pub use headers::Headers;
pub use intervals::Intervals;
pub use ip::Numbered;
pub use link::LinkType;
pub use seq::{SeqNum, SeqRange};
pub use skip::{Skip, Skips};
pub use tcp::{Flags, TcpPacket};
