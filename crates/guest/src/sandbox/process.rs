//! The program inside, and process 1 above it.

use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::personality::{self, Persona};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{chdir, dup2_stdin, dup2_stdout, execve, fork, ForkResult};

use super::filter::Filter;
use super::Watch;

/// Exit statuses, as `env` and `chroot` have them: the sandbox could not be made, the program could not be run, there is
/// no such program.
pub const NO_SANDBOX: i32 = 125;
const NOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Where programs lie if nobody says so.
pub const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// A program and what it starts with.
pub struct Program<'a> {
    /// Its file inside the sandbox: the first of these that is there.
    pub files: Vec<CString>,
    /// What it is called where it cannot be run.
    pub name: &'a Path,
    /// Its arguments, its own name first.
    pub arguments: Vec<CString>,
    /// Its environment.
    pub environment: Vec<CString>,
    /// Its working folder, "/" where there is none such inside.
    pub folder: &'a Path,
    /// Which of the launcher's descriptors it gets.
    pub descriptors: Descriptors,
    /// Whether its memory is laid out the same way at every start.
    pub fixed_layout: bool,
}

/// Descriptors that a program starts with.
pub enum Descriptors {
    /// All that the launcher has.
    All,
    /// The launcher's outputs, and no input.
    Outputs,
    /// These as its input and output, the launcher's errors, and these others.
    These {
        input: RawFd,
        output: RawFd,
        others: Vec<RawFd>,
    },
}

impl Descriptors {
    /// Makes them those of this process, from the next program on.
    fn take(&self) -> Result<()> {
        match self {
            Self::All => {}
            Self::Outputs => {
                dup2_stdin(File::open("/dev/null").context("/dev/null")?)?;
                close_others()?;
            }
            Self::These {
                input,
                output,
                others,
            } => {
                // SAFETY: the launcher keeps them open until here.
                let (input, output) = unsafe {
                    (
                        BorrowedFd::borrow_raw(*input),
                        BorrowedFd::borrow_raw(*output),
                    )
                };
                dup2_stdin(input)?;
                dup2_stdout(output)?;
                close_others()?;
                for other in others {
                    // SAFETY: as above; takes a plain number.
                    Errno::result(unsafe { libc::fcntl(*other, libc::F_SETFD, 0) })?;
                }
            }
        }
        Ok(())
    }
}

/// A C string of any text without a NUL.
pub fn c_string(text: impl AsRef<OsStr>) -> Result<CString> {
    CString::new(text.as_ref().as_bytes()).context("an argument holds a NUL")
}

/// Runs a program in the sandbox that this process is in, and reaps what it leaves; its exit status.
pub(super) fn run(program: &Program<'_>, filter: Filter, watch: Watch) -> Result<i32> {
    // What is true of the program is to be true of this process, and neither is to be traced by what it starts: that
    // would lead around both.
    prctl::set_dumpable(false).context("prctl(PR_SET_DUMPABLE)")?;
    filter.compile().install()?;
    // SAFETY: this process has one thread, so the child may do anything.
    match unsafe { fork() }.context("fork")? {
        ForkResult::Child => {
            let error = start(program).unwrap_err();
            let reason = error
                .downcast_ref::<Errno>()
                .map_or_else(|| format!("{error:#}"), |errno| errno.desc().to_lowercase());
            eprintln!(
                "rexmit-guest: cannot run {}: {reason}",
                program.name.display()
            );
            let status = match error.downcast_ref() {
                Some(Errno::ENOENT) => NOT_FOUND,
                _ => NOT_RUN,
            };
            std::process::exit(status);
        }
        ForkResult::Parent { child } => {
            let finish = watch(child);
            let status = loop {
                match waitpid(None, None)? {
                    WaitStatus::Exited(pid, code) if pid == child => break code,
                    WaitStatus::Signaled(pid, signal, _) if pid == child => {
                        break 128 + signal as i32
                    }
                    _ => {}
                }
            };
            finish();
            Ok(status)
        }
    }
}

fn start(program: &Program) -> Result<Infallible> {
    die_with_parent()?;
    chdir(program.folder).or_else(|_| chdir("/"))?;
    if program.fixed_layout {
        personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    }
    program.descriptors.take()?;
    // Not execvp(3), which hands a file that is no program to the shell.
    let mut error = Errno::ENOENT;
    for file in &program.files {
        match execve(file, &program.arguments, &program.environment).unwrap_err() {
            // Perhaps one that may be run follows.
            Errno::EACCES => error = Errno::EACCES,
            Errno::ENOENT | Errno::ENOTDIR => {}
            other => return Err(other.into()),
        }
    }
    Err(error.into())
}

/// Closes all descriptors above the standard ones when the program starts.
fn close_others() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: close_range with plain numbers marks descriptors, it closes none.
    if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes the kernel end this process when its parent ends.
pub fn die_with_parent() -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("prctl(PR_SET_PDEATHSIG)")
}
