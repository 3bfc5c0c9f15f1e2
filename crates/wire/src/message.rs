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
    /// The server of SMTP or FTP closes the connection (RFC 5321 §3.8, RFC 959 §4.2).
    Farewell,
}

/// What the head of a response says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its code.
    pub code: u16,
    /// From then on the server sends unasked: protocols were switched, or events are streamed.
    pub unasked: bool,
    /// Where it says that its body ends.
    pub body: Body,
}

/// Where the head of a response says that its body ends (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// It does not, or it is not known.
    #[default]
    NotTold,
    /// So many bytes behind the head, which has so many.
    Bytes(u32, u32),
    /// Where the server closes the connection.
    UntilClose,
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
            Record::Farewell => Some(Message::Farewell),
            Record::None | Record::SetUp | Record::Data | Record::Control | Record::Named => None,
        }
    }

    /// Its server waited for the client, and waits no longer.
    #[must_use]
    pub fn gives_up(&self) -> bool {
        match self {
            Message::Farewell => true,
            Message::Response(status) => status.code == Status::TIMEOUT,
            _ => false,
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
            Message::Response(_) | Message::Alert(_) | Message::Farewell => self,
        })
    }
}

impl Status {
    /// The server waited too long for a request (RFC 9110 §15.5.9).
    const TIMEOUT: u16 = 408;
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
            body: match code {
                204 | 304 | ..200 => Body::NotTold,
                _ => Body::read(payload).unwrap_or_default(),
            },
        })
    }
}

impl Body {
    /// Of a whole head.
    pub(crate) fn read(payload: &[u8]) -> Option<Body> {
        let head = payload.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let field = |name: &[u8]| {
            lines(payload).find_map(|line| {
                let (field, value) = line.split_at_checked(name.len())?;
                field
                    .eq_ignore_ascii_case(name)
                    .then_some(value.trim_ascii())
            })
        };
        if let Some(length) = field(b"content-length:") {
            let body = std::str::from_utf8(length).ok()?.parse().ok()?;
            return Some(Body::Bytes(u32::try_from(head).ok()?, body));
        }
        let closes = field(b"connection:").is_some_and(|what| what.eq_ignore_ascii_case(b"close"));
        let open = field(b"transfer-encoding:").is_none();
        (open && (closes || payload.starts_with(b"HTTP/1.0"))).then_some(Body::UntilClose)
    }
}

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
        let with = |code, unasked, body| {
            Some(Message::Response(Status {
                code,
                unasked,
                body,
            }))
        };
        let plain = |code, unasked| with(code, unasked, Body::NotTold);
        assert_eq!(status("HTTP/1.1 204 No"), plain(204, false));
        assert_eq!(status("HTTP/1.1 101 Switching"), plain(101, true));
        let events = "HTTP/1.1 200 OK\r\nContent-Type: text/Event-Stream; charset=utf-8\r\n";
        assert_eq!(status(events), plain(200, true));
        let within = "HTTP/1.1 200 OK\r\n\r\ncontent-type: text/event-stream\r\n";
        assert_eq!(status(within), plain(200, false));
        let long = "HTTP/1.1 200 OK\r\ncontent-LENGTH:  700\r\n\r\nabc";
        assert_eq!(status(long), with(200, false, Body::Bytes(41, 700)));
        assert_eq!(
            status(&long[..40]),
            plain(200, false),
            "a head that goes on"
        );
        assert_eq!(status(&long.replace("200", "304")), plain(304, false));
        assert_eq!(status(&long.replace("700", "-1")), plain(200, false));
        let closed = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc";
        let until_close = with(200, false, Body::UntilClose);
        assert_eq!(status(closed), until_close);
        assert_eq!(status("HTTP/1.0 200 OK\r\n\r\n"), until_close);
        let kept = closed.replace("Connection: close", "Connection: keep-alive");
        assert_eq!(status(&kept), plain(200, false));
        let chunked = closed.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(status(&chunked), plain(200, false));
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
