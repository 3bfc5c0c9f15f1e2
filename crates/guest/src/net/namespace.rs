//! Network namespaces with a name that `ip netns exec NAME` knows too.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{anyhow, bail, Context, Result};
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sched::{setns, unshare, CloneFlags};

use crate::interfaces;

const FOLDER: &str = "/run/netns";

/// A network namespace; it goes when dropped, with all that stands in it once no process is left inside.
pub struct Namespace {
    name: String,
    file: File,
}

impl Namespace {
    /// Makes a namespace and names it, as `ip netns add` does. Its loopback is up.
    pub fn create(name: &str) -> Result<Self> {
        let path = Self::path(name);
        fs::create_dir_all(FOLDER)?;
        File::create_new(&path)
            .with_context(|| format!("a network namespace named {name} is there already"))?;
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).context("unshare(CLONE_NEWNET)")?;
            let from = interfaces::of_this_thread("ns/net");
            mount(
                Some(from.as_str()),
                &path,
                None::<&str>,
                MsFlags::MS_BIND,
                None::<&str>,
            )?;
            Ok(())
        })
        .with_context(|| format!("cannot make the network namespace {name}"))?;
        Ok(Self {
            name: name.into(),
            file: File::open(&path)?,
        })
    }

    fn path(name: &str) -> PathBuf {
        Path::new(FOLDER).join(name)
    }

    /// What moves another thread into this namespace.
    pub fn door(&self) -> Result<impl FnOnce() -> Result<()> + Send + 'static> {
        let (file, name) = (self.file.try_clone()?, self.name.clone());
        Ok(move || {
            setns(file.as_fd(), CloneFlags::CLONE_NEWNET)
                .with_context(|| format!("setns to {name}"))
        })
    }

    /// The name, as in `ip netns exec NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `work` in a thread of its own inside this namespace and waits for it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Moves the calling thread into this namespace.
    pub fn enter(&self) -> Result<()> {
        self.door()?()
    }

    /// Runs `work` in a thread of its own inside the namespace that the kernel has made for its first process.
    pub fn in_first<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        const FIRST: &str = "/proc/1/ns/net";
        in_thread(|| {
            let first = File::open(FIRST).context(FIRST)?;
            setns(first.as_fd(), CloneFlags::CLONE_NEWNET).context(FIRST)?;
            work()
        })
    }

    /// A command that will run inside this namespace.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let descriptor = self.file.as_raw_fd();
        // SAFETY: setns is async-signal-safe, and the descriptor is open as long as `self`, which outlives the spawn.
        unsafe {
            command.pre_exec(move || {
                let descriptor = std::os::fd::BorrowedFd::borrow_raw(descriptor);
                Ok(setns(descriptor, CloneFlags::CLONE_NEWNET)?)
            });
        }
        command
    }

    /// Runs `program ARGUMENTS…` with `lines` on its standard input, as `ip -batch -` takes them.
    pub fn batch(&self, program: &Path, arguments: &[&str], lines: &[String]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        // From a thread in the namespace: with work of its own between fork and exec each program would cost a copy of this one.
        let spawned = self.run(|| Ok(command.spawn()?));
        let mut child = spawned.with_context(|| format!("cannot run {}", program.display()))?;
        let text = lines.join("\n") + "\n";
        // A program that stops at a bad line closes its input early: its own words tell more than this error.
        let _ = child
            .stdin
            .take()
            .ok_or_else(|| anyhow!("no standard input"))?
            .write_all(text.as_bytes());
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!(
                "{name} on {} failed ({}): {}; it was given:\n{text}",
                self.name,
                output.status,
                said.trim()
            );
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let path = Self::path(&self.name);
        let _ = umount2(&path, MntFlags::MNT_DETACH);
        let _ = fs::remove_file(&path);
    }
}

/// Runs `work` in a thread of its own, which may enter namespaces, and waits for it.
pub fn in_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
    })
}
