//! Multipath TCP between two ends over paths of fixed delay, with times reckoned by hand.

mod duo;
mod out_of_tree;
mod receiving;
mod schedulers;
mod sending;
mod triggers;
mod upstream;
