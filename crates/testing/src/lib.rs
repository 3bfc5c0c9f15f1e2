//! What tests of several crates begin with: stacks by name, packets, and two hosts with paths between them.
//!
//! A dev-dependency only. Unit tests of a crate that this one uses would see two copies of that crate's types: what they need of
//! it stands in the crate's `tests`.

mod lab;
mod packets;
mod steps;

use std::collections::BTreeMap;

use rexmit_tcp::clock::Wheel;
use rexmit_tcp::settings::Settings;
use rexmit_tcp::stacks;

pub use lab::{Fate, Lab, Logged, Plan, BEGIN};
pub use packets::{bare, flow};
pub use steps::{steps, Step};

/// The settings of a stack, some of them changed.
///
/// # Panics
/// When there is no such stack or setting.
#[must_use]
pub fn settings(stack: &str, changes: &[(&str, &str)]) -> Settings {
    let changes = changes
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    stacks::build(stack, &changes.collect(), &BTreeMap::new())
        .expect("a stack")
        .0
}

/// The same at 1000 Hz with timers that fire at the tick asked for, so that times are round.
#[must_use]
pub fn exact(stack: &str, changes: &[(&str, &str)]) -> Settings {
    let mut settings = settings(stack, changes);
    settings.timers.hz = 1000;
    settings.timers.wheel = Wheel::Exact;
    settings
}
