//! Hostile captures: packets of few connections whose numbers jump around plausible values.
//!
//! A capture that is changed at random is mostly refused early or says nothing new. Here a [grammar](grammar) writes packets
//! that the analysis takes for those of connections, and lets any number of any of them jump: by some bytes, around 2³⁰ and
//! 2³¹, through the end of all numbers. What it writes goes [through all that reads captures](analysis), and nothing may
//! panic.
//!
//! One grammar serves three: the fuzzer's target [`hostile`], whose bytes are its choices; the test, which has some of a
//! [search](search); and `make soak-trace`, which searches for long.

mod analysis;
mod choices;
mod connection;
mod grammar;
mod numbers;
mod packet;
pub mod search;

pub use grammar::Case;

/// Reads the bytes as choices, and analyses the captures that they make.
pub fn hostile(bytes: &[u8]) {
    search::watched(|| Case::of(bytes).analyse())
        .unwrap_or_else(|panic| panic!("a part of the analysis panicked: {panic}"));
}
