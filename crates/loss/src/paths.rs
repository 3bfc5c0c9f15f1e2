//! Loss by position in bursts that one connection sends over several paths.
//!
//! A server writes bursts of known length one after another. Their bytes go over one path with plain TCP, or over
//! several with Multipath TCP (RFC 8684), whose data sequence mappings say which bytes a packet carries.

mod rule;
mod totals;

pub use rule::{PathRule, Settings};
pub use totals::{Difference, Totals, Unsent};
