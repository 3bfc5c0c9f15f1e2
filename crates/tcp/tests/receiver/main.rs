//! The receiver, scripted in virtual time: what comes, what is acknowledged when.

mod delay;
mod sacks;
mod script;
mod window;
