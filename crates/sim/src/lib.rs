//! The model engine: networks, hosts and workloads in simulated time.
//!
//! [`World`] is a discrete-event simulation of hosts whose TCP is [`rexmit_tcp`]'s and whose links are Linux's netem.
//! Everything follows from its parts and one seed.

pub mod apps;
pub mod bytes;
pub mod link;
mod machine;
pub mod monitor;
mod queue;
mod run;
mod subflows;
pub mod synth;
mod world;

pub use apps::App;
pub use machine::{Machine, Out, Stack};
pub use queue::Queue;
pub use run::run_plan;
pub use subflows::Subflows;
pub use world::{EndId, Gate, Host, LinkId, Network, NodeId, Open, Packet, Talk, Turn, World};
