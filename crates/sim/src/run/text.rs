//! The page and its response head, byte for byte as the lab's nginx sends them (but for the date).

/// Bytes of one line of the page.
const LINE: &[u8] =
    b"The quick brown fox jumps over the lazy dog, and the tail of the page is yet to come.\n";

/// The head of a response with a page of so many bytes, as nginx 1.22 writes it. Its length is what matters: that depends
/// on the page's, which stands in it twice.
pub fn head(page_bytes: u64) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Wed, 01 Jan 2025 00:00:00 GMT\r\n\
         Content-Type: text/html\r\nContent-Length: {page_bytes}\r\n\
         Last-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\nConnection: close\r\n\
         ETag: \"67748580-{page_bytes:x}\"\r\nAccept-Ranges: bytes\r\n\r\n"
    )
}

/// The length of the page that makes head and page together `total` bytes long.
pub fn fit(total: u64) -> Option<u64> {
    // The head grows with the page, by a byte or two at a time.
    let longest = head(total).len() as u64;
    let fits = |page: &u64| *page + head(*page).len() as u64 == total;
    (total.saturating_sub(longest)..=total.saturating_sub(head(0).len() as u64)).find(fits)
}

/// The request of the lab's own client.
pub fn request(server: std::net::IpAddr) -> String {
    format!(
        "GET /page.html HTTP/1.0\r\nHost: {server}\r\nAccept: text/html, text/plain, */*;q=0.01\r\n\
         Accept-Language: en\r\nUser-Agent: rexmit/{}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// What is sent one way: a text, then the same again and again.
pub struct Stream {
    /// The text.
    pub text: String,
    /// What comes after it.
    filler: &'static [u8],
}

impl Stream {
    /// A text, then lines of the page.
    pub const fn of(text: String) -> Self {
        Self { text, filler: LINE }
    }

    /// Bytes that mean nothing.
    pub const fn of_bursts() -> Self {
        Self {
            text: String::new(),
            filler: b"x",
        }
    }

    /// Appends bytes `from..to` of the stream to `out`.
    pub fn copy(&self, from: u64, to: u64, out: &mut Vec<u8>) {
        let text = self.text.len() as u64;
        let within = |at: u64| at.min(text) as usize;
        out.extend_from_slice(&self.text.as_bytes()[within(from)..within(to)]);
        let mut at = from.max(text) - text;
        let end = to.max(text) - text;
        while at < end {
            let line = &self.filler[(at % self.filler.len() as u64) as usize..];
            let bytes = line.len().min((end - at) as usize);
            out.extend_from_slice(&line[..bytes]);
            at += bytes as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_as_long_as_nginx_s() {
        // From a capture of the lab: a page of 144,562 bytes.
        assert_eq!(head(144_562).len(), 238);
        assert_eq!(fit(144_800), Some(144_562));
    }

    #[test]
    fn pages_fit_or_there_is_none() {
        for total in 200..20_000 {
            match fit(total) {
                Some(page) => assert_eq!(page + head(page).len() as u64, total),
                // The head's length jumps by one where the page's does.
                None => assert!((0..total).all(|page| page + head(page).len() as u64 != total)),
            }
        }
        assert_eq!(fit(200), None);
    }

    #[test]
    fn the_request_is_as_long_as_the_client_s() {
        let request = request("10.0.0.1".parse().unwrap());
        assert_eq!(request.len(), 133);
    }

    #[test]
    fn a_stream_is_its_text_and_lines() {
        let stream = Stream::of("head".into());
        let mut all = Vec::new();
        stream.copy(0, 200, &mut all);
        assert!(all.starts_with(b"headThe quick") && all.len() == 200);
        for (from, to) in [(0, 3), (2, 10), (4, 90), (88, 100), (150, 200)] {
            let mut part = Vec::new();
            stream.copy(from, to, &mut part);
            assert_eq!(part, all[from as usize..to as usize]);
        }
    }
}
