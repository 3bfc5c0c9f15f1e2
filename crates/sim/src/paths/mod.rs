//! Cells of bursts over paths: a server, a router, a client with an interface a path.
//!
//! The router passes packets on at once, so that a path is one link each way between the server and an address of the
//! client's.

mod bursts;
mod cell;
mod ends;
mod gate;
mod options;
mod wires;
mod world;

pub use cell::run;
