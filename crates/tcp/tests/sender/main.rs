//! The sender against a network and a receiver of a few lines.

mod pipe;
mod properties;
