//! One captured packet.

use rexmit_time::Time;

use crate::link::LinkType;

/// One captured packet, lent by what holds its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Time stamp, nanoseconds since the origin of the capture's clock (1970, as a rule).
    pub time: Time,
    /// What the first byte of `data` begins.
    pub link: LinkType,
    /// The interface's index, counted over all sections of its file.
    pub interface: u16,
    /// The packet's length on the wire, bytes.
    pub original_len: u32,
    /// The bytes captured.
    pub data: &'a [u8],
}
