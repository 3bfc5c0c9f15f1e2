//! The emulated senders against the model's: its causes are the truth.

mod model;
mod score;
