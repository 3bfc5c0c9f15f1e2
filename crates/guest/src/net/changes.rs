//! Changes to interfaces, addresses and routes, told to the kernel in one go (rtnetlink(7), linux/if_link.h).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use super::namespace::Namespace;
use crate::netlink::{attribute, text, u32_at, Batch, Message, Socket, NESTED};

const VETH_INFO_PEER: u16 = 1;
const IFLA_BR_STP_STATE: u16 = 5;
const IFLA_BR_MCAST_SNOOPING: u16 = 23;
const RTAX_LOCK: u16 = 1;
pub const RTAX_WINDOW: u16 = 3;
pub const RTAX_INITCWND: u16 = 11;
pub const RTAX_RTO_MIN: u16 = 13;
pub const RTAX_INITRWND: u16 = 14;
pub const RTAX_QUICKACK: u16 = 15;
const FRA_SRC: u16 = 2;
const FR_ACT_TO_TBL: u8 = 1;
/// Bytes of `struct ifinfomsg`.
const INTERFACE_HEADER: usize = 16;
/// Bytes of `struct rtmsg`.
const ROUTE_HEADER: usize = 12;

/// What makes something that is not there yet.
const NEW: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
/// What takes the place of what is there, if there is something.
const IN_PLACE: i32 = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;

/// Changes to come of the calling thread's network namespace.
#[derive(Default)]
pub struct Changes {
    batch: Batch,
    indices: BTreeMap<String, u32>,
}

/// Carries out what `tell` names, in a namespace and in that order.
pub fn change(namespace: &Namespace, tell: impl FnOnce(&mut Changes) -> Result<()>) -> Result<()> {
    let changed = namespace.run(|| change_here(tell));
    changed.with_context(|| format!("on {}", namespace.name()))
}

/// The same in the calling thread's namespace.
pub fn change_here(tell: impl FnOnce(&mut Changes) -> Result<()>) -> Result<()> {
    let mut changes = Changes::default();
    tell(&mut changes)?;
    changes.batch.ask();
    Socket::open(SockProtocol::NetlinkRoute)?.carry_out(&changes.batch)
}

/// A new interface, or one end of a pair.
#[derive(Clone, Copy)]
pub struct End<'a> {
    pub name: &'a str,
    /// Its hardware address; by chance where it is `None`.
    pub mac: Option<[u8; 6]>,
    /// Where it is, if not where the pair is made.
    pub host: Option<&'a Namespace>,
}

impl<'a> End<'a> {
    /// One in the same namespace, with an address by chance.
    pub fn here(name: &'a str) -> Self {
        Self {
            name,
            mac: None,
            host: None,
        }
    }

    fn attributes(self, mtu: Option<u32>) -> Vec<u8> {
        let mut all = text(libc::IFLA_IFNAME, self.name);
        if let Some(mtu) = mtu {
            all.extend(attribute(libc::IFLA_MTU, &mtu.to_ne_bytes()));
        }
        if let Some(mac) = self.mac {
            all.extend(attribute(libc::IFLA_ADDRESS, &mac));
        }
        if let Some(host) = self.host {
            let descriptor = host.file().as_raw_fd().to_ne_bytes();
            all.extend(attribute(libc::IFLA_NET_NS_FD, &descriptor));
        }
        all
    }
}

/// What an interface is told to be.
#[derive(Default)]
pub struct Told<'a> {
    pub up: bool,
    pub mac: Option<[u8; 6]>,
    pub mtu: Option<u32>,
    /// Packets that may wait for it.
    pub room: Option<u32>,
    /// The most segments of a super-segment.
    pub most_segments: Option<u32>,
    /// The bridge that it is a port of.
    pub bridge: Option<&'a str>,
}

/// A route of the kind that hosts have.
#[derive(Clone, Copy, Default)]
pub struct Route<'a> {
    /// Where it leads; everywhere if `None`.
    pub to: Option<IpAddr>,
    pub via: Option<IpAddr>,
    pub device: Option<&'a str>,
    /// The address that packets leave with.
    pub from: Option<IpAddr>,
    /// The number of its table, if not the first.
    pub table: Option<u8>,
    /// What it says of connections (`RTAX_…`).
    pub metrics: &'a [(u16, u32)],
}

