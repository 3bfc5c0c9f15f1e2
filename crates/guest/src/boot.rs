//! `boot`: runs a user-mode kernel with this program as its process 1, inside a [`sandbox`](crate::sandbox).

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{anyhow, bail, Context, Result};
use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{fork, ForkResult, Pid};

use crate::sandbox::{self, Layout};
use crate::share::{Limits, Share};

/// How the guest's clock moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// Jumps to the next timer whenever nothing runs; running costs nothing. The same at every boot.
    Virtual,
    /// As above, but running takes its real time: for programs that poll the clock. Not repeatable.
    Polling,
}

struct Options {
    kernel: PathBuf,
    share: PathBuf,
    core: Option<usize>,
    seed: u64,
    memory_mb: u64,
    clock: Clock,
    limits: Limits,
}

/// The guest's wall clock at boot, nanoseconds since 1970 (2025-01-01): a fixed one, or two boots would differ.
const START_NS: u64 = 1_735_689_600_000_000_000;

/// Exit status when the sandbox could not be made, as `env` and `chroot` have it.
pub const NO_SANDBOX: i32 = 125;

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let (mut kernel, mut share, mut core, mut seed, mut memory_mb, mut clock) =
        (None, None, None, 0, 256, Clock::Virtual);
    let mut limits = Limits {
        share_mb: 4096,
        scratch_mb: 1024,
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("kernel") => kernel = Some(PathBuf::from(arguments.value()?)),
            Long("share") => share = Some(PathBuf::from(arguments.value()?)),
            Long("core") => core = Some(arguments.value()?.parse()?),
            Long("seed") => {
                seed = u64::from_str_radix(&arguments.value()?.string()?, 16).context("--seed")?;
            }
            Long("memory") => memory_mb = mebibytes("--memory", &arguments.value()?)?,
            Long("share-limit") => {
                limits.share_mb = mebibytes("--share-limit", &arguments.value()?)?;
            }
            Long("scratch-limit") => {
                limits.scratch_mb = mebibytes("--scratch-limit", &arguments.value()?)?;
            }
            Long("clock") => {
                clock = match arguments.value()?.string()?.as_str() {
                    "virtual" => Clock::Virtual,
                    "polling" => Clock::Polling,
                    other => bail!("--clock {other}: virtual or polling"),
                }
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let absolute = |path: Option<PathBuf>, name: &str| -> Result<PathBuf> {
        let path = path.ok_or_else(|| anyhow!("--{name} is missing"))?;
        fs::canonicalize(&path).with_context(|| format!("--{name} {}", path.display()))
    };
    Ok(Options {
        kernel: absolute(kernel, "kernel")?,
        share: absolute(share, "share")?,
        core,
        seed,
        memory_mb,
        clock,
        limits,
    })
}

fn mebibytes(option: &str, value: &OsStr) -> Result<u64> {
    let text = value.to_string_lossy();
    let number = text
        .strip_suffix('M')
        .ok_or_else(|| anyhow!("{option} {text}: MiB are meant, as 256M"))?;
    number.parse().with_context(|| format!("{option} {text}"))
}

fn command_line(options: &Options) -> Vec<OsString> {
    let clock = match options.clock {
        Clock::Virtual => "time-travel=inf-cpu",
        Clock::Polling => "time-travel",
    };
    [
        format!("mem={}M", options.memory_mb),
        "root=/dev/root".into(),
        "rootfstype=hostfs".into(),
        "rootflags=/".into(),
        "ro".into(),
        format!("init={}", Layout::INIT),
        format!("uml_dir={}/", Layout::MEMORY),
        "con=null".into(),
        "con0=null,fd:1".into(),
        "panic=-1".into(),
        clock.into(),
        format!("time-travel-start={START_NS}"),
        format!("random-seed={:016x}", options.seed),
    ]
    .into_iter()
    .map(OsString::from)
    .collect()
}

/// Boots as the arguments say and waits; the exit status is 0 after a clean power-off.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    let options = parse(arguments)?;
    die_with_parent()?;
    if let Some(core) = options.core {
        let mut set = CpuSet::new();
        set.set(core).with_context(|| format!("--core {core}"))?;
        sched_setaffinity(Pid::from_raw(0), &set)
            .with_context(|| format!("cannot pin to core {core}"))?;
    }
    if let Err(error) = sandbox::unshare_namespaces() {
        eprintln!("rexmit-guest: {error:#}");
        return Ok(NO_SANDBOX);
    }
    // SAFETY: this process has one thread, so the child may do anything.
    match unsafe { fork() }.context("fork")? {
        ForkResult::Parent { child } => {
            let status = waitpid(child, None)?;
            Ok(match status {
                WaitStatus::Exited(_, code) => code,
                WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
                other => bail!("unexpected end of the kernel: {other:?}"),
            })
        }
        ForkResult::Child => {
            let status = inside(&options).unwrap_or_else(|error| {
                eprintln!("rexmit-guest: {error:#}");
                NO_SANDBOX
            });
            std::process::exit(status);
        }
    }
}

/// Process 1 of the PID namespace: makes the sandbox, starts the kernel, reaps what it leaves.
fn inside(options: &Options) -> Result<i32> {
    die_with_parent()?;
    let init = env::current_exe().context("cannot find this program's own file")?;
    // The kernel's page tables and the like are its process's own memory; the tmpfs holds the guest's.
    let share = Share::set_up(&options.share, options.limits)?;
    sandbox::enter(&options.share, &init, (options.memory_mb + 16) << 20)?;
    let mut command = Command::new(&options.kernel);
    command
        .args(command_line(options))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/")
        .env("TMPDIR", Layout::MEMORY)
        .stdin(Stdio::null())
        .current_dir("/");
    // The kernel adds the gap before its heap to the memory it manages; a random gap would make each boot another.
    let fixed = personality::get()? | Persona::ADDR_NO_RANDOMIZE;
    // SAFETY: both system calls are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            personality::set(fixed)?;
            Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
        });
    }
    let kernel = command
        .spawn()
        .with_context(|| format!("cannot run {}", options.kernel.display()))?;
    let kernel = Pid::from_raw(i32::try_from(kernel.id())?);
    share.watch(kernel);
    loop {
        match waitpid(None, None)? {
            WaitStatus::Exited(pid, code) if pid == kernel => return Ok(code),
            WaitStatus::Signaled(pid, signal, _) if pid == kernel => return Ok(128 + signal as i32),
            _ => {}
        }
    }
}

fn die_with_parent() -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("prctl(PR_SET_PDEATHSIG)")
}
