//! `live`: does what a plan says on this machine's own kernel, in real time, in namespaces that end with this process.
//!
//! Hosts are network namespaces below one that has no way out, and their links a [line](crate::net::line). The process that
//! does the work is the first of a PID namespace: when it ends, or is killed with its parent, the kernel ends all that it
//! has started, and namespaces and devices go with the last of them. Nothing is left to sweep.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::{mount, MsFlags};
use nix::unistd::{getegid, geteuid};

use crate::boot::{self, Common};
use crate::init;
use crate::real_time;
use crate::sandbox::namespaces::{self, Users};
use crate::sandbox::{die_with_parent, view};
use crate::share::Share;

/// Runs the plan in the shared folder; the exit status is 0 when it was done to its end.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    let mut options = Common::read(arguments, |_, _| Ok(false))?;
    options.share = boot::absolute(&options.share, "share")?;
    options.begin()?;
    let caller = (geteuid().as_raw(), getegid().as_raw());
    namespaces::in_new(
        |theirs, users| {
            real_time::begin();
            let as_root = (users == Users::First).then_some(caller);
            if !set_up(&options, theirs, as_root)? {
                return Ok(0);
            }
            Ok(match init::carry_out(&options.share, give_up) {
                Err(error) => {
                    println!("rexmit-guest: {error:#}");
                    1
                }
                Ok(()) => 0,
            })
        },
        |mut ours, _| {
            // One that has ended does not read.
            let _ = ours.write_all(&[0]);
        },
    )
}

fn give_up(why: &str) -> ! {
    println!("rexmit-guest: {why}");
    std::process::exit(1);
}

/// Makes this process the one that does the work; false where its parent has ended meanwhile. `as_root`: the caller's user
/// and group, who become root of the new user namespace.
fn set_up(options: &Common, mut parent: UnixStream, as_root: Option<(u32, u32)>) -> Result<bool> {
    die_with_parent()?;
    if parent.read_exact(&mut [0]).is_err() {
        return Ok(false);
    }
    if let Some((user, group)) = as_root {
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("0 {user} 1")),
            ("gid_map", format!("0 {group} 1")),
        ];
        for (file, text) in maps {
            let path = format!("/proc/self/{file}");
            fs::write(&path, text).context(path)?;
        }
    }
    view::keep_private()?;
    // Programs that are run here are the machine's own, and so are its files.
    view::set_attributes(Path::new("/"), libc::MOUNT_ATTR_RDONLY, true)?;
    Share::set_up(&options.share, options.limits)?;
    let fresh = |kind: &str, to: &str| {
        let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID;
        mount(Some(kind), to, Some(kind), flags, None::<&str>)
            .with_context(|| format!("cannot mount {kind} on {to}"))
    };
    fresh("proc", "/proc")?;
    fresh("tmpfs", "/run")?;
    Ok(true)
}
