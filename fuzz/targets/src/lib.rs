//! What the fuzzers call: bytes in, and a panic where something is wrong.
//!
//! They stand here and not in the fuzzers themselves so that a stable compiler can try the kept seeds on them
//! (`tests/seeds.rs`).

mod analyzer;
mod capture;
mod headers;
pub mod hostile;
mod plan;

pub use analyzer::analyzer;
pub use capture::capture;
pub use headers::headers;
pub use hostile::hostile;
pub use plan::plan;

/// A target: its name, which is that of its folder of seeds too, and what is called.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const ALL: [Target; 5] = [
    ("analyzer", analyzer),
    ("capture", capture),
    ("headers", headers),
    ("hostile", hostile),
    ("plan", plan),
];
