//! What every host's interfaces have in common.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, Result};

use super::namespace::Namespace;
use super::offload::{self, Offload};

/// A host under test.
pub struct Host {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its first interface.
    pub device: &'static str,
    /// The address of that, of the family that the scenario chose.
    pub address: IpAddr,
}

/// Switches IPv6 off: without this every new interface sends router solicitations and probes its own address.
pub fn without_ipv6(namespace: &Namespace) -> Result<()> {
    namespace.run(|| {
        for scope in ["all", "default"] {
            let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
            if Path::new(&path).exists() {
                fs::write(&path, "1").with_context(|| path.clone())?;
            }
        }
        Ok(())
    })
}

/// Gives an interface its address in a network of 256 addresses (IPv6: 2⁶⁴), as lines for `ip -batch`.
pub fn bring_up(device: &str, address: IpAddr) -> Vec<String> {
    let rest = if address.is_ipv4() {
        format!("{address}/24 dev {device}")
    } else {
        format!("{address}/64 dev {device} nodad")
    };
    vec![
        // 6.x TCP builds super-segments whatever the device says; the link's limit is what it heeds.
        format!("link set dev {device} gso_max_segs 1 up"),
        format!("address add {rest}"),
    ]
}

/// Tells of a neighbour, so that nobody need ask for it.
pub fn neighbour(device: &str, address: IpAddr, mac: &str) -> String {
    format!("neighbour replace {address} lladdr {mac} dev {device} nud permanent")
}

/// Switches off what a network card would do to packets: every packet is one segment, with its checksum.
pub fn leave_nothing_to_the_device(host: &Namespace, device: &str) -> Result<()> {
    use Offload::{Checksum, Gro, Gso, Tso};
    offload::switch(host, device, &[Tso, Gso, Gro, Checksum], false)
}
