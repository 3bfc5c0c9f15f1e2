//! Heads of HTTP/1: of responses as they come in pieces, of requests as far as one packet shows them.

mod head;
pub(crate) mod path;
mod request;
mod stream;

pub use head::{BodyLength, HeadError, ResponseHead};
pub use request::Request;
pub use stream::{HeadReader, Progress, HEAD_LIMIT};

/// What every response head begins with (RFC 9112 §4).
pub const HEAD_START: &[u8] = b"HTTP/1.";
