//! What a payload begins with: a record of TLS (RFC 8446 §5.1, RFC 5246 §6.2.1), which tells who is setting up a session and who
//! sends data, or what looks like a [message](crate::message::Message) that names something.

use serde::{Deserialize, Serialize};

/// What a payload begins with, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// Nothing that is known.
    #[default]
    None = 0,
    /// A handshake of TLS other than its [hello](Record::Hello), or the change of cipher within it.
    SetUp = 1,
    /// Data of the program, in a record that may hold more than a word to the peer.
    Data = 2,
    /// An alert, or so few data that no request fits but a frame of HTTP/2 that asks nothing: an acknowledgement of settings,
    /// a window, a ping (RFC 9113 §6).
    Control = 3,
    /// The client's hello: a handshake of TLS begins.
    Hello = 4,
    /// Perhaps the head of a request of HTTP/1: a word in capitals.
    Request = 5,
    /// The head of a response of HTTP/1.
    Response = 6,
    /// Perhaps a question of DNS over TCP.
    Query = 7,
    /// Nothing; but the server of this SYN has a name.
    Named = 8,
    /// A fatal alert of TLS that is not encrypted: who sends it ends the handshake.
    Alert = 9,
    /// The reply of SMTP or FTP that its server closes the connection (RFC 5321 §3.8, RFC 959 §4.2).
    Farewell = 10,
}

/// What encryption adds to a record, at most: the explicit nonce and the tag of TLS 1.2's AES-GCM (RFC 5288 §3).
const SEAL: u16 = 24;
/// A frame of HTTP/2 with its head: a window's, a ping's, or a farewell without a text, the longest of those that ask nothing.
const FRAME: u16 = 17;
/// The type of a ClientHello (RFC 8446 §4).
const CLIENT_HELLO: u8 = 1;
/// Bytes of an alert, and the level of one that ends the connection (RFC 8446 §6).
const ALERT: u16 = 2;
const FATAL: u8 = 2;
/// The longest method of HTTP that is known has 17 letters (UPDATEREDIRECTREF, RFC 4437).
const METHOD: usize = 17;

impl Record {
    /// What a payload of `len` bytes on the wire begins with.
    #[must_use]
    #[inline]
    pub fn begins(payload: &[u8], len: u32) -> Record {
        match payload {
            &[kind @ 20..=23, 3, 0..=4, high, low, ref rest @ ..] => {
                Record::of_tls(kind, u16::from_be_bytes([high, low]), rest, len)
            }
            [b'A'..=b'Z', ..] => Record::of_http(payload),
            [b'4', b'2', b'1', b' ' | b'-', ..] => Record::Farewell,
            _ => Record::None,
        }
    }

    fn of_http(payload: &[u8]) -> Record {
        if payload.starts_with(crate::http::HEAD_START) {
            return Record::Response;
        }
        let method = payload.iter().take(METHOD + 1);
        let end = method.clone().position(|byte| *byte == b' ');
        let word = |end| {
            method
                .take(end)
                .all(|&byte| byte.is_ascii_uppercase() || byte == b'-')
        };
        match end {
            Some(end) if word(end) => Record::Request,
            _ => Record::None,
        }
    }

    fn of_tls(kind: u8, length: u16, rest: &[u8], len: u32) -> Record {
        // RFC 5246 §6.2.3: 2^14 + 2048.
        if length == 0 || length > (1 << 14) + 2_048 {
            return Record::None;
        }
        let whole = len == 5 + u32::from(length);
        match kind {
            22 if rest.first() == Some(&CLIENT_HELLO) => Record::Hello,
            20 | 22 => Record::SetUp,
            21 if length == ALERT && rest.first() == Some(&FATAL) => Record::Alert,
            21 => Record::Control,
            _ if whole && length <= SEAL + FRAME => Record::Control,
            _ => Record::Data,
        }
    }

    /// Whether a [message](crate::message::Message) may begin here.
    #[must_use]
    #[inline]
    pub const fn tells(self) -> bool {
        self as u8 >= Record::Hello as u8
    }

    /// What it is of TLS: one of the first four kinds.
    #[must_use]
    #[inline]
    pub const fn of_session(self) -> Record {
        match self {
            Record::Hello => Record::SetUp,
            Record::Alert => Record::Control,
            Record::Request
            | Record::Response
            | Record::Query
            | Record::Named
            | Record::Farewell => Record::None,
            other => other,
        }
    }

    /// As four bits, for [`Record::of_bits`]; two are enough for what is of TLS.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// What [`Record::bits`] gave.
    #[must_use]
    pub const fn of_bits(bits: u8) -> Record {
        match bits & 15 {
            1 => Record::SetUp,
            2 => Record::Data,
            3 => Record::Control,
            4 => Record::Hello,
            5 => Record::Request,
            6 => Record::Response,
            7 => Record::Query,
            8 => Record::Named,
            9 => Record::Alert,
            10 => Record::Farewell,
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
        for bits in 0..10 {
            assert_eq!(Record::of_bits(bits).bits(), bits);
            assert!(Record::of_bits(bits).of_session().bits() < 4);
        }
    }

    #[test]
    fn a_message_is_known_by_its_first_bytes() {
        let begins = |text: &str| Record::begins(text.as_bytes(), text.len() as u32);
        for text in ["GET / HTTP/1.1", "M-SEARCH * HTTP/1.1", "PUT "] {
            assert_eq!(begins(text), Record::Request, "{text}");
        }
        assert_eq!(begins("HTTP/1.1 200 OK"), Record::Response);
        for text in ["GET", "GETHER/ HTTP/1.1", "Get / HTTP/1.1", "", "A\0 "] {
            assert_eq!(begins(text), Record::None, "{text}");
        }
        assert_eq!(Record::begins(&[22, 3, 1, 2, 0, 1], 517), Record::Hello);
        assert_eq!(Record::begins(&[22, 3, 1, 2, 0, 2], 517), Record::SetUp);
        let alert = |level| Record::begins(&[21, 3, 1, 0, 2, level, 70], 7);
        assert_eq!([alert(2), alert(1)], [Record::Alert, Record::Control]);
    }
}
