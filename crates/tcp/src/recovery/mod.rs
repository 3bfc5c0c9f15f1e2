//! What a sender decides when segments are lost or late, one mechanism a file.
//!
//! A decider is a pure function, or a small state with pure methods. It takes a view, a plain struct of what its caller
//! knows, and returns an outcome, with the next deadline where there is one. It sends nothing, sets no timer and keeps no
//! scoreboard: the caller applies the outcome. So one rule serves the sender, whoever emulates a sender that it only sees
//! from outside, and whoever asks what another rule would have done. What such a caller may not know is an `Option` in the
//! view.
//!
//! Where Linux 3.10 and 6.x differ, both rules stand side by side, and a setting chooses.
//!
//! Deadlines are spans from now on, not rounded to ticks unless the rule itself does so; a timer runs whole ticks
//! ([`Tick::up`](crate::clock::Tick::up)).

pub mod constants;
pub mod dsack;
pub mod dupack;
pub mod early_retransmit;
pub mod fack;
pub mod frto;
pub mod prr;
pub mod rack;
pub mod rate_halving;
pub mod reduction;
pub mod reordering;
pub mod rto;
pub mod scoreboard;
mod state;
pub mod syn;
pub mod tlp;
pub mod undo;

pub use state::{Job, State};
