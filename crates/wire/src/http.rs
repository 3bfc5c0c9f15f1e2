//! Heads of HTTP/1 responses, as they come in pieces.

mod head;
mod stream;

pub use head::{BodyLength, HeadError, ResponseHead};
pub use stream::{HeadReader, Progress, HEAD_LIMIT};

/// What every response head begins with (RFC 9112 §4).
pub const HEAD_START: &[u8] = b"HTTP/1.";
