//! What record of TLS a payload begins with (RFC 8446 §5.1, RFC 5246 §6.2.1): who is setting up a session, and who sends data.

/// A kind of record, as far as it is told without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// No record begins here, or this is no TLS.
    #[default]
    None = 0,
    /// A handshake, or the change of cipher within it.
    SetUp = 1,
    /// Data of the program, in a record that may hold more than a word to the peer.
    Data = 2,
    /// An alert, or so few data that no request fits but a frame of HTTP/2 that asks nothing: an acknowledgement of settings,
    /// a window, a ping (RFC 9113 §6).
    Control = 3,
}

/// What encryption adds to a record, at most: the explicit nonce and the tag of TLS 1.2's AES-GCM (RFC 5288 §3).
const SEAL: u16 = 24;
/// A frame of HTTP/2 with its head: a window's, a ping's, or a farewell without a text, the longest of those that ask nothing.
const FRAME: u16 = 17;

impl Record {
    /// What a payload of `len` bytes on the wire begins with.
    #[must_use]
    #[inline]
    pub fn begins(payload: &[u8], len: u32) -> Record {
        let &[kind @ 20..=23, 3, 0..=4, high, low, ..] = payload else {
            return Record::None;
        };
        let length = u16::from_be_bytes([high, low]);
        // RFC 5246 §6.2.3: 2^14 + 2048.
        if length == 0 || length > (1 << 14) + 2_048 {
            return Record::None;
        }
        let whole = len == 5 + u32::from(length);
        match kind {
            20 | 22 => Record::SetUp,
            21 => Record::Control,
            _ if whole && length <= SEAL + FRAME => Record::Control,
            _ => Record::Data,
        }
    }

    /// As two bits, for [`Record::of_bits`].
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// What [`Record::bits`] gave.
    #[must_use]
    pub const fn of_bits(bits: u8) -> Record {
        match bits & 3 {
            1 => Record::SetUp,
            2 => Record::Data,
            3 => Record::Control,
            _ => Record::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_by_its_head() {
        let begins = |head: [u8; 5], rest: u32| Record::begins(&head, 5 + rest);
        assert_eq!(begins([22, 3, 1, 2, 0], 512), Record::SetUp);
        assert_eq!(begins([20, 3, 3, 0, 1], 1), Record::SetUp);
        assert_eq!(begins([23, 3, 3, 0x40, 0x11], 1_443), Record::Data);
        assert_eq!(begins([21, 3, 3, 0, 26], 26), Record::Control);
        // A frame of HTTP/2 that opens a window, under AES-GCM of TLS 1.2 and 1.3.
        assert_eq!(begins([23, 3, 3, 0, 37], 37), Record::Control);
        assert_eq!(begins([23, 3, 3, 0, 30], 30), Record::Control);
        assert_eq!(begins([23, 3, 3, 0, 30], 60), Record::Data);
        assert_eq!(begins([23, 3, 3, 0, 42], 42), Record::Data);
        for other in [
            [22, 2, 1, 2, 0],
            [24, 3, 1, 2, 0],
            [22, 3, 5, 2, 0],
            [22, 3, 3, 0, 0],
            [23, 3, 3, 0x48, 1],
        ] {
            assert_eq!(begins(other, 512), Record::None, "{other:?}");
        }
        assert_eq!(Record::begins(&[22, 3, 1, 2], 517), Record::None);
        for record in [Record::None, Record::SetUp, Record::Data, Record::Control] {
            assert_eq!(Record::of_bits(record.bits()), record);
        }
    }
}
