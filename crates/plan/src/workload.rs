//! What a cell's servers send, and to whom.

use std::num::NonZeroU64;

use anyhow::{bail, Result};
use rexmit_tcp::words;
use serde::Deserialize;

use crate::check::LATEST_NS;

/// Most bursts of a connection.
pub(crate) const MOST_BURSTS: u32 = 1_000;
/// Most bytes of all bursts of a connection.
const MOST_BYTES: u64 = 1 << 32;

/// What is transferred, by whom; the tag is `server`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "server", rename_all = "lowercase")]
pub enum Workload {
    /// A page from nginx.
    Nginx(Page),
    /// Bursts of this program, to this program.
    Burst(Bursts),
}

/// A page that is fetched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The client.
    pub client: ClientKind,
    /// What server and client speak.
    #[serde(default)]
    pub http: Http,
    /// Full segments of all that the server writes.
    pub segments: Option<u32>,
    /// Bytes of all that the server writes, instead of segments.
    pub bytes: Option<u64>,
    /// What the client's host offers at most.
    pub receive_window_bytes: Option<u32>,
    /// The server's `tcp_nopush`: head and body leave together, in full segments.
    #[serde(default = "yes")]
    pub tcp_nopush: bool,
    /// Bits a second that the client works through; none for a client that takes no time.
    #[serde(default)]
    pub read_bps: Option<u64>,
    /// Whether the request travels in the SYN (TCP Fast Open, RFC 7413).
    #[serde(default)]
    pub fast_open: bool,
}

const fn yes() -> bool {
    true
}

impl Page {
    /// Bits a second that the client works through; none for one that takes no time.
    #[must_use]
    pub const fn pace(&self) -> Option<NonZeroU64> {
        match self.read_bps {
            Some(bps) => NonZeroU64::new(bps),
            None => None,
        }
    }

    /// How long head and page are to be together where a full segment has `segment_bytes` of payload.
    ///
    /// # Errors
    /// When the plan does not say.
    pub fn bytes_wanted(&self, segment_bytes: u64) -> Result<u64> {
        match (self.bytes, self.segments) {
            (Some(bytes), None) => Ok(bytes),
            (None, Some(segments)) => Ok(u64::from(segments) * segment_bytes),
            _ => bail!("the plan names either the transfer's segments or its bytes"),
        }
    }
}

words! {
    /// What carries a page, in words of its RFCs.
    #[derive(Default)]
    pub enum Http ("http") {
        /// HTTP/1.1 (RFC 9112), which anybody can read.
        #[default]
        Plain = "1.1",
        /// HTTP/1.1 over TLS 1.3 (RFC 8446).
        Tls = "1.1+tls",
        /// HTTP/2 (RFC 9113) over TLS 1.3.
        Two = "2+tls",
    }
}

impl Http {
    /// Whether only the ends can read it.
    #[must_use]
    pub fn is_encrypted(self) -> bool {
        self != Self::Plain
    }
}

/// The clients there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// This program.
    Builtin,
    /// `curl`.
    Curl,
    /// `lynx -dump`, as in Ryll 2013.
    Lynx,
}

/// What the server writes; all bursts alike.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// How many.
    pub count: u32,
    /// Full segments of each.
    #[serde(default)]
    pub segments: Option<u32>,
    /// Bytes of each, instead of segments.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// From the first write of one to the first write of the next. Where the client asks for them, from its read of one's
    /// last byte to its next request.
    pub gap_ns: u64,
    /// The client asks for each, one after the other.
    #[serde(default)]
    pub request: Option<Request>,
    /// From when the socket has taken the rest of a burst to the write of its last byte.
    #[serde(default)]
    pub last_byte_after_ns: u64,
}

/// What a client asks with, and how long the server thinks.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Bytes of each request.
    pub bytes: u32,
    /// From the server's read of a request's last byte to its first write of the answer.
    pub server_think_ns: u64,
}

impl Bursts {
    /// Bytes of each burst where a full segment has `segment_bytes` of payload.
    #[must_use]
    pub fn bytes_each(&self, segment_bytes: u32) -> u64 {
        let segments = self
            .segments
            .map(|n| u64::from(n) * u64::from(segment_bytes));
        self.bytes.or(segments).unwrap_or(0)
    }

    /// From the first write of the first burst to that of the last, where that is known before.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        match self.request {
            Some(_) => 0,
            None => u64::from(self.count - 1) * self.gap_ns,
        }
    }

    /// How long nothing comes at most because of how they are written, not of the network.
    pub(crate) fn pause_ns(&self) -> u64 {
        let server_think_ns = self.request.map_or(0, |request| request.server_think_ns);
        server_think_ns + self.last_byte_after_ns
    }

    /// Whether they can be sent over a network of this MTU.
    pub(crate) fn check(&self, mtu: u32) -> Result<()> {
        let Bursts {
            count,
            segments,
            bytes,
            gap_ns,
            request,
            last_byte_after_ns,
        } = *self;
        if count == 0 {
            bail!("bursts.count = 0: must be 1 or more");
        }
        let each = match (segments, bytes) {
            (Some(segments), None) => u64::from(segments) * u64::from(mtu),
            (None, Some(bytes)) => bytes,
            _ => bail!("the plan names either a burst's segments or its bytes"),
        };
        let all = each.saturating_mul(u64::from(count));
        if all == 0 || all > MOST_BYTES {
            bail!("{count} bursts of {each} bytes: must be 1 to {MOST_BYTES} bytes in all");
        }
        let each_ns = gap_ns.saturating_add(self.pause_ns());
        if each_ns.saturating_mul(u64::from(count)) > LATEST_NS {
            bail!("{count} bursts every {each_ns} ns take too long");
        }
        if last_byte_after_ns > 0 && each < 2 {
            bail!("a burst of {each} bytes: the last byte has none before it");
        }
        if request.is_some_and(|request| request.bytes == 0) {
            bail!("request.bytes = 0: must be 1 or more");
        }
        Ok(())
    }
}

impl Workload {
    /// The page, if it is one.
    #[must_use]
    pub fn page(&self) -> Option<&Page> {
        match self {
            Workload::Nginx(page) => Some(page),
            Workload::Burst(_) => None,
        }
    }

    /// Whether only its ends can read a connection.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.page().is_some_and(|page| page.http.is_encrypted())
    }

    /// Where the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        if self.is_encrypted() {
            443
        } else {
            80
        }
    }

    /// The bursts, if it is these.
    #[must_use]
    pub fn bursts(&self) -> Option<&Bursts> {
        match self {
            Workload::Nginx(_) => None,
            Workload::Burst(bursts) => Some(bursts),
        }
    }

    /// Full segments of all that a connection sends, where one has `segment_bytes` of payload at least.
    pub(crate) fn segments(&self, segment_bytes: u64) -> u64 {
        let (segments, bytes, times) = match self {
            Workload::Nginx(page) => (page.segments, page.bytes, 1),
            Workload::Burst(bursts) => (bursts.segments, bursts.bytes, bursts.count),
        };
        let by_bytes = bytes.map(|bytes| bytes.div_ceil(segment_bytes));
        segments.map(u64::from).or(by_bytes).unwrap_or(0) * u64::from(times)
    }
}
