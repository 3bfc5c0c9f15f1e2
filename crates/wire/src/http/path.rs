//! What of a path may be shown: no query, parameter, user or password, whether their marks stand plainly or escaped.

use core::ops::Range;

/// The part of a path that may be shown. Where it cannot be told how far a user or a password goes, it ends before.
pub(super) fn shown(path: &str) -> String {
    // RFC 3986 §3.3.
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    let mut shown = String::new();
    let mut segment = Segment::default();
    for (place, mark) in marks(path) {
        match mark {
            b'/' => {
                if !segment.show(path, place.start, &mut shown) {
                    return shown;
                }
                segment = segment.next(&place);
                shown.push_str(&path[place]);
            }
            b'@' => segment.user(place.end),
            b':' if segment.end.is_none() => {
                segment.colon.get_or_insert(place.end);
            }
            b':' => {}
            _ => {
                segment.end.get_or_insert(place.start);
            }
        }
    }
    segment.show(path, path.len(), &mut shown);
    shown
}

/// What stands between two slashes.
#[derive(Default)]
struct Segment {
    from: usize,
    /// An address has its host here.
    is_authority: bool,
    /// Behind the last `@`, and behind the first colon after it.
    user: Option<usize>,
    colon: Option<usize>,
    /// A colon stands before an `@`.
    has_password: bool,
    /// Where a query or parameters begin.
    end: Option<usize>,
    /// What looks like that may be within a password.
    is_doubtful: bool,
}

impl Segment {
    fn user(&mut self, end: usize) {
        if self.end.is_some() {
            self.is_doubtful |= self.is_authority || self.colon.is_some();
            return;
        }
        self.user = Some(end);
        self.has_password |= self.colon.take().is_some();
    }

    /// The one behind the slash that ends it.
    fn next(&self, slash: &Range<usize>) -> Self {
        let is_empty = self.from == slash.start && slash.start > 0;
        Segment {
            from: slash.end,
            // Gateways take `http:/host` for `http://host`.
            is_authority: is_empty || self.colon == Some(slash.start),
            ..Segment::default()
        }
    }

    /// Shows what may be shown of it up to `end`; false where nothing behind it may be.
    fn show(&self, path: &str, end: usize, shown: &mut String) -> bool {
        if self.is_doubtful {
            return false;
        }
        let user = self.user.filter(|_| self.is_authority || self.has_password);
        let stop = self.end.unwrap_or(end);
        let host = &path[user.unwrap_or(self.from)..stop];
        let port = self.colon.and_then(|at| path.get(at..stop)).unwrap_or("");
        if self.is_authority && !host.starts_with('[') && !is_port(port) {
            // A password with a slash in it.
            return false;
        }
        shown.push_str(host);
        self.end.is_none()
    }
}

/// Whether the text behind a host can be its port.
pub(crate) fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The characters that mean something in a path, and where each stands, plainly or escaped, if need be again and again.
fn marks(path: &str) -> impl Iterator<Item = (Range<usize>, u8)> + '_ {
    let bytes = path.as_bytes();
    let starts = bytes.iter().enumerate();
    starts.filter_map(move |(start, &byte)| {
        let (end, mark) = if byte == b'%' {
            let again = bytes[start + 1..].chunks_exact(2);
            let again = again.take_while(|digits| *digits == b"25").count();
            let at = start + 1 + 2 * again;
            let digits = path.get(at..at + 2)?;
            (at + 2, u8::from_str_radix(digits, 16).ok()?)
        } else {
            (start + 1, byte)
        };
        b"/@:?#;&".contains(&mark).then_some((start..end, mark))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn users_passwords_and_queries_are_left_out() {
        for (path, expected) in [
            ("/a/b", "/a/b"),
            ("/a?b#c", "/a"),
            ("/a:b?c=d@e", "/a:b"),
            ("/a;b=c:d@e", "/a"),
            ("/a;b=c/d", "/a"),
            ("/a&b=c", "/a"),
            ("/a%3Fb", "/a"),
            ("/a%3b", "/a"),
            ("/a%25253Fb", "/a"),
            ("//me:secret@x.org/y", "//x.org/y"),
            ("//me@x.org/y", "//x.org/y"),
            ("/go/http://me:secret@x.org:80/y", "/go/http://x.org:80/y"),
            ("/go/http:/me@x.org/y", "/go/http:/x.org/y"),
            (
                "/go/http%3A%2F%2Fme%3Asecret%40x.org",
                "/go/http%3A%2F%2Fx.org",
            ),
            (
                "/go/http%253a%252f%252fme%2540x.org",
                "/go/http%253a%252f%252fx.org",
            ),
            ("/go/me:secret@x.org/y", "/go/x.org/y"),
            ("/go/http://[::1]:80/y", "/go/http://[::1]:80/y"),
            // It cannot be told where the password ends.
            ("/go/http://me:a;b@x.org/y", "/go/http://"),
            ("/go/http://me:a?b@x.org/y", "/go/http://"),
            ("/go/http://me:a/b@x.org/y", "/go/http://"),
            ("/go/me:a%3Fb@x.org/y", "/go/"),
        ] {
            assert_eq!(shown(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for path in [
            "*",
            "/",
            "/@types/node",
            "/a@2x.png",
            "/10:30",
            "/a%20b%",
            "/%zz%2",
            "/a//b",
            "/ä%ä1",
        ] {
            assert_eq!(shown(path), path);
        }
    }

    proptest! {
        #[test]
        fn any_text_will_do(path in "(/|%|25|3[fF]|2f|40|@|:|;|ä|[a-z]){0,40}") {
            let once = shown(&path);
            prop_assert!(once.len() <= path.len());
        }
    }
}
