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
use rexmit_plan::{Link, NetworkPlan, Offloads, Programs};

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

fn mac(path: usize, who: u8) -> String {
    format!("02:00:00:00:{path:02x}:{who:02x}")
}

impl Network {
    /// Makes the namespaces and all that stands in them, with a wire for each of `paths`.
    pub(super) fn set_up_paths(
        plan: &NetworkPlan,
        paths: &[Link],
        programs: &Programs,
        manner: Manner,
    ) -> Result<Self> {
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
        network.build_router(family, mtu, paths, programs)?;
        network.build_server(family, programs, manner)?;
        network.build_client(family, programs, manner)?;
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
        qdisc::carry_out(&self.switch, &requests)
    }

    /// The router's interfaces, and the wires that the paths are.
    fn build_router(
        &self,
        family: u8,
        mtu: u32,
        paths: &[Link],
        programs: &Programs,
    ) -> Result<()> {
        let pair = |near: String, far: String, far_mac: String, host: &str| {
            format!("link add name {near} mtu {mtu} type veth peer name {far} address {far_mac} mtu {mtu} netns {host}")
        };
        let mut lines = vec![pair(
            "s1-eth0".into(),
            self.h1.device.into(),
            mac(0, SERVER),
            "h1",
        )];
        let mut shaping = Vec::new();
        for (path, wire) in (1..).zip(paths) {
            let [host_side, router_side] = ends(path);
            lines.push(pair(
                host_side.clone(),
                client_device(path),
                mac(path, CLIENT),
                "h2",
            ));
            lines.push(format!(
                "link add name {router_side} mtu {mtu} type veth peer name s1-eth{path} address {} mtu {mtu}",
                mac(path, ROUTER)
            ));
            lines.push(format!("link set dev {host_side} up"));
            lines.push(format!("link set dev {router_side} up"));
            for ((from, way), to) in ways(path, wire).iter().zip([&router_side, &host_side]) {
                shaping.extend(link::wire(from, way));
                shaping.extend(qdisc::redirect(from, to));
            }
        }
        lines.push(format!("link set dev s1-eth0 address {}", mac(0, ROUTER)));
        for path in 0..=self.clients.len() {
            let device = format!("s1-eth{path}");
            let own = address(family, path, ROUTER)?;
            lines.extend(host::bring_up(&device, own, Offloads::default()));
            let who = if path == 0 { SERVER } else { CLIENT };
            let neighbour = address(family, path, who)?;
            lines.push(host::neighbour(&device, neighbour, &mac(path, who)));
        }
        self.switch
            .batch(programs.ip()?, &["-batch", "-"], &lines)?;
        qdisc::carry_out(&self.switch, &shaping)?;
        self.switch.run(|| {
            let path = if family == 4 {
                "/proc/sys/net/ipv4/ip_forward"
            } else {
                "/proc/sys/net/ipv6/conf/all/forwarding"
            };
            fs::write(path, "1").context(path)
        })
    }

    fn build_server(&self, family: u8, programs: &Programs, manner: Manner) -> Result<()> {
        let (offloads, metrics) = (manner.offloads, manner.of_server());
        let router = address(family, 0, ROUTER)?;
        let mut lines = vec!["link set dev lo up".to_owned()];
        lines.extend(host::bring_up(self.h1.device, self.h1.address, offloads));
        lines.push(host::neighbour(self.h1.device, router, &mac(0, ROUTER)));
        lines.push(format!("route add default via {router}{metrics}"));
        let namespace = &self.h1.namespace;
        namespace.batch(programs.ip()?, &ip_of(family), &lines)?;
        host::offload(namespace, self.h1.device, offloads)
    }

    fn build_client(&self, family: u8, programs: &Programs, manner: Manner) -> Result<()> {
        let metrics = manner.of_client();
        let mut lines = vec!["link set dev lo up".to_owned()];
        for (path, &own) in (1..).zip(&self.clients) {
            let (device, router) = (client_device(path), address(family, path, ROUTER)?);
            lines.extend(host::bring_up(&device, own, manner.offloads));
            lines.push(host::neighbour(&device, router, &mac(path, ROUTER)));
            let table = 100 + path;
            lines.push(format!(
                "route add default via {router} dev {device} table {table}{metrics}"
            ));
            if manner.way == Some(path) {
                lines.push(format!(
                    "route add default via {router} dev {device} src {own}{metrics}"
                ));
            }
            lines.push(format!("rule add from {own} table {table}"));
        }
        self.h2
            .namespace
            .batch(programs.ip()?, &ip_of(family), &lines)?;
        for path in 1..=self.clients.len() {
            host::offload(&self.h2.namespace, &client_device(path), manner.offloads)?;
        }
        Ok(())
    }
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

/// The arguments of `ip` for lines that name no address family.
fn ip_of(family: u8) -> [&'static str; 3] {
    [if family == 4 { "-4" } else { "-6" }, "-batch", "-"]
}
