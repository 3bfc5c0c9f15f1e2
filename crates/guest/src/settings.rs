//! The kernel settings of a host: set, read back, and named when the kernel takes them without heeding them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
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

/// Calls `work` with each of the settings `names` where it stands that `host` heeds, and says whose it is; `None` for one
/// that the kernel does not have.
fn at<T>(
    host: &Namespace,
    names: &[&str],
    mut work: impl FnMut(usize, &Setting<'_>) -> Result<T>,
) -> Result<Vec<Option<(Scope, T)>>> {
    let mut done: Vec<Option<(Scope, T)>> = names.iter().map(|_| None).collect();
    // What all share may be seen in a host's namespace, but not be set there.
    let mut here = |scope, done: &mut [Option<(Scope, T)>]| {
        let left = names.iter().zip(done).enumerate();
        for (index, (name, done)) in left.filter(|(_, (_, done))| done.is_none()) {
            if let Some(setting) = Setting::open(name)? {
                *done = Some((scope, work(index, &setting)?));
            }
        }
        Ok(())
    };
    host.run(|| here(Scope::Host, &mut done))?;
    if done.iter().any(Option::is_none) {
        Namespace::in_first(|| here(Scope::Kernel, &mut done))?;
    }
    Ok(done)
}

/// The same for settings that the kernel must have.
fn at_their_places<T>(
    host: &Namespace,
    names: &[&str],
    work: impl FnMut(usize, &Setting<'_>) -> Result<T>,
) -> Result<Vec<(Scope, T)>> {
    let done = at(host, names, work).and_then(|done| {
        let all = done.into_iter().zip(names);
        all.map(|(done, name)| done.ok_or_else(|| anyhow!("this kernel has no {}", lack(name))))
            .collect()
    });
    done.with_context(|| format!("on host {}", host.name()))
}

/// How to call a setting that the kernel does not have.
pub fn lack(name: &str) -> String {
    let since = SINCE.iter().find(|(known, _)| *known == name);
    let since = since.map(|(_, (major, minor))| format!(" (Linux {major}.{minor} has it)"));
    format!("setting {name}{}", since.unwrap_or_default())
}

/// Those of the settings `names` that no host can set.
pub fn missing<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    let left = |names: Vec<&'a str>| {
        let lacks = |name: &&str| !matches!(Setting::open(name), Ok(Some(_)));
        Ok(names.into_iter().filter(lacks).collect())
    };
    let missing: Vec<_> = Namespace::in_first(|| left(names.collect()))?;
    // In virtual time the first namespace has all settings that another has.
    if !real_time::here() || missing.is_empty() {
        return Ok(missing);
    }
    in_thread(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        left(missing)
    })
}

/// The algorithms that hosts can choose.
pub fn congestion_controls() -> Result<Vec<String>> {
    if real_time::here() {
        // Of those that a host's own namespace may not choose (`tcp_set_default_congestion_control`) the list tells, too.
        return in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let all = read(AVAILABLE)?;
            let own = Setting::open(CONGESTION_CONTROL)?;
            let may = |name: &&str| own.as_ref().is_some_and(|own| own.set(name).is_ok());
            Ok(all
                .split_whitespace()
                .filter(may)
                .map(ToOwned::to_owned)
                .collect())
        });
    }
    // Until Linux 4.15 only the first namespace has the list, which is the same for all.
    let text = Namespace::in_first(|| read(AVAILABLE))?;
    Ok(text.split_whitespace().map(ToOwned::to_owned).collect())
}

/// What a setting that `host` heeds says.
pub fn value(host: &Namespace, name: &str) -> Result<String> {
    let mut all = at_their_places(host, &[name], |_, setting| setting.get())?;
    Ok(all.remove(0).1)
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
    let (names, values) = (
        ["net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_rmem"],
        ["0", rmem.as_str()],
    );
    let set = at_their_places(host, &names, |index, setting| setting.set(values[index]))?;
    let all = names.into_iter().zip(set);
    let shared = all.filter(|(_, (scope, _))| *scope == Scope::Kernel);
    Ok(shared.map(|(name, _)| name.to_owned()).collect())
}

