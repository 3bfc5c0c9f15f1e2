//! The columns of every table that rexmit writes: the one place that names them, with type, unit and meaning.
//!
//! Names end in their unit (`_s`, `_ns`, `_bytes`); counts are plural nouns; null says "did not happen", "not valid" or
//! "cannot be told". Rust fills tables by these declarations, Python reads and checks files by them, and
//! `docs/reference/columns.md` is made from them (`cargo run --package rexmit-schema > docs/reference/columns.md`).

mod column;
mod page;
pub mod points;
pub mod run;
pub mod trace;
pub mod truth;
pub mod values;

pub use column::{Column, Kind, Table};
pub use page::page;

/// Tables that are kept together.
#[derive(Debug)]
pub struct Place {
    /// What the tables are of, in a word.
    pub name: &'static str,
    /// What the place is and what its times count from, in sentences.
    pub about: &'static str,
    /// Its tables, in order.
    pub tables: &'static [Table],
}

/// Every table there is.
pub const PLACES: &[Place] = &[
    run::PLACE,
    trace::PLACE,
    points::PLACE,
    truth::PLACE,
    truth::OF_KERNELS,
];

#[cfg(test)]
mod tests;
