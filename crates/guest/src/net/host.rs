//! What every host's interfaces have in common.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{bail, Context, Result};
use rexmit_plan::{Offloads, Qdisc, RouteMetrics};

use super::changes::{change_here, Changes, Told};
use super::changes::{RTAX_INITCWND, RTAX_INITRWND, RTAX_QUICKACK, RTAX_RTO_MIN, RTAX_WINDOW};
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
    /// What routes of h1 say besides where they lead.
    pub fn of_server(&self) -> Vec<(u16, u32)> {
        let RouteMetrics {
            initcwnd,
            initrwnd,
            rto_min_ms,
            quickack,
        } = self.route;
        said([
            (RTAX_INITCWND, initcwnd),
            (RTAX_INITRWND, initrwnd),
            (RTAX_RTO_MIN, rto_min_ms),
            (RTAX_QUICKACK, quickack.map(u32::from)),
        ])
    }

    /// The same of h2.
    pub fn of_client(&self) -> Vec<(u16, u32)> {
        let mut metrics = said([(RTAX_WINDOW, self.receive_window_bytes)]);
        metrics.extend(self.of_server());
        metrics
    }
}

fn said<const N: usize>(metrics: [(u16, Option<u32>); N]) -> Vec<(u16, u32)> {
    let metrics = metrics.into_iter();
    metrics
        .filter_map(|(kind, value)| Some((kind, value?)))
        .collect()
}

/// Switches an interface on and gives it its address.
pub fn bring_up(
    changes: &mut Changes,
    device: &str,
    address: IpAddr,
    offloads: Offloads,
) -> Result<()> {
    let state = Told {
        up: true,
        // 6.x TCP builds super-segments whatever the device says; the link's limit is what it heeds.
        most_segments: Some(if offloads.segmentation { 65_535 } else { 1 }),
        ..Told::default()
    };
    changes.tell(device, &state)?;
    changes.address(device, address)
}

/// Switches the loopback on.
pub fn loopback(changes: &mut Changes) -> Result<()> {
    let state = Told {
        up: true,
        ..Told::default()
    };
    changes.tell("lo", &state)
}

/// Puts the queueing discipline at the host's interface, and reads back what stands there.
pub fn queue(host: &Host, device: &str, qdisc: Qdisc) -> Result<()> {
    host.namespace.run(|| {
        change_here(|changes| changes.queues(&[qdisc::of_host(device, qdisc)]))?;
        let there = qdisc::kind_here(device)?;
        if there != qdisc.as_str() {
            bail!("the interface {device} was given {qdisc} and has {there} now");
        }
        Ok(())
    })
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
