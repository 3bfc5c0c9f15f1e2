//! The machine of loss recovery: what an acknowledgement, a timer and a timeout do to a sender's state.
//!
//! One machine serves the model's [`Sender`](crate::sender::Sender) and whoever emulates a sender that is only seen from
//! outside. The deciders of [`recovery`](super) say what is to be done. The machine keeps the states ([`Episode`],
//! [`Detection`]), marks what is lost and sets the timer. It works on an [`Actor`], which holds the [`Board`] of what was
//! sent and the [`Clock`], and which carries out what the machine begins: the [`Window`] follows, segments leave
//! ([`Output`]). What an actor does not know is none, and what it has no part in does nothing.
//!
//! `ack` is the order in which an acknowledgement is worked through. `alert` moves between the states, `loss` and `undo` enter and leave them, `detect` finds losses, `reordering` raises the
//! threshold, `timers` sets the timer and judges the probe. Functions that are called for each acknowledgement are generic,
//! so that each actor gets a machine of its own.

mod ack;
mod actor;
mod alert;
mod detect;
mod episode;
mod loss;
mod outcome;
mod reordering;
mod timers;
mod undo;

pub use ack::{begin_ack, on_ack_losses_first, on_ack_of_nothing, on_ack_recovery_first};
pub use actor::{Actor, Board, Clock, Counts, NewData, Output, StreamState, Times, Window};
pub use alert::{alert, enter_recovery};
pub use detect::{mark_by_count, note_delivered, on_early_retransmit_timer, on_reordering_timer};
pub use episode::{Detection, Episode};
pub use loss::{enter_loss, enter_loss_by_timeout};
pub use outcome::{AckOutcome, AckView, Resume};
pub use reordering::{note_overtaken, note_segments_overtaken, remove_duplicates, take_duplicate};
pub use timers::{judge_probe, rearm, schedule_probe};
pub use undo::was_only_late;
