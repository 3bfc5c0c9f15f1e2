//! Connections with each other, in virtual time.

mod close;
mod defer;
mod handshake;
mod lossy;
mod pair;
mod transfer;
