//! One step through a capture.

use rexmit_time::Time;

use crate::link::LinkType;

/// A packet in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordAt {
    pub time: Time,
    pub link: LinkType,
    pub interface: u16,
    pub original_len: u32,
    /// Where its bytes begin in the window.
    pub from: usize,
    pub len: usize,
    /// Bytes of options right after it, padding to words in between.
    pub options: usize,
}

/// What came next.
pub(super) enum NextRecord {
    /// A packet; the window stands behind it.
    Packet(RecordAt),
    /// Something that is no packet.
    Other,
    /// The stream ends here; what is left in the window, if anything, is not whole.
    End,
}
