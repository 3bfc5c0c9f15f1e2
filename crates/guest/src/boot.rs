//! `boot`: runs a user-mode kernel with this program as its process 1, inside a [`sandbox`](crate::sandbox).

use std::env;
use std::ffi::{CString, OsStr};
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;

use crate::sandbox::{
    c_string, die_with_parent, Filter, Identity, Layout, Place, Program, Sandbox, View, PATH,
};
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

fn command_line(options: &Options) -> Result<Vec<CString>> {
    let clock = match options.clock {
        Clock::Virtual => "time-travel=inf-cpu",
        Clock::Polling => "time-travel",
    };
    let words = [
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
    ];
    iter::once(c_string(&options.kernel))
        .chain(words.into_iter().map(c_string))
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
    let sandbox = Sandbox {
        view: view(&options)?,
        identity: Identity::kernel(),
        filter: Filter::Kernel,
        program: Program {
            files: vec![c_string(Layout::KERNEL)?],
            name: &options.kernel,
            arguments: command_line(&options)?,
            environment: [
                format!("PATH={PATH}"),
                "HOME=/".into(),
                format!("TMPDIR={}", Layout::MEMORY),
            ]
            .into_iter()
            .map(c_string)
            .collect::<Result<_>>()?,
            folder: Path::new("/"),
            inherits: false,
            // The kernel adds the gap before its heap to the memory it manages; a random gap would make each boot another.
            fixed_layout: true,
        },
        prepare: &|identity| {
            let share = Share::set_up(&options.share, options.limits)?;
            identity.give(&options.share)?;
            Ok(Box::new(|kernel| share.watch(kernel)))
        },
    };
    sandbox.run()
}

fn view(options: &Options) -> Result<View> {
    let init = env::current_exe().context("cannot find this program's own file")?;
    Ok(View {
        places: vec![
            Place::Readable {
                from: init,
                to: Layout::INIT.into(),
            },
            Place::Readable {
                from: options.kernel.clone(),
                to: Layout::KERNEL.into(),
            },
            Place::Writable {
                from: options.share.clone(),
                to: Layout::SHARE.into(),
            },
            Place::Memory {
                to: Layout::MEMORY.into(),
                // The kernel's page tables and the like are its process's own memory; this holds the guest's.
                bytes: Some((options.memory_mb + 16) << 20),
            },
        ],
        shown: Vec::new(),
    })
}
