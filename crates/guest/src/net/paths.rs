//! Hosts h1 and h2 with several paths between them: namespaces, veth pairs, a router.
//!
//! The server's host has one interface, the client's one for each path. Rate and delay of a path act on a wire of its
//! own:
//!
//! ```text
//! h1-eth0 ── s1-eth0 │ router │ s1-eth1 ── s1-wire1 ═ h2-wire1 ── h2-eth1
//!                    │        │ s1-eth2 ── s1-wire2 ═ h2-wire2 ── h2-eth2
//! ```
//!
//! (`──` a veth pair, `═` the two ends of a wire, which hand everything to each other). What h2 sends from an address
//! leaves by the interface that has it (rules and a table for each path).

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{bail, Context, Result};
use rexmit_plan::{Link, NetworkPlan, Offloads};

use super::changes::{change, End, Route, Told};
use super::host::{self, Host, Manner};
use super::link;
use super::namespace::Namespace;
use super::qdisc;
use super::topology::Network;

/// The last part of an address: who has it.
const SERVER: u8 = 1;
const CLIENT: u8 = 2;
const ROUTER: u8 = 254;

/// The client's interface on a path, counted from 1.
fn client_device(path: usize) -> String {
    format!("h2-eth{path}")
}

/// An address in the network of a path; 0 is the network of h1.
fn address(family: u8, path: usize, who: u8) -> Result<IpAddr> {
    let path = u8::try_from(path)?;
    Ok(match family {
        4 => IpAddr::V4(Ipv4Addr::new(10, 0, path, who)),
        6 => IpAddr::V6(Ipv6Addr::new(
            0xfd00,
            0,
            0,
            u16::from(path),
            0,
            0,
            0,
            u16::from(who),
        )),
        other => bail!("IP family {other}: 4 or 6"),
    })
}

fn mac(path: usize, who: u8) -> [u8; 6] {
    [2, 0, 0, 0, path as u8, who]
}

impl Network {
    /// Makes the namespaces and all that stands in them, with a wire for each of `paths`.
    pub(super) fn set_up_paths(plan: &NetworkPlan, paths: &[Link], manner: Manner) -> Result<Self> {
        let (family, mtu) = (plan.family, plan.mtu);
        let clients: Vec<IpAddr> = (1..=paths.len())
            .map(|path| address(family, path, CLIENT))
            .collect::<Result<_>>()?;
        let network = Self {
            h1: Host {
                namespace: Namespace::create("h1")?,
                device: "h1-eth0",
                address: address(family, 0, SERVER)?,
            },
            h2: Host {
                namespace: Namespace::create("h2")?,
                device: "h2-eth1",
                address: address(family, 1, CLIENT)?,
            },
            clients,
            client_devices: (1..=paths.len()).map(client_device).collect(),
            switch: Namespace::create("s1")?,
            line: None,
        };
        if family == 4 {
            let hosts = [&network.h1.namespace, &network.h2.namespace];
            for namespace in hosts.into_iter().chain([&network.switch]) {
                host::without_ipv6(namespace)?;
            }
        }
        network.build_router(family, mtu, paths)?;
        network.build_server(family, manner)?;
        network.build_client(family, manner)?;
        Ok(network)
    }

    /// Puts other wires in the place of those at hand, and drops what is in their queues.
    pub(super) fn replace_wires(&self, paths: &[Link]) -> Result<()> {
        let mut requests = Vec::new();
        for (path, wire) in (1..).zip(paths) {
            for (device, way) in ways(path, wire) {
                requests.push(qdisc::none(&device));
                requests.extend(link::wire(&device, way));
            }
        }
        change(&self.switch, |changes| changes.queues(&requests))
    }

