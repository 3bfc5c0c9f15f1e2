//! The program's text against the list of the interfaces that it uses, and its tests without what is newer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{series, Series};
use crate::sandbox::seccomp::{Action, Compiled, Rule};

const LIST: &str = include_str!("../../../../docs/notes/old-interfaces.md");

/// The oldest kernel that the guest has to do with.
const OLDEST: Series = (3, 2);

/// What runs on the host, whose kernel is another matter: the sandbox of kernels and of builds, what boots them, what does
/// without, what takes in what they tell.
const OF_THE_HOST: [&str; 9] = [
    "sandbox",
    "boot.rs",
    "confine.rs",
    "live.rs",
    "share.rs",
    "launch.rs",
    "qmp.rs",
    "order.rs",
    "intake.rs",
];

/// What the names of interfaces begin with where this program gives their numbers itself.
const PREFIXES: [&str; 31] = [
    "ADDR_",
    "ATTR_",
    "BRCTL_",
    "CMD_",
    "CTRL_",
    "FLAG_",
    "FRA_",
    "FR_ACT_",
    "GENL_",
    "IFLA_",
    "INET_DIAG_",
    "INET_ULP_",
    "IPPROTO_",
    "IPT_",
    "MPTCP_",
    "NFNL_",
    "NFPROTO_",
    "NFQA_",
    "NFQNL_",
    "NFTA_",
    "NFT_",
    "NLA_F",
    "NLMSGERR_",
    "RTAX_",
    "SIOC",
    "SOCK_DIAG",
    "TCA_",
    "TCPDIAG_",
    "TCPI_",
    "TC_",
    "VETH_",
];

/// What lines for tc begin with.
const VERBS: [&str; 2] = ["filter ", "qdisc "];

/// A row of the list.
struct Entry {
    since: Series,
    without: String,
}

/// The list by name: rows of tables whose first column is a name in backticks, or several.
fn list() -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    for line in LIST.lines().filter(|line| line.starts_with("| `")) {
        let columns: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names, since, without] = columns[..] else {
            panic!("three columns: {line}");
        };
        for name in names.split('`').skip(1).step_by(2) {
            let since = match since {
                "our patches" => (u32::MAX, 0),
                _ => series(since).unwrap_or_else(|| panic!("no version: {line}")),
            };
            let without = without.to_owned();
            let twice = found.insert(name.to_owned(), Entry { since, without });
            assert!(twice.is_none(), "{name} stands there twice");
        }
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if OF_THE_HOST.contains(&name.as_str()) || name == "tests.rs" {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// The text of the program, without comments and tests.
fn text() -> String {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    assert!(files.len() > 40);
    files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        })
        .collect()
}

/// The identifier that `text` begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

fn is_constant(name: &str) -> bool {
    name.len() > 2
        && name
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Interfaces of the kernel that the text names.
fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |name: &str| {
        found.insert(name.to_owned());
    };
    for (at, _) in text.match_indices("libc::") {
        let rest = &text[at + 6..];
        let name = identifier(rest);
        let called =
            rest[name.len()..].starts_with('(') && name.starts_with(|c: char| c.is_lowercase());
        let is_error = name.starts_with('E') && !name.contains('_');
        let constant = name.starts_with("SYS_") || is_constant(name) && !is_error;
        if called || constant {
            add(name);
        }
    }
    for (at, _) in text.match_indices("const ") {
        let name = identifier(&text[at + 6..]);
        if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            add(name);
        }
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in text.match_indices("nix::") {
        let rest = &text[at..];
        let imported = text[..at].ends_with("use ");
        let end = if imported {
            rest.find(';')
        } else {
            rest.find(|c: char| !is_name(c) && c != ':')
        };
        let path = &rest[..end.unwrap_or(rest.len())];
        let calls = imported || rest[path.len()..].starts_with('(');
        // Not those of `std::os::unix`, and no functions of types.
        if text[..at].ends_with(is_name) || !calls {
            continue;
        }
        for name in path.split(|c: char| !is_name(c) && c != ':') {
            let mut parts = name.rsplit("::");
            let (last, of) = (
                parts.next().unwrap_or_default(),
                parts.next().unwrap_or_default(),
            );
            let lower = |name: &str| !name.starts_with(|c: char| c.is_uppercase());
            if lower(last) && lower(of) && !last.is_empty() && last != "sockopt" {
                add(last);
            }
        }
    }
    for kind in ["sockopt::", "SockProtocol::", "CloneFlags::"] {
        for (at, _) in text.match_indices(kind) {
            add(&format!("{kind}{}", identifier(&text[at + kind.len()..])));
        }
    }
    for literal in literals(text) {
        if ["/proc", "/sys"]
            .iter()
            .any(|root| literal.starts_with(root))
            || literal.starts_with("net.")
        {
            add(literal);
        }
        if VERBS.iter().any(|verb| literal.starts_with(verb)) {
            let words: Vec<&str> = literal.split(' ').take(2).collect();
            add(&words.join(" "));
        }
    }
    found
}

