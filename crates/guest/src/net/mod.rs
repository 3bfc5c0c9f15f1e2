//! The network under test: hosts, links and a switch or router in namespaces that this program makes.

mod bridge;
mod host;
mod ioctl;
mod link;
mod namespace;
mod offload;
mod paths;
mod qdisc;
mod topology;

pub use host::Host;
pub use namespace::{in_thread, Namespace};
pub use offload::{switch, Offload};
pub use topology::Network;
