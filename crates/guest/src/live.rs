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

use anyhow::{bail, Context, Result};
use nix::mount::{mount, MsFlags};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{getegid, geteuid, Pid};

use crate::boot::{self, Common};
use crate::init;
use crate::real_time;
use crate::sandbox::{die_with_parent, namespaces, view};
use crate::share::Share;

/// Runs the plan in the shared folder; the exit status is 0 when it was done to its end.
pub fn run(mut arguments: lexopt::Parser) -> Result<i32> {
    let mut options = Common::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Long(name) => {
                let name = name.to_owned();
                if !options.take(&name, &mut arguments)? {
                    bail!("invalid option '--{name}'");
                }
            }
            other => return Err(other.unexpected().into()),
        }
    }
    options.share = boot::absolute(&options.share, "share")?;
    options.begin()?;
    let (mut ours, theirs) = UnixStream::pair()?;
    let (user, group) = (geteuid(), getegid());
    let (child, as_root) = match namespaces::fork_into(namespaces::OWN) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            let child = namespaces::fork_into(namespaces::OWN | libc::CLONE_NEWUSER);
            (child, Some((user.as_raw(), group.as_raw())))
        }
        child => (child, None),
    };
    let child = match child {
        Ok(child) => child,
        Err(error) => return Ok(namespaces::refuse(&namespaces::no_namespaces(&error))),
    };
    if child == 0 {
        drop(ours);
        real_time::begin();
        let status = match set_up(&options, theirs, as_root) {
            Err(error) => namespaces::refuse(&error),
            Ok(false) => 0,
            Ok(true) => match init::carry_out(&options.share, give_up) {
                Err(error) => {
                    println!("rexmit-guest: {error:#}");
                    1
                }
                Ok(()) => 0,
            },
        };
        std::process::exit(status);
    }
    drop(theirs);
    // One that has ended does not read.
    let _ = ours.write_all(&[0]);
    Ok(match waitpid(Pid::from_raw(child), None)? {
        WaitStatus::Exited(_, code) => code,
        WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
        other => bail!("unexpected end: {other:?}"),
    })
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
