//! Which parts of a network the kernel can make, tried out in a namespace that goes at once.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sched::{unshare, CloneFlags};
use nix::sys::socket::SockProtocol;

use super::line;
use super::namespace::in_thread;
use super::qdisc;
use crate::interfaces;
use crate::netlink::{self, Message, Socket};

/// Something that a network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Hosts.
    Namespaces,
    /// Interfaces.
    Veth,
    /// A switch.
    Bridge,
    /// What links do to packets.
    Netem,
    /// Shaping in the host, as mininet does it.
    Htb,
    /// Wires between interfaces.
    Redirect,
    /// Interfaces whose packets a program reads and writes.
    Tun,
}

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
/// Bytes of `struct ifinfomsg`.
const INTERFACE_HEADER: usize = 16;

/// Parts that cannot be made, and how to call what is missing.
pub type Lacks = Vec<(Part, String)>;

/// Calls `more` in a fresh network namespace; with what it gives the parts that cannot be made there, and how to call what
/// is missing. `None` where there are no namespaces.
pub fn probe<T: Send>(more: impl FnOnce() -> Result<T> + Send) -> Result<(Lacks, Option<T>)> {
    in_thread(|| {
        match unshare(CloneFlags::CLONE_NEWNET) {
            Ok(()) => {}
            Err(Errno::EINVAL | Errno::ENOSYS) => {
                let what = "network namespaces (CONFIG_NET_NS)".to_owned();
                return Ok((vec![(Part::Namespaces, what)], None));
            }
            Err(error) => return Err(error).context("unshare(CLONE_NEWNET)"),
        }
        Ok((lacks()?, Some(more()?)))
    })
}

/// The parts that cannot be made in the calling thread's namespace.
fn lacks() -> Result<Lacks> {
    let mut found = Vec::new();
    let mut lack = |part, what: &str| found.push((part, what.to_owned()));
    if !make("veth", "probe0", Some("probe1"))? {
        lack(Part::Veth, "veth (CONFIG_VETH)");
    }
    if !make("bridge", "probe2", None)? {
        lack(Part::Bridge, "bridge (CONFIG_BRIDGE)");
    }
    if let Err(error) = line::open_here("probe3") {
        lack(Part::Tun, &format!("TUN devices (CONFIG_TUN: {error:#})"));
    }
    // A loopback can have queues, too.
    let device = "lo";
    if qdisc::carry_out_here(&[qdisc::delay(device, 0)]).is_err() {
        lack(Part::Netem, "netem (CONFIG_NET_SCH_NETEM)");
    } else {
        qdisc::carry_out_here(&[qdisc::none(device)])?;
        if interfaces::kernel() < (3, 3) {
            lack(Part::Netem, "netem with a rate (Linux 3.3)");
        }
    }
    if qdisc::carry_out_here(&[qdisc::htb(device)]).is_err() {
        lack(Part::Htb, "htb (CONFIG_NET_SCH_HTB)");
    }
    if let Err(error) = qdisc::carry_out_here(&qdisc::redirect(device, device)) {
        let options = "CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_U32, CONFIG_NET_ACT_MIRRED";
        lack(
            Part::Redirect,
            &format!("wires between interfaces ({options}: {error:#})"),
        );
    }
    Ok(found)
}

/// Makes an interface of `kind`, with the other end of a pair; false where the kernel knows no such kind.
fn make(kind: &str, name: &str, peer: Option<&str>) -> Result<bool> {
    // Addresses of our own: the kernel would take some by chance, of which all later chance depends.
    let own = |name: &str, last: u8| {
        let mut bytes = Vec::new();
        netlink::add_attribute(&mut bytes, IFLA_IFNAME, &[name.as_bytes(), b"\0"].concat());
        netlink::add_attribute(&mut bytes, IFLA_ADDRESS, &[2, 0, 0, 0xff, 0, last]);
        bytes
    };
    let mut info = Vec::new();
    netlink::add_attribute(&mut info, IFLA_INFO_KIND, kind.as_bytes());
    if let Some(peer) = peer {
        let mut other = vec![0; INTERFACE_HEADER];
        other.extend(own(peer, 2));
        let mut data = Vec::new();
        netlink::add_attribute(&mut data, VETH_INFO_PEER, &other);
        netlink::add_attribute(&mut info, IFLA_INFO_DATA, &data);
    }
    let flags = libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let mut message = Vec::new();
    Message::begin(&mut message, libc::RTM_NEWLINK, flags)
        .body(&[0; INTERFACE_HEADER])
        .body(&own(name, 1))
        .attribute(IFLA_LINKINFO, &info)
        .end();
    match Socket::open(SockProtocol::NetlinkRoute)?.request(&message)? {
        Ok(()) => Ok(true),
        Err(Errno::EOPNOTSUPP) => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot make a {kind}")),
    }
}
