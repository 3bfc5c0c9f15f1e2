//! How much is sent while losses are repaired.

pub(super) mod prr;
mod rate_halving;
