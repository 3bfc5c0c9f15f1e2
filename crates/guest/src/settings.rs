//! The kernel settings of a host: set, read back, and named when the kernel takes them without heeding them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use rexmit_plan::Ignored;

use crate::net::Namespace;

/// What is set on every host, before the scenario's own settings: no transfer may start from what an earlier one has
/// learned, and buffers must be what they are on an ordinary machine, not what the guest's little memory makes of them
/// (`tcp_init`).
const ALWAYS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// The same of what not every kernel has. With it a connection of Multipath TCP whose SYNs were lost would make all later
/// ones of an hour plain TCP (6.12, `mptcp_active_disable`).
const WHERE_THERE: [(&str, &str); 1] = [("net.mptcp.blackhole_timeout", "0")];

/// Bounds the window that `host` offers to about `bytes`, whatever program runs there: the receive buffer cannot grow, and
/// holds what makes such a window (`tcp_win_from_space`).
///
/// Until Linux 6.5 a window is half the buffer. Since 6.6 it is the share of payload in what arrives, `scaling_ratio`:
/// half at first, then 0.59 with full segments over veth, so the first windows are smaller.
pub fn bound_receive_window(host: &Namespace, bytes: u32, release: (u32, u32)) -> Result<()> {
    let per_mille = if release >= (6, 6) { 1700 } else { 2000 };
    let space = u64::from(bytes) * per_mille / 1000;
    host.run(|| {
        set("net.ipv4.tcp_moderate_rcvbuf", "0")?;
        set(
            "net.ipv4.tcp_rmem",
            &format!("{} {space} {space}", space.min(4096)),
        )?;
        Ok(())
    })
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// What settings were before they were first set, by host.
#[derive(Default)]
pub struct Former(BTreeMap<String, BTreeMap<String, String>>);

/// Sets everything back to what `former` says, in each of `hosts`.
pub fn restore(hosts: &[&Namespace], former: &Former) -> Result<()> {
    for host in hosts {
        host.run(|| {
            let values = former.0.get(host.name()).into_iter().flatten();
            for (name, value) in values {
                set(name, value)?;
            }
            Ok(())
        })
        .with_context(|| format!("on host {}", host.name()))?;
    }
    Ok(())
}

/// Sets `sysctls` and the congestion control in each of `hosts`; returns what the kernel says they are, and keeps in
/// `former` what they were.
pub fn apply(
    hosts: &[&Namespace],
    sysctls: &BTreeMap<String, String>,
    congestion_control: &str,
    former: &mut Former,
) -> Result<BTreeMap<String, String>> {
    let mut read_back = BTreeMap::new();
    let mut all: Vec<(&str, &str)> = ALWAYS.to_vec();
    all.extend(WHERE_THERE.iter().filter(|(name, _)| is_there(name)));
    all.extend(
        sysctls
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    all.push(("net.ipv4.tcp_congestion_control", congestion_control));
    // All of it before anything is set: an old kernel has one set of settings for all hosts.
    for host in hosts {
        let former = former.0.entry(host.name().to_owned()).or_default();
        host.run(|| {
            for (name, _) in &all {
                if !former.contains_key(*name) {
                    former.insert((*name).to_owned(), get(name)?);
                }
            }
            Ok(())
        })
        .with_context(|| format!("on host {}", host.name()))?;
    }
    for host in hosts {
        host.run(|| {
            let available = fs::read_to_string(AVAILABLE).with_context(|| AVAILABLE.to_owned())?;
            if !available.split_whitespace().any(|name| name == congestion_control) {
                let available = available.trim();
                bail!("this kernel has no congestion control {congestion_control}; it has: {available}");
            }
            for (name, value) in &all {
                read_back.insert((*name).to_owned(), set(name, value)?);
            }
            Ok(())
        })
        .with_context(|| format!("on host {}", host.name()))?;
    }
    Ok(read_back)
}

/// Whether the kernel has this sysctl.
fn is_there(name: &str) -> bool {
    Path::new("/proc/sys").join(name.replace('.', "/")).exists()
}

/// Sets one sysctl of the calling thread's network namespace and returns the value that the kernel has then.
fn set(name: &str, value: &str) -> Result<String> {
    let path = path(name)?;
    let reason = |error: std::io::Error| Errno::try_from(error).map_or("", Errno::desc);
    let refused = |error| anyhow!("this kernel refuses {name} = {value}: {}", reason(error));
    fs::write(&path, value).map_err(refused)?;
    let now = get(name)?;
    let same = now.split_whitespace().eq(value.split_whitespace());
    if !same {
        bail!("this kernel took {name} = {value} but has {} now", now);
    }
    Ok(now)
}

/// One sysctl of the calling thread's network namespace.
fn get(name: &str) -> Result<String> {
    let path = path(name)?;
    let value = fs::read_to_string(path).with_context(|| format!("{name} cannot be read"))?;
    Ok(value.trim().to_owned())
}

/// Where a sysctl of a host stands.
fn path(name: &str) -> Result<PathBuf> {
    if !name.starts_with("net.") || name.contains('/') || name.split('.').any(str::is_empty) {
        bail!("{name}: only sysctls below net. belong to a host");
    }
    let path = PathBuf::from("/proc/sys").join(name.replace('.', "/"));
    if !path.exists() {
        bail!("this kernel has no setting {name}");
    }
    Ok(path)
}

/// What of `sysctls` a kernel of `release` (as `uname -r` prints it) takes without heeding it.
pub fn ignored(sysctls: &BTreeMap<String, String>, release: (u32, u32)) -> Vec<Ignored> {
    let mut found = Vec::new();
    let mut note = |name: &str, why: &str| {
        if let Some(value) = sysctls.get(name) {
            found.push(Ignored {
                setting: format!("{name} = {value}"),
                why: why.to_owned(),
            });
        }
    };
    let value = |name: &str| sysctls.get(name).map(|text| text.trim());
    if release >= (4, 15) && value("net.ipv4.tcp_fack") != Some("0") {
        note(
            "net.ipv4.tcp_fack",
            "taken and ignored: FACK was removed in Linux 4.15",
        );
    }
    // Early retransmit was removed in Linux 4.11, and RACK took its place.
    if release >= (4, 11) {
        match value("net.ipv4.tcp_early_retrans") {
            Some("1" | "2") => note(
                "net.ipv4.tcp_early_retrans",
                "early retransmit is ignored (removed in Linux 4.11 for RACK); it switches tail loss probes off",
            ),
            Some("3") => note(
                "net.ipv4.tcp_early_retrans",
                "early retransmit is ignored (removed in Linux 4.11 for RACK); it switches tail loss probes on",
            ),
            _ => {}
        }
    }
    if release >= (4, 14) {
        note(
            "net.ipv4.tcp_low_latency",
            "taken and ignored: the prequeue was removed in Linux 4.14",
        );
    }
    if release >= (6, 17) && value("net.ipv4.tcp_recovery").is_some() {
        note(
            "net.ipv4.tcp_recovery",
            "bit 0x1 is ignored: RACK is always on for SACK connections since Linux 6.17",
        );
    }
    found
}

/// Major and minor version of a release such as `6.12.117`.
pub fn series(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysctls(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn fack_is_ignored_since_4_15_only_when_asked_for() {
        let on = sysctls(&[("net.ipv4.tcp_fack", "1")]);
        assert_eq!(ignored(&on, (6, 1)).len(), 1);
        assert_eq!(ignored(&on, (3, 10)), []);
        assert_eq!(ignored(&sysctls(&[("net.ipv4.tcp_fack", "0")]), (6, 1)), []);
    }

    #[test]
    fn early_retransmit_is_gone() {
        let er = ignored(&sysctls(&[("net.ipv4.tcp_early_retrans", "2")]), (6, 12));
        assert!(er[0].why.contains("RACK"), "{er:?}");
        assert_eq!(
            ignored(&sysctls(&[("net.ipv4.tcp_early_retrans", "0")]), (6, 12)),
            []
        );
    }

    #[test]
    fn releases_are_split() {
        assert_eq!(series("6.12.117"), Some((6, 12)));
        assert_eq!(series("6.1.192-rexmit"), Some((6, 1)));
        assert_eq!(series("next"), None);
    }

    #[test]
    fn only_network_settings_belong_to_a_host() {
        for name in [
            "kernel.panic",
            "net..x",
            "net.ipv4/tcp_sack",
            "vm.swappiness",
        ] {
            assert!(set(name, "1").is_err(), "{name}");
        }
    }
}
