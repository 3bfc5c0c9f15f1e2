//! What every host's interfaces have in common.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{bail, Context, Result};
use rexmit_plan::{Offloads, Programs, Qdisc, RouteMetrics};

use super::namespace::Namespace;
use super::offload::{self, Offload};
use super::qdisc;

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

/// What hosts are besides their network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// What bounds the window that h2 offers, by its routes to h1 (RTAX_WINDOW), whatever program runs there.
    pub receive_window_bytes: Option<u32>,
    /// The path, from 1, that programs of h2 take which bind no address.
    pub way: Option<usize>,
    /// What both hosts' interfaces do.
    pub offloads: Offloads,
    /// What the routes of both hosts say of connections.
    pub route: RouteMetrics,
    /// What queues packets at both hosts' interfaces.
    pub qdisc: Option<Qdisc>,
}

impl Manner {
    /// What routes of h1 say besides where they lead, as words for `ip`.
    pub fn of_server(&self) -> String {
        let RouteMetrics {
            initcwnd,
            initrwnd,
            rto_min_ms,
        } = self.route;
        let metrics = [
            ("initcwnd", initcwnd, ""),
            ("initrwnd", initrwnd, ""),
            // ip locks it: the kernel heeds no other (`tcp_rto_min`).
            ("rto_min", rto_min_ms, "ms"),
        ];
        let metrics = metrics.into_iter();
        metrics
            .filter_map(|(name, value, unit)| Some(format!(" {name} {}{unit}", value?)))
            .collect()
    }

    /// The same of h2.
    pub fn of_client(&self) -> String {
        let window = self.receive_window_bytes;
        let window = window.map_or_else(String::new, |bytes| format!(" window {bytes}"));
        window + &self.of_server()
    }
}

/// Gives an interface its address in a network of 256 addresses (IPv6: 2⁶⁴), as lines for `ip -batch`.
pub fn bring_up(device: &str, address: IpAddr, offloads: Offloads) -> Vec<String> {
    let rest = if address.is_ipv4() {
        format!("{address}/24 dev {device}")
    } else {
        format!("{address}/64 dev {device} nodad")
    };
    // 6.x TCP builds super-segments whatever the device says; the link's limit is what it heeds.
    let most = if offloads.segmentation { 65_535 } else { 1 };
    vec![
        format!("link set dev {device} gso_max_segs {most} up"),
        format!("address add {rest}"),
    ]
}

/// Tells of a neighbour, so that nobody need ask for it.
pub fn neighbour(device: &str, address: IpAddr, mac: &str) -> String {
    format!("neighbour replace {address} lladdr {mac} dev {device} nud permanent")
}

/// Puts the queueing discipline at the host's interface, and reads back what stands there.
pub fn queue(host: &Host, device: &str, qdisc: Qdisc, programs: &Programs) -> Result<()> {
    qdisc::carry_out(&host.namespace, &[qdisc::of_host(device, qdisc)])?;
    let show = ["-json", "qdisc", "show", "dev", device];
    let output = host
        .namespace
        .command(programs.tc()?)
        .args(show)
        .output()
        .context("tc")?;
    let there: serde_json::Value = serde_json::from_slice(&output.stdout).context("tc -json")?;
    if there[0]["kind"] != qdisc.as_str() || there[0]["root"] != true {
        bail!("the interface {device} was given {qdisc} and has {there} now");
    }
    Ok(())
}

/// Has the interface do what `offloads` say of what a network card could, and nothing else: without any every packet is one
/// segment, with its checksum.
pub fn offload(host: &Namespace, device: &str, offloads: Offloads) -> Result<()> {
    use Offload::{Checksum, Gro, Gso, ScatterGather, Tso};
    let mut off = vec![Tso, Gso, Gro, Checksum];
    if !offloads.scatter_gather {
        off.push(ScatterGather);
    }
    offload::switch(host, device, &off, false)?;
    // In the order in which one rests on another. Interfaces that can gather do from the start.
    let mut on = Vec::new();
    if offloads.checksum {
        on.push(Checksum);
    }
    if offloads.segmentation {
        on.extend([Gso, Tso]);
    }
    offload::switch(host, device, &on, true)
}
