//! Which parts of a network the kernel can make, tried out in a namespace that goes at once.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sched::{unshare, CloneFlags};

use super::changes::{change_here, Changes, End};
use super::line;
use super::namespace::in_thread;
use super::qdisc::{self, Request};
use crate::interfaces;
use crate::netlink::Refusal;

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
    // Addresses of our own: the kernel would take some by chance, of which all later chance depends.
    let end = |name, last| End {
        mac: Some([2, 0, 0, 0xff, 0, last]),
        ..End::here(name)
    };
    if !makes(|changes| changes.pair(end("probe0", 1), end("probe1", 2), 1500))? {
        lack(Part::Veth, "veth (CONFIG_VETH)");
    }
    if !makes(|changes| changes.bridge(end("probe2", 1)))? {
        lack(Part::Bridge, "bridge (CONFIG_BRIDGE)");
    }
    if let Err(error) = line::open_here("probe3") {
        lack(Part::Tun, &format!("TUN devices (CONFIG_TUN: {error:#})"));
    }
    // A loopback can have queues, too.
    let device = "lo";
    if queue(&[qdisc::delay(device, 0)]).is_err() {
        lack(Part::Netem, "netem (CONFIG_NET_SCH_NETEM)");
    } else {
        queue(&[qdisc::none(device)])?;
        if interfaces::kernel() < (3, 3) {
            lack(Part::Netem, "netem with a rate (Linux 3.3)");
        }
    }
    if queue(&[qdisc::htb(device)]).is_err() {
        lack(Part::Htb, "htb (CONFIG_NET_SCH_HTB)");
    }
    if let Err(error) = queue(&qdisc::redirect(device, device)) {
        let options = "CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_U32, CONFIG_NET_ACT_MIRRED";
        lack(
            Part::Redirect,
            &format!("wires between interfaces ({options}: {error:#})"),
        );
    }
    Ok(found)
}

/// Makes an interface; false where the kernel knows none of that kind.
fn makes(tell: impl FnOnce(&mut Changes)) -> Result<bool> {
    let outcome = change_here(|changes| {
        tell(changes);
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(true),
        Err(error) => match error.downcast_ref::<Refusal>() {
            Some(refusal) if refusal.errno == Errno::EOPNOTSUPP => Ok(false),
            _ => Err(error),
        },
    }
}

/// Tries queues out.
fn queue(requests: &[Request]) -> Result<()> {
    change_here(|changes| changes.queues(requests))
}
