//! The network under test: hosts, links and a switch in namespaces that this program makes.

mod host;
mod link;
mod namespace;
mod topology;

pub use host::Host;
pub use namespace::{in_thread, Namespace};
pub use topology::Network;
