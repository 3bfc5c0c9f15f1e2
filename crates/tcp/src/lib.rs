//! The vocabulary of TCP loss recovery.

mod words;

pub use words::{Mechanism, Need, UnknownWord};
