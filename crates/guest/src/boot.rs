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
    c_string, die_with_parent, Descriptors, Filter, Identity, Layout, Place, Program, Sandbox,
    View, PATH,
};
use crate::share::{Limits, Share};

/// What every way of running a kernel is told.
pub struct Common {
    /// The kernel program or image.
    pub kernel: PathBuf,
    /// The shared folder.
    pub share: PathBuf,
    /// What all randomness in the guest follows from.
    pub seed: u64,
    /// The guest's memory.
    pub memory_mb: u64,
    /// What it may leave behind.
    pub limits: Limits,
    /// The only core that it runs on.
    pub core: Option<usize>,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            kernel: PathBuf::new(),
            share: PathBuf::new(),
            seed: 0,
            memory_mb: 256,
            limits: Limits {
                share_mb: 4096,
                scratch_mb: 1024,
            },
            core: None,
        }
    }
}

impl Common {
    /// All options of a command line: these, and those that `other` takes.
    pub fn read(
        mut arguments: lexopt::Parser,
        mut other: impl FnMut(&str, &mut lexopt::Parser) -> Result<bool>,
    ) -> Result<Self> {
        let mut common = Self::default();
        while let Some(argument) = arguments.next()? {
            let lexopt::Arg::Long(name) = argument else {
                return Err(argument.unexpected().into());
            };
            let name = name.to_owned();
            if !common.take(&name, &mut arguments)? && !other(&name, &mut arguments)? {
                bail!("invalid option '--{name}'");
            }
        }
        Ok(common)
    }

    /// Takes the value of the option `name`; false if it is none of these.
    fn take(&mut self, name: &str, arguments: &mut lexopt::Parser) -> Result<bool> {
        use lexopt::prelude::*;
        match name {
            "kernel" => self.kernel = PathBuf::from(arguments.value()?),
            "share" => self.share = PathBuf::from(arguments.value()?),
            "core" => self.core = Some(arguments.value()?.parse()?),
            "seed" => {
                let text = arguments.value()?.string()?;
                self.seed = u64::from_str_radix(&text, 16).context("--seed")?;
            }
            "memory" => self.memory_mb = mebibytes("--memory", &arguments.value()?)?,
            "share-limit" => {
                self.limits.share_mb = mebibytes("--share-limit", &arguments.value()?)?;
            }
            "scratch-limit" => {
                self.limits.scratch_mb = mebibytes("--scratch-limit", &arguments.value()?)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Itself with paths that hold wherever the program goes, if what must be named is.
    pub fn whole(self) -> Result<Self> {
        Ok(Self {
            kernel: absolute(&self.kernel, "kernel")?,
            share: absolute(&self.share, "share")?,
            ..self
        })
    }

    /// Ties this process to its parent and its core.
    pub fn begin(&self) -> Result<()> {
        die_with_parent()?;
        if let Some(core) = self.core {
            let mut set = CpuSet::new();
            set.set(core).with_context(|| format!("--core {core}"))?;
            sched_setaffinity(Pid::from_raw(0), &set)
                .with_context(|| format!("cannot pin to core {core}"))?;
        }
        Ok(())
    }
}

/// The path of a file that is there, without links.
pub fn absolute(path: &Path, name: &str) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        bail!("--{name} is missing");
    }
    fs::canonicalize(path).with_context(|| format!("--{name} {}", path.display()))
}

/// The guest's wall clock at boot, nanoseconds since 1970 (2025-01-01): a fixed one, or two boots would differ.
const START_NS: u64 = 1_735_689_600_000_000_000;

fn mebibytes(option: &str, value: &OsStr) -> Result<u64> {
    let text = value.to_string_lossy();
    let number = text
        .strip_suffix('M')
        .ok_or_else(|| anyhow!("{option} {text}: MiB are meant, as 256M"))?;
    number.parse().with_context(|| format!("{option} {text}"))
}

fn command_line(options: &Common, by_seccomp: bool) -> Result<Vec<CString>> {
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
        // Jumps to the next timer whenever nothing runs; running costs nothing. The same at every boot.
        "time-travel=inf-cpu".into(),
        format!("time-travel-start={START_NS}"),
        format!("random-seed={:016x}", options.seed),
    ];
    // Programs stop at a filter of theirs, which takes fewer calls of the host than ptrace(2); where they cannot, by ptrace.
    let by_seccomp = by_seccomp.then_some("seccomp=auto");
    iter::once(c_string(&options.kernel))
        .chain(words.into_iter().map(c_string))
        .chain(by_seccomp.map(c_string))
        .collect()
}

/// Boots as the arguments say and waits; the exit status is 0 after a clean power-off.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    let mut by_seccomp = false;
    let others = |name: &str, _: &mut lexopt::Parser| {
        by_seccomp |= name == "seccomp";
        Ok(name == "seccomp")
    };
    let options = Common::read(arguments, others)?.whole()?;
    options.begin()?;
    let sandbox = Sandbox {
        view: view(&options)?,
        identity: Identity::kernel(),
        filter: Filter::Kernel,
        program: Program {
            files: vec![c_string(Layout::KERNEL)?],
            name: &options.kernel,
            arguments: command_line(&options, by_seccomp)?,
            environment: [
                format!("PATH={PATH}"),
                "HOME=/".into(),
                format!("TMPDIR={}", Layout::MEMORY),
            ]
            .into_iter()
            .map(c_string)
            .collect::<Result<_>>()?,
            folder: Path::new("/"),
            descriptors: Descriptors::Outputs,
            // The kernel adds the gap before its heap to the memory it manages; a random gap would make each boot another.
            fixed_layout: true,
        },
        prepare: &|identity| {
            let share = Share::set_up(&options.share, options.limits)?;
            identity.give(&options.share)?;
            Ok(Box::new(|kernel| {
                share.watch(kernel);
                Box::new(|| {})
            }))
        },
    };
    sandbox.run()
}

fn view(options: &Common) -> Result<View> {
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