impl Changes {
    /// Begins a message: family and what else `header` has of its own come first.
    pub(super) fn add(&mut self, what: String, kind: u16, flags: i32) -> Message<'_> {
        self.batch.add(what, kind, flags)
    }

    /// The number of an interface that is there.
    pub(super) fn index(&mut self, device: &str) -> Result<u32> {
        if let Some(&known) = self.indices.get(device) {
            return Ok(known);
        }
        let index = if_nametoindex(device).with_context(|| device.to_owned())?;
        self.indices.insert(device.to_owned(), index);
        Ok(index)
    }

    /// Makes a pair of veth interfaces.
    pub fn pair(&mut self, near: End<'_>, far: End<'_>, mtu: u32) {
        let peer = [vec![0; INTERFACE_HEADER], far.attributes(Some(mtu))].concat();
        let what = format!("a pair of veth {} and {}", near.name, far.name);
        let data = attribute(VETH_INFO_PEER | NESTED, &peer);
        self.interface(what, "veth", &near.attributes(Some(mtu)), &data);
    }

    /// Makes a bridge without spanning trees, which does not listen for groups.
    pub fn bridge(&mut self, end: End<'_>) {
        let mut data = attribute(IFLA_BR_STP_STATE, &0_u32.to_ne_bytes());
        data.extend(attribute(IFLA_BR_MCAST_SNOOPING, &[0]));
        self.interface(
            format!("a bridge {}", end.name),
            "bridge",
            &end.attributes(None),
            &data,
        );
    }

    /// Makes an interface that loses all that it is given.
    pub fn dummy(&mut self, name: &str) {
        let own = End::here(name).attributes(None);
        self.interface(format!("a dummy {name}"), "dummy", &own, &[]);
    }

    /// Makes an interface of `kind`.
    fn interface(&mut self, what: String, kind: &str, own: &[u8], data: &[u8]) {
        let mut info = attribute(libc::IFLA_INFO_KIND, kind.as_bytes());
        if !data.is_empty() {
            info.extend(attribute(libc::IFLA_INFO_DATA | NESTED, data));
        }
        self.add(what, libc::RTM_NEWLINK, NEW)
            .body(&[0; INTERFACE_HEADER])
            .body(own)
            .attribute(libc::IFLA_LINKINFO | NESTED, &info)
            .end();
    }

    /// Tells an interface what to be.
    pub fn tell(&mut self, device: &str, told: &Told<'_>) -> Result<()> {
        let bridge = told.bridge.map(|name| self.index(name)).transpose()?;
        let words = [
            (libc::IFLA_MTU, told.mtu),
            (libc::IFLA_TXQLEN, told.room),
            (libc::IFLA_GSO_MAX_SEGS, told.most_segments),
            (libc::IFLA_MASTER, bridge),
        ];
        let up = if told.up { libc::IFF_UP as u32 } else { 0 };
        let mut header = [0; INTERFACE_HEADER];
        header[8..12].copy_from_slice(&up.to_ne_bytes());
        header[12..].copy_from_slice(&up.to_ne_bytes());
        let what = format!("the interface {device}");
        let mut message = self
            .add(what, libc::RTM_NEWLINK, 0)
            .body(&header)
            .body(&text(libc::IFLA_IFNAME, device));
        for (kind, word) in words {
            if let Some(word) = word {
                message = message.attribute(kind, &word.to_ne_bytes());
            }
        }
        if let Some(mac) = told.mac {
            message = message.attribute(libc::IFLA_ADDRESS, &mac);
        }
        message.end();
        Ok(())
    }

    /// Gives an interface its address in a network of 256 addresses (IPv6: 2⁶⁴), which is not looked for elsewhere.
    pub fn address(&mut self, device: &str, address: IpAddr) -> Result<()> {
        let index = self.index(device)?;
        let (length, flags) = match address {
            IpAddr::V4(_) => (24, 0),
            IpAddr::V6(_) => (64, libc::IFA_F_NODAD as u8),
        };
        let bytes = octets(address);
        let what = format!("the address {address} of {device}");
        self.add(what, libc::RTM_NEWADDR, NEW)
            .body(&[family(address), length, flags, libc::RT_SCOPE_UNIVERSE])
            .body(&index.to_ne_bytes())
            .attribute(libc::IFA_LOCAL, &bytes)
            .attribute(libc::IFA_ADDRESS, &bytes)
            .end();
        Ok(())
    }

    /// Tells of a neighbour, so that nobody need ask for it.
    pub fn neighbour(&mut self, device: &str, address: IpAddr, mac: [u8; 6]) -> Result<()> {
        let index = self.index(device)?;
        let state = libc::NUD_PERMANENT.to_ne_bytes();
        let what = format!("the neighbour {address} of {device}");
        self.add(what, libc::RTM_NEWNEIGH, IN_PLACE)
            .body(&[family(address), 0, 0, 0])
            .body(&index.to_ne_bytes())
            .body(&[state[0], state[1], 0, 0])
            .attribute(libc::NDA_DST, &octets(address))
            .attribute(libc::NDA_LLADDR, &mac)
            .end();
        Ok(())
    }

    /// Adds a route, of the IP version of what it names, in the place of one that leads to the same address.
    pub fn route(&mut self, route: &Route<'_>) -> Result<()> {
        let index = route.device.map(|name| self.index(name)).transpose()?;
        let version = route.to.or(route.via).map_or(0, family);
        let length = route.to.map_or(0, |to| octets(to).len() as u8 * 8);
        // What leads to one without a router's help is near.
        let scope = match route.via {
            Some(_) => libc::RT_SCOPE_UNIVERSE,
            None => libc::RT_SCOPE_LINK,
        };
        let table = route.table.unwrap_or(libc::RT_TABLE_MAIN);
        let ends = [
            (libc::RTA_DST, route.to),
            (libc::RTA_GATEWAY, route.via),
            (libc::RTA_PREFSRC, route.from),
        ];
        let what = match route.to {
            Some(to) => format!("the route to {to}"),
            None => "the route to everywhere".to_owned(),
        };
        let flags = if route.to.is_some() { IN_PLACE } else { NEW };
        let (boot, unicast) = (libc::RTPROT_BOOT, libc::RTN_UNICAST);
        let mut message = self.add(what, libc::RTM_NEWROUTE, flags).body(&[
            version, length, 0, 0, table, boot, scope, unicast, 0, 0, 0, 0,
        ]);
        for (kind, address) in ends {
            if let Some(address) = address {
                message = message.attribute(kind, &octets(address));
            }
        }
        if let Some(index) = index {
            message = message.attribute(libc::RTA_OIF, &index.to_ne_bytes());
        }
        if !route.metrics.is_empty() {
            message = message.attribute(libc::RTA_METRICS | NESTED, &metrics(route.metrics));
        }
        message.end();
        Ok(())
    }

    /// What leaves with an address takes the routes of a table.
    pub fn rule(&mut self, from: IpAddr, table: u8) {
        let bytes = octets(from);
        let length = bytes.len() as u8 * 8;
        let action = FR_ACT_TO_TBL;
        self.add(format!("the rule for {from}"), libc::RTM_NEWRULE, NEW)
            .body(&[family(from), 0, length, 0, table, 0, 0, action, 0, 0, 0, 0])
            .attribute(FRA_SRC, &bytes)
            .end();
    }
}

