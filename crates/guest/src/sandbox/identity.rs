//! As whom a program runs inside, and what of that the host sees.
//!
//! An ordinary caller's program runs as the caller. Root's kernel runs as a user that owns nothing on this machine, with
//! one right in its user namespace: to pass over the permissions of files (CAP_DAC_OVERRIDE). The kernel grants that only
//! for files whose owner and group both have a name in the namespace, which are root's and those of the folder that the
//! caller stands in; the files of everybody else are as closed as they are to any stranger.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::{lchown, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::unistd::{getegid, geteuid, setgroups, setresgid, setresuid, Gid, Pid, Uid};

use super::rights::{self, Rights};

/// The user and group that root's kernel is on the host, the first that this machine (or container) has: one that no
/// distribution and no container manager gives to anybody, or "nobody".
const STRANGERS: [u32; 2] = [2_000_000_000, 65_534];
/// Its name inside.
const INSIDE: u32 = 65_533;

/// As whom a program runs.
pub struct Identity {
    uid: u32,
    gid: u32,
    uids: Vec<Mapped>,
    gids: Vec<Mapped>,
    rights: Rights,
}

/// A user or group inside, and which it is outside.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mapped {
    inside: u32,
    outside: u32,
}

impl Identity {
    /// The caller, as whom a confined program works on the caller's files. `folders` are what root's program must reach
    /// whoever owns them.
    pub fn caller(folders: &[PathBuf]) -> Self {
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        let (uids, gids) = if uid == 0 {
            owners(folders)
        } else {
            ([uid].into(), [gid].into())
        };
        Self {
            uid,
            gid,
            uids: themselves(uids),
            gids: themselves(gids),
            rights: if uid == 0 {
                Rights::Files
            } else {
                Rights::None
            },
        }
    }

    /// For a kernel: the caller where that is an ordinary user, a stranger in root's place.
    pub fn kernel() -> Self {
        let mut identity = Self::caller(&[]);
        if identity.uid == 0 {
            if let Some(stranger) = STRANGERS.into_iter().find(|id| exists(*id)) {
                let mapped = Mapped {
                    inside: INSIDE,
                    outside: stranger,
                };
                for map in [&mut identity.uids, &mut identity.gids] {
                    map.retain(|other| other.inside != INSIDE && other.outside != stranger);
                    map.push(mapped);
                }
                (identity.uid, identity.gid) = (INSIDE, INSIDE);
            }
        }
        identity
    }

    /// Gives a folder and all in it to whom the program is on the host.
    pub fn give(&self, folder: &Path) -> Result<()> {
        let outside = |map: &[Mapped], id| map.iter().find(|m| m.inside == id).map(|m| m.outside);
        let (uid, gid) = (outside(&self.uids, self.uid), outside(&self.gids, self.gid));
        let (own_uid, own_gid) = (Some(self.uid), Some(self.gid));
        if uid == Some(geteuid().as_raw()) {
            return Ok(());
        }
        let mut open = vec![folder.to_owned()];
        while let Some(path) = open.pop() {
            // In a user namespace that has these names, they are what counts.
            lchown(&path, uid, gid)
                .or_else(|_| lchown(&path, own_uid, own_gid))
                .with_context(|| format!("cannot give {} away", path.display()))?;
            if fs::symlink_metadata(&path)?.is_dir() {
                for entry in fs::read_dir(&path)? {
                    open.push(entry?.path());
                }
            }
        }
        Ok(())
    }

    /// Names the users and groups of a process's new user namespace.
    pub(super) fn write_maps(&self, process: Pid) -> Result<()> {
        let write = |file: &str, text: &str| {
            let path = format!("/proc/{process}/{file}");
            fs::write(&path, text).context(path)
        };
        let text = |map: &[Mapped]| -> String {
            map.iter()
                .map(|m| format!("{} {} 1\n", m.inside, m.outside))
                .collect()
        };
        if self.rights == Rights::None {
            // What an ordinary caller has to promise to get a group.
            write("setgroups", "deny")?;
        }
        write("uid_map", &text(&self.uids))?;
        write("gid_map", &text(&self.gids))
    }

    /// Becomes it for good, with its rights only. Call it in the user namespace whose maps are written.
    pub(super) fn become_it(&self) -> Result<()> {
        rights::keep_across_identities()?;
        if self.rights == Rights::Files {
            // A user namespace around us may forbid it; what is left then names nobody in ours.
            match setgroups(&[]) {
                Ok(()) | Err(Errno::EPERM) => {}
                Err(error) => return Err(error).context("setgroups"),
            }
        }
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        setresgid(gid, gid, gid).context("setresgid")?;
        setresuid(uid, uid, uid).context("setresuid")?;
        rights::keep_only(self.rights)
    }
}

/// Root, and whoever owns one of `folders`, the caller's working folder or one that leads there.
fn owners(folders: &[PathBuf]) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let (mut uids, mut gids) = (BTreeSet::from([0]), BTreeSet::from([0]));
    for folder in folders.iter().cloned().chain(env::current_dir()) {
        for path in folder.ancestors() {
            if let Ok(found) = fs::metadata(path) {
                uids.insert(found.uid());
                gids.insert(found.gid());
            }
        }
    }
    uids.retain(|id| exists(*id));
    gids.retain(|id| exists(*id));
    (uids, gids)
}

fn themselves(ids: BTreeSet<u32>) -> Vec<Mapped> {
    ids.into_iter()
        .map(|id| Mapped {
            inside: id,
            outside: id,
        })
        .collect()
}

/// Whether a user (and group: the maps of machines and containers are alike) of this number can be had here.
fn exists(id: u32) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), _, Some(Ok(count))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        (first..first + count).contains(&u64::from(id))
    })
}
