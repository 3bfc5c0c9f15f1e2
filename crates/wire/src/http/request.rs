//! What a request of HTTP/1 asks for, and of whom: what of it may be shown, and nothing else.

use core::mem::MaybeUninit;

use serde::{Deserialize, Serialize};

use super::head::FIELDS;
use super::path;
use crate::headers::Record;
use crate::message::{bounded, host, Body};

/// Methods of HTTP (RFC 9110 §9.3, RFC 5789): where a packet ends before the version, one of them tells that it is HTTP.
const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
];

/// Bytes of a payload that are looked at: heads are shorter as a rule.
const MOST: usize = 4_096;

/// Requests in one packet that are counted.
const MOST_REQUESTS: u16 = 256;

/// A request, as far as its packet shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, without query, fragment, parameters, user and password.
    pub path: Option<String>,
    /// The host that is asked, without its port.
    pub host: Option<String>,
    /// How many requests begin in the packet, one behind the other.
    pub count: u16,
    /// Where its head says that its body ends, unless the client waits to be asked for it (RFC 9110 §10.1.1).
    pub body: Body,
}

impl Request {
    /// The request that a payload begins with.
    #[must_use]
    pub fn of(payload: &[u8]) -> Option<Request> {
        let mut rest = payload.get(..MOST).unwrap_or(payload);
        let (mut first, mut len) = parsed(rest)?;
        while let Some(next) = len.and_then(|len| rest.get(len..)) {
            let more = Record::begins(next, next.len() as u32) == Record::Request;
            let Some((_, its_len)) = parsed(next).filter(|_| more && first.count < MOST_REQUESTS)
            else {
                break;
            };
            first.count += 1;
            (rest, len) = (next, its_len);
        }
        Some(first)
    }
}

/// A request, and how long it is if its packet has all of its head and it has no body.
fn parsed(payload: &[u8]) -> Option<(Request, Option<usize>)> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut head = httparse::Request::new(&mut []);
    match head.parse_with_uninit_headers(payload, &mut fields) {
        Ok(httparse::Status::Complete(len)) => {
            let bare = Some(len).filter(|_| !has_body(&head));
            let mut request = shown(&head);
            if !has(&head, "expect") {
                request.body = Body::read(payload).unwrap_or_default();
            }
            Some((request, bare))
        }
        Ok(httparse::Status::Partial) if head.version.is_some() => {
            // Whole lines are read as if the head ended with them.
            let lines = payload.iter().rposition(|byte| *byte == b'\n')?;
            let whole = [payload.get(..=lines)?, b"\r\n"].concat();
            let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
            let mut head = httparse::Request::new(&mut []);
            head.parse_with_uninit_headers(&whole, &mut fields).ok()?;
            Some((shown(&head), None))
        }
        Ok(httparse::Status::Partial) => {
            let method = head.method.filter(|method| METHODS.contains(method))?;
            let request = Request {
                method: method.to_owned(),
                count: 1,
                ..Request::default()
            };
            Some((request, None))
        }
        Err(_) => None,
    }
}

fn has(head: &httparse::Request<'_, '_>, name: &str) -> bool {
    let mut fields = head.headers.iter();
    fields.any(|field| field.name.eq_ignore_ascii_case(name))
}

fn has_body(head: &httparse::Request<'_, '_>) -> bool {
    head.headers.iter().any(|field| {
        let named = |name: &str| field.name.eq_ignore_ascii_case(name);
        named("transfer-encoding") || (named("content-length") && field.value != b"0")
    })
}

fn shown(head: &httparse::Request<'_, '_>) -> Request {
    let method = head.method.unwrap_or_default();
    let named = head.headers.iter();
    let named = named.filter(|field| field.name.eq_ignore_ascii_case("host"));
    let named = named.filter_map(|field| core::str::from_utf8(field.value).ok());
    let (authority, path) = target(method, head.path.unwrap_or_default());
    Request {
        method: method.to_owned(),
        path,
        host: named
            .map(host)
            .next()
            .flatten()
            .or_else(|| host(authority?)),
        count: 1,
        body: Body::NotTold,
    }
}

