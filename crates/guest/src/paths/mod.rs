//! Cells of bursts over several paths: TCP on one of them, Multipath TCP (RFC 8684) on all.

mod bench;
mod bursts;
mod cell;
mod connection;
mod rehearsal;
mod subflows;
mod witness;

pub use cell::run;