/// The strings that stand in the text.
fn literals(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find('"') {
        let inner = &rest[begin + 1..];
        let mut escaped = false;
        let end = inner.char_indices().find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { break };
        found.push(&inner[..end]);
        rest = &inner[end + 1..];
    }
    found
}

#[test]
fn every_interface_is_in_the_list() {
    let list = list();
    let missing: Vec<_> = used(&text())
        .into_iter()
        .filter(|name| !list.contains_key(name))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/notes/old-interfaces.md: {missing:#?}"
    );
}

#[test]
fn what_is_newer_than_the_oldest_kernel_has_a_fallback() {
    for (name, entry) in list() {
        if entry.since > OLDEST {
            assert!(entry.without.len() > 3, "{name}: what is done without it?");
        }
    }
}

#[test]
fn the_list_has_nothing_that_is_not_used() {
    let used = used(&text());
    let stale: Vec<_> = list()
        .into_keys()
        .filter(|name| !used.contains(name))
        .collect();
    assert!(stale.is_empty(), "no longer used: {stale:#?}");
}

#[test]
fn a_new_interface_would_be_seen() {
    let text = r#"unsafe { libc::openat2(libc::SYS_statx) }; const TCA_NEW: u16 = 1; use nix::sys::memfd::{memfd_create, MFdFlags};
        setsockopt(&socket, sockopt::IpMtu, &1); File::open("/proc/pressure/cpu"); "qdisc afresh x""#;
    let found: Vec<_> = used(text).into_iter().collect();
    let want = [
        "/proc/pressure/cpu",
        "SYS_statx",
        "TCA_NEW",
        "memfd_create",
        "openat2",
        "qdisc afresh",
        "sockopt::IpMtu",
    ];
    assert_eq!(found, want);
}

/// The last system call of Linux 3.2 on x86-64 is process_vm_writev, 311.
#[test]
fn this_program_s_tests_pass_without_any_system_call_since_linux_3_2() {
    const FIRST: libc::c_long = 312;
    const LAST: libc::c_long = 500;
    let rules: Vec<Rule> = (FIRST..=LAST)
        .map(|call| Rule {
            call,
            tests: Vec::new(),
            action: Action::Fail(libc::ENOSYS),
        })
        .collect();
    let filter = Compiled::new(&rules, Action::Allow);
    let mut command = Command::new(std::env::current_exe().unwrap());
    // Sandboxes are the host's, and rest on what is new.
    command.args(["--skip", "sandbox", "--skip", "interfaces"]);
    // SAFETY: prctl and seccomp are async-signal-safe, and the filter is live.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            filter.install().map_err(std::io::Error::other)
        });
    }
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(said.contains("both_ways_to_ask"), "the tests ran");
}

#[test]
fn releases_are_split() {
    assert_eq!(series("6.12.117"), Some((6, 12)));
    assert_eq!(series("6.1.192-rexmit"), Some((6, 1)));
    assert_eq!(series("next"), None);
}
