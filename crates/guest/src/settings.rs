//! The kernel settings of a host: set, read back, and named when the kernel takes them without heeding them.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use nix::sched::{unshare, CloneFlags};
use rexmit_plan::Ignored;

use crate::net::{in_thread, Namespace};
use crate::real_time;

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

/// Since when Linux has some settings that scenarios name.
const SINCE: [(&str, (u32, u32)); 10] = [
    ("net.ipv4.tcp_early_retrans", (3, 5)),
    ("net.ipv4.tcp_fastopen", (3, 6)),
    ("net.ipv4.tcp_autocorking", (3, 14)),
    ("net.ipv4.tcp_max_reordering", (3, 18)),
    ("net.ipv4.tcp_invalid_ratelimit", (4, 0)),
    ("net.ipv4.tcp_min_tso_segs", (3, 12)),
    ("net.ipv4.tcp_recovery", (4, 4)),
    ("net.ipv4.tcp_pacing_ss_ratio", (4, 10)),
    ("net.ipv4.tcp_comp_sack_delay_ns", (4, 18)),
    ("net.ipv4.tcp_rto_min_us", (6, 11)),
];

/// Whose a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each host has its own.
    Host,
    /// All hosts share the kernel's only one, which stands in the first network namespace. So it is with TCP's settings
    /// before Linux 4.15 or so.
    Kernel,
}

/// Calls `work` where a setting stands that `host` heeds, and says whose it is; `None` where the kernel has none of that
/// name.
fn at<T: Send>(
    host: &Namespace,
    name: &str,
    work: impl Fn() -> Result<T> + Send + Sync,
) -> Result<Option<(Scope, T)>> {
    let path = path(name)?;
    // What all share may be seen in a host's namespace, but not be set there.
    let settable = || fs::metadata(&path).is_ok_and(|found| found.mode() & 0o200 != 0);
    let here = || settable().then(&work).transpose();
    if let Some(done) = host.run(here)? {
        return Ok(Some((Scope::Host, done)));
    }
    let shared = Namespace::in_first(here)?;
    Ok(shared.map(|done| (Scope::Kernel, done)))
}

/// The same for a setting that the kernel must have.
fn at_its_place<T: Send>(
    host: &Namespace,
    name: &str,
    work: impl Fn() -> Result<T> + Send + Sync,
) -> Result<(Scope, T)> {
    let done = at(host, name, work)?;
    done.ok_or_else(|| anyhow!("this kernel has no {}", lack(name)))
}

/// How to call a setting that the kernel does not have.
pub fn lack(name: &str) -> String {
    let since = SINCE.iter().find(|(known, _)| *known == name);
    let since = since.map(|(_, (major, minor))| format!(" (Linux {major}.{minor} has it)"));
    format!("setting {name}{}", since.unwrap_or_default())
}

/// All settings of the calling thread's network namespace, and of the kernel where that namespace is the first.
pub fn names() -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::from("/proc/sys/net")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if real_time::here() && entry.metadata()?.mode() & 0o200 == 0 {
                // The machine's own, which no host here is to change.
                continue;
            } else if let Ok(name) = entry.path().strip_prefix("/proc/sys") {
                found.insert(name.to_string_lossy().replace('/', "."));
            }
        }
    }
    Ok(found)
}

/// The algorithms that hosts can choose.
pub fn congestion_controls() -> Result<Vec<String>> {
    if real_time::here() {
        // Of those that a host's own namespace may not choose (`tcp_set_default_congestion_control`) the list tells, too.
        return in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let all = get(AVAILABLE)?;
            let may = |name: &&str| set(CONGESTION_CONTROL, name).is_ok();
            Ok(all
                .split_whitespace()
                .filter(may)
                .map(ToOwned::to_owned)
                .collect())
        });
    }
    // Until Linux 4.15 only the first namespace has the list, which is the same for all.
    let text = Namespace::in_first(|| get(AVAILABLE))?;
    Ok(text.split_whitespace().map(ToOwned::to_owned).collect())
}

/// What a setting that `host` heeds says.
pub fn value(host: &Namespace, name: &str) -> Result<String> {
    Ok(at_its_place(host, name, || get(name))?.1)
}

/// Bounds the window that `host` offers to about `bytes`, whatever program runs there: the receive buffer cannot grow, and
/// holds what makes such a window (`tcp_win_from_space`). Says of which settings all hosts have the same.
///
/// Until Linux 6.5 a window is half the buffer. Since 6.6 it is the share of payload in what arrives, `scaling_ratio`:
/// half at first, then 0.59 with full segments over veth, so the first windows are smaller.
pub fn bound_receive_window(
    host: &Namespace,
    bytes: u32,
    release: (u32, u32),
) -> Result<Vec<String>> {
    let per_mille = if release >= (6, 6) { 1700 } else { 2000 };
    let space = u64::from(bytes) * per_mille / 1000;
    let rmem = format!("{} {space} {space}", space.min(4096));
    let mut shared = Vec::new();
    for (name, value) in [
        ("net.ipv4.tcp_moderate_rcvbuf", "0"),
        ("net.ipv4.tcp_rmem", rmem.as_str()),
    ] {
        if at_its_place(host, name, || set(name, value))?.0 == Scope::Kernel {
            shared.push(name.to_owned());
        }
    }
    Ok(shared)
}

const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";
const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";

/// What settings were before they were first set, by host; what all hosts share stands with each.
#[derive(Default)]
pub struct Former(BTreeMap<String, BTreeMap<String, String>>);

/// Sets everything back to what `former` says, in each of `hosts`.
pub fn restore(hosts: &[&Namespace], former: &Former) -> Result<()> {
    for host in hosts {
        for (name, value) in former.0.get(host.name()).into_iter().flatten() {
            let set = at_its_place(host, name, || set(name, value));
            set.with_context(|| format!("on host {}", host.name()))?;
        }
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
    for (name, value) in WHERE_THERE {
        if at(hosts[0], name, || get(name))?.is_some() {
            all.push((name, value));
        }
    }
    let own = sysctls.iter();
    all.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
    all.push((CONGESTION_CONTROL, congestion_control));
    // All of it before anything is set: of what hosts share the second would find what the first was given.
    for host in hosts {
        let former = former.0.entry(host.name().to_owned()).or_default();
        for (name, _) in &all {
            if !former.contains_key(*name) {
                let now = value(host, name).with_context(|| format!("on host {}", host.name()))?;
                former.insert((*name).to_owned(), now);
            }
        }
    }
    for host in hosts {
        for (name, value) in &all {
            let (_, now) = at_its_place(host, name, || set(name, value))
                .with_context(|| format!("on host {}", host.name()))?;
            read_back.insert((*name).to_owned(), now);
        }
    }
    Ok(read_back)
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
    Ok(PathBuf::from("/proc/sys").join(name.replace('.', "/")))
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
