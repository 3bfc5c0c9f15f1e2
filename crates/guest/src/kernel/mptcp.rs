//! The kernel's own path manager, told of addresses through generic netlink (linux/mptcp_pm.h).

use std::net::IpAddr;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::SockProtocol;

use crate::netlink::{self, Message, Socket};

/// The protocol number that makes a socket a Multipath TCP socket.
pub const IPPROTO_MPTCP: i32 = 262;
/// Subflows that a connection can have beside its first (MPTCP_PM_ADDR_MAX).
const MOST_SUBFLOWS: usize = 8;

const ENABLED: &str = "/proc/sys/net/mptcp/enabled";
const SCHEDULER: &str = "/proc/sys/net/mptcp/scheduler";

const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

const VERSION: u8 = 1;
const CMD_ADD_ADDR: u8 = 1;
const CMD_FLUSH_ADDRS: u8 = 4;
const CMD_SET_LIMITS: u8 = 5;
const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ADDR_FAMILY: u16 = 1;
const ADDR_4: u16 = 3;
const ADDR_6: u16 = 4;
const ADDR_FLAGS: u16 = 6;
const FLAG_SUBFLOW: u32 = 1 << 1;
const NLA_F_NESTED: u16 = 1 << 15;

/// How to call what is missing, where the kernel speaks no Multipath TCP.
#[must_use]
pub fn lack() -> Option<String> {
    let there = Path::new(ENABLED).exists();
    let what = "Multipath TCP (no net.mptcp.enabled): build it with CONFIG_MPTCP, or choose `protocol = \"tcp\"`";
    (!there).then(|| what.to_owned())
}

/// The name of the packet scheduler of the calling thread's network namespace. Kernels before 6.6 have one, without a
/// name: it is the one that later ones call `default`.
#[must_use]
pub fn scheduler() -> String {
    let name = std::fs::read_to_string(SCHEDULER).unwrap_or_default();
    match name.trim() {
        "" => "default".to_owned(),
        name => name.to_owned(),
    }
}

/// The path manager of one network namespace.
pub struct PathManager {
    socket: Socket,
    family: u16,
}

impl PathManager {
    /// For the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        let socket = Socket::open(SockProtocol::NetlinkGeneric)?;
        let family = family(&socket)?;
        Ok(Self { socket, family })
    }

    /// Allows `subflows` beside the first of a connection, and as many addresses that the other side tells of.
    pub fn allow(&self, subflows: usize) -> Result<()> {
        if subflows > MOST_SUBFLOWS {
            bail!("{subflows} further subflows: the kernel's path manager allows {MOST_SUBFLOWS}");
        }
        let number = u32::try_from(subflows)?.to_ne_bytes();
        let attributes = [(ATTR_RCV_ADD_ADDRS, &number[..]), (ATTR_SUBFLOWS, &number)];
        self.command(CMD_SET_LIMITS, &attributes)?
            .with_context(|| format!("{subflows} further subflows"))
    }

    /// Has every connection open a subflow from `address`, once it is confirmed.
    pub fn open_subflows_from(&self, address: IpAddr) -> Result<()> {
        let mut nested = Vec::new();
        let mut add = |kind, value: &[u8]| netlink::add_attribute(&mut nested, kind, value);
        match address {
            IpAddr::V4(ip) => {
                add(ADDR_FAMILY, &(libc::AF_INET as u16).to_ne_bytes());
                add(ADDR_4, &ip.octets());
            }
            IpAddr::V6(ip) => {
                add(ADDR_FAMILY, &(libc::AF_INET6 as u16).to_ne_bytes());
                add(ADDR_6, &ip.octets());
            }
        }
        add(ADDR_FLAGS, &FLAG_SUBFLOW.to_ne_bytes());
        self.command(CMD_ADD_ADDR, &[(ATTR_ADDR | NLA_F_NESTED, &nested)])?
            .with_context(|| format!("an endpoint at {address}"))
    }

    /// Forgets all addresses.
    pub fn forget_addresses(&self) -> Result<()> {
        self.command(CMD_FLUSH_ADDRS, &[])?
            .context("cannot forget the endpoints")
    }

    fn command(&self, command: u8, attributes: &[(u16, &[u8])]) -> Result<Result<(), Errno>> {
        let mut buffer = Vec::new();
        let mut message = Message::begin(&mut buffer, self.family, libc::NLM_F_ACK)
            .body(&[command, VERSION, 0, 0]);
        for (kind, value) in attributes {
            message = message.attribute(*kind, value);
        }
        message.end();
        self.socket.request(&buffer)
    }
}

/// The number that the kernel gave the path manager's messages.
fn family(socket: &Socket) -> Result<u16> {
    let mut buffer = Vec::new();
    Message::begin(&mut buffer, GENL_ID_CTRL, 0)
        .body(&[CTRL_CMD_GETFAMILY, 1, 0, 0])
        .attribute(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0")
        .end();
    let Ok(body) = socket.ask(&buffer)? else {
        bail!("this kernel has no path manager for Multipath TCP");
    };
    let mut told = netlink::attributes(body.get(4..).unwrap_or_default());
    told.find(|(kind, _)| *kind == CTRL_ATTR_FAMILY_ID)
        .and_then(|(_, value)| netlink::u16_at(value, 0))
        .ok_or_else(|| anyhow!("generic netlink does not say the path manager's number"))
}
