//! What a response head says about the body behind it.

use core::fmt;

/// Most header fields that a head may have.
pub(super) const FIELDS: usize = 128;

/// How long the body of a response is (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// This many bytes: by Content-Length, or none at all with the status codes 1xx, 204 and 304.
    Bytes(u64),
    /// Chunked: told only by the chunks themselves.
    Chunked,
    /// Up to the end of the connection.
    UntilClose,
}

/// A response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// Length of the head, bytes, its empty line included.
    pub len: usize,
    /// Length of the body.
    pub body: BodyLength,
    /// Whether the server means to keep the connection (RFC 9112 §9.3).
    pub keep_alive: bool,
}

impl ResponseHead {
    /// Whether another head, the real one, follows (1xx except 101, RFC 9110 §15.2).
    #[must_use]
    pub const fn is_interim(&self) -> bool {
        self.status >= 100 && self.status < 200 && self.status != 101
    }

    /// Reads the head that `bytes` is.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, HeadError> {
        let mut fields = [const { core::mem::MaybeUninit::uninit() }; FIELDS];
        let mut response = httparse::Response::new(&mut []);
        let status = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, bytes, &mut fields)
            .map_err(|_| HeadError::Broken)?;
        let (httparse::Status::Complete(len), Some(minor), Some(code)) =
            (status, response.version, response.code)
        else {
            return Err(HeadError::Broken);
        };

        let mut length = None;
        let (mut coded, mut chunked) = (false, false);
        let (mut close, mut keep) = (false, false);
        for field in response.headers.iter() {
            if field.name.eq_ignore_ascii_case("content-length") {
                for value in items(field.value) {
                    let value = number(value).ok_or(HeadError::BadLength)?;
                    // Equal values may be repeated, different ones may not (RFC 9112 §6.3, 5).
                    if length.is_some_and(|known| known != value) {
                        return Err(HeadError::BadLength);
                    }
                    length = Some(value);
                }
            } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
                coded = true;
                chunked = items(field.value)
                    .last()
                    .is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
            } else if field.name.eq_ignore_ascii_case("connection") {
                close |= items(field.value).any(|item| item.eq_ignore_ascii_case(b"close"));
                keep |= items(field.value).any(|item| item.eq_ignore_ascii_case(b"keep-alive"));
            }
        }
        let body = match (code, length) {
            (101, _) => BodyLength::UntilClose, // another protocol from here on
            (100..=199 | 204 | 304, _) => BodyLength::Bytes(0),
            _ if chunked => BodyLength::Chunked,
            _ if coded => BodyLength::UntilClose,
            (_, Some(length)) => BodyLength::Bytes(length),
            (_, None) => BodyLength::UntilClose,
        };
        let keep_alive = !close && (minor >= 1 || keep) && body != BodyLength::UntilClose;
        Ok(ResponseHead {
            status: code,
            len,
            body,
            keep_alive,
        })
    }
}

/// The items of a comma-separated list.
fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|item| !item.is_empty())
}

fn number(digits: &[u8]) -> Option<u64> {
    // `parse` alone would take a leading sign.
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// Why bytes are no usable response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// They do not begin with `HTTP/1.`.
    NotHttp,
    /// The head is longer than 16 KiB.
    TooLong,
    /// The syntax is broken, or there are more than 128 fields.
    Broken,
    /// Content-Length is no number, or contradicts itself.
    BadLength,
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeadError::NotHttp => "not HTTP/1",
            HeadError::TooLong => "a response head longer than 16 KiB",
            HeadError::Broken => "a broken response head",
            HeadError::BadLength => "a broken Content-Length",
        })
    }
}

impl std::error::Error for HeadError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<ResponseHead, HeadError> {
        ResponseHead::parse(format!("{text}\r\n\r\n").as_bytes())
    }

    fn body(text: &str) -> BodyLength {
        head(text).unwrap().body
    }

    #[test]
    fn lengths_follow_the_rfc() {
        assert_eq!(
            body("HTTP/1.1 200 OK\r\nContent-Length: 144000"),
            BodyLength::Bytes(144_000)
        );
        assert_eq!(
            body("HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:5\r\nX: y"),
            BodyLength::Bytes(5)
        );
        assert_eq!(
            body("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5"),
            BodyLength::Bytes(5)
        );
        assert_eq!(
            body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, Chunked"),
            BodyLength::Chunked
        );
        assert_eq!(
            body("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip"),
            BodyLength::UntilClose
        );
        assert_eq!(body("HTTP/1.1 200"), BodyLength::UntilClose);
        assert_eq!(
            body("HTTP/1.1 204 No\r\nContent-Length: 9"),
            BodyLength::Bytes(0)
        );
        assert_eq!(
            body("HTTP/1.1 304 No\r\nContent-Length: 9"),
            BodyLength::Bytes(0)
        );
        assert_eq!(
            body("HTTP/1.1 101 Up\r\nContent-Length: 9"),
            BodyLength::UntilClose
        );
        assert!(head("HTTP/1.1 103 Early").unwrap().is_interim());
        assert!(!head("HTTP/1.1 101 Up").unwrap().is_interim());
    }

    #[test]
    fn connections_are_kept_as_the_rfc_says() {
        let keep = |text: &str| {
            head(&format!("{text}\r\nContent-Length: 1"))
                .unwrap()
                .keep_alive
        };
        assert!(keep("HTTP/1.1 200 OK"));
        assert!(!keep("HTTP/1.0 200 OK"));
        assert!(keep("HTTP/1.0 200 OK\r\nConnection: Keep-Alive"));
        assert!(!keep("HTTP/1.1 200 OK\r\nconnection: foo, Close"));
        assert!(
            !head("HTTP/1.1 200 OK").unwrap().keep_alive,
            "the body ends with the connection"
        );
    }

    #[test]
    fn broken_heads_are_refused() {
        for value in ["x", "", "-1", "+1", "5, 6", "18446744073709551616", "1 2"] {
            let got = head(&format!("HTTP/1.1 200 OK\r\nContent-Length: {value}"));
            // An empty field says nothing at all.
            assert_eq!(
                got.err(),
                (!value.is_empty()).then_some(HeadError::BadLength),
                "{value:?}"
            );
        }
        assert_eq!(head("HTTP/1.1 2x0 OK"), Err(HeadError::Broken));
        assert_eq!(
            head(&format!("HTTP/1.1 200 OK{}", "\r\nA: b".repeat(129))),
            Err(HeadError::Broken)
        );
    }
}
