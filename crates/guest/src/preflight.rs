//! What the kernel at hand has of what cells need, found out before one runs.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::Path;

use anyhow::{bail, Result};
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};
use rexmit_plan::{Ask, Cell, Layout, NetworkPlan, Place};
use serde::Serialize;

use crate::firewall::Firewall;
use crate::interfaces;
use crate::kernel::causes::Log;
use crate::kernel::mptcp;
use crate::kernel::socket::Inspector;
use crate::net::{line, probe, Lacks, Part};
use crate::nfqueue::Queue;
use crate::real_time;
use crate::settings;

/// The kernel, and what it lacks.
pub struct Kernel {
    release: String,
    /// Parts of a network, and how to call what is missing.
    network: Lacks,
    /// The same of what watches a transfer.
    watching: Watching,
    /// The algorithms for congestion control that hosts can choose.
    controls: Vec<String>,
}

/// How to call what is missing; `None` where it is there.
#[derive(Default)]
struct Watching {
    queue: Option<String>,
    firewall: Option<String>,
    firewall_6: Option<String>,
    sockets: Option<String>,
    packets: Option<String>,
}

/// The answer to [`Ask`].
#[derive(Debug, Serialize)]
pub struct Has {
    /// What no cell can do without and the kernel lacks.
    lacks: Vec<String>,
    /// Of each setting asked about, whether hosts have it.
    sysctls: BTreeMap<String, bool>,
    /// Of each algorithm, whether it can be chosen.
    congestion_controls: BTreeMap<String, bool>,
}

impl Kernel {
    /// Tries the kernel out.
    pub fn look(release: &str) -> Result<Self> {
        let (network, watching) = probe(watching)?;
        Ok(Self {
            release: release.to_owned(),
            network,
            watching: watching.unwrap_or_default(),
            controls: settings::congestion_controls()?,
        })
    }

    /// Fails where the kernel lacks something that `cell` needs, and names all of it.
    pub fn require(&self, cell: &Cell) -> Result<()> {
        let mut lacks = self.of_network(&cell.network);
        let over_line = line::carries(&cell.network);
        lacks.extend(self.of_watching(cell.network.family, cell.capture, over_line));
        if over_line {
            lacks.extend(line::lack(cell));
        }
        if cell.is_multipath() {
            lacks.extend(mptcp::lack());
        }
        if lacks.is_empty() {
            lacks.extend(self.of_settings(cell.sysctls.keys(), &cell.congestion_control)?);
        }
        self.fail(&lacks)
    }

    /// The same for a part of a corpus over `network`.
    pub fn require_part(&self, part: &rexmit_plan::Part, network: &NetworkPlan) -> Result<()> {
        let mut lacks = self.of_network(network);
        lacks.extend(self.watching.packets.clone());
        if part.causes > 0 && !Log::Causes.is_kept() {
            lacks.push("record of why it sends a segment again".into());
        }
        if lacks.is_empty() {
            lacks.extend(self.of_settings(part.sysctls.keys(), &part.congestion_control)?);
        }
        self.fail(&lacks)
    }

    /// The same for a network that nobody watches.
    pub fn require_network(&self, plan: &NetworkPlan) -> Result<()> {
        self.fail(&self.of_network(plan))
    }

    /// What no cell can do without, and whether the kernel has what is asked about.
    pub fn answer(&self, ask: &Ask) -> Result<Has> {
        let parts: &[Part] = if real_time::here() {
            &[Part::Namespaces, Part::Tun]
        } else {
            &[
                Part::Namespaces,
                Part::Veth,
                Part::Bridge,
                Part::Netem,
                Part::Redirect,
            ]
        };
        let mut lacks = self.of_parts(parts);
        lacks.extend(self.of_watching(4, false, real_time::here()));
        let mut sysctls = BTreeMap::new();
        let mut controls = BTreeMap::new();
        if lacks.is_empty() {
            let missing = settings::missing(ask.sysctls.iter().map(String::as_str))?;
            for name in &ask.sysctls {
                sysctls.insert(name.clone(), !missing.contains(&name.as_str()));
            }
            for name in &ask.congestion_controls {
                controls.insert(name.clone(), self.controls.contains(name));
            }
        }
        Ok(Has {
            lacks,
            sysctls,
            congestion_controls: controls,
        })
    }

