//! What a SYN or SYN-ACK offers.

use serde::{Deserialize, Serialize};

/// The options of a packet with SYN, and what else of it tells stacks apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynOptions {
    /// Largest segment the sender takes, bytes (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Shift count of the window (RFC 7323 §2.2), as sent: values above 14 are not clipped.
    pub window_scale: Option<u8>,
    /// Selective acknowledgements are understood (RFC 2018 §2).
    pub sack_permitted: bool,
    /// There is a timestamps option (RFC 7323 §3.2); its values are in `Headers::timestamps`.
    pub timestamps: bool,
    /// The subtype of an MPTCP option (RFC 8684 §3), as `0` for MP_CAPABLE and `1` for MP_JOIN.
    pub mptcp: Option<u8>,
    /// There is a TCP Fast Open option (RFC 7413 §4.1.1).
    pub fast_open: bool,
    /// A length broke off the list of options.
    pub malformed: bool,
    /// The capture does not hold all options: what is missing here may have been there.
    pub cut: bool,
    /// Bytes other than 0 follow the end of the list.
    pub padding_used: bool,
    /// All options in order.
    pub layout: OptionLayout,
    /// The urgent pointer.
    pub urgent: u16,
    /// Length of the IP header with its options or extension headers, bytes.
    pub ip_header_len: u8,
}

/// The options of one header in the order sent: the kind and the length of each in bytes, no-operations
/// (kind 1, length 1) and the end of the list (kind 0, its length with all that follows it) included.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OptionLayout {
    options: [(u8, u8); OptionLayout::MOST],
    count: u8,
}

impl OptionLayout {
    /// Options kept; a header with more is told by [`OptionLayout::is_full`].
    pub const MOST: usize = 20;

    /// Kind and length of each option.
    #[must_use]
    pub fn options(&self) -> &[(u8, u8)] {
        self.options.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// Whether there may be more options than are kept.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.count as usize == Self::MOST
    }

    /// Adds an option; left out when full.
    pub fn push(&mut self, kind: u8, length: u8) {
        if let Some(slot) = self.options.get_mut(usize::from(self.count)) {
            *slot = (kind, length);
            self.count += 1;
        }
    }
}

impl core::fmt::Debug for OptionLayout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.options().fmt(f)
    }
}