/// Whom a target names, if it does, and its path (RFC 9112 §3.2).
fn target<'t>(method: &str, target: &'t str) -> (Option<&'t str>, Option<String>) {
    if method == "CONNECT" {
        return (Some(target), None);
    }
    if target.starts_with('/') || target == "*" {
        return (None, Some(bounded(&path::shown(target))));
    }
    let Some((_, rest)) = target.split_once("://") else {
        return (None, None);
    };
    // RFC 3986 §3.2.
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = host(authority).map(|_| match path::shown(path) {
        empty if empty.is_empty() => "/".to_owned(),
        path => bounded(&path),
    });
    (Some(authority), path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<(String, Option<String>, Option<String>, u16)> {
        let Request {
            method,
            path,
            host,
            count,
            body: _,
        } = Request::of(text.as_bytes())?;
        Some((method, path, host, count))
    }

    fn some(
        method: &str,
        path: Option<&str>,
        host: Option<&str>,
        count: u16,
    ) -> Option<(String, Option<String>, Option<String>, u16)> {
        Some((
            method.into(),
            path.map(Into::into),
            host.map(Into::into),
            count,
        ))
    }

    #[test]
    fn what_may_be_shown_is_kept() {
        assert_eq!(
            of("GET /a/b?token=x#y HTTP/1.1\r\nHost: Example.org:8080\r\nCookie: z\r\n\r\n"),
            some("GET", Some("/a/b"), Some("example.org"), 1)
        );
        assert_eq!(
            of("GET http://me:secret@one.org/p;s=1 HTTP/1.1\r\n\r\n"),
            some("GET", Some("/p"), Some("one.org"), 1)
        );
        assert_eq!(
            of("GET http://one.org HTTP/1.1\r\nHost: two.org\r\n\r\n"),
            some("GET", Some("/"), Some("two.org"), 1)
        );
        assert_eq!(
            of("CONNECT me:secret@[::1]:443 HTTP/1.1\r\n\r\n"),
            some("CONNECT", None, Some("[::1]"), 1)
        );
        assert_eq!(
            of("GET /go/http://me:secret@x.org/y HTTP/1.0\r\n\r\n"),
            some("GET", Some("/go/http://x.org/y"), None, 1)
        );
        assert_eq!(
            of("OPTIONS * HTTP/1.1\r\n\r\n"),
            some("OPTIONS", Some("*"), None, 1)
        );
    }

    #[test]
    fn a_head_says_where_its_body_ends() {
        let body = |fields: &str| {
            let head = format!("POST /x HTTP/1.1\r\n{fields}\r\n");
            (
                Request::of(head.as_bytes()).unwrap().body,
                head.len() as u32,
            )
        };
        let (ends, len) = body("content-length: 7\r\n");
        assert_eq!(ends, Body::Bytes(len, 7));
        for fields in [
            "",
            "Content-Length: x\r\n",
            "Content-Length: 7\r\nExpect: 100-continue\r\n",
        ] {
            assert_eq!(body(fields).0, Body::NotTold, "{fields}");
        }
    }

    #[test]
    fn of_a_head_that_is_cut_whole_lines_count() {
        assert_eq!(
            of("GET /a HTTP/1.1\r\nHost: x.org\r\nCookie: abc"),
            some("GET", Some("/a"), Some("x.org"), 1)
        );
        assert_eq!(
            of("GET /a HTTP/1.1\r\nHost: x.o"),
            some("GET", Some("/a"), None, 1)
        );
        assert_eq!(of("GET /very/lo"), some("GET", None, None, 1));
    }

    #[test]
    fn other_protocols_are_not_http() {
        for text in [
            "MAIL FROM:<a@b.c>\r\n",
            "USER me\r\n",
            "SET a b\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "INVITE sip:me@x.org SIP/2.0\r\n\r\n",
            "NOOP ",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn requests_in_a_row_are_counted() {
        let one = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
        let body = "POST /2 HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET ";
        assert_eq!(
            of(&[one, one, one].concat()),
            some("GET", Some("/1"), Some("a"), 3)
        );
        assert_eq!(
            of(&[one, body, one].concat()),
            some("GET", Some("/1"), Some("a"), 2)
        );
        assert_eq!(
            of(&[one, "GET /cu"].concat()),
            some("GET", Some("/1"), Some("a"), 2)
        );
    }

    fn line() -> impl Strategy<Value = String> {
        let word = "[a-zA-Z]{0,8}";
        let secret = ("[?#;&]|%3[Ff]|%(25){0,3}(23|3B)", "SECRET")
            .prop_map(|(mark, secret)| format!("{mark}{secret}"));
        let target = prop_oneof![
            (word, secret).prop_map(|(path, secret)| format!("/{path}{secret}")),
            (word, "[:;]").prop_map(|(host, mark)| format!("http://SECRET{mark}SECRET@{host}/x")),
            (word, "/ftp:|/ftp%3A%2F|/|")
                .prop_map(|(path, scheme)| format!("{scheme}//SECRET@{path}")),
            (word, "[:;&?#/]|%3[aBF]|%25253F|%40")
                .prop_map(|(path, mark)| { format!("/http://SECRET:SECRET{mark}SECRET@{path}") }),
            (word, "/|%2F|/http:/")
                .prop_map(|(path, scheme)| format!("/x{scheme}SECRET%3aSECRET@{path}")),
        ];
        let field = prop_oneof![
            word.prop_map(|value| format!("Host: SECRET:SECRET@{value}\r\n")),
            word.prop_map(|name| format!("{name}: SECRET\r\n")),
        ];
        let method = prop_oneof!["GET", "POST", "CONNECT", "[A-Z]{1,20}"];
        (
            method,
            target,
            proptest::collection::vec(field, 0..4),
            0usize..400,
        )
            .prop_map(|(method, target, fields, cut)| {
                let fields = fields.concat();
                let mut text = format!("{method} {target} HTTP/1.1\r\n{fields}\r\n");
                text.truncate(cut);
                text
            })
    }

    proptest! {
        #[test]
        fn nothing_secret_is_kept(text in line()) {
            if let Some(request) = Request::of(text.as_bytes()) {
                prop_assert!(!format!("{request:?}").to_uppercase().contains("SECRET"), "{request:?}");
            }
        }

        #[test]
        fn any_bytes_will_do(before in line(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for payload in [&bytes[..], &[before.as_bytes(), &bytes].concat()] {
                if let Some(request) = Request::of(payload) {
                    for text in [Some(&request.method), request.path.as_ref(), request.host.as_ref()].into_iter().flatten() {
                        prop_assert!(text.len() <= crate::message::MOST_TEXT + '…'.len_utf8());
                    }
                }
            }
        }
    }
}
