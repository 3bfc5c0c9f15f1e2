//! The shared folder on the host's side: file systems of its own, bounded, and a kernel that waits for its reader.
//!
//! The folder and `scratch` in it are each a tmpfs in the sandbox's mount namespace, so that a guest can fill them and
//! nothing else, whatever else the file system has to hold on which the caller made the folder. The caller gets them, and
//! the files that the guest writes to, as open files: no name that a guest may give to something else is looked up
//! again, and all is there until the caller lets go of it.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::fs::{self, File, OpenOptions};
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{fallocate, FallocateFlags};
use nix::mount::{mount, MsFlags};
use nix::sys::signal::{kill, Signal};
use nix::sys::socket::{sendmsg, ControlMessage, MsgFlags};
use nix::unistd::Pid;

/// The files that the guest appends to and the caller reads while it does.
const STREAMS: [&str; 3] = ["events.jsonl", "stdout", "stderr"];
/// The folders that the caller gets, in this order, before the streams.
const FOLDERS: [&str; 3] = [".", "scratch", "captures"];

/// How much of the streams may wait for the caller before the kernel is stopped.
const BACKLOG_BYTES: u64 = 8 << 20;
/// How much of them waits at most when it goes on. The caller frees a stream's bytes by the MiB.
const DRAINED_BYTES: u64 = 4 << 20;
/// How much of the console is kept once it has grown to four times that.
const CONSOLE_BYTES: u64 = 1 << 20;
/// How often this is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Each MiB of a file system may have so many files.
const FILES_PER_MIB: u64 = 64;

/// The most that a guest may keep in the shared folder and in its scratch folder.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The shared folder: captures, output that waits.
    pub share_mb: u64,
    /// `scratch` in it.
    pub scratch_mb: u64,
}

/// The streams of a shared folder.
pub struct Share {
    streams: Vec<File>,
}

impl Share {
    /// Lays the file systems over `folder`, with the plan in it, and hands them to the caller over standard input where
    /// that is a socket. Call it in a mount namespace that keeps its mounts to itself.
    pub fn set_up(folder: &Path, limits: Limits) -> Result<Self> {
        let plan = fs::read(folder.join("plan.json")).context("plan.json")?;
        lay_memory(folder, limits.share_mb)?;
        fs::write(folder.join("plan.json"), plan).context("plan.json")?;
        for name in ["scratch", "captures"] {
            fs::create_dir(folder.join(name)).with_context(|| name.to_owned())?;
        }
        lay_memory(&folder.join("scratch"), limits.scratch_mb)?;
        let folders = FOLDERS
            .iter()
            .map(|name| File::open(folder.join(name)).with_context(|| name.to_string()))
            .collect::<Result<Vec<_>>>()?;
        let streams = STREAMS
            .iter()
            .map(|name| {
                OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .open(folder.join(name))
                    .with_context(|| name.to_string())
            })
            .collect::<Result<Vec<_>>>()?;
        hand_over(folders.iter().chain(&streams))?;
        Ok(Self { streams })
    }

    /// Starts a thread that stops the kernel while its output waits to be read, and keeps its console bounded.
    ///
    /// A stopped kernel's clock stands still, so that what runs in it does not depend on how fast its caller reads. Waiting
    /// inside would let the clock run away.
    pub fn watch(self, kernel: Pid) {
        thread::spawn(move || {
            let mut stopped = false;
            loop {
                if self.is_full(stopped) != stopped {
                    stopped = !stopped;
                    let signal = if stopped {
                        Signal::SIGSTOP
                    } else {
                        Signal::SIGCONT
                    };
                    // One that has ended needs neither.
                    let _ = kill(kernel, signal);
                }
                thread::sleep(LOOK);
            }
        });
        keep_outputs_short();
    }

    /// Returns once not too much waits to be read.
    pub fn wait_for_room(&self) {
        let mut full = false;
        loop {
            full = self.is_full(full);
            if !full {
                return;
            }
            thread::sleep(LOOK);
        }
    }

    /// One of the streams.
    pub fn stream(&self, name: &str) -> Option<&File> {
        let at = STREAMS.iter().position(|stream| *stream == name)?;
        self.streams.get(at)
    }

    /// Whether too much waits to be read, for one that `was` or was not held up by it.
    fn is_full(&self, was: bool) -> bool {
        let waiting: u64 = self.streams.iter().map(allocated).sum();
        waiting > if was { DRAINED_BYTES } else { BACKLOG_BYTES }
    }
}

/// Starts a thread that keeps what this process was given as its outputs, the kernel's console among it, bounded.
pub fn keep_outputs_short() {
    thread::spawn(|| loop {
        forget_old(std::io::stdout().as_fd());
        forget_old(std::io::stderr().as_fd());
        thread::sleep(LOOK);
    });
}

fn lay_memory(folder: &Path, limit_mb: u64) -> Result<()> {
    let files = (limit_mb * FILES_PER_MIB).max(256);
    // Open to the guest's other users; nobody outside sees these mounts.
    let options = format!("mode=755,size={limit_mb}m,nr_inodes={files}");
    mount(
        Some("tmpfs"),
        folder,
        Some("tmpfs"),
        MsFlags::MS_NODEV | MsFlags::MS_NOSUID,
        Some(options.as_str()),
    )
    .context("cannot mount a tmpfs for the shared folder")
}

fn hand_over<'a>(files: impl Iterator<Item = &'a File>) -> Result<()> {
    let descriptors: Vec<_> = files.map(AsRawFd::as_raw_fd).collect();
    let sent = sendmsg::<()>(
        std::io::stdin().as_raw_fd(),
        &[IoSlice::new(b"share")],
        &[ControlMessage::ScmRights(&descriptors)],
        MsgFlags::MSG_NOSIGNAL,
        None,
    );
    match sent {
        // Called by hand: nobody reads.
        Ok(_) | Err(Errno::ENOTSOCK) => Ok(()),
        Err(error) => Err(error).context("cannot hand the shared folder to the caller"),
    }
}

/// Bytes of memory that a file takes; what its reader has freed does not count.
fn allocated(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.blocks() * 512)
}

/// Frees all of an output but its end, where it is a file that has grown large.
fn forget_old(output: BorrowedFd<'_>) {
    let Ok(found) = nix::sys::stat::fstat(output) else {
        return;
    };
    let size = u64::try_from(found.st_size).unwrap_or(0);
    let taken = u64::try_from(found.st_blocks).unwrap_or(0) * 512;
    if taken > 4 * CONSOLE_BYTES && size > CONSOLE_BYTES {
        let end = i64::try_from(size - CONSOLE_BYTES).unwrap_or(i64::MAX);
        let free = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        // A file system that cannot do it keeps all.
        let _ = fallocate(output, free, 0, end);
    }
}
