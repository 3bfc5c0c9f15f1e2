//! Network namespaces with a name that `ip netns exec NAME` knows too.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{anyhow, Context, Result};
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
        let make = || {
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
        };
        back_again(make).with_context(|| format!("cannot make the network namespace {name}"))?;
        Ok(Self {
            name: name.into(),
            file: File::open(&path)?,
        })
    }

    fn path(name: &str) -> PathBuf {
        Path::new(FOLDER).join(name)
    }

    /// What stands for it where the kernel is told of it.
    pub fn file(&self) -> &File {
        &self.file
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

    /// Runs `work` inside this namespace. The calling thread goes there and comes back: a thread of its own would cost ten
    /// times as many system calls.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        visit(&self.file, work)
    }

    /// Moves the calling thread into this namespace.
    pub fn enter(&self) -> Result<()> {
        self.door()?()
    }

    /// Runs `work` inside the namespace that the kernel has made for its first process.
    pub fn in_first<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
        const FIRST: &str = "/proc/1/ns/net";
        let first = File::open(FIRST).context(FIRST)?;
        visit(&first, work)
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
}

/// Runs `work` with the calling thread in a namespace, which it leaves again.
fn visit<T>(there: &File, work: impl FnOnce() -> Result<T>) -> Result<T> {
    back_again(|| {
        setns(there.as_fd(), CloneFlags::CLONE_NEWNET).context("setns")?;
        work()
    })
}

/// Runs `work`, wherever that takes the calling thread; then the thread is again where it was.
fn back_again<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Return(File);
    impl Drop for Return {
        fn drop(&mut self) {
            let back = setns(self.0.as_fd(), CloneFlags::CLONE_NEWNET);
            back.expect("a thread can go back to where it was");
        }
    }
    let own = interfaces::of_this_thread("ns/net");
    let own = File::open(&own).with_context(|| own.clone())?;
    let _return = Return(own);
    work()
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
