//! Loss by position in bursts of known length that one connection sends, over one path or several.
//!
//! A server writes bursts of known length one after another. Their bytes go over one path with plain TCP, or over
//! several with Multipath TCP (RFC 8684), whose data sequence mappings say which bytes a packet carries.
//!
//! # Positions
//! A position is the n-th packet of new data, of those whose first byte was never sent before on any path. A clause of
//! one path and one burst counts the packets on that path whose first byte lies in that burst; one without a path counts
//! those on all paths in the order in which they are sent; one without a burst counts through all bursts.
//!
//! A packet sent again under its own sequence numbers belongs to the packet in which its first byte went first on that
//! subflow, and is its k-th transmission when that byte went k − 1 times before there. Data that go again under other
//! sequence numbers, as they do on another path, take no position: a re-injection is never dropped.
//!
//! Positions from behind need to know how many packets there will be, of every path and burst: [`Totals`] of a run
//! without loss.
//!
//! `ack`: packets of the client that carry nothing but an acknowledgement, on the clause's path, counted from 1 behind the
//! first packet of the clause's burst until that of the next; without a burst, behind the first packet of data.

mod rule;
mod stream;
mod totals;

pub use rule::{BurstRule, Settings};
pub use totals::{Difference, Totals, Unsent};
