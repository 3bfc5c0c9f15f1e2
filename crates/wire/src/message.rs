//! What the beginning of a packet's payload names: requests, responses, servers.
//!
//! All of it is foreign text. It is bounded here, holds nothing that is secret by its form (queries, users, passwords, fields of
//! heads), and is to be escaped wherever it is shown. No length in it is trusted.

use serde::{Deserialize, Serialize};

use crate::dns::Question;
use crate::headers::Record;
use crate::http::{path::is_port, Request, HEAD_START};
use crate::tls;

/// Bytes of a name or path that are kept, at most: more than a name of DNS has (RFC 1035 §2.3.4).
pub const MOST_TEXT: usize = 256;

/// What a payload begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The head of a request of HTTP/1.
    Request(Request),
    /// The head of a response of HTTP/1, with its status.
    Response(Status),
    /// A client's hello of TLS, with the name of the server that it wants.
    Hello(Option<String>),
    /// A question of DNS.
    Query(Question),
    /// What the client of a SYN was told that its server's address is the one of.
    Named(String),
    /// A fatal alert of TLS, with its description (RFC 8446 §6).
    Alert(u8),
}

/// What the head of a response says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its code.
    pub code: u16,
    /// From then on the server sends unasked: protocols were switched, or events are streamed.
    pub unasked: bool,
    /// Bytes of the head, and of the body that it announces (RFC 9112 §6.2).
    pub length: Option<(u32, u32)>,
}

impl Message {
    /// What a payload is that [begins](Record::begins) like this, if it is what it looks like.
    #[must_use]
    pub fn of(record: Record, payload: &[u8]) -> Option<Message> {
        match record {
            Record::Request => Request::of(payload).map(Message::Request),
            Record::Response => Status::read(payload).map(Message::Response),
            Record::Hello => Some(Message::Hello(tls::server_name(payload))),
            Record::Query => Question::over_tcp(payload).map(Message::Query),
            Record::Alert => payload.get(6).copied().map(Message::Alert),
            Record::None | Record::SetUp | Record::Data | Record::Control | Record::Named => None,
        }
    }

    /// The same without what it names, if that leaves anything.
    #[must_use]
    pub fn unnamed(self) -> Option<Message> {
        Some(match self {
            Message::Named(_) => return None,
            Message::Request(request) => Message::Request(Request {
                path: None,
                host: None,
                ..request
            }),
            Message::Hello(_) => Message::Hello(None),
            Message::Query(question) => Message::Query(Question {
                name: None,
                ..question
            }),
            Message::Response(_) | Message::Alert(_) => self,
        })
    }
}

impl Status {
    /// Switching protocols (RFC 9110 §15.2.2), as to WebSocket.
    pub const SWITCHED: u16 = 101;

    /// The status of a response of HTTP/1 (RFC 9112 §4).
    fn read(payload: &[u8]) -> Option<Status> {
        let digits = payload.get(HEAD_START.len() + 2..)?.get(..3)?;
        let code = digits.iter().try_fold(0, |code, digit| {
            digit
                .is_ascii_digit()
                .then(|| code * 10 + u16::from(digit - b'0'))
        })?;
        let events = || lines(payload).any(|line| line.eq_ignore_ascii_case(EVENTS));
        (100..600).contains(&code).then(|| Status {
            code,
            unasked: code == Status::SWITCHED || events(),
            length: Status::length(payload).filter(|_| code >= 200 && code != 204 && code != 304),
        })
    }

    fn length(payload: &[u8]) -> Option<(u32, u32)> {
        let head = payload.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let body = lines(payload).find_map(|line| {
            let (name, value) = line.split_at_checked(LENGTH.len())?;
            let value = name.eq_ignore_ascii_case(LENGTH).then_some(value)?;
            std::str::from_utf8(value).ok()?.trim().parse().ok()
        })?;
        Some((u32::try_from(head).ok()?, body))
    }
}

const LENGTH: &[u8] = b"content-length:";

/// A stream of server-sent events (HTML Living Standard §9.2).
const EVENTS: &[u8] = b"content-type: text/event-stream";

/// The lines of a head without what follows the first `;` of each, as far as the payload has them.
fn lines(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = payload.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split(|byte| *byte == b';').next())
}

/// The name of a host, without user, password and port.
pub(crate) fn host(authority: &str) -> Option<String> {
    let named = authority.rsplit('@').next()?.trim();
    let end = match named.strip_prefix('[') {
        Some(literal) => literal.find(']')? + 2,
        None => named.find(':').unwrap_or(named.len()),
    };
    let (name, port) = named.split_at_checked(end)?;
    let fits = !name.is_empty() && name.len() <= MOST_TEXT && is_port(port.trim_start_matches(':'));
    // What stands in no name of a host is no name, and harms nobody who opens a table (RFC 6066 §3, RFC 3986 §3.2.2).
    let strange = |c: char| !c.is_ascii_alphanumeric() && !"-._[]:".contains(c);
    (fits && !name.contains(strange)).then(|| name.to_ascii_lowercase())
}

/// A text that is not too long, or its beginning.
pub(crate) fn bounded(text: &str) -> String {
    if text.len() <= MOST_TEXT {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let end = ends.take_while(|at| *at <= MOST_TEXT).last().unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_without_user_and_port() {
        assert_eq!(
            host(" Me:pw@Example.ORG:80 ").as_deref(),
            Some("example.org")
        );
        assert_eq!(host("[2001:db8::1]:80").as_deref(), Some("[2001:db8::1]"));
        for wrong in [
            "",
            ":80",
            "[::1",
            "a b",
            "a\u{7f}b",
            "a/b?c",
            "me:pw@",
            "me:pw",
            "[::1]x",
            "\u{5d0}.example",
            &"x".repeat(300),
        ] {
            assert_eq!(host(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_status_has_three_digits() {
        let status = |text: &str| Message::of(Record::Response, text.as_bytes());
        let of_length = |code, unasked, length| {
            Some(Message::Response(Status {
                code,
                unasked,
                length,
            }))
        };
        let plain = |code, unasked| of_length(code, unasked, None);
        assert_eq!(status("HTTP/1.1 204 No"), plain(204, false));
        assert_eq!(status("HTTP/1.1 101 Switching"), plain(101, true));
        let events = "HTTP/1.1 200 OK\r\nContent-Type: text/Event-Stream; charset=utf-8\r\n";
        assert_eq!(status(events), plain(200, true));
        let within = "HTTP/1.1 200 OK\r\n\r\ncontent-type: text/event-stream\r\n";
        assert_eq!(status(within), plain(200, false));
        let long = "HTTP/1.1 200 OK\r\ncontent-LENGTH:  700\r\n\r\nabc";
        assert_eq!(status(long), of_length(200, false, Some((41, 700))));
        assert_eq!(
            status(&long[..40]),
            plain(200, false),
            "a head that goes on"
        );
        assert_eq!(status(&long.replace("200", "304")), plain(304, false));
        assert_eq!(status(&long.replace("700", "-1")), plain(200, false));
        for wrong in ["HTTP/1.", "HTTP/1.1 20", "HTTP/1.1 2x4", "HTTP/1.1 999"] {
            assert_eq!(status(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn long_texts_end_between_characters() {
        assert_eq!(bounded("/a"), "/a");
        let long = bounded(&"ä€".repeat(200));
        assert!(long.ends_with('…') && long.len() <= MOST_TEXT + 3);
    }
}
