//! Hosts h1 and h2 and a switch between them: namespaces, veth pairs, a bridge.
//!
//! With `at = "wire"` each link is a wire of its own between host and switch, and rate and delay act there:
//!
//! ```text
//! h1-eth0 ── h1-wire ═ s1-wire1 ── s1-eth1 │ bridge │ s1-eth2 ── s1-wire2 ═ h2-wire ── h2-eth0
//! ```
//!
//! (`──` a veth pair, `═` the two ends of a wire, which hand everything to each other). With `at = "host"` the hosts'
//! interfaces stand on the bridge at once and all four ends shape what they send, as mininet does it.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use anyhow::{bail, Context, Result};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bridge;
use super::changes::{self, change, End, Route, Told};
use super::host::{self, Host, Manner};
use super::line::{self, Line};
use super::link;
use super::namespace::Namespace;
use super::paths;
use super::qdisc;
use rexmit_plan::{Layout, Link, NetworkPlan, Place};

/// The whole network; taken down when dropped.
pub struct Network {
    /// The server's host.
    pub h1: Host,
    /// The client's host.
    pub h2: Host,
    /// The client's addresses, one for each path.
    pub clients: Vec<IpAddr>,
    /// Its interfaces, in the same order.
    pub client_devices: Vec<String>,
    /// Where the links meet, or the paths part; nothing stands there where they are a line.
    pub switch: Namespace,
    /// The links, where they are a program.
    pub line: Option<Line>,
}

/// The two ends of a host's wire: the host's side, the switch's.
fn ends(host: usize) -> [String; 2] {
    [format!("h{host}-wire"), format!("s1-wire{host}")]
}

/// The devices of a host's wire, at which its packets wait, and what each direction does: what leaves the host's side goes
/// to the host.
fn ways(host: usize, wire: &Link) -> [(String, &Link); 2] {
    let [host_side, switch_side] = ends(host);
    match host {
        1 => [(host_side, wire.up()), (switch_side, wire.down())],
        _ => [(host_side, wire.down()), (switch_side, wire.up())],
    }
}

const MAC: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

impl Network {
    /// Makes the namespaces and all that stands in them.
    pub fn set_up(plan: &NetworkPlan, manner: Manner) -> Result<Self> {
        if line::carries(plan) {
            return Self::over_line(plan, manner);
        }
        match &plan.layout {
            Layout::Links(links) => Self::set_up_links(plan, links, manner),
            Layout::Paths(paths) => Self::set_up_paths(plan, paths, manner),
        }
    }

    /// Puts other links in the place of those at hand, with their ends in the same place, and drops what is in their
    /// queues.
    pub fn replace_links(&self, plan: &NetworkPlan) -> Result<()> {
        if self.line.is_some() {
            // A line's are fresh at every transfer.
            return Ok(());
        }
        match &plan.layout {
            Layout::Links(links) => self.replace_two(plan.at, links),
            Layout::Paths(paths) => self.replace_wires(paths),
        }
    }

