//! The tail-loss rule: Algorithm 1 of the TLP measurement paper (its section 3.3).
//!
//! Of every HTTP response with a known length the last N data segments are dropped, once, and a bare FIN
//! besides; a FIN with data counts as one of the N. A packet with any byte that was sent before is a retransmission
//! and passes. [`Mode`] says how the tail is found, [`Settings`] what else can be chosen.
//!
//! # Where a transfer begins and ends
//! It begins with the status line (interim 1xx heads are not part of it) and ends behind head and
//! Content-Length. A segment with the end of one response and the head of the next belongs to both, and a drop
//! counts in both; the second's row then says that it lost more than its tail.
//!
//! When the response announces the end of the connection, its FIN belongs to it: `hold` waits for it, and the
//! transfer is complete when the FIN was sent too. When the connection is kept, the last byte ends the
//! transfer: `hold` decides there, since a FIN may be minutes away. A bare FIN that comes while the lost
//! tail of a kept connection is still missing is dropped with it; one that comes later is a farewell of its
//! own and passes.
//!
//! # What passes untouched
//! Chunked bodies, bodies that end with the connection, and whatever is not HTTP/1. After a chunked response
//! (and in a connection first met in its middle) a response is found again where a packet begins with one.
//! The request is not seen here, so the answer to a HEAD request is taken to have a body.
//!
//! # Deviations from the paper's listing
//! Bytes are counted by position, so what was transferred grows; the FIN's extra packet is not carried over to
//! the next transfer; the comparison with the tail includes the packet itself; and the largest payload
//! of any packet sent first, not the first one's, stands for the MSS.

mod hold;
mod rule;
mod sequence;
mod settings;

pub use rule::TailRule;
pub use settings::{Counters, Mode, Settings, UnknownMode};
