//! Namespaces of its own: mounts, processes, network, IPC, names, control groups and users.
//!
//! Where the caller may (CAP_SYS_ADMIN), the mounts are made with the rights of the caller and the user namespace comes
//! last: it then has no say over the mounts. Otherwise the user namespace comes first and gives the rights to mount.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use anyhow::{anyhow, bail, Error, Result};
use nix::sched::{unshare, CloneFlags};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{geteuid, Pid};

use super::process::{self, NO_SANDBOX};
use super::{view, Sandbox};

/// What every sandbox has of its own, besides users.
const OWN: libc::c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// When the user namespace is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Together with the others: it lends the rights to mount.
    First,
    /// After the mounts, which the caller may make.
    Last,
}

/// The caller's end and the sandbox's end of a conversation of single bytes: "write my maps", "written", "ready", "go".
struct Talk(UnixStream);

impl Talk {
    const MAP: u8 = b'm';
    const READY: u8 = b'r';
    const GO: u8 = b'g';

    fn say(&mut self, byte: u8) -> io::Result<()> {
        self.0.write_all(&[byte])
    }

    /// The next byte; `None` when the other side has ended.
    fn hear(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).is_ok().then_some(byte[0])
    }
}

/// Runs the sandbox's program in new namespaces and waits for it.
pub(super) fn run(sandbox: &Sandbox) -> Result<i32> {
    in_new(
        |theirs, users| inside(sandbox, Talk(theirs), users),
        |ours, child| {
            let mut talk = Talk(ours);
            while let Some(word) = talk.hear() {
                let answer = if word == Talk::MAP {
                    sandbox.identity.write_maps(child)
                } else {
                    Ok(())
                };
                if let Err(error) = answer {
                    refuse(&error);
                    break;
                }
                if talk.say(Talk::GO).is_err() || word == Talk::READY {
                    break;
                }
            }
        },
    )
}

/// Starts the first process of new namespaces, which does `inside` and ends with its status, and waits for it. Both have an
/// end of a socket; `outside` is what this process does meanwhile.
///
/// They are those of [`OWN`], and of users where the caller may not make the others without.
pub fn in_new(
    inside: impl FnOnce(UnixStream, Users) -> Result<i32>,
    outside: impl FnOnce(UnixStream, Pid),
) -> Result<i32> {
    let (ours, theirs) = UnixStream::pair()?;
    let (child, users) = match fork_into(OWN) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            (fork_into(OWN | libc::CLONE_NEWUSER), Users::First)
        }
        child => (child, Users::Last),
    };
    let child = match child {
        Ok(child) => child,
        Err(error) => return Ok(refuse(&no_namespaces(&error))),
    };
    if child == 0 {
        drop(ours);
        std::process::exit(inside(theirs, users).unwrap_or_else(|error| refuse(&error)));
    }
    drop(theirs);
    let child = Pid::from_raw(child);
    outside(ours, child);
    Ok(match waitpid(child, None)? {
        WaitStatus::Exited(_, code) => code,
        WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
        other => bail!("unexpected end of the first process: {other:?}"),
    })
}

/// Process 1 of the PID namespace: makes the sandbox, starts the program, reaps what it leaves.
fn inside(sandbox: &Sandbox, mut talk: Talk, users: Users) -> Result<i32> {
    process::die_with_parent()?;
    if users == Users::First {
        ask_for_maps(&mut talk)?;
    }
    let mounted = view::keep_private()
        .and_then(|()| (sandbox.prepare)(&sandbox.identity))
        .and_then(|watch| sandbox.view.enter().map(|()| watch));
    let watch = mounted.map_err(|error| {
        if users == Users::First {
            error.context(restricted())
        } else {
            error
        }
    })?;
    if users == Users::Last {
        unshare(CloneFlags::CLONE_NEWUSER)
            .map_err(|error| no_namespaces(&io::Error::from(error)))?;
        ask_for_maps(&mut talk)?;
    }
    sandbox.identity.become_it()?;
    // A change of identity forgets it.
    process::die_with_parent()?;
    talk.say(Talk::READY)?;
    if talk.hear().is_none() {
        // The launcher ended before it could take this process along.
        return Ok(NO_SANDBOX);
    }
    drop(talk);
    process::run(&sandbox.program, sandbox.filter, watch)
}

fn ask_for_maps(talk: &mut Talk) -> Result<()> {
    talk.say(Talk::MAP)?;
    match talk.hear() {
        Some(_) => Ok(()),
        // The other side has said why.
        None => std::process::exit(NO_SANDBOX),
    }
}

fn refuse(error: &Error) -> i32 {
    eprintln!("rexmit-guest: {error:#}");
    NO_SANDBOX
}

/// fork(2) whose child is the first process of new namespaces.
fn fork_into(flags: libc::c_int) -> io::Result<libc::pid_t> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without a stack of its own the child goes on with a copy of this one, as after fork; this process has one
    // thread, so that no lock is held by another.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(libc::pid_t::try_from(child).expect("process ids are small"))
}

/// Why there are none, and what would help.
fn no_namespaces(error: &io::Error) -> Error {
    let zero = |name: &str| {
        fs::read_to_string(format!("/proc/sys/{name}")).is_ok_and(|text| text.trim() == "0")
    };
    let cause = if zero("user/max_user_namespaces") {
        "this machine allows no user namespaces (sysctl user.max_user_namespaces is 0)"
    } else if !geteuid().is_root() && zero("kernel/unprivileged_userns_clone") {
        "this machine allows only root to make user namespaces (sysctl kernel.unprivileged_userns_clone is 0)"
    } else if geteuid().is_root() {
        "root lacks the right to (CAP_SYS_ADMIN) and may not make a user namespace either, as in a container: start the \
         container with that right, or let it make user namespaces"
    } else {
        "without root this needs unprivileged user namespaces, which this machine or container refuses"
    };
    anyhow!("cannot make namespaces of its own ({error}): {cause}")
}

/// What explains a mount that is refused in a user namespace of our own.
fn restricted() -> &'static str {
    let restricted = fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        .is_ok_and(|text| text.trim() == "1");
    if restricted {
        "AppArmor gives user namespaces no rights here (sysctl kernel.apparmor_restrict_unprivileged_userns is 1)"
    } else {
        "in a user namespace, because the caller lacks CAP_SYS_ADMIN"
    }
}
