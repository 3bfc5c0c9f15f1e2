//! The network under test: hosts, links and a switch in namespaces that this program makes.

mod link;
mod namespace;
mod topology;

pub use namespace::{in_thread, Namespace};
pub use topology::{Host, Network};
