//! The pattern rule: packets are dropped by their position.
//!
//! See [`Pattern`] for what can be said, and how positions are counted.

mod judge;
mod parse;
mod rule;
mod text;

pub use parse::PatternError;
pub use rule::{PatternRule, Settings};
pub use text::{Pattern, Scope};
