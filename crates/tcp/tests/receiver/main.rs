//! The receiver, scripted in virtual time: what comes, what is acknowledged when.

mod delay;
mod memory;
mod oracle;
mod sacks;
mod script;
mod window;
