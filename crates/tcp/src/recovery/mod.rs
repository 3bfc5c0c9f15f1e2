//! What a sender decides when segments are lost or late, one mechanism a file.
//!
//! A decider is a pure function, or a small state with pure methods. It takes a view, a plain struct of what its caller
//! knows, and returns an outcome, with the next deadline where there is one. It sends nothing, sets no timer and keeps no
//! scoreboard: the caller applies the outcome. So one rule serves whoever carries it out and whoever asks what another rule
//! would have done. What such a caller may not know is an `Option` in the view, or the view says what stands for unknown.
//!
//! [`machine`] applies the outcomes, for the [`Sender`](crate::sender::Sender) and for whoever emulates a sender that is only
//! seen from outside.
//!
//! Where Linux 3.10 and 6.x differ, both rules stand side by side, and a setting chooses.
//!
//! | file | decides |
//! |---|---|
//! | `tlp` | when a tail loss probe is sent, what it sends, what its acknowledgement says |
//! | `rto` | when the timeout is due, how it backs off, what it marks and reduces, when a connection is given up |
//! | `syn` | the timeouts of a SYN |
//! | `rack` | what RACK finds lost, and how long it waits for the rest |
//! | `reneging` | how long SACKs may put right what the receiver seems to have dropped |
//! | `dupack` | what duplicates and SACKed segments prove lost, and when a recovery begins by counting |
//! | `fack` | how FACK counts, and what it finds by the clock |
//! | `early_retransmit` | when fewer duplicates are enough |
//! | `retransmit` | which segments are sent again, in which order |
//! | `reordering` | what packets that overtake each other change |
//! | `frto` | whether a timeout was spurious |
//! | `dsack` | whether a report of a duplicate is believed |
//! | `undo` | whether a reduction proved wrong |
//! | `causes` | what a retransmission is called |
//! | `reduction` | the window while losses are repaired, by `prr` or `rate_halving` |
//!
//! `scoreboard` is what deciders ask of what was sent; the board itself is a trait of [`machine`]. `state` has the states of a
//! sender and what its timer is set for.
//!
//! Deadlines are spans from now on, not rounded to ticks unless the rule itself does so; a timer runs whole ticks
//! ([`Tick::up`](crate::clock::Tick::up)).

pub mod causes;
pub mod constants;
pub mod dsack;
pub mod dupack;
pub mod early_retransmit;
pub mod fack;
pub mod frto;
pub mod machine;
pub mod prr;
pub mod rack;
pub mod rate_halving;
pub mod reduction;
pub mod reneging;
pub mod reordering;
pub mod retransmit;
pub mod rto;
pub mod scoreboard;
mod state;
pub mod syn;
pub mod tlp;
pub mod undo;

pub use state::{CaState, Job};
