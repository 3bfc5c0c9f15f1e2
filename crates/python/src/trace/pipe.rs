//! Pipes, whose reading can be ended while nobody writes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

use nix::fcntl::OFlag;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

/// So long a read waits, in milliseconds, before it looks whether it is to end.
const LOOKS_EVERY_MS: u16 = 100;

/// Whether pipes are to be read further: one for all of a run.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    const WHEN_EMPTY: u8 = 1;
    const NOW: u8 = 2;

    /// Ends pipes once nothing waits in them; with `now` whatever waits.
    pub fn ask(&self, now: bool) {
        let asked = if now { Self::NOW } else { Self::WHEN_EMPTY };
        self.0.fetch_max(asked, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// A pipe that ends at its end, or when it is asked to.
pub struct Pipe {
    file: File,
    stop: Stop,
}

impl Pipe {
    /// Standard input.
    pub fn stdin(stop: &Stop) -> io::Result<Self> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let stop = stop.clone();
        Ok(Pipe { file, stop })
    }

    /// A named pipe; whoever writes it may come later.
    pub fn open(path: &Path, stop: &Stop) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open(path)?;
        let stop = stop.clone();
        Ok(Pipe { file, stop })
    }

    /// Waits for something to read; false when nothing more is to be read.
    fn wait(&self) -> io::Result<bool> {
        loop {
            let asked = self.stop.0.load(Ordering::Relaxed);
            let patience = match asked {
                Stop::NOW => return Ok(false),
                Stop::WHEN_EMPTY => PollTimeout::ZERO,
                _ => PollTimeout::from(LOOKS_EVERY_MS),
            };
            let mut files = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match poll(&mut files, patience) {
                Ok(0) if asked == Stop::WHEN_EMPTY => return Ok(false),
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.wait()? {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
        Ok(0)
    }
}