    fn of_parts(&self, parts: &[Part]) -> Vec<String> {
        let lacks = self.network.iter().filter(|(part, _)| parts.contains(part));
        lacks.map(|(_, what)| what.clone()).collect()
    }

    fn of_network(&self, plan: &NetworkPlan) -> Vec<String> {
        let mut parts = vec![Part::Namespaces];
        if line::carries(plan) {
            parts.push(Part::Tun);
        } else {
            parts.extend([Part::Veth, Part::Netem]);
            if matches!(plan.layout, Layout::Links(_)) {
                parts.push(Part::Bridge);
            }
            parts.push(match plan.at {
                Place::Wire => Part::Redirect,
                Place::Host => Part::Htb,
            });
        }
        let mut lacks = self.of_parts(&parts);
        if plan.family == 6 && !Path::new("/proc/sys/net/ipv6").exists() {
            lacks.push("IPv6 (CONFIG_IPV6)".into());
        }
        lacks
    }

    fn of_watching(&self, family: u8, captures: bool, over_line: bool) -> Vec<String> {
        let watching = &self.watching;
        let firewall = if family == 4 {
            &watching.firewall
        } else {
            &watching.firewall_6
        };
        let packets = watching.packets.as_ref().filter(|_| captures);
        let queue = [&watching.queue, firewall];
        // A line is a filter's source itself.
        let queue = queue.into_iter().filter(|_| !over_line);
        let lacks = queue.chain([&watching.sockets]);
        let lacks = lacks.flatten().chain(packets);
        lacks.cloned().collect()
    }

    /// What hosts lack of settings and of algorithms for congestion control.
    fn of_settings<'a>(
        &self,
        sysctls: impl Iterator<Item = &'a String>,
        congestion_control: &str,
    ) -> Result<Vec<String>> {
        // Of an interface's own settings only the interface tells, once it is there.
        let of_interface = |name: &&str| name.contains(".conf.") || name.contains(".neigh.");
        let names = sysctls.map(String::as_str);
        let missing = settings::missing(names.filter(|name| !of_interface(name)))?;
        let mut lacks: Vec<_> = missing.into_iter().map(settings::lack).collect();
        let there = &self.controls;
        if !there.iter().any(|name| name == congestion_control) {
            let there = there.join(" ");
            lacks.push(format!(
                "congestion control {congestion_control}; it has: {there}"
            ));
        }
        Ok(lacks)
    }

    fn fail(&self, lacks: &[String]) -> Result<()> {
        if lacks.is_empty() {
            return Ok(());
        }
        bail!(
            "this kernel has no {} (Linux {})",
            lacks.join("; no "),
            self.release
        )
    }
}

/// Whether the kernel tells of a socket that there is. Of one that there is not it says the same as where it can tell of
/// none.
fn tells_of_sockets() -> bool {
    let told = || -> Result<bool> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let other = (Ipv4Addr::UNSPECIFIED, 0).into();
        let found = Inspector::open()?.ask(listener.local_addr()?, other)?;
        Ok(found.is_some())
    };
    told().unwrap_or(false)
}

/// Tries in the calling thread's namespace what a transfer is watched with.
fn watching() -> Result<Watching> {
    let mut queue = Queue::open(0)
        .err()
        .map(|error| format!("NFQUEUE ({error:#})"));
    if interfaces::kernel() < (3, 10) {
        queue = Some("NFQUEUE of each network namespace (Linux 3.10)".into());
    }
    let sockets = tells_of_sockets();
    let packets = socket(
        AddressFamily::Packet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    );
    Ok(Watching {
        queue,
        firewall: Firewall::lack(IpAddr::V4(Ipv4Addr::LOCALHOST))?,
        firewall_6: Firewall::lack(IpAddr::V6(Ipv6Addr::LOCALHOST))?,
        sockets: (!sockets).then(|| "sock_diag (CONFIG_INET_DIAG, CONFIG_INET_TCP_DIAG)".into()),
        packets: packets
            .err()
            .map(|error| format!("packet sockets (CONFIG_PACKET: {error})")),
    })
}