/// Has the calling thread's namespace forget what it learned of its ways by IPv6: routes that are copies of others.
pub fn forget_learned_6() -> Result<()> {
    let socket = Socket::open(SockProtocol::NetlinkRoute)?;
    let mut all = Vec::new();
    let mut header = [0; ROUTE_HEADER];
    header[0] = libc::AF_INET6 as u8;
    Message::begin(&mut all, libc::RTM_GETROUTE, libc::NLM_F_DUMP)
        .body(&header)
        .end();
    let mut changes = Changes::default();
    let mut forget = |route: &[u8]| {
        if u32_at(route, 8).is_some_and(|flags| flags & libc::RTM_F_CLONED != 0) {
            let what = "what is known of a way".to_owned();
            changes.add(what, libc::RTM_DELROUTE, 0).body(route).end();
        }
    };
    let listed = socket.list(&all, &mut vec![0; 32 << 10], &mut forget);
    listed.context("routes")?;
    changes.batch.ask();
    socket.carry_out(&changes.batch)
}

/// Metrics of a route. The shortest timeout is locked: the kernel heeds no other (`tcp_rto_min`).
fn metrics(all: &[(u16, u32)]) -> Vec<u8> {
    let locked = all.iter().filter(|(kind, _)| *kind == RTAX_RTO_MIN);
    let locked = locked.map(|(kind, _)| (RTAX_LOCK, 1 << kind));
    let words = locked.chain(all.iter().copied());
    words
        .flat_map(|(kind, word): (u16, u32)| attribute(kind, &word.to_ne_bytes()))
        .collect()
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}