    /// The devices in the switch at which each direction of the links waits, and what it does.
    pub fn ways<'a>(&self, plan: &'a NetworkPlan) -> Vec<(String, &'a Link)> {
        let wires = (1..).zip(plan.links());
        wires
            .flat_map(|(number, wire)| match &plan.layout {
                Layout::Links(_) => ways(number, wire),
                Layout::Paths(_) => paths::ways(number, wire),
            })
            .collect()
    }

    /// The same with two TUN devices and a program between them, which lets nothing pass before it has
    /// [begun](Line::begin).
    fn over_line(plan: &NetworkPlan, manner: Manner) -> Result<Self> {
        let mut network = Self::two_hosts(plan.family)?;
        let hosts = [&network.h1, &network.h2];
        let devices = hosts.map(|host| line::tun(&host.namespace, host.device));
        let [first, second] = devices;
        for host in hosts {
            let state = Told {
                mtu: Some(plan.mtu),
                // A device that is full would lose packets as no link does.
                room: Some(10_000),
                ..Told::default()
            };
            change(&host.namespace, |changes| changes.tell(host.device, &state))?;
        }
        network.line = Some(Line::start([first?, second?]));
        network.build_hosts(manner)?;
        Ok(network)
    }

    /// Makes hosts forget what they learned of their ways, as of smaller packets that those take.
    pub fn forget_ways(&self) -> Result<()> {
        for host in [&self.h1, &self.h2] {
            host.namespace.run(|| match host.address {
                IpAddr::V4(_) => {
                    const PATH: &str = "/proc/sys/net/ipv4/route/flush";
                    fs::write(PATH, "-1").context(PATH)
                }
                IpAddr::V6(_) => changes::forget_learned_6(),
            })?;
        }
        Ok(())
    }

    fn two_hosts(family: u8) -> Result<Self> {
        let host = |number: u8| -> Result<Host> {
            let address = match family {
                4 => IpAddr::V4(Ipv4Addr::new(10, 0, 0, number)),
                6 => IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(number))),
                other => bail!("IP family {other}: 4 or 6"),
            };
            let (name, device) = if number == 1 {
                ("h1", "h1-eth0")
            } else {
                ("h2", "h2-eth0")
            };
            Ok(Host {
                namespace: Namespace::create(name)?,
                device,
                address,
            })
        };
        let (h1, h2) = (host(1)?, host(2)?);
        let network = Self {
            clients: vec![h2.address],
            client_devices: vec![h2.device.to_owned()],
            h1,
            h2,
            switch: Namespace::create("s1")?,
            line: None,
        };
        network.quiet_ipv6(family)?;
        Ok(network)
    }

    fn set_up_links(plan: &NetworkPlan, links: &[Link; 2], manner: Manner) -> Result<Self> {
        let network = Self::two_hosts(plan.family)?;
        network.build_switch(plan, links)?;
        network.build_hosts(manner)?;
        Ok(network)
    }

    fn quiet_ipv6(&self, family: u8) -> Result<()> {
        host::without_ipv6(&self.switch)?;
        if family == 4 {
            host::without_ipv6(&self.h1.namespace)?;
            host::without_ipv6(&self.h2.namespace)?;
        }
        Ok(())
    }

    /// The bridge and its ports, the wires, and the ends that hosts have of them.
    fn build_switch(&self, plan: &NetworkPlan, links: &[Link; 2]) -> Result<()> {
        const BRIDGE: &str = "s1";
        let on_wires = plan.at == Place::Wire;
        let up = Told {
            up: true,
            ..Told::default()
        };
        change(&self.switch, |changes| {
            for (n, host) in [(1, &self.h1), (2, &self.h2)] {
                let near = if on_wires {
                    format!("h{n}-wire")
                } else {
                    format!("s1-eth{n}")
                };
                let far = End {
                    name: host.device,
                    mac: Some(MAC[n - 1]),
                    host: Some(&host.namespace),
                };
                changes.pair(End::here(&near), far, plan.mtu);
            }
            for n in [1, 2] {
                if on_wires {
                    let (wire, port) = (format!("s1-wire{n}"), format!("s1-eth{n}"));
                    changes.pair(End::here(&wire), End::here(&port), plan.mtu);
                }
            }
            changes.bridge(End::here(BRIDGE));
            Ok(())
        })?;
        // Before it has a port.
        bridge::forward_at_once(&self.switch, BRIDGE)?;
        change(&self.switch, |changes| {
            for n in [1, 2] {
                let port = Told {
                    bridge: Some(BRIDGE),
                    up: true,
                    ..Told::default()
                };
                changes.tell(&format!("s1-eth{n}"), &port)?;
                if on_wires {
                    for end in ends(n).iter().rev() {
                        changes.tell(end, &up)?;
                    }
                }
            }
            changes.tell(BRIDGE, &up)?;
            if !on_wires {
                return Ok(());
            }
            let mut requests = Vec::new();
            for (n, wire) in [1, 2].into_iter().zip(links) {
                let [host_side, switch_side] = ends(n);
                for (device, way) in ways(n, wire) {
                    requests.extend(link::wire(&device, way));
                }
                requests.extend(qdisc::redirect(&host_side, &switch_side));
                requests.extend(qdisc::redirect(&switch_side, &host_side));
            }
            changes.queues(&requests)
        })?;
        if on_wires {
            return Ok(());
        }
        self.shape_as_mininet(links, false)
    }

    fn replace_two(&self, at: Place, links: &[Link; 2]) -> Result<()> {
        if at == Place::Host {
            return self.shape_as_mininet(links, true);
        }
        let mut requests = Vec::new();
        for (n, wire) in [1, 2].into_iter().zip(links) {
            for (device, way) in ways(n, wire) {
                requests.push(qdisc::none(&device));
                requests.extend(link::wire(&device, way));
            }
        }
        change(&self.switch, |changes| changes.queues(&requests))
    }

    /// Gives all four ends of the links the queues of mininet, in the stead of those that are there where these are set up
    /// `anew`.
    fn shape_as_mininet(&self, links: &[Link; 2], anew: bool) -> Result<()> {
        for (n, link) in [1, 2].into_iter().zip(links) {
            let host = if n == 1 { &self.h1 } else { &self.h2 };
            let near = (&self.switch, format!("s1-eth{n}"));
            for (namespace, device) in [(&host.namespace, host.device.to_owned()), near] {
                let mut requests = Vec::new();
                if anew {
                    requests.push(qdisc::none(&device));
                }
                requests.extend(link::in_host(&device, link)?);
                change(namespace, |changes| changes.queues(&requests))?;
            }
        }
        Ok(())
    }

    fn build_hosts(&self, manner: Manner) -> Result<()> {
        for (host, other, other_mac) in [(&self.h1, &self.h2, MAC[1]), (&self.h2, &self.h1, MAC[0])]
        {
            let (device, peer) = (host.device, other.address);
            let metrics = match host.namespace.name() {
                "h2" => manner.of_client(),
                _ => manner.of_server(),
            };
            change(&host.namespace, |changes| {
                host::loopback(changes)?;
                host::bring_up(changes, device, host.address, manner.offloads)?;
                // A TUN device has no link layer.
                if self.line.is_none() {
                    changes.neighbour(device, peer, other_mac)?;
                }
                if metrics.is_empty() {
                    return Ok(());
                }
                changes.route(&Route {
                    to: Some(peer),
                    device: Some(device),
                    metrics: &metrics,
                    ..Route::default()
                })
            })?;
            host::offload(&host.namespace, device, manner.offloads)?;
            if let Some(qdisc) = manner.qdisc {
                host::queue(host, device, qdisc)?;
            }
        }
        Ok(())
    }
}