    /// The router's interfaces, and the wires that the paths are.
    fn build_router(&self, family: u8, mtu: u32, paths: &[Link]) -> Result<()> {
        let own = |path, who| Some(mac(path, who));
        change(&self.switch, |changes| {
            let server = End {
                name: self.h1.device,
                mac: own(0, SERVER),
                host: Some(&self.h1.namespace),
            };
            changes.pair(End::here("s1-eth0"), server, mtu);
            for (path, device) in (1..).zip(&self.client_devices) {
                let ([host_side, router_side], port) = (ends(path), router_device(path));
                let client = End {
                    name: device,
                    mac: own(path, CLIENT),
                    host: Some(&self.h2.namespace),
                };
                let router = End {
                    mac: own(path, ROUTER),
                    ..End::here(&port)
                };
                changes.pair(End::here(&host_side), client, mtu);
                changes.pair(End::here(&router_side), router, mtu);
            }
            Ok(())
        })?;
        change(&self.switch, |changes| {
            let up = Told {
                up: true,
                ..Told::default()
            };
            let mut shaping = Vec::new();
            for (path, wire) in (1..).zip(paths) {
                let [host_side, router_side] = ends(path);
                changes.tell(&host_side, &up)?;
                changes.tell(&router_side, &up)?;
                for ((from, way), to) in ways(path, wire).iter().zip([&router_side, &host_side]) {
                    shaping.extend(link::wire(from, way));
                    shaping.extend(qdisc::redirect(from, to));
                }
            }
            let first = Told {
                mac: own(0, ROUTER),
                ..Told::default()
            };
            changes.tell("s1-eth0", &first)?;
            for path in 0..=self.clients.len() {
                let device = router_device(path);
                let who = if path == 0 { SERVER } else { CLIENT };
                let (router, neighbour) =
                    (address(family, path, ROUTER)?, address(family, path, who)?);
                host::bring_up(changes, &device, router, Offloads::default())?;
                changes.neighbour(&device, neighbour, mac(path, who))?;
            }
            changes.queues(&shaping)
        })?;
        self.switch.run(|| {
            let path = if family == 4 {
                "/proc/sys/net/ipv4/ip_forward"
            } else {
                "/proc/sys/net/ipv6/conf/all/forwarding"
            };
            fs::write(path, "1").context(path)
        })
    }

    fn build_server(&self, family: u8, manner: Manner) -> Result<()> {
        let device = self.h1.device;
        let router = address(family, 0, ROUTER)?;
        change(&self.h1.namespace, |changes| {
            host::loopback(changes)?;
            host::bring_up(changes, device, self.h1.address, manner.offloads)?;
            changes.neighbour(device, router, mac(0, ROUTER))?;
            changes.route(&Route {
                via: Some(router),
                metrics: &manner.of_server(),
                ..Route::default()
            })
        })?;
        host::offload(&self.h1.namespace, device, manner.offloads)
    }

    fn build_client(&self, family: u8, manner: Manner) -> Result<()> {
        let metrics = manner.of_client();
        change(&self.h2.namespace, |changes| {
            host::loopback(changes)?;
            for (path, &own) in (1..).zip(&self.clients) {
                let (device, router) = (client_device(path), address(family, path, ROUTER)?);
                host::bring_up(changes, &device, own, manner.offloads)?;
                changes.neighbour(&device, router, mac(path, ROUTER))?;
                let table = 100 + u8::try_from(path)?;
                let way = Route {
                    via: Some(router),
                    device: Some(&device),
                    metrics: &metrics,
                    ..Route::default()
                };
                changes.route(&Route {
                    table: Some(table),
                    ..way
                })?;
                if manner.way == Some(path) {
                    changes.route(&Route {
                        from: Some(own),
                        ..way
                    })?;
                }
                changes.rule(own, table);
            }
            Ok(())
        })?;
        for device in &self.client_devices {
            host::offload(&self.h2.namespace, device, manner.offloads)?;
        }
        Ok(())
    }
}

/// The router's interface on a path; 0 is the one to h1.
fn router_device(path: usize) -> String {
    format!("s1-eth{path}")
}

/// The two ends of a path's wire: the client's side, the router's.
fn ends(path: usize) -> [String; 2] {
    [format!("h2-wire{path}"), format!("s1-wire{path}")]
}

/// The devices at which each direction of a path waits, and what it does: what leaves the client's side goes to the client.
pub(super) fn ways(path: usize, wire: &Link) -> [(String, &Link); 2] {
    let [host_side, router_side] = ends(path);
    [(host_side, wire.down()), (router_side, wire.up())]
}
