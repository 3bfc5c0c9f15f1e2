//! The network under test: hosts, links and a switch or router in namespaces that this program makes.

mod bridge;
pub mod changes;
mod ecn;
mod host;
mod ioctl;
pub mod line;
mod link;
mod namespace;
mod offload;
mod outages;
mod paths;
mod probe;
mod qdisc;
mod too_large;
mod topology;

pub use host::{Host, Manner};
pub use link::netems;
pub use namespace::{in_thread, Namespace};
pub use outages::Outages;
pub use probe::{probe, Lacks, Part};
pub use topology::Network;
