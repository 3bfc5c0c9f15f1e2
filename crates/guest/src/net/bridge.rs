//! The switch between two hosts.

use anyhow::{Context, Result};

use super::ioctl;
use super::namespace::Namespace;

/// By which bridges take what brctl(8) has to say (linux/if_bridge.h).
const SIOCDEVPRIVATE: u64 = 0x89f0;
const BRCTL_SET_BRIDGE_FORWARD_DELAY: libc::c_ulong = 8;

/// Has a bridge forward at once what comes in at a new port: without spanning trees nothing is to be waited for.
///
/// By ioctl(2): `ip link` knows a bridge's forward delay since Linux 3.18. Until then it is 15 s where nobody says other.
pub fn forward_at_once(namespace: &Namespace, device: &str) -> Result<()> {
    namespace.run(|| {
        let mut words: [libc::c_ulong; 4] = [BRCTL_SET_BRIDGE_FORWARD_DELAY, 0, 0, 0];
        // SAFETY: a bridge reads four words.
        let said = unsafe { ioctl::about(device, SIOCDEVPRIVATE, &mut words) }?;
        said.with_context(|| format!("cannot set the forward delay of {device}"))
    })
}