const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";
const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";

/// What settings were before they were first set, by host; what all hosts share stands with each.
#[derive(Default)]
pub struct Former(BTreeMap<String, BTreeMap<String, String>>);

/// Sets everything back to what `former` says, in each of `hosts`.
pub fn restore(hosts: &[&Namespace], former: &Former) -> Result<()> {
    for host in hosts {
        let all = former.0.get(host.name()).into_iter().flatten();
        let (names, values): (Vec<&str>, Vec<&String>) =
            all.map(|(name, value)| (name.as_str(), value)).unzip();
        at_their_places(host, &names, |index, setting| setting.set(values[index]))?;
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
    let mut all: Vec<(&str, &str)> = ALWAYS.to_vec();
    let there = at(hosts[0], &WHERE_THERE.map(|(name, _)| name), |_, _| Ok(()))?;
    let there = WHERE_THERE.into_iter().zip(there);
    all.extend(there.filter_map(|(setting, found)| found.map(|_| setting)));
    let own = sysctls.iter();
    all.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
    all.push((CONGESTION_CONTROL, congestion_control));
    let (names, values): (Vec<&str>, Vec<&str>) = all.into_iter().unzip();
    // All of it before anything is set: of what hosts share the second would find what the first was given.
    for host in hosts {
        let former = former.0.entry(host.name().to_owned()).or_default();
        let new = names.iter().copied();
        let new: Vec<&str> = new.filter(|name| !former.contains_key(*name)).collect();
        let now = at_their_places(host, &new, |_, setting| setting.get())?;
        let now = new.iter().zip(now);
        former.extend(now.map(|(name, (_, now))| ((*name).to_owned(), now)));
    }
    let mut read_back = BTreeMap::new();
    for host in hosts {
        let now = at_their_places(host, &names, |index, setting| setting.set(values[index]))?;
        let now = names.iter().zip(now);
        read_back.extend(now.map(|(name, (_, now))| ((*name).to_owned(), now)));
    }
    Ok(read_back)
}

/// One sysctl of the calling thread's network namespace, to be read and set.
struct Setting<'a> {
    name: &'a str,
    file: File,
}

impl<'a> Setting<'a> {
    /// `None` where there is none of that name, or none that may be set.
    fn open(name: &'a str) -> Result<Option<Self>> {
        let path = path(name)?;
        match File::options().read(true).write(true).open(path) {
            Ok(file) => Ok(Some(Self { name, file })),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::PermissionDenied => Ok(None),
                _ => Err(error).with_context(|| cannot_be_read(name)),
            },
        }
    }

    fn get(&self) -> Result<String> {
        // The kernel tells of a setting in one go.
        let mut text = [0; 4096];
        let length = self.file.read_at(&mut text, 0);
        let length = length.with_context(|| cannot_be_read(self.name))?;
        let text = String::from_utf8_lossy(&text[..length]);
        Ok(text.trim().to_owned())
    }

    /// Sets it and returns the value that the kernel has then.
    fn set(&self, value: &str) -> Result<String> {
        let name = self.name;
        let reason = |error: std::io::Error| Errno::try_from(error).map_or("", Errno::desc);
        let refused = |error| anyhow!("this kernel refuses {name} = {value}: {}", reason(error));
        self.file.write_at(value.as_bytes(), 0).map_err(refused)?;
        let now = self.get()?;
        let same = now.split_whitespace().eq(value.split_whitespace());
        if !same {
            bail!("this kernel took {name} = {value} but has {now} now");
        }
        Ok(now)
    }
}

fn cannot_be_read(name: &str) -> String {
    format!("{name} cannot be read")
}

/// One sysctl of the calling thread's network namespace, which need not be there to be set.
fn read(name: &str) -> Result<String> {
    let text = fs::read_to_string(path(name)?).with_context(|| cannot_be_read(name))?;
    Ok(text.trim().to_owned())
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
            assert!(Setting::open(name).is_err(), "{name}");
        }
    }
}
