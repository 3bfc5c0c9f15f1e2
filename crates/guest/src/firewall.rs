//! Sends packets that leave a host for a program or from it through a queue: by nftables, or where the kernel has none by
//! its tables of iptables.

mod nftables;
pub mod shortcut;
mod xtables;

use std::net::IpAddr;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::socket::SockProtocol;

use crate::interfaces;
use crate::net::Namespace;
use crate::netlink::{Message, Socket};
use nftables::Rules;
use shortcut::Shortcut;

const NFNL_SUBSYS_NFTABLES: u16 = 10;
const NFPROTO_INET: u8 = 1;

/// Which packets of a host go through a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Those from this port.
    From(u16),
    /// Those to this port.
    To(u16),
}

/// What a kernel sends packets to a queue with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firewall {
    /// nf_tables with its family for both versions of IP, which came with Linux 3.14.
    Nftables,
    /// ip_tables or ip6_tables.
    Xtables,
}

impl Firewall {
    /// That of the kernel.
    pub fn of_kernel() -> Result<Self> {
        let new = interfaces::has((3, 14)) && has_nf_tables()?;
        Ok(if new { Self::Nftables } else { Self::Xtables })
    }

    /// Why no packets of `address`'s IP version can be sent to a queue in the calling thread's namespace; `None` where they
    /// can.
    pub fn lack(address: IpAddr) -> Result<Option<String>> {
        match Self::of_kernel()? {
            Self::Nftables => Ok(None),
            Self::Xtables => {
                let tried = xtables::queue(address, Sent::From(1), 0);
                Ok(tried.err().map(|error| format!("nf_tables, and {error:#}")))
            }
        }
    }

    /// Sends packets of TCP that leave `host` otherwise than over its loopback through a queue of that host. `address` is of
    /// the IP version that it speaks. `quiet`: some of those from a port may be let pass.
    pub fn queue(
        self,
        host: &Namespace,
        address: IpAddr,
        (sent, quiet): (Sent, bool),
        queue: u16,
    ) -> Result<Option<Shortcut>> {
        match self {
            Self::Nftables => {
                let mut rules = Rules::new();
                let port = match sent {
                    Sent::From(port) if quiet && shortcut::is_known() => Some(port),
                    _ => None,
                };
                if let Some(port) = port {
                    shortcut::add_to(&mut rules, port);
                }
                rules.rule(sent, &[nftables::queue(queue)]);
                host.run(|| rules.carry_out())?;
                port.map(|_| Shortcut::of(host)).transpose()
            }
            Self::Xtables => {
                host.run(|| xtables::queue(address, sent, queue))?;
                Ok(None)
            }
        }
    }
}

/// Whether the kernel knows nf_tables: it answers a question about a table that is not there.
fn has_nf_tables() -> Result<bool> {
    const NFT_MSG_GETTABLE: u16 = NFNL_SUBSYS_NFTABLES << 8 | 1;
    const NFTA_TABLE_NAME: u16 = 1;
    let Ok(socket) = Socket::open(SockProtocol::NetlinkNetFilter) else {
        // Not even nfnetlink is there.
        return Ok(false);
    };
    let mut message = Vec::new();
    Message::begin(&mut message, NFT_MSG_GETTABLE, libc::NLM_F_ACK)
        .body(&[NFPROTO_INET, 0, 0, 0])
        .attribute(NFTA_TABLE_NAME, b"rexmit\0")
        .end();
    match socket.request(&message).context("nf_tables")? {
        // ENOENT, or a table of that name.
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        // EINVAL where no part of the kernel answers for nf_tables; EAFNOSUPPORT before Linux 3.14; EPERM, which the
        // guest never sees.
        Err(_) => Ok(false),
    }
}
